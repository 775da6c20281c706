/** `decoder.best` against the specification: every kind of network, all rules, small tensors. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Decoded, decode } from "../../spec/decode.ts";
import type { Best } from "../../src/decode/best.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { shareOf } from "../support/engine-shares.ts";
import { engines } from "../support/engines.ts";
import { type FuzzCase, makeCase, networks } from "../support/fuzz-case.ts";
import { type Asked, askedOf, elementsOf } from "../support/specification.ts";
import { repeats } from "../support/effort.ts";

type Place = Pick<Best, "confidence" | "class_id" | "source" | "image">;

/** The first detection of each image, as the specification decodes it. */
const firsts = (images: readonly Decoded[]): Place[] =>
  images.flatMap(({ detections: [first] }, image) =>
    first === undefined
      ? []
      : [{ confidence: first.score, class_id: first.classId, source: first.source, image }],
  );

/** What `best` has to be: the first detection of a frame, else that of the frame decoded with `> 0` as its gate. */
function expectedOf({ plan, thresholds }: Asked, outputs: FuzzCase["steps"][0]["outputs"]): Expected {
  const tensors = elementsOf(outputs);
  const found = decode(plan, tensors, thresholds);
  const { clamp } = plan.rules;
  const all = decode(
    // Only what is above 0 counts. Boxes outside the image count too, which a clamp would drop.
    { ...plan, rules: { ...plan.rules, gate: ">", clamp: clamp === "before" ? "none" : clamp } },
    tensors,
    { ...thresholds, confidenceThreshold: 0 },
  );
  const own = firsts(found);
  const places = own.length > 0 ? own : firsts(all);
  const best = places.reduce<number>((most, { confidence }) => Math.max(most, confidence), 0);
  return {
    best,
    hasDetections: own.length > 0,
    isRefused: [...found, ...all].some(({ refused }) => refused),
    // Scores that are equal in f32 may differ in doubles.
    isAmong: ({ class_id, source, image, confidence }) =>
      [found, all].some((images) =>
        images[image].found.some(
          (f) => f.source === source && f.classId === class_id && isNear(f.score, confidence),
        ),
      ),
  };
}

interface Expected {
  /** The highest score; 0: `best` is null. */
  readonly best: number;
  readonly hasDetections: boolean;
  /** A probability is above 1. */
  readonly isRefused: boolean;
  readonly isAmong: (place: Place) => boolean;
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-5 * Math.max(a, b) + 1e-37;

describe.each(engines)("%s", (engine) => {
  test.each(shareOf(engine, Object.keys(networks)))("%s", (kind) => {
    const index = Object.keys(networks).indexOf(kind);
    const kinds = Object.keys(networks).length;
    let asked = 0;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e6 }), (n) => {
        const c = makeCase(n * kinds + index, { cells: 16, classes: 4, batch: 2 });
        if (c === null) return;
        const { plan, thresholds: own } = askedOf(c.config, {}, c.steps[0].outputs);
        const decoder = createDecoderSync(c.config, { engine });
        let thresholds = own;
        for (const { update, outputs } of c.steps) {
          thresholds = { ...thresholds, ...update };
          if (update) decoder.update(update);
          const expected = expectedOf({ plan, thresholds }, outputs);
          if (expected.isRefused) continue;
          try {
            decoder.decodeBatch(outputs);
          } catch (e) {
            if ((e as Error).name === "TensorError") continue;
            throw e;
          }
          const { best } = decoder;
          if (best === null && plan.gather !== null && !expected.hasDetections) continue;
          asked++;
          expect(
            isNear(best?.confidence ?? 0, expected.best),
            `${best?.confidence} for ${expected.best}`,
          ).toBe(true);
          // A score that is above 0 in doubles may be 0 in f32.
          if (expected.best === 0 || expected.best > 1e-37) expect(best === null).toBe(expected.best === 0);
          if (best !== null) expect(expected.isAmong(best), JSON.stringify(best)).toBe(true);
        }
      }),
      { numRuns: repeats(12, 4), seed: 1 },
    );
    expect(asked).toBeGreaterThan(repeats(4, 0));
  });
});

/** Rows of a network with objectness: cx, cy, w, h, objectness, classes. */
const rows = (...cells: readonly (readonly number[])[]) => ({
  rows: {
    data: Float32Array.from(cells.flatMap((scores) => [0.5, 0.5, 0.25, 0.25, ...scores])),
    dims: [1, cells.length, 4 + cells[0].length],
    order: "rows" as const,
  },
});

describe.each(engines)("what best is, by hand, %s", (engine) => {
  const objectness = {
    family: "yolov5",
    classes: 2,
    coordinates: "normalised",
    reading: "objectness-rows",
  } as const;
  const classes = { ...objectness, family: "yolov8", reading: "class-rows" } as const;
  const bestOf = (config: object, outputs: ReturnType<typeof rows>) => {
    const d = createDecoderSync(config, { engine });
    d.decode(outputs);
    return d.best && [d.best.source, d.best.class_id, Number(d.best.confidence.toPrecision(6))];
  };

  test("null for scores of 0, also where a threshold of 0 lets them pass", () => {
    for (const gate of [">", ">="] as const)
      for (const confidenceThreshold of [0, 0.25])
        expect(bestOf({ ...classes, confidenceThreshold, rules: { gate } }, rows([0, 0], [0, 0]))).toBe(null);
  });
  test("the score that a detection would carry: where objectness only gates, that of the class", () => {
    const gating = { ...objectness, rules: { score: "class" } };
    const outputs = rows([0.125, 0.1, 0.75], [0.2, 0.5, 0.1], [0, 0.9, 0.9]);
    // An objectness of 0 passes no threshold.
    expect(bestOf(gating, outputs)).toEqual([0, 1, 0.75]);
    expect(bestOf(objectness, outputs)).toEqual([1, 0, 0.1]);
  });
  test("the first detection of a frame that has some, under a list of thresholds too", () => {
    const lists = { ...classes, confidenceThreshold: [0.9, 0.1] };
    expect(bestOf(lists, rows([0.8, 0], [0, 0.2]))).toEqual([1, 1, 0.2]);
    expect(bestOf(lists, rows([0.8, 0], [0, 0.05]))).toEqual([0, 0, 0.8]);
  });
  test("the best of more candidates than there is room for, under multiLabel", () => {
    const cells = Array.from({ length: 3000 }, () => new Array<number>(91).fill(0.01));
    cells[2999][90] = 0.2;
    const d = createDecoderSync({ ...classes, classes: 91, rules: { multiLabel: true } }, { engine });
    expect(d.decode(rows(...cells)).length).toBe(0);
    expect(d.best).toMatchObject({ source: 2999, class_id: 90, confidence: Math.fround(0.2) });
  });
  test("what a batch, and a change of thresholds, leave to the next frame", () => {
    const d = createDecoderSync({ ...classes, confidenceThreshold: [0.5, 0.9] }, { engine });
    const outputs = rows([0.45, 0.8], [0.3, 0.1]);
    expect(d.decode(outputs).length).toBe(0);
    expect(d.best?.confidence).toBe(Math.fround(0.8));
    expect(d.decode(outputs).length).toBe(0);
    d.update({ confidenceThreshold: [0.4, 0.9] });
    expect(d.best?.confidence).toBe(Math.fround(0.8));
    expect(d.decode(outputs).length).toBe(1);
    expect(d.best?.confidence).toBe(Math.fround(0.45));
  });
});
