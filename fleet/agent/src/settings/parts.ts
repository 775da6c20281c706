/** Parts of the settings' schema. Each accepts JSON, and says what it expects. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as v from "valibot";
import { messageOf } from "boxwright-service/errors";
import { meantBy, nearest } from "boxwright-service/names";
import {
  isObject,
  looseObject,
  type Schema,
  secret,
  showSetting,
  within,
  text as textLike,
} from "boxwright-service/schema/json";

/** Accepts an object with these fields. Refuses other fields, since a misspelt name would have no effect. */
export const group = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(
    looseObject(entries),
    v.rawCheck(({ dataset, addIssue }) => {
      const input: unknown = dataset.value;
      // The check of a value that is no object runs too.
      if (!isObject(input)) return;
      for (const key of Object.keys(input))
        if (!Object.hasOwn(entries, key))
          addIssue({
            message: `is not known here${meantBy(key, Object.keys(entries).sort())}`,
            path: [{ type: "object", origin: "key", input, key, value: input[key] }],
          });
    }),
    v.transform((given): v.InferOutput<v.ObjectSchema<E, undefined>> => given),
  );

/** Accepts a group of settings. Reads a missing group as an empty one, so that each field gets its default. */
export const section = <const S extends v.GenericSchema>(schema: S) => v.nullish(schema, {});

/** Accepts one of several groups of settings. The field `kind` selects the group. */
export function oneKind<const K extends Readonly<Record<string, v.GenericSchema>>>(kinds: K) {
  const anyKind = looseObject({ kind: choice(Object.keys(kinds)) });
  const schemaOf = (given: unknown): v.GenericSchema => (v.is(anyKind, given) ? kinds[given.kind as string]! : anyKind);
  return v.lazy((given) => schemaOf(given) as Schema<v.InferOutput<K[keyof K]>>);
}

/** Accepts a list of at least one item. The values of `key`, which name the items, must differ. */
export const listOf = <const S extends v.GenericSchema>(list: string, item: S, key: string) =>
  v.pipe(
    v.custom<unknown[]>((given) => Array.isArray(given) && given.length > 0, "a list of at least one"),
    v.array(item),
    v.rawCheck(({ dataset, addIssue }) => {
      const items = dataset.value as readonly unknown[];
      const names = items.map((one) => (isObject(one) ? one[key] : undefined));
      for (const [i, name] of names.entries()) {
        const first = names.indexOf(name);
        if (typeof name !== "string" || first === i) continue;
        const at = { type: "array", origin: "value", input: [...items], key: i, value: items[i] } as const;
        addIssue({
          message: `got ${showSetting(name)}, which ${list}[${first}] has, expected another`,
          path: [at, { type: "object", origin: "value", input: items[i] as Record<string, unknown>, key, value: name }],
        });
      }
    }),
  );

const TEXT = "text of 1 to 1024 characters, without control characters";
const FORM = /^[^\0-\x1f\x7f-\x9f\ud800-\udfff]{1,1024}$/u;
/** A signed token may have some thousands of characters. Servers accept headers of 16 KiB in all. */
const SECRET = "text of 1 to 8192 characters, without control characters";
const SECRET_FORM = /^[^\0-\x1f\x7f-\x9f\ud800-\udfff]{1,8192}$/u;

/** Accepts text without control characters, since packets carry the text in a header. */
export const text = textLike(TEXT, FORM);
/** Accepts text that errors do not repeat. */
export const secretText = secret(SECRET, SECRET_FORM);

const MOST_NAME = 512;

/** Accepts a name that each packet carries. Hosts accept at most 512 bytes. */
export const name = v.pipe(
  text,
  v.check(
    (given) => Buffer.byteLength(given) <= MOST_NAME,
    ({ input }) => `got ${Buffer.byteLength(input)} bytes, expected at most ${MOST_NAME}`,
  ),
);

/** Accepts an address. The error does not repeat its user and password. */
export const address = (expected: string, isAddress: (given: string) => boolean) =>
  v.pipe(
    text,
    v.check(isAddress, ({ input }) => `got ${showSetting(input)}, expected ${expected}`),
  );

/** Accepts a path, relative to the folder of the settings. Returns the absolute path. */
export const pathIn = (folder: string) =>
  v.pipe(
    text,
    v.transform((given) => resolve(folder, given)),
  );
export type Path = ReturnType<typeof pathIn>;

/** Accepts the path of a file that contains a secret. Returns the secret, or null if the file is empty. */
export const fileWith = (path: Path, secret: v.GenericSchema<string>) =>
  v.pipe(
    path,
    v.rawTransform<string, string | null>(({ dataset, addIssue, NEVER }) => {
      try {
        return readFileSync(dataset.value, "utf8").trim() || null;
      } catch (error) {
        addIssue({ message: `cannot be read (${messageOf(error)})` });
        return NEVER;
      }
    }),
    v.nullable(secret),
  );

/** Refuses settings that give a secret both directly and in a file. */
export const eitherOf = <T extends object>(key: keyof T & string, fileKey: keyof T & string) =>
  v.rawCheck<T>(({ dataset, addIssue }) => {
    const input: unknown = dataset.value;
    if (!isObject(input) || input[key] == null || input[fileKey] == null) return;
    const message = `stands beside ${key}, expected one of them`;
    addIssue({ message, path: [{ type: "object", origin: "value", input, key: fileKey, value: input[fileKey] }] });
  });

/** Accepts a whole number. Returns the fallback for a missing one. */
export const whole = (least: number, most: number, fallback: number) => v.nullish(within(least, most, true), fallback);

/** Accepts one of several words. */
export const choice = <const C extends string>(choices: readonly C[]) =>
  v.picklist(choices, ({ input }) => {
    const meant = typeof input === "string" ? nearest(input, choices) : undefined;
    const expected = `, expected ${choices.map((one) => `"${one}"`).join(", ")}`;
    return `got ${showSetting(input)}${meant === undefined ? expected : `. Did you mean "${meant}"?`}`;
  });
