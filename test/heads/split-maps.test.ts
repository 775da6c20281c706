/** Networks whose exporters store the same channels in other tensors or dimensions give the same detections. */
import { expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { DecoderOptions } from "../../src/config/types.ts";

const SIDES = [8, 4, 2];
const ANCHORS = [
  [
    [10, 13],
    [16, 30],
    [33, 23],
  ],
  [
    [30, 61],
    [62, 45],
    [59, 119],
  ],
  [
    [116, 90],
    [156, 198],
    [373, 326],
  ],
] as const;
const CLASSES = 2;
const MASKS = 4;

interface Tensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly data: Float32Array;
}

/** Returns a tensor whose element at `index` (a list of positions) is `value(...index)`. */
function tensor(name: string, dims: readonly number[], value: (...index: number[]) => number): Tensor {
  const data = new Float32Array(dims.reduce((a, b) => a * b, 1));
  for (let i = 0; i < data.length; i++) {
    let rest = i;
    const index = [...dims].reverse().map((d) => {
      const at = rest % d;
      rest = Math.floor(rest / d);
      return at;
    });
    data[i] = value(...index.reverse());
  }
  return { name, dims, data };
}

/** Returns a number between -2 and 2 that depends on all arguments. */
const hash = (...keys: number[]): number => {
  let state = 7;
  for (const key of keys) state = (Math.imul(state ^ (key + 1), 1664525) + 1013904223) >>> 0;
  return state / 2 ** 30 - 2;
};

function decode(config: DecoderOptions, outputs: readonly Tensor[]) {
  const decoder = createDecoderSync({ inputSize: [64, 64], ...config }, { onNote: () => undefined });
  const detections = decoder.decode(outputs as never);
  return Array.from({ length: detections.length }, (_, i) => ({
    ...detections.at(i),
    mask: config.task === "segment" ? [...detections.mask(i, { size: [16, 16] }).data] : null,
  }));
}

/** Value of a channel of an anchor in a cell, whatever the storage. */
const raw = (level: number, anchor: number, channel: number, y: number, x: number): number =>
  hash(level, anchor, channel, y, x);

test("ncnn joins height and width behind the anchors", () => {
  const config: DecoderOptions = { family: "yolov5", classes: CLASSES, anchors: ANCHORS };
  const usual = SIDES.map((side, level) =>
    tensor(`m${level}`, [1, 3, side, side, 5 + CLASSES], (_n, a, y, x, c) => raw(level, a, c, y, x)),
  );
  const joined = usual.map(({ name, dims: [, a, h, w, k], data }) => ({ name, dims: [a, h * w, k], data }));
  const found = decode(config, usual);
  expect(found.length).toBeGreaterThan(5);
  expect(decode(config, joined)).toEqual(found);
});

test("rknn stores the mask coefficients of all anchors in a map beside each map", () => {
  const config: DecoderOptions = {
    family: "yolov5",
    task: "segment",
    classes: CLASSES,
    maskCoefficients: MASKS,
    anchors: ANCHORS,
  };
  const prototypes = tensor("p", [1, MASKS, 16, 16], (_n, m, y, x) => hash(m, y, x));
  const own = 5 + CLASSES;
  const maps = (name: string, first: number, channels: number): Tensor[] =>
    SIDES.map((side, level) =>
      tensor(`${name}${level}`, [1, 3 * channels, side, side], (_n, c, y, x) =>
        raw(level, Math.floor(c / channels), first + (c % channels), y, x),
      ),
    );
  const found = decode(config, [...maps("m", 0, own + MASKS), prototypes]);
  expect(found.length).toBeGreaterThan(5);
  expect(decode(config, [...maps("m", 0, own), ...maps("c", own, MASKS), prototypes])).toEqual(found);
});
