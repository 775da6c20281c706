/** Reads unknown JSON. Collects every problem with its path, so that one edit can correct the file. */
import { ConfigError, type ConfigProblem, type OptionName, problemOf } from "../core/errors.ts";
import { isLabelSet, labelsOf } from "../core/labels.ts";
import { namesFor, nearestName } from "../core/names.ts";
import { type Rule, nameComplaint, valueComplaint } from "../core/options.ts";
import { isKeyed, show } from "../core/tensor.ts";

export type Json = { readonly [key: string]: unknown };

export function isObject(x: unknown): x is Json {
  return isKeyed(x);
}

// Array.from turns the holes of an array into undefined. every() and forEach() would skip holes.
const all = (x: unknown, passes: (v: unknown) => boolean): boolean =>
  Array.isArray(x) && Array.from(x as unknown[]).every(passes);

const isPositive = (x: unknown): x is number => typeof x === "number" && x > 0 && x < Infinity;
const isNumber = (x: unknown): x is number => typeof x === "number";
export const isText = (x: unknown): x is string => typeof x === "string";
/** True if the value is a whole number from 0 up. */
export const isWhole = (x: unknown): x is number => Number.isInteger(x) && (x as number) >= 0;

export const TEXT: Rule<string> = ["a string", isText];
export const TEXTS: Rule<string[]> = ["an array of strings", (a) => all(a, isText)];
export const NAMES: Rule<(string | number)[]> = [
  "class names or class numbers",
  (x) => all(x, (v) => isText(v) || Number.isInteger(v)),
];

/** Returns advice on how to convert a text of several lines, or a path, to labels. Returns "" for any other value. */
function adviceOnText(value: unknown): string {
  if (!isText(value)) return "";
  if (value.includes("\n")) return "; a text of lines becomes one by text.trim().split(/\\r?\\n/)";
  return /[./\\]/.test(value)
    ? '; a file of lines becomes one by readFileSync(path, "utf8").trim().split(/\\r?\\n/)'
    : "";
}

/** Returns a flat list w, h, w, h, ... as pairs. */
export const inPairs = (flat: readonly number[]): [number, number][] =>
  flat.flatMap((w, i) => (i % 2 ? [] : [[w, flat[i + 1]]]));

/**
 * Reads the fields of one object. Methods take a field's key and return its value. They return `null` for an absent or
 * `null` field. For a wrong value, they report a problem that names the key, and return `null`.
 */
export class FieldReader {
  readonly json: Json;
  readonly path: string;
  readonly problems: ConfigProblem[];

  constructor(json: Json, path = "", problems: ConfigProblem[] = []) {
    this.json = json;
    this.path = path;
    this.problems = problems;
  }

  pathOf(key: string): string {
    return this.path && key ? `${this.path}.${key}` : this.path + key;
  }

  /** Reports a problem of the field `key`. `option` names the option of `createDecoder` that can replace the field. */
  report(key: string, got: string, expected: string, option?: OptionName): void {
    this.problems.push(problemOf(this.pathOf(key), got, expected, option));
  }

  /** Reports that the value of the field `key` is wrong. */
  reportValue(key: string, expected: string, got = this.json[key]): void {
    this.report(key, show(got), expected);
  }

  /** Reports a missing option. `key` is the field in which a file would state the option. */
  reportMissing(option: OptionName, expected: string, key: string = option): void {
    this.report(key, show(this.json[key]), expected, option);
  }

  /** Reports every key outside `keys`, since a misspelt name would have no effect. */
  reportUnknown(keys: readonly string[], more = ""): void {
    for (const key of Object.keys(this.json)) {
      const complaint = nameComplaint(key, keys, more);
      if (complaint) this.report(key, ...complaint);
    }
  }

  /**
   * Reports misspelt keys, and names that other projects use for known keys. Allows other unknown keys, since tools add
   * keys of their own.
   */
  reportMisspelt(keys: readonly string[]): void {
    for (const key of Object.keys(this.json))
      if (!keys.includes(key) && nearestName(key, keys) !== undefined)
        this.report(key, "an unknown name", namesFor(key, keys));
  }

  throwProblems(): void {
    if (this.problems.length > 0) throw new ConfigError(this.problems);
  }

  has(key: string): boolean {
    return (this.json[key] ?? null) !== null;
  }

  /** Returns the value of a field if it satisfies the rule, else null. */
  take<T>(key: string, rule: Rule<T>, x = this.json[key]): T | null {
    if (x === undefined || x === null) return null;
    const complaint = valueComplaint(x, rule);
    if (complaint === null) return x as T;
    this.report(key, ...complaint);
    return null;
  }

