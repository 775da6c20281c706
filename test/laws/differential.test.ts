/**
 * The specification against all engines, on random cases. `npm test` runs some hundred. BOXWRIGHT_FUZZ_SECONDS makes it
 * run for so long, BOXWRIGHT_FUZZ_SEED chooses other cases. A failing case is made small and written to build/fuzz as
 * files that `boxwright decode` reads.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { decode } from "../../spec/decode.ts";
import type { Suppression } from "../../spec/suppress.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { nms } from "../../src/decode/nms.ts";
import { run as runCommand } from "../../src/node/cli/run.ts";
import { compareNms } from "../support/compare.ts";
import { engines } from "../support/engines.ts";
import { type Outputs, makeCase, networks } from "../support/fuzz-case.ts";
import { SECONDS, SEED, forSeeds, proveShares } from "../support/fuzz-seeds.ts";
import { runCase, shrink, writeCase } from "../support/fuzz-run.ts";
import { type Random, mulberry32, pick } from "../support/seeded-networks.ts";
import { askedOf, elementsOf } from "../support/specification.ts";
import { repeats } from "../support/effort.ts";

// Neighbouring seeds take turns over the kinds, and each has its turn.
const CASES = Math.max(repeats(150, 50), Object.keys(networks).length);
const folder = fileURLToPath(new URL("../../build/fuzz/", import.meta.url));

/** Throws with a small case and the command that shows it. */
function report(seed: number, engine: (typeof engines)[number], complaints: readonly string[]): never {
  const small = shrink(seed, engine);
  const place = join(folder, `${seed}-${engine}`);
  const command = `npx boxwright ${writeCase(place, small.case, engine).join(" ")}`;
  const how =
    small.case.steps.length === 1
      ? `${command}\nexpected: ${join(place, "expected.json")}`
      : `no single frame of it fails: ${place} has its ${small.case.steps.length} frames, and updates.json between them`;
  throw new Error(
    [
      `BOXWRIGHT_FUZZ_SEED=${SEED}, case ${seed}, ${engine}: ${small.case.name}`,
      ...complaints.slice(0, 5),
      `smaller: ${small.run.complaints.slice(0, 3).join("; ")}`,
      how,
    ].join("\n"),
  );
}

test(
  "networks of every kind",
  () => {
    console.log(`BOXWRIGHT_FUZZ_SEED=${SEED} BOXWRIGHT_FUZZ_SECONDS=${SECONDS}`);
    const ran = {
      refusedShapes: 0,
      detections: 0,
      refusedFrames: 0,
      updates: 0,
      batches: 0,
      lists: 0,
      keep: 0,
    };
    const kinds = new Set<string>();
    const done = forSeeds(0.9, CASES, (seed) => {
      const c = makeCase(seed);
      if (c === null) {
        ran.refusedShapes++;
        return;
      }
      kinds.add(c.name.slice(0, c.name.search(/, \d+x\d+/)));
      const { complaints, engine, detections, refusedFrames } = runCase(c, engines);
      if (complaints.length > 0) report(seed, engine, complaints);
      ran.detections += detections;
      ran.updates += c.steps.slice(2).filter(({ update }) => Object.keys(update ?? {}).length > 0).length;
      ran.lists += c.steps.filter(({ update }) => Array.isArray(update?.confidenceThreshold)).length;
      ran.batches += c.name.includes("batch 1") ? 0 : 1;
      ran.keep += "keep" in c.config ? 1 : 0;
      ran.refusedFrames += refusedFrames;
    });
    console.log(`${done} cases, ${JSON.stringify(ran)}`);
    // The run covered everything that it should.
    if (proveShares(done)) {
      expect(ran.refusedShapes).toBeLessThan(done * 0.1);
      expect(ran.detections).toBeGreaterThan(done * 10);
      expect(ran.refusedFrames).toBeLessThan(done * 3);
      expect(Math.min(ran.updates, ran.lists, ran.batches, ran.keep)).toBeGreaterThan(done * 0.05);
    }
    expect(Object.keys(networks).filter((kind) => !kinds.has(kind))).toEqual([]);
  },
  (SECONDS + 600) * 1000,
);

interface Loose {
  readonly boxes: Float32Array;
  readonly scores: Float32Array;
  readonly classIds: Int32Array;
  readonly rule: Suppression;
}

