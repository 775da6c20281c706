/** Records which recorded frames are in the spool, so that a restart continues after these frames. */
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../core/files.ts";
import { sha256 } from "../core/ids.ts";

/** A set of names in a file, one per line. Reading ignores a half-written last line. */
export class Journal {
  readonly #path: string;
  readonly #names: Set<string>;
  #file: number;

  /** @param camera whose hash becomes the file name */
  constructor(folder: string, camera: string) {
    this.#path = join(folder, "journals", `${sha256(camera).slice(0, 32)}.txt`);
    makeFolder(dirname(this.#path));
    this.#file = openSync(this.#path, "a+");
    const lines = readFileSync(this.#path, "utf8").split("\n");
    // Ignore a half-written last name. End its line, so that the next name starts a new one.
    if (lines.pop() !== "") writeSync(this.#file, "\n");
    this.#names = new Set(lines);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.add(name);
    writeSync(this.#file, `${name}\n`);
  }

  /** Keeps only the names in the set. Rewrites the file once more than half of all names can be removed. */
  removeOthers(names: ReadonlySet<string>): void {
    const kept = [...this.#names].filter((name) => names.has(name));
    if (kept.length >= this.#names.size / 2) return;
    this.#names.clear();
    for (const name of kept) this.#names.add(name);
    writeFileSync(`${this.#path}.new`, kept.map((name) => `${name}\n`).join(""));
    renameSync(`${this.#path}.new`, this.#path);
    closeSync(this.#file);
    this.#file = openSync(this.#path, "a+");
  }

  /** Removes all names. Call this after a complete run, so that the next run reads everything again. */
  clear(): void {
    this.#names.clear();
    rmSync(this.#path, { force: true });
    closeSync(this.#file);
    this.#file = openSync(this.#path, "a+");
  }

  close(): void {
    if (this.#file >= 0) closeSync(this.#file);
    this.#file = -1;
  }
}
