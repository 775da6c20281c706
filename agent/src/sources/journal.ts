/** Which recorded frames are in the spool already, so that a restart goes on where it was. */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256 } from "../core/ids.ts";

/** A set of names in a file, one a line. A line that was half-written is left out. */
export class Journal {
  readonly #path: string;
  readonly #names: Set<string>;
  #file: number;

  /** @param camera names the file, by its hash */
  constructor(folder: string, camera: string) {
    this.#path = join(folder, "journals", `${sha256(camera).slice(0, 32)}.txt`);
    mkdirSync(dirname(this.#path), { recursive: true });
    this.#file = openSync(this.#path, "a+");
    const lines = readFileSync(this.#path, "utf8").split("\n");
    // What stands behind the last line end was cut off.
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

  /** Forgets names that are not among those, so that the file does not grow for good. */
  keepOnly(names: ReadonlySet<string>): void {
    const kept = [...this.#names].filter((name) => names.has(name));
    if (kept.length >= this.#names.size / 2) return;
    this.#names.clear();
    for (const name of kept) this.#names.add(name);
    writeFileSync(`${this.#path}.new`, kept.map((name) => `${name}\n`).join(""));
    renameSync(`${this.#path}.new`, this.#path);
    closeSync(this.#file);
    this.#file = openSync(this.#path, "a+");
  }

  /** Forgets everything: the run is complete, and the next one begins anew. */
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
