/** The kernel's loops for checks, by definition and in three engines. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import { type ElementType, ELEMENTS } from "../../src/core/tensor.ts";
import { makeEngine, provideTs } from "../../src/engine/choose.ts";
import { tsEngine } from "../../src/engine/ts/index.ts";
import { value } from "../../src/engine/ts/value.ts";
import { engines } from "../support/engines.ts";

provideTs(tsEngine);

const RECORD = 64;
const DATA = 256;
const BYTES = 8192;
const made = engines.map((name) => makeEngine(name, BYTES));

interface Case {
  readonly type: ElementType;
  readonly run: number;
  readonly runs: number;
  /** Elements from value to value, and from the end of a run to the next run. */
  readonly apart: number;
  readonly gap: number;
  /** Elements before the first value: vectors need no alignment. */
  readonly offset: number;
  readonly values: readonly number[];
  readonly low: number;
  readonly high: number;
  readonly from: number;
}

const someValue = fc.oneof(
  { weight: 8, arbitrary: fc.float({ min: 0, max: 1 }) },
  fc.constantFrom(NaN, Infinity, -Infinity, -0, -1, 2, 1.0000001),
);
const cases: fc.Arbitrary<Case> = fc.record({
  type: fc.constantFrom<ElementType>("f32", "f16", "i8", "u8", "i16", "i32"),
  // Vectors take sixteen values at once: at least three full steps, and what is left of one.
  run: fc.constantFrom(1, 3, 4, 5, 8, 15, 16, 17, 33, 48, 50),
  runs: fc.integer({ min: 1, max: 3 }),
  apart: fc.constantFrom(1, 1, 2, 3),
  gap: fc.integer({ min: 0, max: 2 }),
  offset: fc.integer({ min: 0, max: 3 }),
  values: fc.array(someValue, { minLength: 1, maxLength: 60 }),
  low: fc.constantFrom(0, -1, 0.25, -Infinity),
  high: fc.constantFrom(1, 0.75, 127, Infinity),
  from: fc.integer({ min: 0, max: 20 }),
});

/** Half floats of 0, 0.25, 0.5, 1, 2, NaN and Infinity. */
const HALVES = [0, 0x3400, 0x3800, 0x3c00, 0x4000, 0x7e00, 0x7c00];

/** Writes the values and the record into every engine's memory. Returns bytes of an element. */
function write({ type, values, run, runs, apart, gap, offset, low, high }: Case): number {
  const { bytes, code, array } = ELEMENTS[type];
  for (const { memory } of made) {
    new Uint8Array(memory.buffer).fill(0x5a);
    const all = new array(memory.buffer, DATA, (BYTES - DATA) / bytes);
    for (let i = 0; i < all.length; i++) {
      const x = values[i % values.length];
      const whole = Number.isFinite(x) ? Math.round(x * 4) : 7;
      all[i] = type === "f32" ? x : type === "f16" ? HALVES[Math.abs(whole) % HALVES.length] : whole;
    }
    const words = RECORD >> 2;
    memory.i32[words + A.C_TYPE] = code;
    memory.f32.set([0.25, 1], words + A.C_SCALE);
    const runStep = (run * apart + gap) * bytes;
    memory.i32.set([DATA + offset * bytes, run, apart * bytes, runs, runStep], words + A.C_AT);
    memory.f32.set([low, high], words + A.C_LOW);
  }
  return bytes;
}

const sameMemory = (): void => {
  const [first, ...rest] = made.map(({ memory }) => Buffer.from(memory.buffer, 0, BYTES));
  for (const other of rest) expect(Buffer.compare(first, other)).toBe(0);
};

describe("within", () => {
  test("finds the first value outside of the range, alike in all engines", () => {
    fc.assert(
      fc.property(cases, (c) => {
        const bytes = write(c);
        const { memory } = made[0];
        const { code } = ELEMENTS[c.type];
        const count = c.run * c.runs;
        const from = Math.min(c.from, count);
        let expected = from;
        for (; expected < count; expected++) {
          const element =
            c.offset +
            Math.floor(expected / c.run) * (c.run * c.apart + c.gap) +
            (expected % c.run) * c.apart;
          const x = value(memory, code, DATA + element * bytes, 0.25, 1);
          if (!(x >= Math.fround(c.low) && x <= Math.fround(c.high))) break;
        }
        expect(made.map((engine) => engine.within(RECORD, from))).toEqual(engines.map(() => expected));
        sameMemory();
      }),
    );
  });
});

describe("compare", () => {
  test("measures how values differ from two others, alike in all engines", () => {
    fc.assert(
      fc.property(cases, fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 9 }), (c, read, other) => {
        const bytes = write(c);
        const at = (i: number): number =>
          value(made[0].memory, ELEMENTS[c.type].code, DATA + (c.offset + i) * bytes, 0.25, 1);
        for (const { memory } of made)
          memory.i32.set([read * bytes, other * bytes], (RECORD >> 2) + A.C_READ);
        const triples = Array.from({ length: c.run }, (_, k) => k * c.apart)
          .map((i) => [at(i), at(i + read), at(i + other)])
          .filter((triple) => triple.every(Number.isFinite));
        const differing = triples.filter(([x, a, b]) => x !== a || x !== b).length;
        expect(made.map((engine) => engine.compare(RECORD))).toEqual(engines.map(() => differing));
        sameMemory();
        const { i32, f32 } = made[0].memory;
        expect(i32[(RECORD >> 2) + A.C_COMPARED]).toBe(triples.length);
        const mean = (numbers: readonly number[]): number =>
          numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
        const middle = mean(triples.map(([x]) => x));
        const variance = mean(triples.map(([x]) => (x - middle) ** 2));
        if (!(variance > 1e-3)) return;
        [A.C_BY_READ, A.C_BY_OTHER].forEach((word, k) => {
          const squared = mean(triples.map((triple) => (triple[0] - triple[k + 1]) ** 2));
          expect(f32[(RECORD >> 2) + word]).toBeCloseTo(squared / (2 * variance), 3);
        });
      }),
    );
  });
});
