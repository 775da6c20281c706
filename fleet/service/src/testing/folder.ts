import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const removeFolder = (path: string): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
const folders: string[] = [];
afterAll(() => folders.splice(0).forEach(removeFolder));

/** Makes a folder that is deleted with the end of the test file, or when a test removes it. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "boxwright-test-"));
  folders.push(path);
  return { path, remove: () => removeFolder(path) };
}
