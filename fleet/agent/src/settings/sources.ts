/** The schema of a source. */
import { existsSync, statSync } from "node:fs";
import { basename } from "node:path";
import * as v from "valibot";
import { flag, nullable, type TypeOf, within } from "boxwright-service/schema/json";
import { withoutSecrets } from "../core/errors.ts";
import { address, group, name, oneKind, type Path, text } from "./parts.ts";

/** Fields of a source that ffmpeg reads. */
const decoded = {
  fps: nullable(within(0.01, 1000)),
  /** Hardware decoding method of ffmpeg (`ffmpeg -hwaccels`); null to decode on the CPU. */
  hwaccel: nullable(text),
};

const isSide = (given: unknown): boolean => Number.isInteger(given) && Number(given) > 0 && Number(given) <= 16384;
const size = v.custom<readonly [number, number]>(
  (given) => Array.isArray(given) && given.length === 2 && given.every(isSide),
  "[width, height] in pixels",
);

export const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

function placesIn(path: Path) {
  const file = v.pipe(
    path,
    v.check(isFile, ({ input }) => `got ${withoutSecrets(input)}, expected a file that exists`),
  );
  const isFolder = (given: string): boolean => existsSync(given) && statSync(given).isDirectory();
  const folder = v.pipe(
    path,
    v.check(isFolder, ({ input }) => `got ${withoutSecrets(input)}, expected a folder that exists`),
  );
  return { file, folder };
}

/** Sets the camera's name, the `subject` of each packet. The default is the name of the file, folder or device. */
const withCamera = <T extends { readonly path: string; readonly camera: string | null }>() =>
  v.transform((given: T) => ({ ...given, camera: given.camera ?? (basename(given.path) || "camera") }));

/** Schemas of sources by kind. */
export function sourceKinds(path: Path) {
  const { file, folder } = placesIn(path);
  const camera = nullable(name);
  return {
    /** Photos of a folder. If `watch` is true, waits for new photos. Otherwise, ends after the last photo. */
    folder: v.pipe(
      group({ kind: v.literal("folder"), path: folder, camera, watch: v.nullish(flag, false) }),
      withCamera(),
    ),
    image: v.pipe(group({ kind: v.literal("image"), path: file, camera }), withCamera()),
    video: v.pipe(group({ kind: v.literal("video"), path: file, camera, ...decoded }), withCamera()),
    rtsp: group({
      kind: v.literal("rtsp"),
      camera: name,
      url: address("rtsp:// or rtsps://", (given) => /^rtsps?:\/\/[^\s]+$/.test(given)),
      ...decoded,
    }),
    // Do not check that the device exists: a camera may be plugged in later.
    v4l2: v.pipe(
      group({
        kind: v.literal("v4l2"),
        path,
        camera,
        /** Width and height in pixels; null for the device's present setting. */
        size: nullable(size),
        ...decoded,
      }),
      withCamera(),
    ),
  };
}

export const source = (path: Path) => oneKind(sourceKinds(path));

export type SourceSettings = TypeOf<ReturnType<typeof source>>;
type OfKind<K extends SourceSettings["kind"]> = Extract<SourceSettings, { readonly kind: K }>;
export type VideoSettings = OfKind<"video">;
export type RtspSettings = OfKind<"rtsp">;
export type V4l2Settings = OfKind<"v4l2">;
