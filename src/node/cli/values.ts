/** Reads the values of options and checks their form. The library later checks their meaning. */
import { showJson } from "../../core/json.ts";
import { LARGEST as LARGEST_FILE } from "../files/tensor.ts";
import { UsageError, type Values } from "./options.ts";

const LARGEST = 999_999_999;

/** Largest file size in MiB without --max-file. Frames have some MiB, networks some hundred MiB. */
const DEFAULT_MIB = 512;

/** Returns the error about a wrong value of an option. */
export const wrongValue = (option: string, value: unknown, expected: string): UsageError =>
  new UsageError(`--${option}: got ${showJson(value)}, expected ${expected}`);

/** Returns the value of an option that takes a value. */
export const textOf = (values: Values, option: string): string | undefined =>
  values[option] as string | undefined;

/** Returns the values of a repeatable option. */
export const textsOf = (values: Values, option: string): readonly string[] | undefined =>
  values[option] as readonly string[] | undefined;

/** Reads an option by `parse`, which returns undefined for a wrong value. */
export function parsed<T>(
  values: Values,
  option: string,
  expected: string,
  parse: (value: string) => T | undefined,
): T | undefined {
  const value = textOf(values, option);
  if (value === undefined) return undefined;
  const found = parse(value);
  if (found === undefined) throw wrongValue(option, value, expected);
  return found;
}

/** Reads a number in `low..high`. */
export function numberOf(
  values: Values,
  option: string,
  low = -Infinity,
  high = Infinity,
): number | undefined {
  return parsed(values, option, `a number from ${low} to ${high}`, (value) => {
    const number = Number(value);
    return value.trim() !== "" && number >= low && number <= high ? number : undefined;
  });
}

/** Reads a whole number of at least `low`. */
export function wholeOf(values: Values, option: string, low: number): number | undefined {
  const number = numberOf(values, option, low, LARGEST);
  if (number !== undefined && !Number.isInteger(number))
    throw wrongValue(option, values[option], "a whole number");
  return number;
}

/** Returns the largest allowed file size in bytes. */
export const mostBytes = (values: Values): number =>
  Math.min(LARGEST_FILE, (wholeOf(values, "max-file", 1) ?? DEFAULT_MIB) * 2 ** 20);

/** Reads numbers separated by commas or blanks. */
export function numbersOf(
  values: Values,
  option: string,
  expected = "numbers separated by commas",
  isRight: (numbers: readonly number[]) => boolean = () => true,
): number[] | undefined {
  return parsed(values, option, expected, (value) => {
    const words = value.split(/[\s,]+/).filter((word) => word !== "");
    const numbers = words.map(Number);
    return numbers.length > 0 && numbers.every(Number.isFinite) && isRight(numbers) ? numbers : undefined;
  });
}

/** Reads one of several words. */
export const oneOf = <const W extends string>(
  values: Values,
  option: string,
  words: readonly W[],
): W | undefined => parsed(values, option, words.join(", "), (value) => words.find((word) => word === value));

/** Reads two numbers by a pattern with two groups. */
export const pairOf = (
  values: Values,
  option: string,
  expected: string,
  pattern: RegExp,
): [number, number] | undefined =>
  parsed(values, option, expected, (value) => {
    const match = pattern.exec(value);
    return match ? [Number(match[1]), Number(match[2])] : undefined;
  });

/** Reads a size such as 640x480. */
export const sizeOf = (values: Values, option: string): [number, number] | undefined =>
  pairOf(values, option, "WxH, for example 640x480", /^([1-9]\d{0,5})x([1-9]\d{0,5})$/i);

/** Reads names separated by commas. */
export function listOf(values: Values, option: string): string[] | undefined {
  return parsed(values, option, "names separated by commas", (value) => {
    const words = value.split(",").map((word) => word.trim());
    const names = words.filter((word) => word !== "");
    return names.length > 0 ? names : undefined;
  });
}
