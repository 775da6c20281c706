/**
 * JSON schemas with valibot. The message of a schema says what it expects. `readJson` makes a sentence from the field,
 * the received value and this message. A message that begins with "got" is used unchanged.
 */
import * as v from "valibot";

/** Error: a value does not fit its schema. Its sender may see the message. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

export type Schema<T = unknown> = v.GenericSchema<unknown, T>;
export type Fields = Readonly<Record<string, unknown>>;

type Frozen<T> = T extends (infer I)[]
  ? readonly Frozen<I>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

/** Read-only type of the values that a schema accepts. */
export type TypeOf<S extends v.GenericSchema> = Frozen<v.InferOutput<S>>;

/** True for a JSON object, false for a list, a text, a number and null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a value as text for messages. */
export const show = (given: unknown, most = 80): string =>
  given === undefined ? "nothing" : (JSON.stringify(given) ?? typeof given).slice(0, most);

/**
 * Returns a setting as text for messages, which may end up in a log. Lists and objects may hold secrets, and addresses
 * a password.
 */
export function showSetting(given: unknown, most = 80): string {
  if (Array.isArray(given)) return `a list of ${given.length}`;
  if (isObject(given)) return "an object";
  // Mask before cutting: the sign after the password may be beyond the end.
  return show(typeof given === "string" ? given.replace(/^((?:[\w+.-]+:)?\/*).*@/s, "$1***@") : given, most);
}

/** Returns the path of a problem, such as "snaps[0].name", or "" for the whole value. */
export const placeOf = (path: readonly { readonly key: unknown }[] = []): string =>
  path
    .map(({ key }, i) => (typeof key === "number" ? `[${key}]` : `${i > 0 ? "." : ""}${String(key).slice(0, 40)}`))
    .join("");

/** Returns the sentence about a problem, without the path. */
export function sentenceOf(
  { type, input, message }: Readonly<Record<"type" | "message", string>> & { input: unknown },
  shown = show,
): string {
  const isWhole = type.startsWith("raw_") || message.startsWith("got ");
  return isWhole ? message : `got ${shown(input)}, expected ${message}`;
}

/** Returns the checked value, or throws a ProtocolError with the first problem. */
export function readJson<S extends v.GenericSchema>(schema: S, value: unknown): TypeOf<S> {
  const { success, output, issues } = v.safeParse(schema, value, { abortEarly: true, abortPipeEarly: true });
  if (success) return output as TypeOf<S>;
  const [first] = issues;
  throw new ProtocolError(`${placeOf(first.path) || "body"}: ${sentenceOf(first)}`);
}

/** Accepts a JSON object with any content. */
export const anyObject = v.custom<Record<string, unknown>>(isObject, "a JSON object");

/** Returns the message for a missing field, which is the same as for a wrong value. */
const missingOf =
  (entries: v.ObjectEntries) =>
  ({ expected }: { readonly expected: string | null }): string => {
    const { message } = entries[JSON.parse(expected!) as string] as { message?: unknown };
    if (typeof message === "function") return (message as (issue: object) => string)({ input: undefined });
    return typeof message === "string" ? message : "a JSON object";
  };

/**
 * Accepts a JSON object with these fields. Drops unknown fields, since hub and agents are not updated at the same time.
 */
export const object = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(anyObject, v.object(entries, missingOf(entries)));

/** Accepts a JSON object with these fields. Keeps unknown fields. */
export const looseObject = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(anyObject, v.looseObject(entries, missingOf(entries)));

/** Control characters, which could change the page or log line that shows a text. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Accepts text for people. Control characters become spaces. */
export function line(min: number, max: number) {
  const expected = `a text of ${min} to ${max} characters`;
  return v.pipe(
    v.string(expected),
    v.maxLength(max, expected),
    v.transform((text) => text.replace(CONTROL, " ").trim()),
    v.minLength(min, expected),
  );
}

export const text = (expected: string, form = /\S/) => v.pipe(v.string(expected), v.regex(form, expected));

/** Accepts a secret, which messages do not repeat. */
export function secret(expected: string, form: RegExp) {
  const message = ({ input }: { readonly input: unknown }): string =>
    `got ${typeof input === "string" ? `a text of ${input.length} characters` : typeof input}, expected ${expected}`;
  return v.pipe(v.string(message), v.regex(form, message));
}

export const expectedWithin = (min: number, max: number, isWhole: boolean): string =>
  `${isWhole ? "a whole number" : "a number"} from ${min} to ${max}`;

/** Accepts a number within bounds. */
export function within(min: number, max: number, isWhole = false) {
  const expected = expectedWithin(min, max, isWhole);
  const fits = (n: number): boolean => n >= min && n <= max && (!isWhole || Number.isInteger(n));
  return v.pipe(v.number(expected), v.check(fits, expected));
}

const COUNT = "a whole number from 0";
export const count = v.pipe(v.number(COUNT), v.safeInteger(COUNT), v.minValue(0, COUNT));

const MILLISECONDS = "milliseconds or null";
export const milliseconds = v.nullish(
  v.pipe(v.number(MILLISECONDS), v.finite(MILLISECONDS), v.minValue(0, MILLISECONDS)),
  null,
);

export const flag = v.boolean("true or false");

const isTime = (given: string): boolean =>
  /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(given) && !Number.isNaN(Date.parse(given));
const TIME = "a time like 2026-11-25T23:05:00Z, with its offset";
export const time = v.pipe(v.string(TIME), v.check(isTime, TIME));

/** Accepts a value, null or a missing field. Null and a missing field become undefined. */
export const optional = <const S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.nullish(schema),
    v.transform((value) => value ?? undefined),
  );

/** Accepts a value, null or a missing field. A missing field becomes null. */
export const nullable = <const S extends v.GenericSchema>(schema: S) => v.nullish(schema, null);

export function list<const S extends v.GenericSchema>(max: number, item: S, min = 0, words?: string) {
  const expected = words ?? (min === 0 ? `a list of at most ${max}` : `a list of ${min} to ${max}`);
  const fits = (given: unknown): boolean => Array.isArray(given) && given.length >= min && given.length <= max;
  return v.pipe(v.custom<unknown[]>(fits, expected), v.array(item));
}

export const oneOf = <const C extends readonly string[]>(choices: C) =>
  v.picklist(
    choices,
    choices.length < 2 ? choices.join("") : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`,
  );

const WEB_ADDRESS = "an address like https://host.example.org";
/** True for an address that `fetch` accepts: it refuses one with a user or password, and repeats it in its error. */
export function isWebAddress(given: string): boolean {
  if (given.length > 500 || !URL.canParse(given)) return false;
  const { protocol, username, password } = new URL(given);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}

/** Returns the address of a hub, without a slash at the end. Returns null if the text is no such address. */
export function hubAddressOf(given: string): string | null {
  if (!isWebAddress(given)) return null;
  const { href, search, hash } = new URL(given);
  return search + hash === "" ? href.replace(/\/+$/, "") : null;
}
/** Accepts the address of a page and keeps its text, since parsing may add a slash. */
export const plainAddress = v.pipe(v.string(WEB_ADDRESS), v.check(isWebAddress, WEB_ADDRESS));
/** Accepts the address of a page that the hub shows as a link. */
export const webAddress = v.pipe(
  plainAddress,
  v.transform((given) => new URL(given).href),
);

/**
 * Accepts every value that `parse` accepts, and returns the result of `parse`. The error of `parse` says what was got
 * and expected.
 */
export const by = <T>(parse: (given: unknown) => T) =>
  v.pipe(
    v.unknown(),
    v.rawTransform<unknown, T>(({ dataset, addIssue, NEVER }) => {
      try {
        return parse(dataset.value);
      } catch (error) {
        addIssue({ message: (error as Error).message });
        return NEVER;
      }
    }),
  );
