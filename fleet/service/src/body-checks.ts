/**
 * Checks of JSON bodies between the services. A check returns the value, or throws a sentence that names the field, the
 * value that was got and the one that was expected.
 */
import { isObject, show } from "./options.ts";

/** A body that does not fit. Its sender may see the message. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

export type Fields = Readonly<Record<string, unknown>>;
export type Check<T> = (value: unknown, name: string) => T;

export const wrong = (name: string, value: unknown, expected: string): ProtocolError =>
  new ProtocolError(`${name}: got ${show(value).slice(0, 80)}, expected ${expected}`);

export function object(value: unknown, name: string): Fields {
  if (isObject(value)) return value;
  throw wrong(name, value, "a JSON object");
}

/** Control characters would change a page or a log line that shows the text. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Checks a text that people read. Control characters become spaces. */
export const line =
  (min: number, max: number): Check<string> =>
  (value, name) => {
    if (typeof value !== "string" || value.length > max)
      throw wrong(name, value, `a text of ${min} to ${max} characters`);
    const clean = value.replace(CONTROL, " ").trim();
    if (clean.length < min) throw wrong(name, value, `a text of ${min} to ${max} characters`);
    return clean;
  };

export const pattern =
  (expected: string, form: RegExp): Check<string> =>
  (value, name) => {
    if (typeof value === "string" && form.test(value)) return value;
    throw wrong(name, value, expected);
  };

export const count: Check<number> = (value, name) => {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw wrong(name, value, "a whole number from 0");
};

export const milliseconds: Check<number | null> = (value, name) => {
  if (value === null || value === undefined) return null;
  if (typeof value === "number" && value >= 0 && value < Infinity) return value;
  throw wrong(name, value, "milliseconds or null");
};

/** Checks a number within bounds. */
export const within =
  (min: number, max: number): Check<number> =>
  (value, name) => {
    if (typeof value === "number" && value >= min && value <= max) return value;
    throw wrong(name, value, `a number from ${min} to ${max}`);
  };

export const flag: Check<boolean> = (value, name) => {
  if (typeof value === "boolean") return value;
  throw wrong(name, value, "true or false");
};

export const time: Check<string> = (value, name) => {
  const isTime = typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value);
  if (isTime && !Number.isNaN(Date.parse(value))) return value;
  throw wrong(name, value, "a time like 2026-11-25T23:05:00Z, with its offset");
};

export const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value, name) =>
    value === undefined || value === null ? undefined : check(value, name);

export const nullable =
  <T>(check: Check<T>): Check<T | null> =>
  (value, name) =>
    value === undefined || value === null ? null : check(value, name);

export const list =
  <T>(max: number, check: Check<T>): Check<T[]> =>
  (value, name) => {
    if (!Array.isArray(value) || value.length > max) throw wrong(name, value, `a list of at most ${max}`);
    return value.map((item, i) => check(item, `${name}[${i}]`));
  };

/** An address of a page, which the hub shows as a link. */
export const webAddress: Check<string> = (value, name) => {
  const url = typeof value === "string" && value.length <= 500 && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw wrong(name, value, "an address like https://host.example.org");
  return url.href;
};
