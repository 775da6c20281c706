/** Masks of Mask R-CNN and RTMDet-Ins of a picture on its side: those of the upright picture, turned. */
import { describe, expect, test } from "vitest";
import type { TypedOptions } from "../../../src/config/types.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";
import { turnPicture, turnsBack } from "../../../src/core/turn.ts";
import type { Detections } from "../../../src/decode/detections.ts";
import type { Mask, MaskOptions } from "../../../src/decode/mask.ts";
import { createDecoderSync, labelMap } from "../../../src/entries/index.ts";
import { engines } from "../../support/engines.ts";

/** The upright picture, which is the input of 64 x 32 too. */
const [WIDTH, HEIGHT] = [64, 32] as const;
const ROWS = 3;
/** Corners in eighths of a pixel, which f32 holds exactly. */
const BOXES = [4.125, 2.5, 20.25, 17.375, 30, 3.25, 60.5, 29, 10.5, 12, 40.25, 31.125];

/** Blobs, the middle of each at another place. */
const blobs = (width: number, height: number): Float32Array =>
  Float32Array.from({ length: ROWS * width * height }, (_, i) => {
    const row = Math.floor(i / (width * height));
    const [x, y] = [i % width, Math.floor(i / width) % height];
    const away = Math.hypot((x + 0.5) / width - 0.3 - 0.1 * row, (y + 0.5) / height - 0.6 + 0.1 * row);
    return Math.max(0, 0.96875 - 2 * away);
  });

type Tensors = Record<string, TensorInput>;
const scores = { data: Float32Array.of(0.875, 0.75, 0.625), dims: [ROWS] };

const CASES: Record<
  string,
  { readonly options: TypedOptions; readonly tensors: Tensors; readonly rules: readonly MaskOptions[] }
> = {
  "Mask R-CNN": {
    options: { family: "mask-rcnn", coordinates: "pixels", inputSize: [WIDTH, HEIGHT] },
    tensors: {
      boxes: { data: Float32Array.from(BOXES), dims: [ROWS, 4] },
      labels: { data: BigInt64Array.of(1n, 2n, 1n), dims: [ROWS] } as unknown as TensorInput,
      scores,
      masks: { data: blobs(28, 28), dims: [ROWS, 1, 28, 28] },
    },
    rules: [{ rule: "torchvision" }, { rule: "detectron2" }],
  },
  "RTMDet-Ins": {
    options: { family: "rtmdet-ins", inputSize: [WIDTH, HEIGHT] },
    tensors: {
      dets: {
        data: Float32Array.from({ length: ROWS * 5 }, (_, i) =>
          i % 5 === 4 ? scores.data[Math.floor(i / 5)] : BOXES[Math.floor(i / 5) * 4 + (i % 5)],
        ),
        dims: [1, ROWS, 5],
      },
      labels: { data: BigInt64Array.of(0n, 1n, 0n), dims: [1, ROWS] } as unknown as TensorInput,
      masks: { data: blobs(WIDTH, HEIGHT), dims: [1, ROWS, HEIGHT, WIDTH] },
    },
    rules: [{}],
  },
};

/** Returns the pixels of the whole picture. */
function wholeOf({ x, y, width, data, size }: Mask): Uint8Array {
  const all = new Uint8Array(size[0] * size[1]);
  data.forEach((pixel, i) => {
    all[(y + Math.floor(i / width)) * size[0] + x + (i % width)] = pixel;
  });
  return all;
}

describe.each(Object.keys(CASES))("%s", (name) => {
  const { options, tensors, rules } = CASES[name];
  const decode = (engine: (typeof engines)[number], rotation: 0 | 1 | 2 | 3): Detections =>
    createDecoderSync(options, { engine, confidenceThreshold: 0.5, rules: { suppress: "none" } }).decode(
      tensors,
      {
        width: rotation % 2 === 1 ? HEIGHT : WIDTH,
        height: rotation % 2 === 1 ? WIDTH : HEIGHT,
        resize: "stretch",
        rotation,
      },
    );

  test.each([1, 2, 3] as const)("%i quarter turns, in three engines", (rotation) => {
    const upright = decode("ts", 0);
    const turns = turnsBack(rotation);
    for (const rule of rules) {
      const labels = labelMap(upright, rule);
      for (const engine of engines) {
        const live = decode(engine, rotation);
        for (const turned of [live, live.copy()]) {
          expect(turned.length).toBe(ROWS);
          for (let row = 0; row < ROWS; row++) {
            const right = upright.mask(row, rule);
            expect(right.area).toBeGreaterThan(30);
            const mask = turned.mask(row, rule);
            expect(mask.size).toEqual(rotation === 2 ? [WIDTH, HEIGHT] : [HEIGHT, WIDTH]);
            expect(wholeOf(mask)).toEqual(turnPicture(wholeOf(right), [WIDTH, HEIGHT], turns));
            // The network saw the upright picture.
            expect(wholeOf(turned.mask(row, { ...rule, size: "network" }))).toEqual(
              wholeOf(upright.mask(row, { ...rule, size: "network" })),
            );
          }
          const map = labelMap(turned, rule);
          expect(map.data).toEqual(turnPicture(labels.data, [WIDTH, HEIGHT], turns));
        }
      }
    }
  });
});
