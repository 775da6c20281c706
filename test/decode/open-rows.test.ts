/** Lists whose count of rows changes from frame to frame, and the counts that look like another shape. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/entries/index.ts";
import type { TensorInput } from "../../src/core/tensor.ts";

const list = { family: "boxes", classes: 3, inputSize: [640, 640], coordinates: "pixels", boxFormat: "xyxy" };
/** Boxes in a column: each is 20 pixels wide, 40 apart. */
const boxes = (n: number): Float32Array =>
  Float32Array.from({ length: 4 * n }, (_, i) => [10, 20, 30, 44][i % 4] + 40 * (i % 2) * (i >> 2));
const roles = { boxes: "boxes", scores: "scores", classIds: "labels" };

type Outputs = Record<string, TensorInput>;
const FORMS: Record<string, { config: object; of: (n: number) => Outputs }> = {
  "[N,4], [N], [N]": {
    config: { ...list, roles },
    of: (n) => ({
      boxes: { data: boxes(n), dims: [n, 4] },
      labels: { data: new BigInt64Array(n).fill(2n), dims: [n] },
      scores: { data: new Float32Array(n).fill(0.9), dims: [n] },
    }),
  },
  "[1,N,4], [1,N,1]": {
    config: { ...list, classes: 1 },
    of: (n) => ({
      boxes: { data: boxes(n), dims: [1, n, 4] },
      scores: { data: new Float32Array(n).fill(0.9), dims: [1, n, 1] },
    }),
  },
  "[1,N,4], [1,N,3]": {
    config: list,
    of: (n) => ({
      boxes: { data: boxes(n), dims: [1, n, 4] },
      scores: { data: Float32Array.from({ length: 3 * n }, (_, i) => (i % 3 ? 0.25 : 0.9)), dims: [1, n, 3] },
    }),
  },
};

describe.each(Object.keys(FORMS))("%s", (form) => {
  const { config, of } = FORMS[form];
  const counts = [1, 3, 4, 5, 0, 16, 17, 4];

  test.each(counts)("a first frame of %d rows", (n) => {
    const found = createDecoderSync(config as never).decode(of(n));
    expect(found.length).toBe(n);
    if (n > 0) expect(found.at(0)?.y_max).toBeCloseTo(44 / 640, 6);
  });

  test("frames as a stream has them: places, sources, and three plans at most", () => {
    const decoder = createDecoderSync(config as never);
    for (const n of [...counts, ...counts]) {
      const found = decoder.decode(of(n));
      expect([...found.sources].slice(0, n)).toEqual(Array.from({ length: n }, (_, i) => i));
      const alone = createDecoderSync(config as never, { rules: { suppress: "none" } } as never).decode(
        of(n),
      );
      expect(found.toArray()).toEqual(alone.toArray());
    }
    expect(decoder.stats.plans).toBeLessThan(4);
    expect(() => decoder.decode()).toThrow("Pass the outputs with every call");
  });

  test("as an array, and in a batch of one by decodeBatch", () => {
    const decoder = createDecoderSync({ ...config, roles: undefined } as never);
    if (form.startsWith("[1")) {
      for (const n of counts) expect(decoder.decode(Object.values(of(n))).length).toBe(n);
      for (const n of counts) expect(decoder.decodeBatch(of(n))[0].length).toBe(n);
    }
  });
});

test("images of a batch keep their rows", () => {
  const of = (n: number): Outputs => ({
    boxes: { data: Float32Array.from([...boxes(n), ...boxes(n).map((x) => x + 100)]), dims: [2, n, 4] },
    scores: { data: new Float32Array(2 * n).fill(0.9), dims: [2, n, 1] },
  });
  const decoder = createDecoderSync({ ...list, classes: 1 } as never);
  for (const n of [3, 5, 4, 6]) {
    const [a, b] = decoder.decodeBatch(of(n));
    expect([a.length, b.length]).toEqual([n, n]);
    expect(b.at(0)?.x_min).toBeCloseTo(110 / 640, 6);
  }
});

describe("end-to-end rows of as many as the network has channels", () => {
  const rows = (n: number) => ({
    output: {
      data: Float32Array.from(
        { length: 6 * n },
        (_, i) => [10, 10, 50, 60, 0.9, 3][i % 6] + (i % 6 < 4 ? 30 * (Math.floor(i / 6) % 18) : 0),
      ),
      dims: [1, n, 6],
    },
  });
  test.each([
    ["yolov8", [50, 84, 6]],
    ["yolov8", [84, 50]],
    ["yolov10", [6, 84, 3]],
  ])("%s, %j", (family, counts) => {
    const decoder = createDecoderSync({ family, classes: 80, inputSize: [640, 640] } as never);
    for (const n of counts) expect(decoder.decode(rows(n)).length).toBe(n);
  });
});

test("columns one after the other are read where the values say so", () => {
  const planes = Float32Array.from({ length: 16 }, (_, i) => [10, 20, 30, 44][i >> 2] - (i % 4));
  const outputs = {
    boxes: { data: planes, dims: [1, 4, 4] },
    scores: { data: new Float32Array(12).fill(0.9), dims: [1, 4, 3] },
  };
  const found = createDecoderSync(list as never).decode(outputs);
  expect(found.at(0)?.width).toBeCloseTo(20 / 640, 5);
});
