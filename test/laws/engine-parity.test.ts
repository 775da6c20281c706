/**
 * Engines against each other: the whole memory image is the same, byte for byte, after every phase, whatever the head,
 * the layout, the number type, the rules and the contents.
 */
import { describe, expect, test } from "vitest";
import * as A from "../../src/core/abi.ts";
import { RULE_SETS } from "../../src/core/rules.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { canGather, gatherRows } from "../../src/memory/gather.ts";
import { isThorough } from "../support/effort.ts";
import { engines } from "../support/engines.ts";
import { expectSameImage, imageOf, runInStep, slotsOf } from "../support/memory-image.ts";
import { type Case, cases, partsOf } from "../support/parity-cases.ts";
import { kinds, mulberry32, pick } from "../support/seeded-networks.ts";

test("three engines are compared", () => {
  expect(engines).toHaveLength(3);
});

const ran = {
  cases: 0,
  detections: 0,
  candidates: 0,
  overflow: 0,
  notFinite: 0,
  outOfRange: 0,
  full: 0,
  empty: 0,
  gathered: 0,
};

function run(c: Case): void {
  const { plan, thresholds, affine, data } = partsOf(c);
  const images = engines.map((e) => imageOf(e, plan, thresholds, affine, data));
  // the script for mobilenets of that time
  const mobilenet = c.set === "gen1" && c.kind === "detection output";
  expect(plan.rules.gate).toBe(c.rules.gate ?? (mobilenet ? ">" : RULE_SETS[c.set].gate));
  const found = runInStep(images);
  const m = images[0].engine.memory;
  const cells = plan.heads.reduce((n, h) => n + h.cells, 0);
  ran.cases++;
  found.forEach((n, image) => {
    const p = images[0].layout.imageBlocks[image] >> 2;
    const candidates = m.i32[p + A.P_CANDIDATES];
    ran.detections += n;
    ran.candidates += candidates;
    ran.overflow += m.i32[p + A.P_OVERFLOW];
    ran.notFinite += m.i32[p + A.P_NOT_FINITE];
    ran.outOfRange += m.i32[p + A.P_OUT_OF_RANGE];
    if (candidates === cells) ran.full++;
    if (candidates === 0) ran.empty++;
    expect(n).toBeLessThanOrEqual(Math.min(c.max, candidates));
  });
  if (plan.gather === null) return;
  // the gathered way in: the same candidates, in the same order, and again the same image in all engines
  const boxesAt = (k: number): Uint8Array =>
    new Uint8Array(images[k].engine.memory.buffer).slice(images[k].layout.scores, images[k].layout.order);
  const resident = engines.map((_, k) => boxesAt(k));
  const given = plan.tensors.map(({ name }) => ({ data: data.get(name) }));
  const anyGathered = images.map((image) => {
    const arrays = { given, slots: slotsOf(image) };
    return canGather(image, arrays) && gatherRows(image, arrays);
  });
  expect(new Set(anyGathered).size).toBe(1);
  if (!anyGathered[0]) return;
  ran.gathered++;
  expectSameImage(images, "gathering");
  runInStep(images, (l) => [l.gatherBlock]);
  const n = m.i32[(images[0].layout.gatherBlock >> 2) + A.P_CANDIDATES];
  const was = m.i32[(images[0].layout.imageBlocks[0] >> 2) + A.P_CANDIDATES];
  expect(n).toBe(was);
  resident.forEach((before, k) => expect(Buffer.compare(before, boxesAt(k))).toBe(0));
}

