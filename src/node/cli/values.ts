/** Reads option values and checks their form. The library checks their meaning. */
import { showJson } from "../../core/json.ts";
import { LARGEST as LARGEST_FILE } from "../files/tensor.ts";
import { UsageError, type Values } from "./options.ts";

/** Largest whole number that an option accepts. */
const LARGEST = 999_999_999;

/** Largest file size in MiB without --max-file: frames have some MiB, networks some hundred. */
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

/** Reads a number in `low..high`. */
export function numberOf(
  values: Values,
  option: string,
  low = -Infinity,
  high = Infinity,
): number | undefined {
  const value = textOf(values, option);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (value.trim() === "" || !(number >= low && number <= high))
    throw wrongValue(option, value, `a number from ${low} to ${high}`);
  return number;
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
  const value = textOf(values, option);
  if (value === undefined) return undefined;
  const numbers = value
    .split(/[\s,]+/)
    .filter((word) => word !== "")
    .map(Number);
  if (numbers.length === 0 || !numbers.every(Number.isFinite) || !isRight(numbers))
    throw wrongValue(option, value, expected);
  return numbers;
}

/** Reads one of several words. */
export function oneOf<const W extends string>(
  values: Values,
  option: string,
  words: readonly W[],
): W | undefined {
  const value = textOf(values, option);
  if (value === undefined) return undefined;
  const known = words.find((word) => word === value);
  if (known === undefined) throw wrongValue(option, value, words.join(", "));
  return known;
}

/** Reads a size such as 640x480. */
export function sizeOf(values: Values, option: string): [number, number] | undefined {
  const value = textOf(values, option);
  if (value === undefined) return undefined;
  const match = /^([1-9]\d{0,5})x([1-9]\d{0,5})$/i.exec(value);
  if (!match) throw wrongValue(option, value, "WxH, for example 640x480");
  return [Number(match[1]), Number(match[2])];
}

/** Reads names separated by commas. */
export function listOf(values: Values, option: string): string[] | undefined {
  const value = textOf(values, option);
  if (value === undefined) return undefined;
  const words = value
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  if (words.length === 0) throw wrongValue(option, value, "names separated by commas");
  return words;
}
