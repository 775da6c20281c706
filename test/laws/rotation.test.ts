/**
 * A frame with a rotation. The network saw the picture upright; results are those of the picture before its turn. Turn
 * the tensors back as well, and a decode without a rotation finds the same.
 */
import { describe, expect, test } from "vitest";
import type { Detection, Detections } from "../../src/decode/detections.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import type { Frame } from "../../src/decode/frame.ts";
import { createDecoderSync, fromPacket, labelMap, masksOf, toPacket } from "../../src/entries/index.ts";
import { compilePlan } from "../../src/entries/node.ts";
import { loadPlanSync, masks, pose } from "../../src/entries/plan.ts";
import { mulberry32 } from "../../bench/random.ts";
import { shareOf } from "../support/engine-shares.ts";
import { engines } from "../support/engines.ts";
import { wholePicture } from "../support/mask-pixels.ts";

type Turns = 0 | 1 | 2 | 3;
type Size = readonly [number, number];

/** Input that the upright picture was resized to, and size of that picture. All paddings are even. */
const UPRIGHT: Size = [64, 96];
const PICTURES: readonly Size[] = [
  [128, 128],
  [32, 96],
  [60, 45],
];
const RESIZES = ["letterbox", "stretch", "crop"] as const;
const ROWS = 12;
const POINTS = 3;
const PROTOTYPES = 4;

const swapped = ([a, b]: Size, turns: Turns): Size => (turns % 2 === 0 ? [a, b] : [b, a]);

/** Turns a point of an upright area of that size back by quarter turns, one at a time. */
function pointBack([x, y]: Size, [width, height]: Size, turns: Turns): Size {
  if (turns === 0) return [x, y];
  // Before a turn clockwise, the upper edge was the left one, and the right edge the upper one.
  return pointBack([y, width - x], [height, width], (turns - 1) as Turns);
}

interface Row {
  readonly box: readonly [number, number, number, number];
  readonly score: number;
  readonly angle: number;
  readonly points: readonly Size[];
  readonly coefficients: readonly number[];
}

/** Returns rows in the upright input: boxes far apart, so that suppression keeps all. */
function rowsOf(random: () => number): Row[] {
  return Array.from({ length: ROWS }, (_, i) => {
    const [cx, cy] = [8 + (i % 3) * 22 + random() * 4, 10 + Math.floor(i / 3) * 24 + random() * 4];
    return {
      box: [cx, cy, 8 + random() * 8, 8 + random() * 8],
      score: 0.4 + random() / 2,
      angle: -Math.PI / 4 + random() * Math.PI,
      points: Array.from({ length: POINTS }, () => [random() * 64, random() * 96] as const),
      coefficients: Array.from({ length: PROTOTYPES }, () => random() * 4 - 2),
    };
  });
}

function rowBack(row: Row, turns: Turns): Row {
  const [cx, cy, w, h] = row.box;
  let angle = row.angle - (turns * Math.PI) / 2;
  while (angle < -Math.PI / 4) angle += Math.PI;
  return {
    ...row,
    // The sides of an upright box change places; those of an oriented box follow its angle.
    box: [...pointBack([cx, cy], UPRIGHT, turns), ...swapped([w, h], turns)] as unknown as Row["box"],
    angle,
    points: row.points.map((point) => pointBack(point, UPRIGHT, turns)),
  };
}

/** Returns prototypes at a quarter of the upright input, turned back. */
function prototypesOf(random: () => number, turns: Turns) {
  const upright: Size = [UPRIGHT[0] / 4, UPRIGHT[1] / 4];
  const [width, height] = swapped(upright, turns);
  const data = new Float32Array(PROTOTYPES * width * height);
  for (let m = 0; m < PROTOTYPES; m++)
    for (let y = 0; y < upright[1]; y++)
      for (let x = 0; x < upright[0]; x++) {
        const [tx, ty] = pointBack([x + 0.5, y + 0.5], upright, turns);
        data[(m * height + Math.floor(ty)) * width + Math.floor(tx)] = random() * 2 - 1;
      }
  return { data, dims: [1, PROTOTYPES, height, width] };
}

