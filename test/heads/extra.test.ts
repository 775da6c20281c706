/** How often the tensors of a task are read. A plan needs few readings. */
import { describe, expect, it } from "vitest";
import { createDecoder } from "../../src/entries/index.ts";
import { specOf } from "../../src/core/tensor.ts";
import { readBeside, readInOneOrder } from "../../src/heads/extra.ts";
import type { Interpretation, Specs } from "../../src/heads/head.ts";

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

describe("readBeside", () => {
  const readsOf = (specs: Specs): number => {
    let reads = 0;
    const read = (): [] => {
      reads++;
      return [];
    };
    readBeside(read, specs, specs, 51, () => true);
    return reads;
  };

  it("reads boxes only if another tensor can hold the extra channels", () => {
    expect(readsOf(specsOf([1, 56, 8400]))).toBe(0);
    expect(readsOf(specsOf([1, 51, 8400]))).toBe(0);
    expect(readsOf(specsOf([1, 5, 8400], [1, 51, 8400]))).toBe(1);
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
