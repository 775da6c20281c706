/** Reads unknown JSON and collects every problem with its path, so that a file is mended in one go. */
import { ConfigError, type ConfigProblem } from "../errors.ts";
import { show } from "../tensor.ts";

export type Json = { readonly [key: string]: unknown };

export class Reader {
  readonly problems: ConfigProblem[] = [];

  wrong(path: string, got: unknown, expected: string): void {
    this.problems.push({
      path,
      message: `got ${typeof got === "object" && got !== null && !Array.isArray(got) ? "an object" : show(got)}, expected ${expected}`,
    });
  }

  say(path: string, message: string): void {
    this.problems.push({ path, message });
  }

  done(): void {
    if (this.problems.length > 0) throw new ConfigError(this.problems);
  }

  /** An object, or an empty one after reporting. `null` and absence are empty without a report. */
  object(path: string, x: unknown): Json {
    if (x === undefined || x === null) return {};
    if (isObject(x)) return x;
    this.wrong(path, x, "an object");
    return {};
  }

  array(path: string, x: unknown): readonly unknown[] | null {
    if (x === undefined || x === null) return null;
    // a copy without holes, which every() and forEach() would pass over
    if (Array.isArray(x)) return Array.from(x as readonly unknown[]);
    this.wrong(path, x, "an array");
    return null;
  }

  text(path: string, x: unknown): string | null {
    if (x === undefined || x === null) return null;
    if (typeof x === "string") return x;
    this.wrong(path, x, "a string");
    return null;
  }

  /** A whole number from 1 up. */
  count(path: string, x: unknown): number | null {
    if (x === undefined || x === null) return null;
    if (Number.isInteger(x) && (x as number) > 0 && (x as number) < 1e9) return x as number;
    this.wrong(path, x, "a positive whole number");
    return null;
  }

  /** 0..1. */
  unit(path: string, x: unknown): number | null {
    if (x === undefined || x === null) return null;
    if (typeof x === "number" && x >= 0 && x <= 1) return x;
    this.wrong(path, x, "a number in 0..1");
    return null;
  }

  oneOf<T extends string>(path: string, x: unknown, values: readonly T[]): T | null {
    if (x === undefined || x === null) return null;
    if (values.includes(x as T)) return x as T;
    this.wrong(path, x, `one of ${values.join(", ")}`);
    return null;
  }

  /** Positive numbers, so many if a length is given. */
  positives(path: string, x: unknown, length?: number): number[] | null {
    const a = this.array(path, x);
    if (a === null) return null;
    if (
      a.every((v) => typeof v === "number" && v > 0 && v < Infinity) &&
      (length === undefined || a.length === length)
    )
      return [...a] as number[];
    this.wrong(path, a, `${length ?? "only"} positive numbers`);
    return null;
  }

  texts(path: string, x: unknown): string[] | null {
    const a = this.array(path, x);
    if (a === null) return null;
    if (a.every((v) => typeof v === "string")) return [...a] as string[];
    this.wrong(path, a, "an array of strings");
    return null;
  }

  /** Labels: strings, or [name, colour]. */
  labels(path: string, x: unknown): string[] | null {
    const a = this.array(path, x);
    if (a === null) return null;
    const out: string[] = [];
    a.forEach((v, i) => {
      const name: unknown = Array.isArray(v) ? v[0] : v;
      if (typeof name === "string") out.push(name);
      else this.wrong(`${path}[${i}]`, v, "a string, or [name, colour]");
    });
    return out.length === a.length ? out : null;
  }

  /** [w,h,w,h,...] as pairs. */
  pairs(path: string, x: unknown): [number, number][] | null {
    const a = this.array(path, x);
    if (a === null) return null;
    if (a.length % 2 !== 0) {
      this.say(path, `got ${a.length} numbers, expected an even count`);
      return null;
    }
    const flat = this.positives(path, a);
    return flat === null
      ? null
      : Array.from({ length: flat.length / 2 }, (_, i): [number, number] => [flat[2 * i], flat[2 * i + 1]]);
  }

  /** [output][anchor][w,h]. */
  nestedPairs(path: string, x: readonly unknown[]): [number, number][][] | null {
    let ok = true;
    const out = Array.from(x, (set, i) => {
      const list = this.array(`${path}[${i}]`, set);
      if (list === null) {
        if (set === null || set === undefined)
          this.wrong(`${path}[${i}]`, set, "an array of [width, height] pairs");
        ok = false;
        return [];
      }
      if (list.length === 0) {
        this.say(`${path}[${i}]`, "got no anchors, expected at least one");
        ok = false;
      }
      return list.map((p, k): [number, number] => {
        const pair =
          Array.isArray(p) &&
          p.length === 2 &&
          Array.from(p).every((v) => typeof v === "number" && v > 0 && v < Infinity);
        if (!pair) {
          this.wrong(`${path}[${i}][${k}]`, p, "[width, height], two positive numbers");
          ok = false;
          return [1, 1];
        }
        return [p[0] as number, p[1] as number];
      });
    });
    return ok ? out : null;
  }
}

export function isObject(x: unknown): x is Json {
  return typeof x === "object" && x !== null && !Array.isArray(x) && !ArrayBuffer.isView(x);
}
