/** Finds the photos for a command: files, folders, patterns and standard input. */
import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { showJson } from "../../core/json.ts";
import { load } from "../files/load.ts";
import { utf8 } from "../files/text.ts";
import { UsageError } from "./options.ts";

/** A photo to read. */
export interface ImageFile {
  /** Path of the image, as shown in results. */
  readonly path: string;
  /** Path relative to the named folder. Output files get the same relative path. */
  readonly place: string;
  read(): Promise<Uint8Array>;
  /** Returns the file's size and time of change as text, or null if the file does not exist. */
  stamp(): Promise<string | null>;
}

const ENDINGS = [".png", ".jpg", ".jpeg"];

/** True if a file in a folder counts as a photo, by the ending of its name. */
export const isImagePath = (path: string): boolean => ENDINGS.includes(extname(path).toLowerCase());

/** Returns the photos that the words name, sorted within each word. "-" stands for a photo or paths in `stdin`. */
export async function imageFiles(
  words: readonly string[],
  stdin: () => Promise<Uint8Array>,
): Promise<ImageFile[]> {
  const files: ImageFile[] = [];
  for (const word of words) files.push(...(word === "-" ? await fromStdin(stdin) : await filesOf(word)));
  const seen = new Set<string>();
  return files.filter(({ path }) => !seen.has(path) && seen.add(path));
}

async function fromStdin(stdin: () => Promise<Uint8Array>): Promise<ImageFile[]> {
  const bytes = await stdin();
  const isPicture = bytes[0] === 0x89 || bytes[0] === 0xff;
  if (isPicture)
    return [
      {
        path: "-",
        place: bytes[0] === 0x89 ? "stdin.png" : "stdin.jpg",
        read: async () => bytes,
        stamp: async () => createHash("sha256").update(bytes).digest("hex"),
      },
    ];
  const paths = utf8(bytes)
    ?.split(/\r?\n/)
    .filter((line) => line !== "");
  if (!paths || paths.length === 0)
    throw new UsageError(
      "standard input holds no photo and no paths. Pipe a PNG or JPEG, or one path per line.",
    );
  return (await Promise.all(paths.map(filesOf))).flat();
}

async function filesOf(word: string): Promise<ImageFile[]> {
  const stats = await stat(word).catch(() => null);
  if (stats?.isDirectory()) return nonEmpty(await imagesBelow(word, word), word, "a folder");
  // Treat a word that is neither a path nor a pattern as a file, so that reading it gives the error.
  if (stats || !isPattern(word)) return [fileAt(word, basename(word))];
  const base = baseOf(word);
  const isMatch = matcherOf(word);
  const all = (await pathsBelow(base)).filter((path) => isMatch(slashed(path)) && isImagePath(path));
  return nonEmpty(
    all.map((path) => fileAt(path, relative(base, path))),
    word,
    "a pattern",
  );
}

const fileAt = (path: string, place: string): ImageFile => ({
  path,
  place,
  read: () => load(path),
  stamp: () =>
    stat(path).then(
      ({ size, mtime }) => `${size} bytes, ${mtime.getTime()} ms`,
      () => null,
    ),
});

function nonEmpty(files: ImageFile[], word: string, kind: string): ImageFile[] {
  if (files.length === 0)
    throw new UsageError(`${word} is ${kind} without photos: no ${ENDINGS.join(", ")} is in it or below it.`);
  return files;
}

const imagesBelow = async (folder: string, base: string): Promise<ImageFile[]> =>
  (await pathsBelow(folder)).filter(isImagePath).map((path) => fileAt(path, relative(base, path)));

/** Returns the files of a folder and of its subfolders, sorted. Omits hidden files and folders. */
async function pathsBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const paths: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) paths.push(...(await pathsBelow(path)));
    else paths.push(path);
  }
  return paths;
}

const slashed = (path: string): string => path.split(sep).join("/");

/** True for a path with `*`, `?`, `[` or `{`. A shell passes a pattern on if it is quoted, or if nothing matches. */
const isPattern = (word: string): boolean => /[*?[{]/.test(word);

function baseOf(pattern: string): string {
  const parts = slashed(pattern).split("/");
  const fixed = parts.slice(0, Math.min(parts.findIndex(isPattern), parts.length - 1));
  return fixed.join("/") || (pattern.startsWith("/") ? "/" : ".");
}

/** Returns a test for paths. `**` matches across folders, `*` and `?` within a name. Throws for a wrong pattern. */
export function matcherOf(pattern: string): (path: string) => boolean {
  const source = sourceOf(slashed(pattern).replace(/^\.\//, ""));
  try {
    const expression = new RegExp(`^${source}$`);
    return (path) => expression.test(path.replace(/^\.\//, ""));
  } catch {
    throw new UsageError(
      `got the pattern ${showJson(pattern)}, expected characters and ranges in order between [ and ], as in [0-9].`,
    );
  }
}

/** Converts a pattern to the source of a regular expression. */
function sourceOf(pattern: string): string {
  if (/\{[^}]*\{/.test(pattern))
    throw new UsageError(`got the pattern ${showJson(pattern)}, expected no braces within braces.`);
  return pattern.replace(/\*\*\/|\*\*|\*|\?|\[!?[^\]]*\]|\{[^}]*\}|[^*?[{]+|[[{]/g, expressionOf);
}

/** Converts one part of a pattern to a regular expression. */
function expressionOf(part: string): string {
  const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  if (part === "**/") return "(?:[^/]+/)*";
  if (part === "**") return ".*";
  if (part === "*") return "[^/]*";
  if (part === "?") return "[^/]";
  // A list [...] or negated list [!...] never matches a slash.
  if (/^\[!?[^!\]][^\]]*\]$|^\[!!+\]$/.test(part))
    return `(?!/)${part.replace(/[\\^[]/g, "\\$&").replace(/^\\\[!?/, (begin) => (begin.endsWith("!") ? "[^" : "["))}`;
  if (/^\{.*\}$/.test(part)) return `(?:${part.slice(1, -1).split(",").map(sourceOf).join("|")})`;
  return escaped(part);
}