describe("twins", () => {
  Object.keys(kinds).forEach((kind, k) => {
    test(kind, () => {
      // Kinds take turns, so that every grid and every type still comes in some of them.
      for (const c of cases(kind, 100 + k).filter((_, i) => isThorough || i % 6 === k % 6)) {
        try {
          run(c);
        } catch (e) {
          throw new Error(`${JSON.stringify(c)}: ${e instanceof Error ? e.message : String(e)}`, {
            cause: e,
          });
        }
      }
    });
  });

  test("more candidates than there is room for: the rest are counted, alike in all engines", () => {
    const before = ran.overflow;
    run({
      kind: "yolov8 rows",
      size: { w: 62, h: 50, classes: 91, batch: 1, last: true },
      types: ["u8"],
      fill: "all",
      set: "ultralytics",
      rules: { multiLabel: true, suppress: "none", clamp: "none" },
      confidence: 0.5,
      iou: 0.45,
      keep: false,
      max: 1000,
      seed: 1,
    });
    // Up to a quarter of the rows is free at the end.
    const lost = ran.overflow - before;
    expect(lost).toBeGreaterThanOrEqual(62 * 50 * 91 - 2 ** 18);
    expect(lost).toBeLessThanOrEqual(62 * 50 * 91 - 2 ** 18 + 2 ** 16 + 1);
  });

  describe.each(["logits", "probabilities"] as const)(
    "classes at the least that objectness leaves them, %s",
    (activation) => {
      test.each([0.9, 0.25, 0.001, 1e-12, 1e-33])("threshold %s", (threshold) => {
        const random = mulberry32(7);
        const logit = (p: number): number => Math.log(p) - Math.log1p(-p);
        const stored = (p: number): number =>
          activation === "logits" ? logit(Math.min(p, 0.99999)) : Math.min(p, 1);
        const sigmoid = (x: number): number => (activation === "logits" ? 1 / (1 + Math.exp(-x)) : x);
        const [classes, side] = [21, 32];
        const channels = 5 + classes;
        const map = new Float32Array(channels * side * side);
        for (let cell = 0; cell < side * side; cell++) {
          const objectness = threshold + (1 - threshold) * (1 - random()) ** 3 * 0.999;
          const edge = Math.min(0.9999, threshold / objectness);
          // most a hair to one side of the edge, equal ones among them, some lower, none where it should not be
          for (let c = 0; c < channels; c++)
            map[c * side * side + cell] = stored(
              c < 4
                ? 0.5
                : c === 4
                  ? objectness
                  : random() < 0.3
                    ? edge * 0.1
                    : edge * (1 - pick(random, [0, 1e-7, 3e-6, 1e-4, 0.05])),
            );
          const c = 5 + Math.floor(random() * classes);
          map[c * side * side + cell] = stored(edge * (1 + pick(random, [-1e-5, 0, 1e-7, 1e-5, 1e-3, 1e-3])));
          map[(5 + Math.floor(random() * classes)) * side * side + cell] = map[c * side * side + cell];
        }
        const rows = new Float32Array(map.length);
        for (let i = 0; i < map.length; i++)
          rows[(i % (side * side)) * channels + Math.floor(i / (side * side))] = map[i];
        for (const [layout, data, dims] of [
          ["maps", map, [1, channels, side, side]],
          ["rows", rows, [1, side * side, channels]],
        ] as const) {
          const at = (cell: number, c: number): number =>
            layout === "maps" ? data[c * side * side + cell] : data[cell * channels + c];
          const sure: string[] = [];
          const maybe = new Set<string>();
          for (let cell = 0; cell < side * side; cell++) {
            let best = 0;
            for (let c = 1; c < classes; c++) if (at(cell, 5 + c) > at(cell, 5 + best)) best = c;
            const score = sigmoid(at(cell, 4)) * sigmoid(at(cell, 5 + best));
            if (score > threshold * (1 + 1e-6)) sure.push(`${cell}:${best}`);
            else if (score > threshold * (1 - 1e-6)) maybe.add(`${cell}:${best}`);
          }
          expect(sure.length).toBeGreaterThan(300);
          const found = engines.map((engine) => {
            const decoder = createDecoderSync(
              {
                family: "yolov5",
                classes,
                inputSize: [256, 256],
                anchors: [[[16, 16]]],
                confidenceThreshold: threshold,
                ...(layout === "rows" ? { coordinates: "normalised" as const } : {}),
              },
              {
                engine,
                scores: activation,
                maxDetections: side * side,
                rules: { suppress: "none" },
              },
            );
            const got = decoder.decode([{ data, dims }]);
            return Array.from(got.sources, (source, i) => `${source}:${got.classIds[i]}`).slice(
              0,
              got.length,
            );
          });
          for (const other of found) expect(other).toEqual(found[0]);
          expect(sure.filter((key) => !found[0].includes(key))).toEqual([]);
          expect(found[0].filter((key) => !sure.includes(key) && !maybe.has(key))).toEqual([]);
        }
      });
    },
  );

  test("what ran is what was meant to run", () => {
    expect(ran.cases).toBeGreaterThan(Object.keys(kinds).length * (isThorough ? 100 : 16));
    for (const [name, n] of Object.entries(ran)) expect(n, name).toBeGreaterThan(50);
  });
});
