/**
 * Reads flat options from a table of definitions. A config file overrides defaults. Environment variables or flags
 * override the file. One error lists all problems.
 */
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { messageOf, UserError } from "../errors.ts";
import { meantBy, nearest } from "../names.ts";
import { expectedWithin, isObject, secret, sentenceOf, show, showSetting, within, type Schema } from "./json.ts";

export interface Option<T = unknown> {
  readonly schema: Schema<T>;
  readonly fallback?: T;
  readonly about: string;
}

/** Returns the row of an option. An option without a fallback may be undefined. */
export function option<S extends Schema<unknown>>(about: string, schema: S): { about: string; schema: S };
export function option<S extends Schema<unknown>>(
  about: string,
  schema: S,
  fallback: v.InferOutput<S>,
): { about: string; schema: S; fallback: v.InferOutput<S> };
export function option(about: string, schema: Schema<unknown>, fallback?: unknown): Option {
  return { about, schema, ...(fallback !== undefined && { fallback }) };
}

/** Types of the values of a table of options. An option without a default may be undefined. */
export type ValuesOf<O extends Readonly<Record<string, Option>>> = {
  readonly [K in keyof O]: O[K] extends { readonly fallback: unknown }
    ? v.InferOutput<O[K]["schema"]>
    : v.InferOutput<O[K]["schema"]> | undefined;
};

/** Error: the configuration is wrong. The message has a line per problem. */
export class ConfigProblems extends UserError {
  override readonly name = "ConfigProblems";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const lines = problems.map((line) => `  ${line}`).join("\n");
    super(problems.length === 1 ? problems[0] : `${problems.length} problems in the configuration:\n${lines}`);
    this.problems = problems;
  }
}

/** Accepts a number, or a text with a number, as in variables and flags. */
export function number(min: number, max: number, isWhole = true) {
  const numberOf = (given: unknown): unknown =>
    typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  const fits = (given: unknown): boolean => v.is(within(min, max, isWhole), numberOf(given));
  return v.pipe(v.custom<number | string>(fits, expectedWithin(min, max, isWhole)), v.transform(Number));
}

/** Accepts a list, or a text with commas between the items. */
export const texts = <T>(item: Schema<T>) =>
  v.pipe(
    v.unknown(),
    v.transform((given) => (typeof given === "string" ? given.split(",").map((part) => part.trim()) : given)),
    v.array(item, "a list"),
  );

export const logLevel = v.picklist(
  ["trace", "debug", "info", "warn", "error", "silent"],
  "one of trace, debug, info, warn, error, silent",
);

/** A value that overrides the file, with its name for messages. */
export interface Given {
  readonly where: string;
  readonly value: unknown;
}

/**
 * Returns the values of a table of options, and all problems. An option with a problem gets its default.
 * @param file parsed config file
 * @param given values of environment or flags, by option name
 * @param variableOf returns the environment variable of an option, which people may write into the file
 */
export function readOptions(
  options: Readonly<Record<string, Option>>,
  file: unknown,
  given: Readonly<Record<string, Given | undefined>>,
  variableOf: (name: string) => string | undefined = () => undefined,
): { values: Record<string, unknown>; problems: string[] } {
  const problems: string[] = [];
  if (!isObject(file)) problems.push(`config file: got ${showSetting(file, 40)}, expected a JSON object`);
  const fromFile = isObject(file) ? file : {};
  for (const name of Object.keys({ ...fromFile, ...given })) {
    if (Object.hasOwn(options, name)) continue;
    const inFile = Object.keys(options).find((known) => variableOf(known) === name);
    const meant = inFile === undefined ? meantBy(name, Object.keys(options)) : `; its name in a file is ${inFile}`;
    problems.push(`${name}: got an option that does not exist${meant}`);
  }
  const values: Record<string, unknown> = {};
  for (const [name, { schema, fallback }] of Object.entries(options)) {
    const { where, value } = given[name] ?? { where: name, value: fromFile[name] };
    values[name] = fallback;
    if (value === undefined) continue;
    const { success, output, issues } = v.safeParse(schema, value, { abortEarly: true, abortPipeEarly: true });
    if (success) values[name] = output;
    else problems.push(`${where}: ${sentenceOf(issues[0], showSetting)}`);
  }
  return { values, problems };
}

/**
 * Accepts the place of a database: a path, or the address of PostgreSQL. Refuses any other address: as a path, it would
 * create a file with the password in its name. The error does not repeat the address.
 */
export const databasePlace = v.pipe(
  secret("a file, or an address like postgres://user:password@machine/name", /\S/),
  v.check(
    (place) => /^postgres(ql)?$/.test(schemeOf(place) ?? "postgres"),
    ({ input }) => {
      const scheme = schemeOf(input)!;
      const meant = nearest(scheme, ["postgres", "postgresql"]);
      return (
        `got an address that begins with ${scheme.slice(0, 20)}://, expected postgres:// or the path of a SQLite file` +
        (meant === undefined ? "" : `. Did you mean ${meant}://?`)
      );
    },
  ),
);

const schemeOf = (place: string): string | undefined => /^([a-z][\w+.-]*):\/\//i.exec(place)?.[1];

/** Variables that Kubernetes sets in each container for a service with the same name. */
const KUBERNETES = /_SERVICE_(HOST|PORT)|_PORT_\d+_/;

/**
 * Returns a problem for each variable with the prefix that is not an option, since a misspelt variable has no effect.
 * @param near true: only variables that look like an option. Others with the prefix may belong to other programs
 */
export function misspeltVariables(
  env: Readonly<Record<string, string | undefined>>,
  prefix: string,
  known: readonly string[],
  near = false,
): string[] {
  const given = Object.keys(env).filter((name) => name.startsWith(prefix) && env[name] !== "" && !known.includes(name));
  // Compare names without the prefix, since `nearest` accepts more different letters in longer names.
  const restOf = (name: string): string => name.slice(prefix.length);
  const rests = known.filter((name) => name.startsWith(prefix)).map(restOf);
  const meant = given.filter((name) => !KUBERNETES.test(name) && (!near || nearest(restOf(name), rests) !== undefined));
  return meant.map((name) => `${name}: got a variable that nobody reads${meantBy(restOf(name), rests, prefix)}`);
}

export const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || /^127(\.\d{1,3}){3}$/.test(address);

/** Reads a JSON file whose path the operator gave. */
export function readJsonFile(path: string, what = "config file"): unknown {
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigProblems([`${what}: got ${show(path)}, expected a readable file (${messageOf(error)})`]);
  }
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new ConfigProblems([`${what} ${path}: got text that is not JSON (${messageOf(error)})`]);
  }
}
