/** Boxes in pixels of the photo: the network was told the photo's size, and no letterbox is undone. */
import { describe, expect, test } from "vitest";
import { compilePlan } from "../../src/planfile/write.ts";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { TypedOptions } from "../../src/config/types.ts";

const POST = {
  labels: { data: BigInt64Array.of(1n, 0n), dims: [1, 2] },
  boxes: { data: Float32Array.of(320, 180, 1280, 720, 0, 0, 1, 1), dims: [1, 2, 4] },
  scores: { data: Float32Array.of(0.9, 0.1), dims: [1, 2] },
};
const config: TypedOptions = { family: "dfine", classes: 2, inputSize: [640, 640] };

/** Returns the corners of the one detection of a photo of 1280x720. */
function corners(options: TypedOptions, resize: "stretch" | "letterbox" | "crop") {
  const notes: string[] = [];
  const decoder = createDecoderSync(options, { onNote: (note) => notes.push(note) });
  const [d, ...others] = decoder.decode(POST, { width: 1280, height: 720, resize }).toArray();
  expect(others).toEqual([]);
  expect(notes).toEqual([]);
  expect(d.class_id).toBe(1);
  return [d.x_min, d.y_min, d.x_max, d.y_max];
}

describe("boxes in pixels of the photo", () => {
  test.each(["stretch", "letterbox", "crop"] as const)("%s is not undone", (resize) => {
    expect(corners(config, resize)).toEqual([0.25, 0.25, 1, 1]);
  });

  test('coordinates "pixels": of the input, and the letterbox is undone', () => {
    const input: TypedOptions = { ...config, coordinates: "pixels", inputSize: [1280, 1280] };
    // As the post-processor, which cuts nothing off.
    const [x, y] = corners({ ...input, rules: { clamp: "none" } }, "letterbox");
    expect(x).toBe(0.25);
    expect(y).toBeCloseTo((180 - 280) / 720, 6);
    // By default the rules clamp, as they do for the network's raw queries.
    expect(corners(input, "letterbox")[1]).toBe(0);
  });

  test('coordinates "photo" for any family that gives decoded boxes', () => {
    const rows = { data: Float32Array.of(320, 180, 1280, 720, 0.9, 1), dims: [1, 1, 6] };
    const decoder = createDecoderSync(
      { family: "yolov10", classes: 2, inputSize: [640, 640], coordinates: "photo" },
      { rules: "depthai" },
    );
    const [d] = decoder.decode({ rows }, { width: 1280, height: 720, resize: "letterbox" }).toArray();
    expect([d.x_min, d.y_min, d.x_max, d.y_max]).toEqual([0.25, 0.25, 1, 1]);
  });

  test("a plan file refuses them", () => {
    const outputs = [
      { name: "labels", dims: [1, 2], type: "i32" },
      { name: "boxes", dims: [1, 2, 4] },
      { name: "scores", dims: [1, 2] },
    ] as const;
    expect(() => compilePlan(config, { outputs })).toThrow(/boxes in pixels of the photo/);
    expect(() => compilePlan({ ...config, coordinates: "pixels" }, { outputs })).not.toThrow();
  });
});
