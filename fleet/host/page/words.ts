/** Formats numbers and times as words. */
import { make } from "./parts.ts";

const UNITS = [
  ["s", 1000],
  ["min", 60_000],
  ["h", 3_600_000],
  ["days", 86_400_000],
] as const;

/** Returns a duration in the largest unit with a value of ten or more. Photos in a folder may be years old. */
export function duration(milliseconds: number): string {
  const unit = UNITS.findLast(([, size]) => Math.abs(milliseconds) >= 10 * size);
  if (!unit) return `${milliseconds.toFixed(Math.abs(milliseconds) < 10 ? 2 : 0)} ms`;
  const [name, size] = unit;
  return `${(milliseconds / size).toFixed(name === "s" ? 1 : 0)} ${name}`;
}

/** Returns how long ago something was, in whole units: somebody who reads an age needs no fractions. */
export function ageText(milliseconds: number): string {
  const [name, size] = UNITS.findLast(([, each]) => milliseconds >= 2 * each) ?? UNITS[0];
  return milliseconds < size ? "less than 1 s" : `${Math.round(milliseconds / size)} ${name}`;
}

/** Returns the text of a label. A network without names labels by class id, which alone reads as a count. */
export const labelText = (label: string): string => (/^\d+$/.test(label) ? `class ${label}` : label);

/** Returns a number with its noun: "1 box", "1,200 boxes". */
export const countOf = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? noun : nouns}`;

/** Returns date and time of day in the format of the reader's language. */
export const moment = (time: number | string, seconds = false): string =>
  new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: seconds ? "medium" : "short" });

export const timeOfDay = (time: number): string => new Date(time).toLocaleTimeString(undefined, { timeStyle: "short" });

/** Returns the first and last minute of an event, with the date only once. */
export function span(first: string, last: string): string {
  const [from, to] = [new Date(first), new Date(last)];
  if (first === last) return moment(first);
  return from.toDateString() === to.toDateString()
    ? `${moment(first)} to ${timeOfDay(to.getTime())}`
    : `${moment(first)} to ${moment(last)}`;
}

/** Returns rows of a description list. */
export function listOf(values: Readonly<Record<string, string | number>>): HTMLElement[] {
  return Object.entries(values).map(([name, value]) =>
    make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: String(value) })),
  );
}
