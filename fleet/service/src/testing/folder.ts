import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";

/** Makes a folder that is deleted with the end of the test file, or when a test removes it. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "boxwright-test-"));
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  atFileEnd(remove);
  return { path, remove };
}
