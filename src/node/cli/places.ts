/** Reads and writes the files that options name. */
import { mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { TensorError } from "../../core/errors.ts";
import { load, systemReason } from "../files/load.ts";
import { wrongValue } from "./values.ts";

/** Reads the file that an option names. */
export async function readNamed(option: string, path: string, most: number): Promise<Uint8Array> {
  return load(path, most).catch((e: Error) => {
    e.message = `--${option}: ${e.message}`;
    throw e;
  });
}

/** Writes the file that an option names. */
export async function writeNamed(option: string, path: string, data: string | Uint8Array): Promise<void> {
  return writeFile(path, data).catch((e: NodeJS.ErrnoException) => refuseToWrite(option, path, e));
}

/** Writes a file below the folder that an option names. Makes missing folders. */
export async function writeBelow(option: string, path: string, data: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true }).catch((e: NodeJS.ErrnoException) =>
    refuseToWrite(option, path, e),
  );
  await writeNamed(option, path, data);
}

function refuseToWrite(option: string, path: string, e: NodeJS.ErrnoException): never {
  throw new TensorError(`--${option}: ${path} cannot be written: ${systemReason(e)}.`);
}

/** Throws if a file to write is also read, or is also written by another option. */
export async function checkPlaces(
  outs: readonly (readonly [option: string, path: string | undefined])[],
  read: readonly unknown[],
): Promise<void> {
  const paths = read.filter((path): path is string => typeof path === "string");
  const taken = new Set(await Promise.all(paths.map(identityOf)));
  for (const [option, path] of outs) {
    if (path === undefined) continue;
    const identity = await identityOf(path);
    if (identity !== null && taken.has(identity))
      throw wrongValue(option, path, "a file of its own: this one is read or written here already");
    taken.add(identity);
  }
}

/** Returns the same text for all spellings of a path and all links to a file. Returns null for a device. */
const identityOf = (path: string): Promise<string | null> =>
  stat(path, { bigint: true }).then(
    (s) => (s.isFile() ? `${s.dev} ${s.ino}` : null),
    () => resolve(path),
  );
