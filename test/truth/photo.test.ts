/** Masks and input tensors of real photos, against OpenCV and MediaPipe (by `test/support/photo_answers.py`). */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import { type MaskInputs, masksOf, prepareImage } from "../../src/entries/index.ts";
import type { Mask } from "../../src/decode/mask.ts";
import { engines } from "../support/engines.ts";
import { fixtures, readBytes, readJson } from "../support/shared-data.ts";

const folder = join(fixtures, "beyond", "recorded", "selfie_segmentation", "astronaut");
const { box, size, rle, area } = readJson(folder, "expected.json") as {
  readonly box: { readonly [K in "x_min" | "y_min" | "x_max" | "y_max"]: number };
  readonly size: readonly [height: number, width: number];
  readonly rle: readonly number[];
  readonly area: number;
};
const prototypes = {
  data: new Uint16Array(readBytes(folder, "logits.bin").buffer),
  dims: [1, 1, 256, 256],
  type: "f16",
} as const;
const inputs = { prototypes, coefficients: [1], inputSize: [256, 256] } as const;

/** Returns the runs of a mask over its whole picture, row by row, zeros first. */
function runsOf({ x, y, width, height, data, size: [w, h] }: Mask): number[] {
  const runs = [0];
  for (let at = 0, last = 0; at < w * h; at++) {
    const [column, row] = [(at % w) - x, Math.floor(at / w) - y];
    const isInside = column >= 0 && column < width && row >= 0 && row < height;
    const pixel = isInside ? data[row * width + column] : 0;
    if (pixel !== last) runs.push(0);
    runs[runs.length - 1]++;
    last = pixel;
  }
  return runs;
}

describe.each(engines)("a person on a photo (%s)", (engine) => {
  const maskOf = (rest: Pick<MaskInputs, "boxes" | "frame">, options: object): Mask =>
    masksOf({ ...inputs, ...rest }, { engine, ...options })[0];

  test("in the box of another network: no pixel differs from cv2.resize", () => {
    const [height, width] = size;
    const boxes = [box.x_min, box.y_min, box.x_max, box.y_max];
    const mask = maskOf({ boxes, frame: { width, height, resize: "stretch" } }, { size: "frame" });
    expect(mask.area).toBe(area);
    expect(runsOf(mask)).toEqual(rle);
  });

  test("of the whole input: 65,535 of 65,536 pixels are those of MediaPipe's own package", () => {
    const bits = readBytes(folder, "mediapipe.bin");
    const mask = maskOf({ boxes: [0, 0, 1, 1] }, { size: "prototype" });
    const differing = mask.data.filter((pixel, i) => pixel !== ((bits[i >> 3] >> (7 - (i % 8))) & 1));
    expect(mask.data).toHaveLength(65536);
    expect(differing.length).toBeLessThanOrEqual(1);
  });
});

test.each(engines)("input tensors of a photo are byte-equal to OpenCV's (%s)", (engine) => {
  const { tensors } = readJson(fixtures, "prepare", "chelsea.json") as {
    readonly tensors: Record<string, { readonly dims: readonly number[]; readonly sha256: string }>;
  };
  const photo = PNG.sync.read(readFileSync(join(fixtures, "photos", "chelsea.png")));
  const rules = {
    letterbox: { size: [320, 320] },
    stretch: { size: [300, 300], resize: "stretch", layout: "NHWC", mean: 127.5, std: 127.5 },
  } as const;
  for (const [name, rule] of Object.entries(rules)) {
    const { data, dims } = prepareImage(photo, rule, { engine }).tensor;
    expect(dims).toEqual(tensors[name].dims);
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    expect(createHash("sha256").update(bytes).digest("hex"), name).toBe(tensors[name].sha256);
  }
});