/** Loose boxes for `nms()`: on a grid of eighths or anywhere, equal scores among them, some NaN. */
function drawLoose(random: Random): Loose {
  const n = Math.floor(random() ** 2 * 400);
  const grid = random() < 0.5 ? 8 : 2 ** 20;
  const at = (span: number): number => Math.round(random() * span * grid) / grid;
  const boxes = new Float32Array(4 * n);
  for (let i = 0; i < n; i++) {
    const [x, y] = [at(2), at(2)];
    boxes.set([x, y, x + at(1), y + at(1)], 4 * i);
    if (random() < 0.01) boxes[4 * i + Math.floor(random() * 4)] = pick(random, [NaN, Infinity]);
  }
  const levels = pick(random, [4, 100, 2 ** 24]);
  const score = (): number => (random() < 0.01 ? NaN : Math.round(random() * levels) / levels);
  const nmsScope = pick(random, ["class", "all"] as const);
  const classes = pick(random, [1, 3, 300]);
  return {
    boxes,
    scores: Float32Array.from({ length: n }, score),
    classIds: Int32Array.from({ length: n }, () => Math.floor(random() * classes)),
    rule: {
      suppress: nmsScope,
      iouGate: pick(random, [">", ">="] as const),
      iouThreshold: pick(random, [0, 0.1, 0.25, 1 / 3, 0.45, 0.5, 0.6, 1]),
      maxDetections: pick(random, [1, 10, 1000]),
      offset: pick(random, [
        [0, 0],
        [1, 1],
      ] as const),
    },
  };
}

test(
  "suppression alone",
  () => {
    forSeeds(0.1, CASES, (seed) => {
      const { boxes, scores, classIds, rule } = drawLoose(mulberry32(seed));
      // Two corners in any order make the same box, NaN makes none.
      const { suppress: scope, iouGate, iouThreshold, maxDetections } = rule;
      for (const engine of engines) {
        const kept = nms(boxes, scores, {
          engine,
          iouGate,
          iouThreshold,
          maxDetections,
          pixelOffset: rule.offset[0],
          ...(scope === "class" && { classIds }),
        });
        const wrong = compareNms(boxes, scores, classIds, rule, kept);
        if (wrong.length > 0) throw new Error(`seed ${seed}, ${engine}: ${wrong.join("; ")}`);
      }
    });
  },
  (SECONDS + 600) * 1000,
);

test("a case written as files is decoded by the command line as by the decoder", async () => {
  let compared = 0;
  for (let seed = 1; compared < 20; seed++) {
    const c = makeCase(seed, { cells: 64, classes: 5, batch: 1 });
    // The command line makes a new decoder, whose checks of the first frame refuse wild values.
    if (c === null || runCase(c, ["ts"]).detections === 0) continue;
    const tame = { ...c, steps: [{ ...c.steps[1], ...c.steps[0], update: {} }] };
    const place = join(folder, "files");
    let out = "";
    const io = { out: (text: string | Uint8Array) => void (out += String(text)), err: () => undefined };
    expect(await runCommand(writeCase(place, tame, "ts"), io)).toBe(0);
    const { detections } = JSON.parse(out) as { detections: unknown[] };
    expect(detections.length).toBe(runCase(tame, ["ts"]).detections);
    if (detections.length > 0) compared++;
  }
});

/** A frame that random cases seldom draw. All engines were wrong on it once. */
interface OddFrame {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly outputs: Outputs;
  /** Source and class id of each detection. */
  readonly expected: readonly (readonly [source: number, classId: number])[];
}

const f32 = (
  dims: readonly number[],
  values: ArrayLike<number>,
  order: TensorInput["order"] = "rows",
): TensorInput => ({
  data: Float32Array.from(values),
  dims,
  order,
});

/** Rows of a network of two classes, at one place: box and class values. */
const twoClasses = {
  family: "yolov8",
  classes: 2,
  coordinates: "normalised",
  reading: "class-rows",
} as const;
const place = [0.5, 0.5, 0.25, 0.25];
const fastestdet = { family: "fastestdet", classes: 1, inputSize: [16, 16] } as const;

const detr = {
  family: "detr",
  classes: 2,
  roles: { boxes: "b", scores: "s" },
  scores: "softmax-logits",
  confidenceThreshold: 0,
  rules: { gate: ">=" },
} as const;

