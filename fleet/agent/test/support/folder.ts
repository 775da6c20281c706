import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { CONFIG, MODEL, photoOf } from "./echo.ts";

/** Makes a folder that goes when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "boxwright-agent-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes photos that differ. */
export async function writePhotos(folder: string, count: number, first = 0): Promise<void> {
  for (let n = first; n < first + count; n++)
    writeFileSync(join(folder, `${String(n).padStart(5, "0")}.png`), await photoOf(n));
}

/** Makes a folder of photos and a config beside them. Returns settings that read both and send to a sink. */
export async function photoFolder(
  count: number,
  sink: object,
  config: object | null = CONFIG,
): Promise<{ folder: string; photos: string; settings: Record<string, unknown> }> {
  const folder = temporaryFolder();
  const photos = join(folder, "photos");
  mkdirSync(photos);
  await writePhotos(photos, count);
  if (config) writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  const settings = {
    device: "/devices/7",
    state: "state",
    network: { model: MODEL, ...(config && { config: "config.json" }) },
    sources: [{ kind: "folder", camera: "front door", path: "photos" }],
    sinks: [sink],
    log: "warn",
  };
  return { folder, photos, settings };
}
