/** `nms()` and the specification against the NonMaxSuppression operator of ONNX Runtime. */
import { InferenceSession, Tensor } from "onnxruntime-node";
import { beforeAll, describe, expect, test } from "vitest";
import { type Random, mulberry32 } from "../../bench/random.ts";
import { definitionOfNms } from "../../spec/definition.ts";
import { nms } from "../../src/decode/nms.ts";
import { repeats } from "../support/effort.ts";
import { engines } from "../support/engines.ts";
import { suppressionModel } from "../support/onnx.ts";

/** Sizes 1 to 500 once, or twice. */
const CASES = repeats(1000, 500);
const IOUS = [0, 0.1, 0.3, 0.45, 0.5, 0.6, 0.7, 0.9, 1];
const SCORES = [0, 0.05, 0.25, 0.5, 0.9];

interface Case {
  readonly boxes: Float32Array;
  readonly scores: Float32Array;
  readonly classIds: Int32Array;
  readonly classes: number;
  readonly iou: number;
  readonly threshold: number;
  readonly max: number;
  readonly format: "yxyx" | "cxcywh";
}

/**
 * Sizes 1 to 500, and some of thousands, which are put in order in waves: boxes about a few objects, so
 * that much overlaps; every score once.
 */
function makeCase(i: number, random: Random): Case {
  const n = i % 100 === 99 ? 3 * i + 3000 : (i % 500) + 1;
  const classes = i % 3 === 0 ? 1 : 2 + (i % 7);
  const format = i % 5 === 0 ? "cxcywh" : "yxyx";
  const objects = Array.from({ length: 1 + Math.floor(random() * 12) }, () => [
    random(),
    random(),
    0.02 + random() / 3,
  ]);
  const extent = i % 2 === 0 ? 1 : 640;
  const boxes = new Float32Array(n * 4);
  const scores = new Set<number>();
  while (scores.size < n) scores.add(Math.fround(random()));
  for (let k = 0; k < n; k++) {
    const [x, y, size] = objects[Math.floor(random() * objects.length)];
    const w = size * (0.7 + 0.6 * random());
    const h = size * (0.7 + 0.6 * random());
    const cx = x + (random() - 0.5) * size * 0.5;
    const cy = y + (random() - 0.5) * size * 0.5;
    const box = format === "cxcywh" ? [cx, cy, w, h] : [cy - h / 2, cx - w / 2, cy + h / 2, cx + w / 2];
    // the operator takes corners in any order
    if (format === "yxyx" && k % 11 === 0) [box[0], box[2]] = [box[2], box[0]];
    boxes.set(
      box.map((v) => v * extent),
      k * 4,
    );
  }
  return {
    boxes,
    scores: Float32Array.from(scores),
    classIds: Int32Array.from({ length: n }, () => Math.floor(random() * classes)),
    classes,
    iou: IOUS[i % IOUS.length],
    threshold: SCORES[i % SCORES.length],
    max: i % 4 === 0 ? 1 + Math.floor(random() * 20) : n,
    format,
  };
}

/** Returns the boxes that the specification keeps. It takes corners in order, and does not tell x from y. */
function specified({ boxes, scores, classIds, iou, threshold, max }: Case, perClass: boolean): number[] {
  const ordered = boxes.map((x, i) => (i % 4 < 2 ? Math.min : Math.max)(x, boxes[i ^ 2]));
  const passing = scores.map((score) => (score > Math.fround(threshold) ? score : -1));
  const rule = { iouGate: ">", iouThreshold: iou, maxDetections: max, offset: [0, 0] } as const;
  const suppress = perClass ? "class" : "all";
  const { kept = [] } = definitionOfNms(
    ordered,
    passing,
    { ...rule, suppress },
    perClass ? classIds : undefined,
  );
  return Array.from(kept).filter((i) => passing[i] >= 0);
}

describe("nms() keeps what ONNX Runtime's operator keeps", () => {
  let sessions: Record<Case["format"], InferenceSession>;

  beforeAll(async () => {
    sessions = {
      yxyx: await InferenceSession.create(suppressionModel(0)),
      cxcywh: await InferenceSession.create(suppressionModel(1)),
    };
  });

  /** Indices in order of score. Each box has a score in its own class only; no class: all are of one. */
  async function theirs(c: Case, perClass: boolean): Promise<number[]> {
    const n = c.scores.length;
    const classes = perClass ? c.classes : 1;
    const table = new Float32Array(classes * n).fill(-1);
    c.scores.forEach((s, i) => (table[(perClass ? c.classIds[i] : 0) * n + i] = s));
    const { selected } = await sessions[c.format].run({
      boxes: new Tensor("float32", c.boxes, [1, n, 4]),
      scores: new Tensor("float32", table, [1, classes, n]),
      max: new Tensor("int64", BigInt64Array.of(BigInt(perClass ? n : c.max)), [1]),
      iou: new Tensor("float32", Float32Array.of(c.iou), [1]),
      threshold: new Tensor("float32", Float32Array.of(c.threshold), [1]),
    });
    const rows = selected.data as BigInt64Array;
    const kept = Array.from({ length: selected.dims[0] }, (_, i) => Number(rows[i * 3 + 2]));
    // the operator lists class after class
    return perClass ? kept.sort((a, b) => c.scores[b] - c.scores[a]).slice(0, c.max) : kept;
  }

  test.each(["across classes", "per class"] as const)(
    `%s: ${CASES} seeded cases`,
    async (scope) => {
      const random = mulberry32(scope === "per class" ? 2026 : 1126);
      const perClass = scope === "per class";
      let kept = 0;
      let boxes = 0;
      const sizes = new Set<number>();
      for (let i = 0; i < CASES; i++) {
        const c = makeCase(i, random);
        const expected = await theirs(c, perClass);
        for (const engine of engines) {
          const ours = nms(c.boxes, c.scores, {
            engine,
            boxFormat: c.format,
            // the operator's threshold is a float32
            iouThreshold: Math.fround(c.iou),
            scoreThreshold: Math.fround(c.threshold),
            maxDetections: c.max,
            ...(perClass ? { classIds: c.classIds } : {}),
          });
          expect([...ours], `case ${i}, ${engine}`).toEqual(expected);
        }
        // The specification compares every pair: cases of a few boxes are enough.
        if (c.format === "yxyx" && c.scores.length <= 100)
          expect(specified(c, perClass), `case ${i}, specification`).toEqual(expected);
        sizes.add(c.scores.length);
        kept += expected.length;
        boxes += c.scores.length;
      }
      // the cases are neither empty nor trivial
      expect(sizes.size).toBe(495 + CASES / 100);
      expect(kept / boxes).toBeGreaterThan(0.1);
      expect(kept / boxes).toBeLessThan(0.6);
    },
    60_000,
  );
});
