/** JSON of unknown shape: a test for objects, and values inside error messages. */
import { show } from "./tensor.ts";

/** True if the value is an object with keys, not a list. */
export const isRecord = (v: unknown): v is Record<string, unknown> =>
  typeof v === "object" && v !== null && !Array.isArray(v);

/** Marks a value that JSON has no word for: it would write null for NaN, and refuse a bigint. */
function mark(this: unknown, _: string, value: unknown): unknown {
  // A key without a value is no key.
  const isHole = value === undefined && Array.isArray(this);
  const isNone = typeof value === "number" && !Number.isFinite(value);
  return isHole || isNone || typeof value === "bigint" ? `\x01${String(value)}` : value;
}
const MARKED = /"\\u0001([^"]*)"/g;

/**
 * Returns a value of a file as JSON for an error message, at most a line long. `show` of tensor.ts does not look into
 * objects.
 */
export function showJson(value: unknown): string {
  if (value === undefined) return "nothing";
  let text: string | undefined;
  try {
    text = JSON.stringify(value, mark)?.replace(MARKED, "$1");
  } catch {
    // JSON.parse reads any depth, JSON.stringify does not write it
  }
  text ??= show(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
