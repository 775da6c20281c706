/** Checks the settings of a source. */
import { existsSync, statSync } from "node:fs";
import { basename } from "node:path";
import { withoutSecrets } from "../core/errors.ts";
import type { Fields } from "./fields.ts";
import type { SourceSettings } from "./types.ts";

const KINDS = ["folder", "image", "video", "rtsp", "v4l2"] as const;
const FPS = [0.01, 1000] as const;

/** Placeholder for a source of unknown kind, which is never opened, since the settings have a problem. */
const NONE: SourceSettings = { kind: "image", camera: "", path: "" };

export function readSource(fields: Fields): SourceSettings {
  const kind = fields.kind("kind", KINDS);
  const source = kind === null ? NONE : readKind(kind, fields);
  fields.end();
  return source;
}

function readKind(kind: (typeof KINDS)[number], fields: Fields): SourceSettings {
  if (kind === "rtsp") {
    const camera = fields.name("camera");
    const url = fields.text("url");
    if (url && !/^rtsps?:\/\/[^\s]+$/.test(url))
      fields.problem("url", `got "${withoutSecrets(url)}", expected rtsp:// or rtsps://`);
    return { kind, camera, url, ...readDecoding(fields) };
  }
  const path = fields.path("path");
  const camera = fields.name("camera", basename(path) || "camera");
  if (fields.has("path")) checkPath(kind, path, fields);
  if (kind === "folder") return { kind, camera, path, watch: fields.flag("watch", false) };
  if (kind === "image") return { kind, camera, path };
  if (kind === "video") return { kind, camera, path, ...readDecoding(fields) };
  return { kind, camera, path, size: readSize(fields), ...readDecoding(fields) };
}

const readDecoding = (fields: Fields): { fps: number | null; hwaccel: string | null } => ({
  fps: fields.optionalNumber("fps", FPS, false),
  hwaccel: fields.optionalText("hwaccel"),
});

function checkPath(kind: string, path: string, fields: Fields): void {
  // Do not check that the device exists: a camera may be plugged in later.
  if (kind === "v4l2") return;
  const found = existsSync(path) ? statSync(path) : null;
  if (kind === "folder" ? found?.isDirectory() : found?.isFile()) return;
  fields.problem("path", `got ${path}, expected ${kind === "folder" ? "a folder" : "a file"} that exists`);
}

function readSize(fields: Fields): readonly [number, number] | null {
  const size = fields.value("size");
  if (size === undefined) return null;
  if (Array.isArray(size) && size.length === 2 && size.every((n) => Number.isInteger(n) && n > 0 && n <= 16384))
    return size as unknown as readonly [number, number];
  fields.problem("size", "expected [width, height] in pixels");
  return null;
}
