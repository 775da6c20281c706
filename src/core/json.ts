/** JSON of unknown shape: a test for objects, and values inside error messages. */
import { show } from "./tensor.ts";

/** True if the value is an object with keys, not a list. */
export const isRecord = (v: unknown): v is Record<string, unknown> =>
  typeof v === "object" && v !== null && !Array.isArray(v);

/**
 * Returns a value of a file as JSON for an error message, at most a line long. `show` of tensor.ts does not look into
 * objects.
 */
export function showJson(value: unknown): string {
  if (value === undefined) return "nothing";
  let text: string | undefined;
  try {
    // JSON has no word for NaN
    if (typeof value !== "number") text = JSON.stringify(value);
  } catch {
    // JSON.parse reads any depth, JSON.stringify does not write it
  }
  text ??= show(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