const TASKS = {
  boxes: { extra: () => [] },
  pose: {
    options: { task: "pose", keypoints: [POINTS, 3] },
    extra: (row: Row) => row.points.flatMap(([x, y]) => [x, y, 0.5]),
  },
  masks: { options: { task: "segment" }, extra: (row: Row) => row.coefficients },
  oriented: { options: { task: "oriented" }, extra: (row: Row) => [row.angle] },
  "oriented, raw": {
    options: { task: "oriented", angleRange: "raw" },
    extra: (row: Row) => [row.angle],
  },
} as const;
type Task = keyof typeof TASKS;

const configOf = (task: Task, inputSize: Size) => {
  const { options } = TASKS[task] as { readonly options?: object };
  // Two classes and an angle are as many channels as a list of detections has.
  return { family: "yolov8", classes: 2, inputSize, reading: "class-rows", ...options } as const;
};

function outputsOf(
  task: Task,
  rows: readonly Row[],
  random: () => number,
  turns: Turns,
): Record<string, TensorInput & { readonly dims: readonly number[] }> {
  const { extra } = TASKS[task];
  const isOriented = task.startsWith("oriented");
  const data = rows.map((row) => {
    // An oriented box keeps its own width and height.
    const box = isOriented ? [...row.box.slice(0, 2), ...swapped([row.box[2], row.box[3]], turns)] : row.box;
    return [...box, row.score, 0.1, ...extra(row)];
  });
  const output0 = {
    data: Float32Array.from(data.flat()),
    dims: [1, rows.length, data[0].length],
    order: "rows" as const,
  };
  return task === "masks" ? { output0, output1: prototypesOf(random, turns) } : { output0 };
}

/** Returns the pixels of each mask, in the whole picture of the frame. */
const pixelsOf = (found: Detections): Uint8Array[] =>
  Array.from(found, (_, i) => wholePicture(found.mask(i, { size: "frame" })));

/** Returns a mask of an upright picture as one of the picture before its turn. */
function pixelsBack(pixels: Uint8Array, upright: Size, turns: Turns): Uint8Array {
  const [width] = swapped(upright, turns);
  const back = new Uint8Array(pixels.length);
  pixels.forEach((pixel, i) => {
    const place = [(i % upright[0]) + 0.5, Math.floor(i / upright[0]) + 0.5] as const;
    const [x, y] = pointBack(place, upright, turns);
    back[Math.floor(y) * width + Math.floor(x)] = pixel;
  });
  return back;
}

/**
 * A box that a stretch has made is fitted, and its angle may be half a turn further. Returns what both have: the angle
 * within half a turn, and the corner of that angle first.
 */
function sameBox(d: Detection): Detection {
  const { angle = 0, corners = [] } = d;
  const isFurther = Math.floor(angle / Math.PI) % 2 !== 0;
  const first = isFurther ? [...corners.slice(2), ...corners.slice(0, 2)] : corners;
  return { ...d, angle: angle - Math.floor(angle / Math.PI) * Math.PI, corners: first };
}
const same = (d: Detection): Detection => d;

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Compares numbers within rounding, all else exactly. */
function expectNear(got: unknown, expected: unknown, path = ""): void {
  if (typeof expected === "number") expect(got, path).toBeCloseTo(expected, 5);
  else if (typeof expected === "object" && expected !== null) {
    expect(Object.keys(got as object), path).toEqual(Object.keys(expected));
    for (const key of Object.keys(expected))
      expectNear(
        (got as Record<string, unknown>)[key],
        (expected as Record<string, unknown>)[key],
        `${path}.${key}`,
      );
  } else expect(got, path).toBe(expected);
}

