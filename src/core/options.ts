/** Checks the names and values in objects that a caller passes. Errors suggest what the caller may have meant. */
import { refuse, refuseValue } from "./errors.ts";
import { namesFor } from "./names.ts";
import { isKeyed, show } from "./tensor.ts";

/** A rule for values of type T: the expected value in words, and a test. */
export interface Rule<T = unknown> {
  readonly 0: string;
  readonly 1: (x: unknown) => boolean;
  readonly type?: T;
}

/** The rule of each option. */
export type OptionRules = Readonly<Record<string, Rule>>;

const isNumber = (x: unknown): x is number => typeof x === "number" && x === x;

export const isUnit = (x: unknown): x is number => isNumber(x) && x >= 0 && x <= 1;

export const UNIT: Rule<number> = ["a number in 0..1", isUnit];
/** Rule: a whole number from 1 up, below 1e9. */
export const COUNT: Rule<number> = [
  "a positive whole number below 1e9",
  (x) => Number.isInteger(x) && (x as number) > 0 && (x as number) < 1e9,
];
/** Rule: one confidence threshold, or one per class. */
export const CONFIDENCE: Rule<number | readonly number[]> = [
  "0..1, or an array of such, one per class",
  // Array.from turns the holes of an array into undefined. every() alone would skip holes.
  (x) => isUnit(x) || (Array.isArray(x) && x.length > 0 && Array.from(x).every(isUnit)),
];
/** Rule: any number except NaN. */
export const NUMBER: Rule<number> = ["a number", isNumber];
/** Rule: a finite number above 0. */
export const POSITIVE: Rule<number> = ["a number above 0", (x) => isNumber(x) && x > 0 && x < Infinity];
/** Rule: a finite number of at least 0. */
export const FROM_ZERO: Rule<number> = ["a number from 0 up", (x) => isNumber(x) && x >= 0 && x < Infinity];
/** Rule: pixels added to the sides of boxes. With an offset above 1000, boxes would lose their precision. */
export const PIXEL_OFFSET: Rule<number> = [
  "a number from 0 to 1000",
  (x) => isNumber(x) && x >= 0 && x <= 1000,
];
export const FLAG: Rule<boolean> = ["true or false", (x) => typeof x === "boolean"];
export const FUNCTION: Rule = ["a function", (x) => typeof x === "function"];
/** Rule: any value. The code that uses the option checks the value. */
export const ANY: Rule = ["a value", () => true];
/** Rule: width and height of a picture. */
export const SIZE: Rule<readonly [number, number]> = [
  "[width, height] of the frame in pixels",
  (x) => Array.isArray(x) && x.length === 2 && x.every((v) => POSITIVE[1](v)),
];

/** Returns a rule that accepts one of these words. */
/* @__NO_SIDE_EFFECTS__ */
export const oneOf = <const T extends string>(values: readonly T[]): Rule<T> => [
  `one of ${values.join(", ")}`,
  (x) => values.includes(x as T),
];

/** Returns rules that allow these names with any value. The code that uses the options checks the values. */
/* @__NO_SIDE_EFFECTS__ */
export const namesOnly = (...names: readonly string[]): OptionRules =>
  Object.fromEntries(names.map((name) => [name, ANY]));

/** The two parts of an error: what was found, and what was expected. */
export type Complaint = readonly [got: string, expected: string];

/** Returns the problem of a name as [got, expected]. Returns null if there is none. */
export const nameComplaint = (name: string, names: readonly string[], more = ""): Complaint | null =>
  names.includes(name) ? null : ["an unknown name", namesFor(name, names, more)];

/** Returns the problem of a value as [got, expected]. Returns null if there is none. */
export const valueComplaint = (value: unknown, rule: Rule): Complaint | null =>
  rule[1](value) ? null : [show(value), rule[0] + slip(value, rule)];

/**
 * Returns advice for an error about a fraction: the value read as a percentage. Returns an empty text if the value
 * cannot be a percentage.
 */
export const percentText = (value: number): string =>
  value >= 5 && value <= 100 ? `; ${value} percent is ${value / 100}` : "";

/** Returns a guess at the intended value, for an error. Returns an empty text if no guess is likely. */
function slip(value: unknown, rule: Rule): string {
  const passes = rule[1];
  // A rule for fractions accepts 0.5 and 1, and refuses 2.
  const isFraction = passes(0.5) && passes(1) && !passes(2);
  if (isNumber(value) && isFraction) return percentText(value);
  if (typeof value === "string" && value.trim() !== "" && passes(Number(value)))
    return `; a number has no quotes: ${Number(value)}`;
  // A rule for pairs accepts a list with the value twice, but not once or three times.
  const isPair = [1, 2, 3].every((length) => passes(Array<unknown>(length).fill(value)) === (length === 2));
  if (isNumber(value) && isPair) return `; a square is [${value}, ${value}]`;
  return typeof value === "string" && value !== value.toLowerCase() && passes(value.toLowerCase())
    ? `; in small letters, "${value.toLowerCase()}"`
    : "";
}

/** Throws a RangeError about a value that breaks its rule. */
export function checkValue(name: string, value: unknown, rule: Rule): void {
  const complaint = valueComplaint(value, rule);
  if (complaint) refuseValue(name, ...complaint);
}

/** The wording and the class of the errors that `checkOptions` throws. */
export interface CheckedAs {
  /** Text before each name in an error: `frame.` */
  readonly prefix?: string;
  /** Text after the list of names in an error: ` for "sort"` */
  readonly more?: string;
  /** Name of the argument, for the error if the argument is no object. Default "options". */
  readonly name?: string;
  /** Expected form, for the same error. Default: "an object with some of" the names. */
  readonly form?: string;
  readonly Kind?: new (message: string) => Error;
}

/**
 * Checks the names and the values in an object. Returns a copy without values that are `undefined` or `null`. Checks
 * inherited names too: `Object.create` may have made the object.
 * @throws RangeError, or an error of the given class, about the first unknown name or wrong value
 */
export function checkOptions<T extends object>(
  given: T,
  rules: OptionRules,
  { prefix = "", more = "", name: called = "options", form, Kind = RangeError }: CheckedAs = {},
): T {
  const names = Object.keys(rules);
  if (!isKeyed(given))
    refuse(called, show(given), form ?? `an object with some of ${names.join(", ")}`, Kind);
  const values: Record<string, unknown> = {};
  for (const name in given) {
    const value = given[name] ?? null;
    const complaint =
      nameComplaint(name, names, more) ?? (value === null ? null : valueComplaint(value, rules[name]));
    if (complaint) refuse(prefix + name, ...complaint, Kind);
    if (value !== null) values[name] = value;
  }
  return values as T;
}
