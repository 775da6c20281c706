/** Reads whole files, up to a size, from disk or standard input. */
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { TensorError } from "../../core/errors.ts";
import { packingOf } from "./archive.ts";
import { LARGEST, refusal } from "./tensor.ts";

const unzipped = promisify(gunzip);
/** Paths that stand for standard input. */
const STANDARD_INPUT = ["-", "/dev/stdin"];

/** Reads a regular file, or standard input for `-`. Refuses pipes and devices, which may have no end. */
export async function load(path: string, most = LARGEST): Promise<Uint8Array> {
  if (STANDARD_INPUT.includes(path)) return collect(process.stdin, path, most);
  try {
    const stats = await stat(path);
    if (!stats.isFile() && !stats.isDirectory())
      throw new TensorError(
        `${path}: got a pipe or a device, expected a regular file. To read a pipe, pass - and connect it to standard input.`,
      );
    if (stats.size > most) throw tooLarge(path, `${stats.size} bytes`, most);
    const bytes = await readFile(path);
    // Check the size again: some systems state no size for virtual files such as those in /proc.
    if (bytes.length > most) throw tooLarge(path, `${bytes.length} bytes`, most);
    return bytes;
  } catch (e) {
    if (e instanceof TensorError) throw e;
    throw new TensorError(`${path} cannot be read: ${systemReason(e as NodeJS.ErrnoException)}.`, {
      cause: e,
    });
  }
}

/** Collects the bytes of a stream, up to a size. */
async function collect(stream: AsyncIterable<Uint8Array>, path: string, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stream) {
    size += part.length;
    if (size > most) throw tooLarge(path, `more than ${most} bytes`, most);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const tooLarge = (path: string, got: string, most: number): TensorError =>
  refusal(path, got, `at most ${most}. The option --max-file N of the command allows N MiB`);

/** Texts for common error codes of the system. */
const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EISDIR: "it is a folder",
  EEXIST: "a file has the name of its folder",
  ENOTDIR: "a part of the path is a file, and no folder",
  EACCES: "you have no permission",
  EPERM: "you have no permission",
  EROFS: "the disk can only be read",
  ENOSPC: "the disk is full",
  ELOOP: "its links lead back to it",
  ENAMETOOLONG: "the name is too long",
  EMFILE: "too many files are open",
};

/** Returns the reason for which the system refused a path: a text for a known code, else code or message. */
export function systemReason(e: NodeJS.ErrnoException): string {
  return SYSTEM_REASONS[e.code ?? ""] ?? e.code ?? e.message;
}

/** Returns null if the error is about a missing file. Throws all other errors. */
export function nullIfAbsent(e: Error): null {
  if (e.cause === undefined) throw e;
  return null;
}

/** Reads `path.gz`. If this file is also missing, the error is about `path`. */
const loadGz = async (path: string, most: number): Promise<Uint8Array> =>
  (path.endsWith(".gz") ? null : await load(`${path}.gz`, most).catch(nullIfAbsent)) ?? load(path, most);

/** Reads a file, or the file with `.gz` added. Unpacks gzip, but not archives. `most` also limits unpacked bytes. */
export async function loadUnpacked(path: string, most = LARGEST): Promise<Uint8Array> {
  if (/\.(tar\.gz|tgz)$/i.test(path)) return load(path, most);
  const bytes = (await load(path, most).catch(nullIfAbsent)) ?? (await loadGz(path, most));
  if (packingOf(bytes) !== "gz") return bytes;
  try {
    return await unzipped(bytes, { maxOutputLength: most });
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      throw tooLarge(path, `more than ${most} bytes once unpacked`, most);
    throw refusal(path, "damaged gzip data", `a whole file: ${(e as Error).message}`);
  }
}
