/** Compares the lists of fields with the constants of format.ts, from which the C header is made. */
import { describe, expect, test } from "vitest";
import * as fields from "../../src/planfile/fields.ts";
import { type Field, EXTRA, HEAD } from "../../src/planfile/fields.ts";
import * as F from "../../src/planfile/format.ts";

const TASKS = { POSE: fields.POSE, MASKS: fields.MASKS, ORIENTED: fields.ORIENTED, CELLS: fields.CELLS };

/** Returns the constants of format.ts whose names begin with a prefix. */
const named = (prefix: string): [string, number][] =>
  Object.entries(F).filter(([name]) => name.startsWith(prefix));

/** Returns the bits of a record that a field takes, as `word.bit`. */
const bitsOf = ({ at, mask, doubles = 0.5 }: Field<unknown>): string[] =>
  Array.from({ length: doubles * 64 }, (_, k) => k)
    .filter((k) => mask & (1 << (k % 32)))
    .map((k) => `${at + Math.floor(k / 32)}.${k % 32}`);

const listOf = (record: object): Field<unknown>[] => Object.values(record) as Field<unknown>[];

describe.each(Object.entries(TASKS))("%s", (_, { kind, record, head }) => {
  test("has a kind of task", () => {
    expect(named("TASK_").map(([, value]) => value)).toContain(kind);
  });

  test.each([
    ["task record", listOf(record), F.TASK_WORDS],
    ["head row", [HEAD, EXTRA, head].flatMap(listOf), F.EXTRA_WORDS],
  ])("no two fields of the %s share a bit, and all lie inside", (__, list, words) => {
    const bits = list.flatMap(bitsOf);
    expect(new Set(bits).size).toBe(bits.length);
    expect(Math.max(...bits.map(Number.parseFloat).map(Math.floor))).toBeLessThan(words);
  });
});

test("every word and code that the C header names is in a list", () => {
  const records = Object.values(TASKS).flatMap(({ record }) => listOf(record));
  const rows = [HEAD, EXTRA, ...Object.values(TASKS).map(({ head }) => head)].flatMap(listOf);
  /** Words at which a field or one of its doubles begins. */
  const words = (list: readonly Field<unknown>[]): number[] =>
    list.flatMap(({ at, doubles = 1 }) => Array.from({ length: doubles }, (_, k) => at + 2 * k));
  expect(words(records)).toEqual(
    expect.arrayContaining(named("T_").flatMap(([name, at]) => (name === "T_KIND" ? [] : at))),
  );
  expect(words(rows)).toEqual(expect.arrayContaining(named("E_").map(([, at]) => at)));
  const codesAt = (at: number): number[] =>
    records
      .filter((field) => field.at === at)
      .flatMap(({ codes, mask }) => [...Object.values<number>(codes ?? {}), mask]);
  for (const [prefix, at] of [
    ["POINTS_", F.T_RULE],
    ["CELLS_", F.T_RULE],
    ["ANGLE_", F.T_ANGLE],
    ["ORIENTED_", F.T_SUPPRESSION],
    ["TASK_FLAG_", F.T_FLAGS],
  ] as const)
    for (const [name, code] of named(prefix)) expect(codesAt(at), name).toContain(code);
});
