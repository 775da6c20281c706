/** Files for tests: those of test/fixtures, and temporary ones. */
import { mkdtempSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

/** Returns the path of a file below test/fixtures. */
export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

export const readFixture = (name: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(fixture(name)));

/** A folder for the tests of a file. */
export interface TempFolder {
  path(name: string): string;
  /** Writes a file and returns its path. An object is written as JSON. */
  put(name: string, content: Uint8Array | string | object): Promise<string>;
}

/** Makes a folder before the tests of a file, and removes it after them. */
export function tempFolder(): TempFolder {
  // Made at once: a path that is asked for outside a test must not be one of the working directory.
  const folder = mkdtempSync(join(tmpdir(), "boxwright-"));
  afterAll(() => rm(folder, { recursive: true }));
  const path = (name: string): string => join(folder, name);
  return {
    path,
    async put(name, content) {
      const isFile = typeof content === "string" || content instanceof Uint8Array;
      await writeFile(path(name), isFile ? content : JSON.stringify(content));
      return path(name);
    },
  };
}
