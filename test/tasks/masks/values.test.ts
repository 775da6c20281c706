/** Maps of numbers, and classes of whole pictures. */
import { describe, expect, test } from "vitest";
import { createDecoderSync, valueMap } from "../../../src/entries/index.ts";
import { engines } from "../../support/engines.ts";

describe("valueMap", () => {
  test("without a frame, the map as it is", () => {
    for (const dims of [
      [2, 3],
      [1, 2, 3],
      [1, 1, 2, 3],
      [1, 2, 3, 1],
    ]) {
      const map = valueMap({ data: [1, 2, 3, 4, 5, 6], dims });
      expect([map.width, map.height, map.min, map.max]).toEqual([3, 2, 1, 6]);
    }
    expect([
      ...valueMap({ data: Int8Array.of(-128, 0), dims: [1, 2], scale: 0.5, zeroPoint: -128 }).data,
    ]).toEqual([0, 64]);
  });

  test("padding of a letterbox does not mix with the image", () => {
    // A square picture in the middle two rows of four; padding is 100.
    const data = [100, 100, 1, 2, 3, 4, 100, 100];
    const frame = { width: 2, height: 2, resize: "letterbox" } as const;
    const map = valueMap({ data, dims: [4, 2] }, { inputSize: [16, 32], frame });
    expect([map.width, map.height, ...map.data]).toEqual([2, 2, 1, 2, 3, 4]);
  });

  test("a linear ramp stays one, to the edge", () => {
    const data = Array.from({ length: 8 * 4 }, (_, i) => i % 8);
    const frame = { width: 32, height: 16, resize: "stretch" } as const;
    const { data: out } = valueMap({ data, dims: [1, 1, 4, 8] }, { inputSize: [64, 32], frame });
    for (let x = 2; x < 30; x++) expect(out[x]).toBeCloseTo((x + 0.5) / 4 - 0.5, 5);
    expect([out[0], out[31]]).toEqual([0, 7]);
  });

  test("what a crop cut off is NaN", () => {
    const frame = { width: 32, height: 16, resize: "crop" } as const;
    const { data: out } = valueMap({ data: [1, 1, 1, 1], dims: [2, 2] }, { inputSize: [16, 16], frame });
    expect([out[0], out[7], out[8], out[23], out[24]]).toEqual([NaN, NaN, 1, 1, NaN]);
  });

  test("refuses other shapes and options", () => {
    expect(() => valueMap({ data: [1, 2, 3, 4], dims: [1, 2, 1, 2] })).toThrow("one channel of one image");
    expect(() => valueMap({ data: new Float32Array(24), dims: [1, 3, 2, 4] })).toThrow(
      "one channel of one image",
    );
    const frame = { width: 2, height: 2, resize: "stretch" } as const;
    expect(() => valueMap({ data: [1, 2], dims: [1, 2] }, { frame })).toThrow("inputSize: got none");
    expect(() =>
      valueMap({ data: new Float32Array(32), dims: [4, 8] }, { frame, inputSize: [32, 64] }),
    ).toThrow("the same proportions");
    expect(() => valueMap({ data: [1, 2], dims: [1, 2] }, { size: [1, 2] } as never)).toThrow(
      "size: got an unknown name",
    );
  });
});

describe("classes of a whole picture", () => {
  test("the best k, over a softmax that is asked for", () => {
    const logits = [1, 3, 2, -1];
    const sum = logits.reduce((total, x) => total + Math.exp(x), 0);
    for (const engine of engines) {
      const decoder = createDecoderSync(
        { family: "classifier", labels: ["a", "b", "c", "d"], scores: "softmax-logits", maxDetections: 2 },
        { engine },
      );
      const found = decoder.decode({ scores: { data: logits, dims: [1, 4] } }).toArray();
      expect(found.map((d) => [d.label, d.x_min, d.y_min, d.x_max, d.y_max])).toEqual([
        ["b", 0, 0, 1, 1],
        ["c", 0, 0, 1, 1],
      ]);
      expect(found[0].confidence).toBeCloseTo(Math.exp(3) / sum, 6);
    }
  });

  test("five of many by default, from any shape of one picture", () => {
    const data = Float32Array.from({ length: 10 }, (_, i) => i / 45);
    for (const dims of [[10], [1, 10], [1, 10, 1, 1], [1, 1, 1, 10]])
      expect(
        createDecoderSync({ family: "classifier" })
          .decode({ data, dims })
          .toArray()
          .map((d) => d.class_id),
      ).toEqual([9, 8, 7, 6, 5]);
  });

  test("logits without a word, and another count, are refused", () => {
    const decode = (data: number[], classes: number): unknown =>
      createDecoderSync({ family: "classifier", classes }).decode({ data, dims: [1, data.length] });
    expect(() => decode([1, 3, 2], 3)).toThrow('scores: "softmax-logits"');
    expect(() => decode([0.1, 0.2, 0.7], 4)).toThrow("[1,4], one score for each class of the whole picture");
  });
});
