/** Times of arguments and answers: ISO 8601, with an offset. */
import { queryError } from "./errors.ts";

export const iso = (time: number): string => new Date(time).toISOString();

export const isoOrNull = (time: number | null | undefined): string | null => (time == null ? null : iso(time));

/** A time with its UTC offset. Without the offset, the time would depend on the hub's time zone. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** Reads the time of an argument, whose name is for the error. */
export function readTime(text: string | null | undefined, name: string): number | undefined {
  if (text == null) return undefined;
  const time = ISO_TIME.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return time;
  const got = JSON.stringify(text.slice(0, 80));
  throw queryError("invalid_input", `${name}: got ${got}, expected a time like 2026-11-25T23:05:00Z, with its offset`);
}
