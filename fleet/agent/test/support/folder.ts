import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { photoOf } from "./echo.ts";

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
