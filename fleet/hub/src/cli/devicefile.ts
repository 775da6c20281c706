/** Reads the file that `boxwright-hub devices import` gets. */
import { UserError } from "../core/errors.ts";
import type { NewDevice } from "../nouns/device.ts";

/** Decodes the file. Refuses encodings other than UTF-8, since names would lose letters. */
export function decodeDeviceFile(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UserError("got a file that is not UTF-8, expected UTF-8 (`iconv -t UTF-8` converts)");
  }
}

/** Reads a JSON array, JSON lines, or one name per line. The first character decides between these formats. */
export function parseDeviceFile(text: string): NewDevice[] {
  const trimmed = text.replace(/^\ufeff/, "").trim();
  if (trimmed === "") throw new UserError("got an empty file, expected at least one device");
  if (trimmed.startsWith("["))
    return (parse(trimmed, "file") as unknown[]).map((value, i) => toDevice(value, `device ${i + 1}`));
  const lines = trimmed.split(/\r?\n/);
  return lines.flatMap((line, i) => {
    if (line.trim() === "") return [];
    return [trimmed.startsWith("{") ? toDevice(parse(line, `line ${i + 1}`), `line ${i + 1}`) : { name: line }];
  });
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError(`${where}: got text that is not JSON (${(error as Error).message})`);
  }
}

function toDevice(value: unknown, where: string): NewDevice {
  const { name, id, ...more } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  if (typeof name !== "string" || (id !== undefined && typeof id !== "string") || Object.keys(more).length > 0) {
    throw new UserError(
      `${where}: got ${JSON.stringify(value)?.slice(0, 80)}, expected {"name": text, "id": text or left out}`,
    );
  }
  return { name, id };
}
