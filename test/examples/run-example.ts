/** Runs a program of examples/ as a process of its own, with the package as built. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

export const exampleUrl = (name: string): URL => new URL(`../../examples/${name}`, import.meta.url);

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `node examples/NAME WORDS...` to its end. */
export function runExample(name: string, ...words: string[]): Promise<Ended> {
  const path = fileURLToPath(exampleUrl(name));
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [path, ...words], { maxBuffer: 2 ** 26 }, (error, out, err) => {
      const code = error === null ? 0 : error.code;
      // A process that did not start, or was killed, has no exit code.
      if (typeof code === "number") resolve({ code, out, err });
      else reject(error ?? new Error(`${name}: no exit code`));
    });
  });
}