describe.each(engines)("%s", (engine) => {
  describe.each(shareOf(engine, Object.keys(TASKS) as Task[]))("%s", (task) => {
    for (const resize of RESIZES)
      for (const upright of PICTURES)
        test.each([1, 2, 3] as const)(`a ${resize} of ${upright.join("x")}, turned %i times`, (turns) => {
          const rows = rowsOf(mulberry32(turns));
          const [width, height] = swapped(upright, turns);
          const frame: Frame = { width, height, resize };
          const outputs = outputsOf(task, rows, mulberry32(9), 0);
          const turned = outputsOf(
            task,
            rows.map((row) => rowBack(row, turns)),
            mulberry32(9),
            turns,
          );
          const options = { engine, fresh: true };
          const expected = createDecoderSync(configOf(task, swapped(UPRIGHT, turns)), options).decode(
            turned,
            frame,
          );
          const decoder = createDecoderSync(configOf(task, UPRIGHT), options);
          const got = decoder.decode(outputs, { ...frame, rotation: turns });
          expect(expected.length).toBeGreaterThan(2);
          const isRaw = task.endsWith("raw") && resize === "stretch";
          expectNear(
            ...([got, expected].map((d) => d.toArray().map(isRaw ? sameBox : same)) as [unknown, unknown]),
          );
          if (task !== "masks") return;
          // Ultralytics crops a mask at x >= left and x < right, so the turned box may have another pixel at its edge.
          const standing = decoder.decode(outputs, { width: upright[0], height: upright[1], resize });
          const [own, upper, other] = [got, standing, expected].map(pixelsOf);
          own.forEach((pixels, i) => {
            expect(isSame(pixels, pixelsBack(upper[i], upright, turns))).toBe(true);
            const differing = pixels.filter((pixel, at) => pixel !== other[i][at]).length;
            expect(differing).toBeLessThanOrEqual(2 * (width + height));
          });
          expect(own.some((pixels) => pixels.includes(1))).toBe(true);
        });
  });
});

describe("other ways in", () => {
  const random = mulberry32(3);
  const rows = rowsOf(random);
  const frame = { width: 96, height: 32, resize: "letterbox", rotation: 3 } as const;

  test("a plan file, and a packet, as a decoder", () => {
    for (const task of ["pose", "masks"] as const) {
      const outputs = outputsOf(task, rows, mulberry32(4), 0);
      const config = configOf(task, UPRIGHT);
      const decoder = createDecoderSync(config, { fresh: true });
      const seen = (found: Detections) => [...found.toArray(), ...(task === "masks" ? pixelsOf(found) : [])];
      const expected = seen(decoder.decode(outputs, frame));
      expect(expected.length).toBeGreaterThan(2);
      const bytes = compilePlan(config, {
        outputs: Object.entries(outputs).map(([name, { dims, order }]) => ({
          name,
          dims,
          ...(order && { order }),
        })),
      });
      expect(seen(loadPlanSync(bytes, { tasks: [pose, masks] }).decode(outputs, frame))).toEqual(expected);
      const packet = fromPacket(
        toPacket(decoder, outputs, frame, { id: "1", source: "/a", time: new Date(0) }),
      );
      expect(packet.frame).toEqual(frame);
      expect(seen(decoder.receive(packet))).toEqual(expected);
    }
  });

  test("a copy, a label map and masks of boxes agree with the masks", () => {
    const outputs = outputsOf("masks", rows, mulberry32(4), 0);
    const found = createDecoderSync(configOf("masks", UPRIGHT)).decode(outputs, frame);
    const copy = found.copy();
    expect(pixelsOf(copy)).toEqual(pixelsOf(found));
    const map = labelMap(found);
    expect([map.width, map.height]).toEqual([96, 32]);
    for (let row = found.length - 1; row >= 0; row--) {
      const mask = found.mask(row);
      for (let i = 0; i < mask.data.length; i++) {
        const at = (mask.y + Math.floor(i / mask.width)) * 96 + mask.x + (i % mask.width);
        if (mask.data[i] === 1) expect(map.data[at]).toBeLessThanOrEqual(row);
        if (map.data[at] === row) expect(mask.data[i]).toBe(1);
      }
    }
    const row = rows[found.sources[0]];
    const [mask] = masksOf({
      prototypes: outputs["output1"],
      coefficients: row.coefficients,
      boxes: found.boxes.slice(0, 4),
      inputSize: UPRIGHT,
      frame,
    });
    const { x, y, width, height, data } = found.mask(0);
    expect(mask).toMatchObject({ x, y, width, height, data });
  });
});