const oddFrames: readonly OddFrame[] = [
  {
    name: "an IoU that equals the threshold",
    config: {
      family: "yolov8",
      classes: 1,
      inputSize: [64, 64],
      reading: "class-rows",
      boxFormat: "xyxy",
      iouThreshold: 0.6,
      rules: "depthai",
    },
    outputs: { o: f32([1, 3, 5], [0, 0, 5, 10, 0.9, 0, 0, 3, 10, 0.8, 60, 60, 63, 63, 0.7]) },
    expected: [
      [0, 0],
      [2, 0],
    ],
  },
  {
    name: "a list of thresholds, and classes with one probability in f32: the largest logit is chosen",
    config: { ...twoClasses, scores: "logits", confidenceThreshold: [0.5, 0.5] },
    outputs: { o: f32([1, 1, 6], [...place, 20, 30]) },
    expected: [[0, 1]],
  },
  {
    name: "FastestDet with an infinite class, which is no score",
    config: { ...fastestdet, confidenceThreshold: 0.25 },
    outputs: { o: f32([1, 6, 1, 1], [0.5, 0, 0, 0.5, 0.5, Infinity], "NCHW") },
    expected: [],
  },
  {
    name: "FastestDet with objectness 0 at a threshold of 0",
    config: { ...fastestdet, confidenceThreshold: 0, rules: { gate: ">=" } },
    outputs: { o: f32([1, 6, 1, 1], [0, 0, 0, 0.5, 0.5, 0.5], "NCHW") },
    expected: [[0, 0]],
  },
  {
    name: "-0 in f16, which equals 0: the first class is chosen",
    config: { ...twoClasses, confidenceThreshold: 0.25, scores: "logits" },
    outputs: {
      o: { data: Uint16Array.of(0x3800, 0x3800, 0x3400, 0x3400, 0x8000, 0), dims: [1, 1, 6], order: "rows" },
    },
    expected: [[0, 0]],
  },
  {
    name: "a masked class, which passes no threshold, with softmax and multiLabel",
    config: { ...detr, rules: { gate: ">=", multiLabel: true } },
    outputs: { b: f32([1, 1, 4], place), s: f32([1, 1, 3], [2, -Infinity, 2]) },
    expected: [[0, 0]],
  },
  {
    name: "a cell whose classes are all masked, at a threshold of 0 under softmax",
    config: detr,
    outputs: { b: f32([1, 1, 4], place), s: f32([1, 1, 3], [-Infinity, -Infinity, 2]) },
    expected: [],
  },
  {
    name: "a logit far below the background, which is a score of 0, at a threshold of 0 under softmax",
    config: detr,
    outputs: { b: f32([1, 1, 4], place), s: f32([1, 1, 3], [-3e38, -Infinity, 2]) },
    expected: [[0, 0]],
  },
  {
    name: "a list of two classes in i16",
    config: { ...twoClasses, classes: 3, keep: [1, 2], scores: "probabilities" },
    outputs: {
      o: {
        data: Int16Array.of(50, 50, 25, 25, 0, 0, 90),
        dims: [1, 1, 7],
        order: "rows",
        scale: 0.01,
        zeroPoint: 0,
      },
    },
    expected: [[0, 2]],
  },
  {
    name: "FastestDet with a class above 1 by its step of u8, which lifts a low objectness over the threshold",
    config: { ...fastestdet, confidenceThreshold: 0.4966 },
    outputs: {
      o: {
        data: Uint8Array.of(79, 50, 50, 50, 50, 255),
        dims: [1, 6, 1, 1],
        order: "NCHW",
        scale: 1.0039 / 255,
        zeroPoint: 0,
      },
    },
    expected: [[0, 0]],
  },
  {
    name: "objectness of u8 and classes of f32, each with the slack of its type",
    config: {
      family: "yolox",
      classes: 2,
      inputSize: [8, 8],
      reading: "point-grid",
      roles: { boxes: ["b"], objectness: ["o"], scores: ["s"] },
    },
    outputs: {
      b: f32([1, 4, 1, 1], [0, 0, 0, 0], "NCHW"),
      o: { data: Uint8Array.of(255), dims: [1, 1, 1, 1], scale: 1.002 / 255, zeroPoint: 0 },
      s: f32([1, 2, 1, 1], [0.75, 0.5], "NCHW"),
    },
    expected: [[0, 0]],
  },
];

describe("odd frames", () => {
  for (const { name, config, outputs, expected } of oddFrames)
    test.each(engines)(`${name}: %s`, (engine) => {
      expect(runCase({ name, config, way: "arrays", steps: [{ outputs }] }, [engine]).complaints).toEqual([]);
      const { length, sources, classIds } = createDecoderSync(config, { engine }).decode(outputs);
      const found = Array.from({ length }, (_, i) => [sources[i], classIds[i]]);
      expect(found).toEqual(expected);
    });

  test("a multiLabel plan keeps the best candidates", () => {
    const config = { ...twoClasses, maxDetections: 1, rules: { multiLabel: true } };
    const cells = (classes: number, count: number): Outputs => {
      const data = new Float32Array(count * (4 + classes)).fill(0.5);
      // The best one is the last.
      data[data.length - 1] = 0.9;
      return { o: f32([1, count, 4 + classes], data) };
    };
    const few = cells(2, 3);
    const { plan, thresholds } = askedOf(config, {}, few);
    const [right] = decode({ ...plan, capacity: 4 }, elementsOf(few), thresholds);
    expect(right.detections[0].source).toBe(2);
    for (const engine of engines) {
      const decoder = createDecoderSync({ ...config, classes: 91 }, { engine });
      expect(decoder.decode(cells(91, 3000)).sources[0], engine).toBe(2999);
    }
  });
});