  /** Returns a reader of the object in a field. If the field is absent, the reader has no fields. */
  object(key: string, path = this.path): FieldReader {
    const r = new FieldReader({}, path ? `${path}.${key}` : key, this.problems);
    return new FieldReader(
      r.take<Json>("", ["an object", isObject], this.json[key]) ?? {},
      r.path,
      this.problems,
    );
  }

  /** Returns a reader for each object of the list in a field. */
  objects(key: string): FieldReader[] | null {
    const list = this.array(key)?.flatMap((x, i) => {
      if (isObject(x)) return new FieldReader(x, `${this.path}.${key}[${i}]`, this.problems);
      this.reportValue(`${key}[${i}]`, "an object", x);
      return [];
    });
    return list ?? null;
  }

  /** Returns the array in a field. Holes become undefined. */
  array(key: string, x = this.json[key], expected = "an array"): unknown[] | null {
    const a = this.take<unknown[]>(key, [expected, Array.isArray], x);
    return a && Array.from(a);
  }

  /** Returns `x`, an element of a list, as an array. Reports an absent element. */
  element(key: string, x: unknown, of: string): unknown[] | null {
    if (x === undefined || x === null) this.reportValue(key, `an array of ${of}`, x);
    return this.array(key, x);
  }

  /** Returns the word in a field if it is one of `values`. Ignores case. */
  word<T extends string>(key: string, values: readonly T[], expected: string): T | null {
    const word = this.take<string>(key, [
      expected,
      (x) => isText(x) && values.includes(x.toLowerCase() as T),
    ]);
    return word === null ? null : (word.toLowerCase() as T);
  }

  /** Returns a list of positive numbers. Checks its length if `length` is given. */
  positives(
    key: string,
    length?: number,
    x: unknown = this.array(key, this.json[key], `an array of ${length ?? "some"} positive numbers`),
  ): number[] | null {
    return this.take(
      key,
      [
        `${length ?? "only"} positive numbers`,
        (a) => all(a, isPositive) && (length === undefined || (a as unknown[]).length === length),
      ],
      x,
    );
  }

  /** Returns a list of strings. */
  texts(key: string): string[] | null {
    return this.take(key, TEXTS, this.array(key));
  }

  /** Reads labels: a list of strings or [name, colour] pairs, a record by class id, or the name of a known list. */
  labels(key: string): string[] | null {
    const value = this.json[key];
    if (typeof value === "string" && isLabelSet(value)) return [...labelsOf(value)];
    if (value instanceof Map || value instanceof Set) {
      this.report(key, value instanceof Map ? "a Map" : "a Set", "a list of names: [...labels.values()]");
      return null;
    }
    const list = isObject(value) ? Object.keys(value).map((_, id) => value[id]) : value;
    const names = this.array(
      key,
      list,
      "a list of names, such as COCO80, or the name of such a list: coco80, coco91, voc20, voc21" +
        adviceOnText(value),
    )?.map((v, i) => {
      const name: unknown = Array.isArray(v) ? v[0] : v;
      if (!isText(name)) this.reportValue(`${key}[${i}]`, "a string, or [name, colour]", v);
      return name;
    });
    // An empty list counts as absent.
    return names?.length && names.every(isText) ? names : null;
  }

  /** Returns the list [w,h,w,h,...] of a field as pairs. */
  pairs(key: string): [number, number][] | null {
    const a = this.array(key);
    if (a !== null && a.length % 2 !== 0) {
      this.report(key, `${a.length} numbers`, "an even count");
      return null;
    }
    const flat = this.positives(key, undefined, a);
    return flat && inPairs(flat);
  }

  /** Returns anchors as [output][anchor][w,h]. `sets` has one list per output. */
  nestedPairs(key: string, sets: readonly unknown[]): [number, number][][] | null {
    const before = this.problems.length;
    // If flat lists have an odd length, report only these lists: flat lists of even length are valid (see `evenForm`).
    const isOddly = (x: unknown): boolean => all(x, isNumber) && (x as unknown[]).length % 2 === 1;
    const oddly = sets.some(isOddly);
    sets.forEach((set, i) => {
      const at = `${key}[${i}]`;
      const list = this.element(at, set, "[width, height] pairs");
      if (list?.length === 0) this.report(at, "no anchors", "at least one");
      if (oddly && all(list, isNumber)) {
        if (isOddly(list)) this.report(at, `${(list as unknown[]).length} numbers`, "an even count");
        return;
      }
      list?.forEach((p, k) => {
        if (!(all(p, isPositive) && (p as unknown[]).length === 2))
          this.reportValue(`${at}[${k}]`, "[width, height], two positive numbers", p);
      });
    });
    return this.problems.length > before ? null : (sets as [number, number][][]);
  }
}
