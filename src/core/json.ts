/** Functions for unknown JSON: a parser without errors, a test for objects, and the text of a value for messages. */
import { show } from "./tensor.ts";

/** True if the value is an object with keys. False for a list. */
export const isRecord = (v: unknown): v is Record<string, unknown> =>
  typeof v === "object" && v !== null && !Array.isArray(v);

/** Returns the fields that have a value, neither undefined nor null. */
export const knownOf = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? null) !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

/** Returns the parsed JSON. Returns `otherwise` if the text is not JSON. */
export function parseJson(text: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** Replaces a value that JSON cannot write by a marked text. NaN would become null, and a bigint would throw. */
function mark(this: unknown, _: string, value: unknown): unknown {
  // Omit a key whose value is undefined, but mark a hole in a list, which would become null.
  const isHole = value === undefined && Array.isArray(this);
  const isNone = typeof value === "number" && !Number.isFinite(value);
  return isHole || isNone || typeof value === "bigint" ? `\x01${String(value)}` : value;
}
const MARKED = /"\\u0001([^"]*)"/g;

/**
 * Returns a value from a file as JSON for an error, at most 60 characters long. `show`, in contrast, omits the contents
 * of objects.
 */
export function showJson(value: unknown): string {
  if (value === undefined) return "nothing";
  let text: string | undefined;
  try {
    text = JSON.stringify(value, mark)?.replace(MARKED, "$1");
  } catch {
    // JSON.stringify overflows the stack on deep values, although JSON.parse can read them.
  }
  text ??= show(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
