/** decode() and decodeBatch(): who gets what, with which frame, and calls inside calls. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { type Frame, TensorError } from "../../src/entries/index.ts";
import { compilePlan } from "../../src/entries/node.ts";
import { loadPlanSync } from "../../src/planfile/decoder.ts";

const CONFIG = { family: "yolov8", classes: 1, inputSize: [100, 100] } as const;

/** One row cx cy w h score for each image, as [N,1,5]. */
function batchOf(...rows: readonly (readonly number[])[]) {
  return { out: { data: Float32Array.from(rows.flat()), dims: [rows.length, 1, 5], order: "rows" as const } };
}
const LEFT = [20, 50, 20, 20, 0.9];
const RIGHT = [80, 50, 20, 20, 0.8];

const decoders = {
  createDecoder: (batch: number) => {
    void batch;
    return createDecoderSync(CONFIG);
  },
  loadPlan: (batch: number) =>
    loadPlanSync(compilePlan(CONFIG, { outputs: [{ name: "out", dims: [batch, 1, 5], order: "rows" }] })),
};

describe.each(Object.entries(decoders))("%s", (_, make) => {
  test("decode() gives the detections of one image", () => {
    const found = make(1).decode(batchOf(LEFT));
    expect(found.length).toBe(1);
    expect(found.at(0)?.x_min).toBeCloseTo(0.1, 6);
  });

  test("decode() refuses a batch, names decodeBatch, and decodes nothing", () => {
    const decoder = make(2);
    expect(() => decoder.decode(batchOf(LEFT, RIGHT))).toThrow(TensorError);
    expect(() => decoder.decode(batchOf(LEFT, RIGHT))).toThrow(
      /batch of 2 images, .* call decodeBatch\(\) of a decoder/,
    );
    expect(decoder.stats.frames).toBe(0);
    expect(decoder.decodeBatch(batchOf(LEFT, RIGHT)).map((d) => d.length)).toEqual([1, 1]);
  });

  test("decodeBatch() takes one image too", () => {
    const [found, ...others] = make(1).decodeBatch(batchOf(RIGHT));
    expect(others).toEqual([]);
    expect(found.at(0)?.x_max).toBeCloseTo(0.9, 6);
  });

  test("one frame holds for all images, a list has one for each", () => {
    const wide: Frame = { width: 200, height: 100, resize: "letterbox" };
    const high: Frame = { width: 100, height: 200, resize: "letterbox" };
    const both = make(2).decodeBatch(batchOf(LEFT, LEFT), wide);
    // A wide image fills the middle half of the input: y 25..75 becomes 0..1.
    for (const found of both) expect(found.at(0)?.y_min).toBeCloseTo(0.3, 6);
    const each = make(2).decodeBatch(batchOf(LEFT, RIGHT), [wide, high]);
    expect(each[0].at(0)?.y_min).toBeCloseTo(0.3, 6);
    expect(each[0].at(0)?.x_min).toBeCloseTo(0.1, 6);
    expect(each[1].at(0)?.y_min).toBeCloseTo(0.4, 6);
    // x 25..75 becomes 0..1, and the box is clamped at the right edge.
    expect(each[1].at(0)?.x_max).toBeCloseTo(1, 6);
  });

  test("a frozen frame in a list does not stick to the images after it", () => {
    const decoder = make(2);
    const wide = Object.freeze<Frame>({ width: 200, height: 100, resize: "letterbox" });
    const plain: Frame = { width: 100, height: 100, resize: "stretch" };
    const tops = (frames: readonly Frame[]): (number | undefined)[] =>
      decoder.decodeBatch(batchOf(LEFT, LEFT), frames).map((d) => d.at(0)?.y_min);
    const [first, second] = tops([wide, plain]);
    expect(first).toBeCloseTo(0.3, 6);
    expect(second).toBeCloseTo(0.4, 6);
    expect(tops([plain, wide])).toEqual([second, first]);
    expect(tops([wide, wide])).toEqual([first, first]);
  });

  test("a list of another length, and a list for decode(), are refused", () => {
    const frame: Frame = { width: 200, height: 100, resize: "letterbox" };
    expect(() => make(2).decodeBatch(batchOf(LEFT, LEFT), [frame])).toThrow(/frames: got 1, expected 2/);
    expect(() => make(1).decode(batchOf(LEFT), [frame] as unknown as Frame)).toThrow(
      "frame: got a list, expected one frame",
    );
  });

  test("a getter of the tensors that decodes is refused, and the decoder goes on", () => {
    const decoder = make(1);
    const { out } = batchOf(LEFT);
    const tensor = {
      dims: out.dims,
      order: "rows" as const,
      get data(): Float32Array {
        decoder.decode(batchOf(RIGHT));
        return out.data;
      },
    };
    expect(() => decoder.decode({ out: tensor })).toThrow(/^decode\(\) was called from within a call/);
    expect(decoder.decode(batchOf(LEFT)).at(0)?.x_min).toBeCloseTo(0.1, 6);
  });
});

test("a copy is as long as its length, and structuredClone carries its labels", () => {
  const decoder = createDecoderSync({ ...CONFIG, labels: ["cat"] });
  const copy = decoder.decode(batchOf(LEFT)).copy();
  expect(copy.boxes.buffer.byteLength).toBe(16);
  decoder.decode(batchOf(RIGHT));
  expect(copy.at(0)?.x_min).toBeCloseTo(0.1, 6);
  const received = structuredClone(copy);
  expect({ ...received }).toEqual({ ...copy });
  expect(received.labels).toEqual(["cat"]);
});
