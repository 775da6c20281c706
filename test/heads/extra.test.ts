/** How often the tensors of a task are read. A plan needs few readings. */
import { describe, expect, it } from "vitest";
import { createDecoder, type DecoderOptions } from "../../src/entries/index.ts";
import { specOf } from "../../src/core/tensor.ts";
import { readAdded, readInOneOrder } from "../../src/heads/extra.ts";
import type { Interpretation, Specs } from "../../src/heads/head.ts";
import type { HeadQuery } from "../../src/heads/query.ts";

const specsOf = (...all: number[][]): Specs =>
  all.map((dims, i) => specOf(`output${i}`, { dims, type: "f32" }));

/** Returns how often the tensors are read, by a reader that uses so many of them. */
function countReads(specs: Specs, used: number): number {
  let reads = 0;
  const reading = { uses: specs.map((_, i) => i).slice(0, used), heads: [] } as unknown as Interpretation;
  readInOneOrder(specs, () => {
    reads++;
    return [reading];
  });
  return reads;
}

describe("readInOneOrder", () => {
  it("reads rows and planes once: no order of maps changes them", () => {
    expect(countReads(specsOf([1, 56, 8400], [1, 300, 57]), 2)).toBe(1);
  });

  it("reads maps in both orders, and mixed only if a tensor is left over", () => {
    const maps = specsOf([1, 64, 80, 80], [1, 51, 80, 80]);
    expect(countReads(maps, 2)).toBe(2);
    expect(countReads(maps, 1)).toBe(3);
  });
});

describe("readAdded", () => {
  const readsOf = (specs: Specs): number => {
    let reads = 0;
    const readBoxes = (): [] => {
      reads++;
      return [];
    };
    const query = { inputSize: null, strides: null, traits: {} } as unknown as HeadQuery;
    readAdded(query, specs, { channels: 51, names: ["output1"], readBoxes });
    return reads;
  };

  it("reads boxes only if another tensor holds the part", () => {
    expect(readsOf(specsOf([1, 56, 8400]))).toBe(0);
    expect(readsOf(specsOf([1, 5, 8400], [1, 51, 8400]))).toBeGreaterThan(0);
  });
});

describe("masks in maps: boxes with classes, coefficients, prototypes", () => {
  // Each square map of coefficients has the shape of boxes too, which were read so: all other tensors were left alone.
  it.each([
    [15, 320, 16],
    [15, 640, 32],
    [1, 320, 8],
  ])("of %i classes at %i pixels, %i coefficients", async (classes, side, masks) => {
    const sides = [8, 16, 32].map((stride) => side / stride);
    const outputs = Object.fromEntries([
      ...sides.map((s, i) => [`boxes${i}`, { dims: [1, 5 + classes, s, s], type: "f32" }]),
      ...sides.map((s, i) => [`masks${i}`, { dims: [1, masks, s, s], type: "f32" }]),
      ["prototypes", { dims: [1, masks, side / 4, side / 4], type: "f32" }],
    ]) as DecoderOptions["outputs"];
    const options = { family: "yolov8", task: "segment", classes, inputSize: [side, side] } as const;
    const { json } = (await createDecoder(null, { ...options, outputs })).describe();
    const heads = "heads" in json ? json.heads : [];
    expect(heads.map(({ gridWidth, classes: n }) => [gridWidth, n])).toEqual(sides.map((s) => [s, classes]));
    expect(heads.map(({ extra }) => extra?.tensor)).toEqual([3, 4, 5]);
  });
});

describe("coefficients of all anchors", () => {
  const sides = [8, 4, 2];
  const anchors = [1, 2, 4].map((k) => [8, 16, 24].map((size) => [k * size, k * size] as const));
  const options = { family: "yolov5", task: "segment", classes: 1, inputSize: [64, 64], anchors } as const;
  const dataOf = (dims: readonly number[]) => ({
    data: new Float32Array(dims.reduce((a, b) => a * b)).fill(-9),
    dims,
  });
  const boxes = sides.map((side) => dataOf([1, 18, side, side]));
  const prototypes = dataOf([1, 32, 16, 16]);
  prototypes.data.fill(1);

  it("may lie in one tensor, in the order of maps, anchors and cells", async () => {
    const all = dataOf([1, 252, 32]);
    all.data.fill(0);
    // Only the box of the second anchor at cell 3 of the second map is found, and only its coefficients are set.
    const [first, second, third] = boxes.map(({ data, dims }) => ({ data: data.slice(), dims }));
    [0, 0, 0, 0, 9, 9].forEach((value, k) => (second.data[(6 + k) * 16 + 3] = value));
    all.data.fill(1, (3 * 64 + 16 + 3) * 32, (3 * 64 + 16 + 4) * 32);
    const found = (await createDecoder(options)).decode({ first, second, third, all, prototypes });
    expect(found.length).toBe(1);
    expect(found.mask(0, { size: "prototype" }).data).toContain(1);
  });
});

describe("a batch of poses whose points are no map of the input", () => {
  it("is read: a reading that no points can join does not refuse the tensors", async () => {
    const options = {
      family: "yolov8",
      task: "pose",
      keypoints: [2, 2],
      classes: 32,
      inputSize: [320, 320],
    } as const;
    const outputs = {
      boxes: { dims: [2, 4, 100], type: "f32" },
      scores: { dims: [2, 100, 32], type: "f32" },
      points: { dims: [2, 100, 2, 2], type: "f32" },
    } as const;
    const decoder = await createDecoder(null, { ...options, outputs });
    expect(decoder.describe().text).toContain("2 keypoints");
  });
});
