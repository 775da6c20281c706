/**
 * Reads flat options, as a table states them: defaults, then a JSON file, then environment or flags. Every problem is
 * told at once.
 */
import { readFileSync } from "node:fs";
import { messageOf, UserError } from "./errors.ts";
import { meantBy, nearest } from "./names.ts";

/** Returns the value, or throws a sentence with what was got and what was expected. */
export type Parse<T = unknown> = (given: unknown) => T;

export interface Option {
  readonly parse: Parse;
  readonly fallback?: unknown;
  readonly about: string;
  /** Variable of the environment that goes before the file. */
  readonly env?: string;
}

/** The configuration is wrong. The message is one line for one problem, or has a line for each. */
export class ConfigProblems extends UserError {
  override readonly name = "ConfigProblems";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const lines = problems.map((line) => `  ${line}`).join("\n");
    super(problems.length === 1 ? problems[0] : `${problems.length} problems in the configuration:\n${lines}`);
    this.problems = problems;
  }
}

/** True for a JSON object, false for a list, a text, a number and null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a value as messages repeat it. */
export const show = (given: unknown): string => JSON.stringify(given) ?? typeof given;

export function number(min: number, max: number, isWhole = true): Parse<number> {
  return (given) => {
    const value = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
    if (typeof value !== "number" || !(value >= min && value <= max) || (isWhole && !Number.isInteger(value)))
      throw new Error(`got ${show(given)}, expected ${isWhole ? "a whole number" : "a number"} from ${min} to ${max}`);
    return value;
  };
}

export function text(what: string, pattern = /\S/): Parse<string> {
  return (given) => {
    if (typeof given === "string" && pattern.test(given)) return given;
    throw new Error(`got ${show(given)}, expected ${what}`);
  };
}

/** Parses a secret, which the message does not repeat. */
export function secret(what: string, pattern: RegExp): Parse<string> {
  return (given) => {
    if (typeof given === "string" && pattern.test(given)) return given;
    const got = typeof given === "string" ? `a text of ${given.length} characters` : typeof given;
    throw new Error(`got ${got}, expected ${what}`);
  };
}

/** Parses a list, or text with commas. */
export function list<T>(item: Parse<T>): Parse<T[]> {
  return (given) => {
    const items: unknown = typeof given === "string" ? given.split(",").map((part) => part.trim()) : given;
    if (!Array.isArray(items)) throw new Error(`got ${show(given)}, expected a list`);
    return items.map((value) => item(value));
  };
}

export const logLevel = text(
  "one of trace, debug, info, warn, error, silent",
  /^(trace|debug|info|warn|error|silent)$/,
);

/** A value that goes before that of the file, and the name by which problems tell it. */
export interface Given {
  readonly where: string;
  readonly value: unknown;
}

/**
 * Returns the values of a table of options, and the problems. An option with a problem has its default.
 * @param file what the config file holds
 * @param given values of environment or flags, by name of the option
 */
export function readOptions(
  options: Readonly<Record<string, Option>>,
  file: unknown,
  given: Readonly<Record<string, Given | undefined>>,
): { values: Record<string, unknown>; problems: string[] } {
  const problems: string[] = [];
  if (!isObject(file)) problems.push(`config file: got ${show(file).slice(0, 40)}, expected a JSON object`);
  const fromFile = isObject(file) ? file : {};
  for (const name of Object.keys({ ...fromFile, ...given })) {
    if (Object.hasOwn(options, name)) continue;
    const [inFile] = Object.entries(options).find(([, { env }]) => env === name) ?? [];
    const meant = inFile === undefined ? meantBy(name, Object.keys(options)) : `; its name in a file is ${inFile}`;
    problems.push(`${name}: got an option that does not exist${meant}`);
  }
  const values: Record<string, unknown> = {};
  for (const [name, { parse, fallback }] of Object.entries(options)) {
    const { where, value } = given[name] ?? { where: name, value: fromFile[name] };
    values[name] = fallback;
    if (value === undefined) continue;
    try {
      values[name] = parse(value);
    } catch (error) {
      problems.push(`${where}: ${messageOf(error)}`);
    }
  }
  return { values, problems };
}

/**
 * Parses the place of a database: a path, or an address of PostgreSQL. An address of anything else is no path: the file
 * would have the password in its name. The message does not repeat it.
 */
export const databasePlace: Parse<string> = (given) => {
  const place = secret("a file, or an address like postgres://user:password@machine/name", /\S/)(given);
  const [, scheme] = /^([a-z][\w+.-]*):\/\//i.exec(place) ?? [];
  if (scheme === undefined || /^postgres(ql)?$/.test(scheme)) return place;
  const meant = nearest(scheme, ["postgres", "postgresql"]);
  throw new Error(
    `got an address that begins with ${scheme.slice(0, 20)}://, expected postgres:// or the path of a SQLite file` +
      (meant === undefined ? "" : `. Did you mean ${meant}://?`),
  );
};

/** Variables that Kubernetes sets in each container for a service of this name. */
const KUBERNETES = /_SERVICE_(HOST|PORT)|_PORT_\d+_/;

/**
 * Returns a problem for each variable that begins with the prefix and is not read: a misspelt one has no effect.
 * @param near true: only variables that look like a known one. Others with the prefix may belong to other programs
 */
export function misspeltVariables(
  env: Readonly<Record<string, string | undefined>>,
  prefix: string,
  known: readonly string[],
  near = false,
): string[] {
  const given = Object.keys(env).filter((name) => name.startsWith(prefix) && env[name] !== "" && !known.includes(name));
  // All names begin alike, so only the rest says which one was meant: TESTS is not NATS.
  const restOf = (name: string): string => name.slice(prefix.length);
  const rests = known.filter((name) => name.startsWith(prefix)).map(restOf);
  const meant = given.filter((name) => !KUBERNETES.test(name) && (!near || nearest(restOf(name), rests) !== undefined));
  return meant.map((name) => `${name}: got a variable that nobody reads${meantBy(restOf(name), rests, prefix)}`);
}

export const isLoopback = (address: string): boolean =>
  address === "localhost" || address === "::1" || /^127(\.\d{1,3}){3}$/.test(address);

/** Reads a JSON file that the operator named. */
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
