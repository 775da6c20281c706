/** Masks of queries against spec/masks.ts, and tensors that are none. */
import { describe, expect, test } from "vitest";
import { mulberry32 } from "../../../bench/random.ts";
import { type Picture, maskOfQuery } from "../../../spec/masks.ts";
import { createDecoderSync } from "../../../src/entries/index.ts";
import type { TypedOptions } from "../../../src/config/types.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";
import type { Frame } from "../../../src/decode/frame.ts";
import { compilePlan } from "../../../src/planfile/write.ts";
import { engines } from "../../support/engines.ts";

const random = mulberry32(50);
const [QUERIES, WIDTH, HEIGHT] = [5, 12, 8];

const OPTIONS: TypedOptions = { family: "rfdetr", task: "segment", classes: 2, inputSize: [48, 32] };

const maps: Picture[] = Array.from({ length: QUERIES }, () =>
  Array.from({ length: HEIGHT }, () => Array.from({ length: WIDTH }, () => Math.fround(4 * random() - 2))),
);

const tensors = (batch = 1): Record<string, TensorInput> => ({
  dets: {
    data: Float32Array.from({ length: batch * QUERIES * 4 }, () => 0.25 + random() / 4),
    dims: [batch, QUERIES, 4],
  },
  labels: {
    data: Float32Array.from({ length: batch * QUERIES * 3 }, (_, i) => (i % 3 === 1 ? 1 + random() : -4)),
    dims: [batch, QUERIES, 3],
  },
  masks: {
    data: Float32Array.from(Array.from({ length: batch }, () => maps).flat(4)),
    dims: [batch, QUERIES, HEIGHT, WIDTH],
  },
});

const FRAMES: readonly (readonly [title: string, frame: Frame])[] = [
  ["stretched", { width: 31, height: 40, resize: "stretch" }],
  ["letterboxed", { width: 80, height: 30, resize: "letterbox" }],
];

describe.each(engines)("%s", (engine) => {
  test.each(FRAMES)("%s", (_, frame) => {
    const found = createDecoderSync(OPTIONS, { engine }).decode(tensors(), frame);
    expect(found.length).toBe(QUERIES);
    for (let row = 0; row < QUERIES; row++) {
      const mask = found.mask(row);
      const right = maskOfQuery(
        maps[found.sources[row]],
        [frame.width, frame.height],
        frame.resize === "letterbox" ? [frame.width, frame.height] : undefined,
      );
      const pixelAt = (x: number, y: number): number => {
        const [column, line] = [x - mask.x, y - mask.y];
        const isInside = column >= 0 && line >= 0 && column < mask.width && line < mask.height;
        return isInside ? mask.data[line * mask.width + column] : 0;
      };
      for (let y = 0; y < frame.height; y++)
        for (let x = 0; x < frame.width; x++) {
          const value = right[y][x];
          if (Math.abs(value) > 1e-4) expect(pixelAt(x, y)).toBe(value > 0 ? 1 : 0);
        }
    }
  });

  test("a batch: each image has its own maps, and a turned frame turns them", () => {
    const [first, second] = createDecoderSync(OPTIONS, { engine }).decodeBatch(
      tensors(2),
      [0, 1].map((rotation) => ({
        width: rotation === 0 ? 96 : 64,
        height: rotation === 0 ? 64 : 96,
        resize: "stretch" as const,
        rotation: rotation as 0 | 1,
      })),
    );
    const upright = first.mask([...first.sources].indexOf(3));
    const turned = second.mask([...second.sources].indexOf(3));
    expect([turned.width, turned.height]).toEqual([64, 96]);
    for (let y = 0; y < 96; y++)
      for (let x = 0; x < 64; x++) expect(turned.data[y * 64 + x]).toBe(upright.data[x * 96 + 95 - y]);
  });
});

describe("tensors that are none", () => {
  const decode = (masks: Partial<TensorInput>): unknown => {
    const good = tensors();
    return createDecoderSync(OPTIONS).decode({
      ...good,
      masks: { ...good.masks, ...masks } as TensorInput,
    });
  };
  const expected = "masks [N,5,h,w], a map for each query in the proportions of the input";

  test.each([
    ["no masks", { data: new Float32Array(8), dims: [1, 8] }],
    ["transposed", { dims: [1, HEIGHT, WIDTH, QUERIES] }],
    ["a query too few", { data: new Float32Array(4 * HEIGHT * WIDTH), dims: [1, 4, HEIGHT, WIDTH] }],
    ["two images", { data: new Float32Array(2 * QUERIES * 96), dims: [2, QUERIES, HEIGHT, WIDTH] }],
  ])("%s", (_, masks) => {
    expect(() => decode(masks)).toThrow(expected);
  });

  test("whole numbers of 32 bits", () => {
    expect(() => decode({ data: new Int32Array(QUERIES * HEIGHT * WIDTH), scale: 1, zeroPoint: 0 })).toThrow(
      'masks "masks": got type i32, expected f32, f16, u8 or i8',
    );
  });

  test("NaN is noted, and sets no pixel", () => {
    const notes: string[] = [];
    const decoder = createDecoderSync(OPTIONS, { onNote: (note) => notes.push(note) });
    const good = tensors();
    (good.masks.data as Float32Array).fill(NaN);
    const found = decoder.decode(good);
    expect(found.mask(0, { size: "network" }).data.some((p) => p === 1)).toBe(false);
    expect(notes.join()).toContain("values of a mask are NaN or infinite");
  });

  test("a plan file holds no such masks", () => {
    const outputs = [
      { name: "dets", dims: [1, QUERIES, 4], type: "f32" },
      { name: "labels", dims: [1, QUERIES, 3], type: "f32" },
      { name: "masks", dims: [1, QUERIES, HEIGHT, WIDTH], type: "f32" },
    ] as const;
    expect(() => compilePlan(OPTIONS, { outputs })).toThrow('or task: "detect" for boxes alone');
  });
});

test("a mask covers the pixels that may be set, and no more of the picture", () => {
  for (const engine of engines) {
    const masks = new Float32Array(2 * 8 * 8).fill(-4);
    // Cells 2 and 3 of rows 4 to 6 of a map of 8 x 8 cells, for a picture of 80 x 80 pixels.
    for (const row of [4, 5, 6]) masks.fill(4, row * 8 + 2, row * 8 + 4);
    const outputs = {
      dets: { data: Float32Array.of(0.3, 0.6, 0.4, 0.4, 0.7, 0.2, 0.1, 0.1), dims: [1, 2, 4] },
      labels: { data: Float32Array.of(3, -9, 2, -9), dims: [1, 2, 2] },
      masks: { data: masks, dims: [1, 2, 8, 8] },
    };
    const decoder = createDecoderSync(
      { family: "rfdetr", task: "segment", classes: 1, inputSize: [32, 32] },
      { engine },
    );
    const found = decoder.decode(outputs, { width: 80, height: 80, resize: "stretch" });
    expect(found.length).toBe(2);
    const first = found.mask(0);
    expect([first.x, first.y, first.width, first.height]).toEqual([15, 35, 30, 40]);
    const map = Array.from({ length: 8 }, (_, row) => [...masks.subarray(row * 8, row * 8 + 8)]);
    expect(first.area).toBe(
      maskOfQuery(map, [80, 80])
        .flat()
        .filter((value) => value > 0).length,
    );
    expect(found.mask(1).area).toBe(0);
    // With a threshold below 0.5, pixels that read no positive logit count: the whole picture is looked at.
    expect(found.mask(0, { threshold: 0.01 }).width).toBe(80);
  }
});
