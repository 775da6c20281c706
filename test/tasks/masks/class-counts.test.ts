/**
 * Standard segmentation exports of every class count: [1,4+C+32,N], [1,N,5+C+32] or [1,300,6+32], and prototypes
 * [1,32,H/4,W/4]. Expectations come from these published shapes.
 */
import { expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { specsOf } from "../../../src/heads/query.ts";
import type { SegmentPlan } from "../../../src/tasks/masks/plan.ts";
import { explain } from "../../../src/plan/explain.ts";
import { interpretConfig, planOf } from "../../../src/plan/make.ts";
import { loadPlanSync } from "../../../src/planfile/decoder.ts";
import { masks } from "../../../src/planfile/masks.ts";
import { compilePlan } from "../../../src/planfile/write.ts";
import { createDecoderSync } from "../../../src/entries/index.ts";
import { ALL_TASKS } from "../../../src/whole/tasks.ts";
import { repeats } from "../../support/effort.ts";

const MOST_CLASSES = 130;
/** `npm test` reads every fourth class count of a form and a size, beginning at another one each time. */
const STEP = repeats(1, 4);

const cellsOf = (side: number): number => (side / 8) ** 2 + (side / 16) ** 2 + (side / 32) ** 2;

/** The shape of the boxes, the first score channel, and the first channel of the coefficients. */
interface Form {
  readonly family: string;
  readonly dims: (classes: number, count: number, cells: number) => number[];
  readonly score: number;
  readonly extra: (classes: number) => number;
}

const planes: Omit<Form, "family"> = {
  dims: (classes, count, cells) => [1, 4 + classes + count, cells],
  score: 4,
  extra: (classes) => 4 + classes,
};

const FORMS: readonly Form[] = [
  { family: "yolov8", ...planes },
  {
    family: "yolov5",
    dims: (classes, count, cells) => [1, 3 * cells, 5 + classes + count],
    score: 5,
    extra: (classes) => 5 + classes,
  },
  { family: "yolo26", dims: (_, count) => [1, 300, 6 + count], score: 4, extra: () => 6 },
];

/** Returns what differs from the published reading, as one line for each class count. */
function misread(
  { family, dims, score, extra }: Form,
  side: number,
  count: number,
  isNhwc: boolean,
  first = 1,
): string[] {
  const cells = cellsOf(side);
  const wrong: string[] = [];
  for (let classes = first; classes <= MOST_CLASSES; classes += STEP) {
    const boxes = dims(classes, count, cells);
    const map = side / 4;
    const outputs = [
      { name: "output0", dims: boxes },
      { name: "output1", dims: isNhwc ? [1, map, map, count] : [1, count, map, map] },
    ];
    try {
      const config = readConfig({ family, classes, inputSize: [side, side], task: "segment" }, {
        outputs,
      } as object);
      const { heads, task } = planOf(interpretConfig(config, specsOf(config) as never, ALL_TASKS), explain);
      const { prototypes, tensors } = task as SegmentPlan;
      const channel = family === "yolov8" ? cells : 1;
      const got = [tensors[0], prototypes.count, prototypes.width, prototypes.height];
      got.push(heads[0].box.tensor, heads[0].score.offset, heads[0].extra?.offset ?? -1);
      const expected = [1, count, map, map, 0, score * channel, extra(classes) * channel];
      if (got.join() !== expected.join()) wrong.push(`${classes}: ${got.join()} for ${expected.join()}`);
    } catch (error) {
      wrong.push(`${classes}: ${(error as Error).message.slice(0, 200)}`);
    }
  }
  return wrong;
}

test.each(
  FORMS.flatMap((form, i) =>
    [320, 416, 512, 640].map((side, k) => [form.family, side, form, 1 + ((i + k) % STEP)] as const),
  ),
)("%s at %i: class counts up to 130 are read as published", (_, side, form, first) => {
  expect(misread(form, side, 32, false, first)).toEqual([]);
  expect(misread(form, side, 32, true, first)).toEqual([]);
});

const network = (classes: number, coordinates?: "normalised"): object => ({
  family: "yolov8",
  classes,
  task: "segment",
  ...(coordinates ? { coordinates } : { inputSize: [640, 640] }),
});

/** Returns the outputs of a network at 640x640 that sees one object in cell 77. Box channels are times `unit`. */
function oneObject(classes: number, unit: number) {
  const [channels, cells] = [4 + classes + 32, 8400];
  const data = new Float32Array(channels * cells).fill(0.3 * unit, 0, 4 * cells);
  [0.5 * unit, 0.5 * unit, 0.25 * unit, 0.25 * unit, 0.9].forEach((value, channel) => {
    data[channel * cells + 77] = value;
  });
  return {
    output0: { data, dims: [1, channels, cells] },
    output1: { data: new Float32Array(32 * 160 * 160).fill(-0.5), dims: [1, 32, 160, 160] },
  };
}

test.each([26, 27, 31, 91, 95, 127])("%i classes: one object is one detection, by a plan file too", (n) => {
  const outputs = oneObject(n, 640);
  const shapes = Object.entries(outputs).map(([name, { dims }]) => ({ name, dims }));
  const file = compilePlan(network(n), { outputs: shapes });
  for (const found of [
    createDecoderSync(network(n)).decode(outputs),
    loadPlanSync(file.bytes, { tasks: [masks] }).decode(outputs),
    // No input size: its proportions are not there to decide.
    createDecoderSync(network(n, "normalised")).decode(oneObject(n, 1)),
  ])
    expect(found.toArray().map(({ class_id, x_min }) => [class_id, x_min])).toEqual([[0, 0.375]]);
});

test("other coefficient counts, that a raw map of the same classes has as channels too", () => {
  const [yolov8] = FORMS;
  for (const count of [8, 16, 24, 48, 64]) expect(misread(yolov8, 320, count, false)).toEqual([]);
});
