/** Reads whole files from disk. */
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { TensorError } from "../../core/errors.ts";
import { packingOf } from "./archive.ts";
import { refusal } from "./tensor.ts";

const unzipped = promisify(gunzip);
/** Longest typed array of the smallest supported runtime, in bytes. A small gzip file may unpack to more. */
const LARGEST = 2 ** 31 - 1;

/**
 * Reads a file.
 * @throws TensorError if the system does not give the file. `cause` is the system's error
 */
export async function load(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (e) {
    throw new TensorError(`${path} cannot be read: ${systemReason(e as NodeJS.ErrnoException)}.`, {
      cause: e,
    });
  }
}

/** Returns why the system refused a path, in words if the code is a common one. */
export function systemReason(e: NodeJS.ErrnoException): string {
  if (e.code === "ENOENT") return "there is no such file or folder";
  if (e.code === "EISDIR") return "it is a folder";
  return e.code ?? e.message;
}

/**
 * Reads a file, and unpacks gzip. Archives stay packed: they are unpacked only as far as needed. If `x` is missing,
 * `x.gz` is read in its place.
 */
export async function loadUnpacked(path: string): Promise<Uint8Array> {
  if (/\.(tar\.gz|tgz)$/i.test(path)) return load(path);
  const bytes = await load(path).catch(async (e: unknown) => {
    if (path.endsWith(".gz")) throw e;
    return load(`${path}.gz`).catch(() => {
      throw e;
    });
  });
  if (packingOf(bytes) !== "gz") return bytes;
  try {
    return await unzipped(bytes, { maxOutputLength: LARGEST });
  } catch (e) {
    throw refusal(path, "damaged gzip data", `a whole file: ${(e as Error).message}`);
  }
}
