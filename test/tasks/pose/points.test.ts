/**
 * Keypoints by formulas that are written out here, from the papers and the authors' code, for networks of which no
 * recording is at hand. And what a decoder does with points: frames, copies, names, errors, notes.
 */
import { describe, expect, test } from "vitest";
import type { DecoderOptions, TypedOptions } from "../../../src/config/types.ts";
import { createDecoderSync } from "../../../src/whole/decoder.ts";
import type { Detections } from "../../../src/decode/detections.ts";
import { toPixels } from "../../../src/decode/pixels.ts";
import type { TensorInput } from "../../../src/core/tensor.ts";
import { blazeface } from "../../../src/core/built-priors.ts";
import {
  COCO17_EDGES,
  COCO17_NAMES,
  FACE5_NAMES,
  createTileMerger,
  tiles,
} from "../../../src/entries/index.ts";
import { compilePlan } from "../../../src/entries/node.ts";
import { loadPlanSync } from "../../support/plans.ts";
import { engines } from "../../support/engines.ts";

type Tensors = Record<string, TensorInput>;

const PLAIN: DecoderOptions = { rules: { set: "ultralytics", clamp: "none" } };

/** Returns x, y and confidence of the points of a row, x and y in pixels of the input. */
const pointsOf = (found: Detections, row: number, [width, height]: readonly [number, number]): number[][] =>
  (found.at(row)?.keypoints ?? []).map(({ x, y, confidence }) => [x * width, y * height, confidence]);

const near = (actual: readonly (readonly number[])[], expected: readonly (readonly number[])[]): void => {
  expect(actual.length).toBe(expected.length);
  actual.forEach((point, k) =>
    point.forEach((value, i) => expect(Math.abs(value - expected[k][i]), `point ${k}`).toBeLessThan(1e-3)),
  );
};

/** Numbers that look random and are the same each time. */
function numbers(count: number, seed: number): number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return (state / 2147483648) * 2 - 1;
  });
}

/** A map of `channels` channels with one cell set; the other cells have `rest`. */
function mapWith(
  [w, h]: readonly [number, number],
  [c, r]: readonly [number, number],
  values: readonly number[],
  rest: number,
): TensorInput {
  const data = new Float32Array(values.length * w * h).fill(rest);
  values.forEach((value, k) => (data[k * w * h + r * w + c] = value));
  return { data, dims: [1, values.length, h, w] };
}

describe("worked numbers: cell (5, 3) at stride 16, raw (0.25, -0.5)", () => {
  const SIZE = [128, 128] as const;
  /** Maps at strides 8, 16, 32. Only the cell (5, 3) of the second passes. */
  const mapsOf = (box: readonly number[], points: readonly number[]): Tensors =>
    Object.fromEntries(
      [8, 16, 32].flatMap((stride) => {
        const map = [SIZE[0] / stride, SIZE[1] / stride] as const;
        const cell = stride === 16 ? ([5, 3] as const) : ([0, 0] as const);
        return [
          [`box${stride}`, mapWith(map, cell, box, 0.5)],
          [`cls${stride}`, mapWith(map, cell, [stride === 16 ? 4 : -9], -9)],
          [`kpt${stride}`, mapWith(map, cell, points, 0)],
        ];
      }),
    );
  const decode = (
    family: TypedOptions["family"],
    box: readonly number[],
    options: Partial<TypedOptions> = {},
  ) =>
    createDecoderSync(
      {
        family,
        task: "pose",
        classes: 1,
        inputSize: SIZE,
        keypoints: [2, 3],
        scores: "logits",
        ...options,
      },
      PLAIN,
    ).decode(mapsOf(box, [0.25, -0.5, 0, 1, 1, 2]));

  test("YOLOv8: twice the raw value, from the corner of the cell", () => {
    const found = decode("yolov8", Array<number>(64).fill(0.5));
    near(pointsOf(found, 0, SIZE), [
      [88, 32, 0.5],
      [(2 + 5) * 16, (2 + 3) * 16, 1 / (1 + Math.exp(-2))],
    ]);
  });

  test("YOLO26: the raw value, from the centre of the cell", () => {
    const found = decode("yolo26", [1, 1, 1, 1]);
    near(pointsOf(found, 0, SIZE), [
      [92, 48, 0.5],
      [(1 + 5.5) * 16, (1 + 3.5) * 16, 1 / (1 + Math.exp(-2))],
    ]);
  });

  test("the confidence as it is, where the option says that it is a probability", () => {
    expect(() => decode("yolov8", Array<number>(64).fill(0.5), { keypointScores: "probabilities" })).toThrow(
      "got confidences of keypoints from 0 to 2",
    );
  });
});

describe("rows", () => {
  const SIZE = [64, 64] as const;

  test("YOLOv7 pose: box, objectness, class, then points of three", () => {
    const values = numbers(51, 7).map((x, i) => (i % 3 === 2 ? (x + 1) / 2 : x * 30 + 32));
    const row = [32, 30, 20, 10, 0.9, 0.8, ...values];
    const rest = Array<number>(57).fill(0);
    const decoder = createDecoderSync(
      { family: "yolov7", task: "pose", classes: 1, inputSize: SIZE, keypoints: [17, 3] },
      PLAIN,
    );
    const found = decoder.decode({
      output: { data: [...rest, ...row, ...rest], dims: [1, 3, 57], order: "rows" },
    });
    expect(found.length).toBe(1);
    expect(found.scores[0]).toBeCloseTo(0.72, 6);
    near(
      pointsOf(found, 0, SIZE),
      Array.from({ length: 17 }, (_, k) => values.slice(3 * k, 3 * k + 3)),
    );
    // The class and the points are not taken for classes: only one way is left.
    expect(decoder.describe().text).toContain(
      "pose: 17 keypoints of x, y and a confidence in 0..1, decoded, in pixels",
    );
  });

  test("YOLOv5-face: the points stand between objectness and class", () => {
    const values = numbers(10, 5).map((x) => x * 30 + 32);
    const row = [32, 30, 20, 10, 0.9, ...values, 0.8];
    const found = createDecoderSync({ family: "yolov5-face", inputSize: SIZE }, PLAIN).decode({
      output: { data: [...row, ...row.map(() => 0)], dims: [1, 2, 16], order: "rows" },
    });
    expect(found.scores[0]).toBeCloseTo(0.72, 6);
    near(
      pointsOf(found, 0, SIZE),
      Array.from({ length: 5 }, (_, k) => [...values.slice(2 * k, 2 * k + 2), 1]),
    );
    expect(found.at(0)?.keypoints?.map(({ name }) => name)).toEqual([...FACE5_NAMES]);
  });

  test("YOLO26 end-to-end: score and class id before the points", () => {
    const values = [10, 20, 0.5, 30, 40, 0.25];
    const found = createDecoderSync(
      { family: "yolo26", task: "pose", classes: 3, inputSize: SIZE, keypoints: [2, 3] },
      PLAIN,
    ).decode({
      output: {
        data: [8, 8, 40, 40, 0.9, 2, ...values, ...Array<number>(12).fill(0)],
        dims: [1, 2, 12],
        order: "rows",
      },
    });
    expect(found.at(0)).toMatchObject({ class_id: 2 });
    near(pointsOf(found, 0, SIZE), [
      [10, 20, 0.5],
      [30, 40, 0.25],
    ]);
  });

  test("points in a tensor of four dimensions, beside boxes that the network suppressed", () => {
    const found = createDecoderSync(
      {
        family: "boxes",
        task: "pose",
        classes: 1,
        inputSize: SIZE,
        coordinates: "pixels",
        keypoints: [2, 3],
      },
      PLAIN,
    ).decode({
      boxes: { data: [0, 0, 20, 20, 30, 30, 60, 60], dims: [1, 2, 4] },
      scores: { data: [0.4, 0.8], dims: [1, 2] },
      points: { data: [1, 2, 0.5, 3, 4, 0.25, 31, 32, 0.5, 33, 34, 0.75], dims: [1, 2, 2, 3] },
    });
    near(pointsOf(found, 0, SIZE), [
      [31, 32, 0.5],
      [33, 34, 0.75],
    ]);
    near(pointsOf(found, 1, SIZE), [
      [1, 2, 0.5],
      [3, 4, 0.25],
    ]);
  });

  test("decoded points of all maps, [1,K,3,N], beside maps of boxes and classes, as RKNN's exports have them", () => {
    const maps = [8, 4, 2].map((w): [string, TensorInput] => [
      `output${w}`,
      mapWith([w, w], [1, 1], [...Array<number>(64).fill(0.5), w === 4 ? 3 : -9], -9),
    ]);
    const points = new Float32Array(6 * 84);
    // Cell (1, 1) of the second map is the row 64 + 5.
    [30, 20, 0.5, 25, 15, 0.75].forEach((value, k) => (points[k * 84 + 69] = value));
    const decoder = createDecoderSync(
      { family: "yolov8", task: "pose", classes: 1, inputSize: SIZE, keypoints: [2, 3] },
      PLAIN,
    );
    const found = decoder.decode({
      ...Object.fromEntries(maps),
      points: { data: points, dims: [1, 2, 3, 84] },
    });
    near(pointsOf(found, 0, SIZE), [
      [30, 20, 0.5],
      [25, 15, 0.75],
    ]);
  });

  test("MoveNet multipose: y before x, the box behind the points", () => {
    const values = numbers(51, 3).map((x) => (x + 1) / 2);
    const data = [...values, 0.1, 0.2, 0.5, 0.6, 0.7, ...Array<number>(56 * 5).fill(0)];
    const found = createDecoderSync({ family: "movenet-multipose" }).decode({
      a: { data, dims: [1, 6, 56] },
    });
    expect(found.length).toBe(1);
    const { x_min, y_min, x_max, y_max, confidence } = found.at(0) as NonNullable<
      ReturnType<typeof found.at>
    >;
    near([[x_min, y_min, x_max, y_max, confidence]], [[0.2, 0.1, 0.6, 0.5, 0.7]]);
    near(
      pointsOf(found, 0, [1, 1]),
      Array.from({ length: 17 }, (_, k) => [values[3 * k + 1], values[3 * k], values[3 * k + 2]]),
    );
  });
});

describe("SCRFD", () => {
  const SIZE = [64, 32] as const;
  /** Two rows for each cell. Row `at` of stride 16 passes. */
  const tensors = (at: number, isBare: boolean): Tensors => {
    const all: [string, TensorInput][] = [];
    for (const stride of [8, 16, 32]) {
      const rowCount = (SIZE[0] / stride) * (SIZE[1] / stride) * 2;
      const fill = (channels: number, values: readonly number[]): TensorInput => {
        const data = new Float32Array(rowCount * channels);
        if (stride === 16) data.set(values, at * channels);
        return { data, dims: isBare ? [rowCount, channels] : [1, rowCount, channels] };
      };
      all.push([`score_${stride}`, fill(1, [0.75])]);
      all.push([`bbox_${stride}`, fill(4, [1, 0.5, 0.75, 0.25])]);
      all.push([`kps_${stride}`, fill(10, [0.5, 0.25, -0.5, 0.75, 0, 0, 1, 1, 0.125, -0.25])]);
    }
    return Object.fromEntries(all);
  };

  test.each([
    ["first anchor", 10, false],
    ["second anchor", 11, false],
    ["without a batch", 11, true],
  ])("%s: from the left upper corner of the cell", (_, at, isBare) => {
    const decoder = createDecoderSync({ family: "scrfd", inputSize: SIZE }, PLAIN);
    const found = decoder.decode(tensors(at, isBare));
    // Rows 10 and 11 are the cell (1, 1) of the map of 4 x 2 cells.
    const [x, y] = [16, 16];
    expect(found.length).toBe(1);
    const d = toPixels(found.at(0) as NonNullable<ReturnType<typeof found.at>>, ...SIZE);
    near([[d.x_min, d.y_min, d.x_max, d.y_max]], [[x - 16, y - 8, x + 12, y + 4]]);
    near(pointsOf(found, 0, SIZE), [
      [x + 8, y + 4, 1],
      [x - 8, y + 12, 1],
      [x, y, 1],
      [x + 16, y + 16, 1],
      [x + 2, y - 4, 1],
    ]);
  });

  test("strides of the config count maps, not anchors", () => {
    const decoder = createDecoderSync({ family: "scrfd", inputSize: SIZE, strides: [8, 16, 32] }, PLAIN);
    expect(decoder.decode(tensors(10, false)).length).toBe(1);
  });

  test("a map without its points is refused with the shapes that are needed", () => {
    const rest = { ...tensors(10, false) };
    delete rest["kps_16"];
    expect(() => createDecoderSync({ family: "scrfd", inputSize: SIZE }).decode(rest)).toThrow(
      "expected for scrfd: [1,2hw,1] + [1,2hw,4] + [1,2hw,10] for each of strides 8, 16, 32, with inputSize",
    );
  });
});

test("MediaPipe's palm detection: offsets in pixels from the centre of the anchor", () => {
  const rowCount = 896;
  const anchors = blazeface([128, 128]);
  const at = 300;
  const values = numbers(18, 9).map((x) => x * 20);
  const boxes = new Float32Array(rowCount * 18);
  boxes.set(values, at * 18);
  const scores = new Float32Array(rowCount).fill(-50);
  scores[at] = 3;
  const decoder = createDecoderSync({ family: "mediapipe-palm", inputSize: [128, 128] }, PLAIN);
  const found = decoder.decode({
    boxes: { data: boxes, dims: [1, rowCount, 18] },
    scores: { data: scores, dims: [1, rowCount, 1] },
  });
  expect(found.length).toBe(1);
  near(
    pointsOf(found, 0, [128, 128]),
    Array.from({ length: 7 }, (_, k) => [
      anchors[at * 4] * 128 + values[4 + 2 * k],
      anchors[at * 4 + 1] * 128 + values[5 + 2 * k],
      1,
    ]),
  );
  expect(found.at(0)?.keypoints?.[0].name).toBe("wrist");
});

test("YuNet: thresholds are of the square root, one for all or after update", () => {
  const SIZE = [32, 32] as const;
  const tensors: Tensors = Object.fromEntries(
    [8, 16, 32].flatMap((stride) => {
      const cells = (32 / stride) ** 2;
      const one = (channels: number, value: number): TensorInput => ({
        data: new Float32Array(cells * channels).fill(stride === 32 ? value : 0),
        dims: [1, cells, channels],
      });
      return [
        [`cls_${stride}`, one(1, 0.25)],
        [`obj_${stride}`, one(1, 0.5)],
        [`bbox_${stride}`, one(4, 0.25)],
        [`kps_${stride}`, one(10, 0.5)],
      ];
    }),
  );
  // The score is the root of 0.125, 0.3536.
  const decoder = createDecoderSync({ family: "yunet", inputSize: SIZE }, { confidenceThreshold: 0.35 });
  expect(decoder.decode(tensors).scores[0]).toBeCloseTo(Math.sqrt(0.125), 6);
  decoder.update({ confidenceThreshold: 0.36 });
  expect(decoder.decode(tensors).length).toBe(0);
  decoder.update({ confidenceThreshold: 0.35 });
  const [d] = decoder.decode(tensors);
  // cx = 0 + 0.25, w = e^0.25 of the cell; the points at half a cell
  expect([d.x_min, d.x_max]).toEqual([0, Math.fround(0.25 + Math.exp(0.25) / 2)]);
  expect(d.keypoints?.[0]).toMatchObject({ x: 0.5, y: 0.5, confidence: 1 });
});

describe("what a decoder does with points", () => {
  const SIZE = [64, 64] as const;
  const TYPED: TypedOptions = {
    family: "yolov8",
    task: "pose",
    classes: 1,
    inputSize: SIZE,
    keypoints: [2, 3],
  };
  const rowsOf = (...all: (readonly number[])[]): TensorInput => ({
    data: all.flat(),
    dims: [1, all.length, 11],
    order: "rows",
  });
  const one = rowsOf([32, 32, 20, 20, 0.9, 16, 40, 0.75, -4, 70, 0.25], Array<number>(11).fill(0));

  test.each(engines)("the frame moves points as it moves boxes (%s)", (engine) => {
    const decoder = createDecoderSync(TYPED, { engine, ...PLAIN });
    // 128 x 64 pixels lie in the input as 64 x 32, with 16 rows above.
    const found = decoder.decode({ a: one }, { width: 128, height: 64, resize: "letterbox" });
    near(pointsOf(found, 0, [128, 64]), [
      [32, (40 - 16) * 2, 0.75],
      [-8, (70 - 16) * 2, 0.25],
    ]);
  });

  test.each([
    ["after", [16 / 64, (40 - 16) / 32], [0, 1]],
    ["centre", [16 / 64, (40 - 16) / 32], [0, 1]],
    ["before", [16 / 64, (40 - 16) / 32], [0, (64 - 16) / 32]],
    ["none", [16 / 64, (40 - 16) / 32], [-4 / 64, (70 - 16) / 32]],
  ] as const)("points are clamped as boxes are: %s", (clamp, inside, outside) => {
    const decoder = createDecoderSync(TYPED, { rules: { set: "ultralytics", clamp } });
    const [d] = decoder.decode({ a: one }, { width: 128, height: 64, resize: "letterbox" });
    near(d.keypoints?.map(({ x, y }) => [x, y]) ?? [], [[...inside], [...outside]]);
  });

  test("names, edges, copies, clones, JSON and toPixels", () => {
    const decoder = createDecoderSync({ ...TYPED, keypointNames: ["head", "tail"], edges: [[0, 1]] }, PLAIN);
    const found = decoder.decode({ a: one });
    const kept = found.copy();
    const again = kept.copy();
    decoder.decode({ a: rowsOf(Array<number>(11).fill(0), Array<number>(11).fill(0)) });
    const expected = [
      { x: 0.25, y: 0.625, confidence: 0.75, name: "head" },
      { x: -0.0625, y: 1.09375, confidence: 0.25, name: "tail" },
    ];
    for (const d of [kept.at(0), again.at(-1), JSON.parse(JSON.stringify(kept))[0]])
      expect((d as { keypoints: unknown }).keypoints).toEqual(expected);
    const clone = structuredClone(kept);
    expect(clone.keypoints).toEqual(Float32Array.of(0.25, 0.625, 0.75, -0.0625, 1.09375, 0.25));
    expect(clone).toMatchObject({ keypointNames: ["head", "tail"], edges: [[0, 1]] });
    expect(toPixels(kept.at(0) as never, 64, 64).keypoints?.[0]).toMatchObject({
      x: 16,
      y: 40,
      name: "head",
    });
    expect(found.keypoints).toHaveLength(300 * 2 * 3);
    expect(createDecoderSync(TYPED, { fresh: true }).decode({ a: one }).at(0)?.keypoints).toHaveLength(2);
  });

  test("half floats and integers", () => {
    const values = [32, 32, 20, 20, 1, 16, 40, 0.5, 8, 24, 1];
    const planes = (data: TensorInput["data"], more: object): TensorInput => ({
      data,
      dims: [1, 11, 1],
      order: "planes",
      ...more,
    });
    const boxes = (data: Float32Array): TensorInput => ({ data, dims: [1, 5, 1], order: "planes" });
    const points = Int8Array.from(values.slice(5), (x) => x * 2 - 10);
    const separate = createDecoderSync({ ...TYPED, roles: { keypoints: "points" } }, PLAIN).decode({
      boxes: boxes(Float32Array.from(values.slice(0, 5))),
      points: { data: points, dims: [1, 6, 1], order: "planes", scale: 0.5, zeroPoint: -10 },
    });
    near(pointsOf(separate, 0, SIZE), [
      [16, 40, 0.5],
      [8, 24, 1],
    ]);
    const halves = Uint16Array.from([
      0x5000, 0x5000, 0x4d00, 0x4d00, 0x3a00, 0x4c00, 0x5100, 0x3800, 0x4800, 0x4e00, 0x3c00,
    ]);
    near(pointsOf(createDecoderSync(TYPED, PLAIN).decode({ a: planes(halves, { type: "f16" }) }), 0, SIZE), [
      [16, 40, 0.5],
      [8, 24, 1],
    ]);
  });

  test("each image of a batch has its own points", () => {
    const data = [...(one.data as number[]), ...(one.data as number[]).map((x, i) => (i === 5 ? 48 : x))];
    const decoder = createDecoderSync(TYPED, PLAIN);
    const [first, second] = decoder.decodeBatch({ a: { data, dims: [2, 2, 11], order: "rows" } });
    expect([first.at(0)?.keypoints?.[0].x, second.at(0)?.keypoints?.[0].x]).toEqual([0.25, 0.75]);
  });

  test("points in pixels beside boxes in 0..1, which early TFLite exports have", () => {
    const data = rowsOf([0.5, 0.5, 0.25, 0.25, 0.9, 16, 40, 0.75, 8, 24, 0.25], Array<number>(11).fill(0));
    const options = { coordinates: "normalised", keypointCoordinates: "pixels" } as const;
    const found = createDecoderSync({ ...TYPED, ...options }, PLAIN).decode({ a: data });
    near(pointsOf(found, 0, SIZE).slice(0, 1), [[16, 40, 0.75]]);
    const wrong = createDecoderSync({ ...TYPED, coordinates: "normalised" }, PLAIN);
    expect(() => wrong.decode({ a: data })).toThrow(
      'keypoints up to 40, expected 0..1; if they are pixels, say keypointCoordinates: "pixels"',
    );
    const clamped = createDecoderSync({ ...TYPED, coordinates: "normalised" });
    expect(() => clamped.decode({ a: data })).toThrow('say keypointCoordinates: "pixels"');
  });

  test("confidences that are probabilities already get a note where they count as logits", () => {
    const noteOf = (...confidences: number[]): string | undefined => {
      const points = confidences.flatMap((c) => [16, 40, c]);
      const notes: string[] = [];
      const config = { ...TYPED, keypoints: [confidences.length, 3], keypointScores: "logits" } as const;
      createDecoderSync(config, { onNote: (note) => notes.push(note) }).decode({
        a: {
          data: [32, 32, 16, 16, 0.9, ...points, ...Array<number>(5 + points.length).fill(0)],
          dims: [1, 2, 5 + points.length],
          order: "rows",
        },
      });
      return notes.find((note) => note.includes("keypointScores"));
    };
    expect(noteOf(0.12, 0.95, 0, 1)).toContain("every confidence of a keypoint already lies in 0..1");
    expect(noteOf(0.12, 0.95, 0.5, -0.1)).toBeUndefined();
    expect(noteOf(0.12, 0.95, 0.5, 1.1)).toBeUndefined();
    expect(noteOf(0, 0, 0, 0)).toBeUndefined();
  });

  test("a family's names and skeleton, where the config has no others", () => {
    const decoder = createDecoderSync({
      family: "movenet",
      keypointNames: COCO17_NAMES.map((n) => n.toUpperCase()),
    });
    const found = decoder.decode({ a: { data: new Float32Array(51).fill(0.5), dims: [1, 1, 17, 3] } });
    expect(found.at(0)?.keypoints?.[0].name).toBe("NOSE");
    expect(found.edges).toEqual(COCO17_EDGES);
  });

  test("NaN points are kept and told", () => {
    const decoder = createDecoderSync(TYPED, PLAIN);
    const found = decoder.decode({
      a: rowsOf([32, 32, 20, 20, 0.9, NaN, 40, 0.75, 8, 24, 0.25], Array<number>(11).fill(0)),
    });
    expect(found.at(0)?.keypoints?.[0].x).toBeNaN();
    expect(decoder.describe().text).toContain("note: keypoints are NaN or infinite");
  });

  test("raw confidences that are taken for probabilities are refused, with the option that helps", () => {
    const raw = rowsOf([32, 32, 20, 20, 0.9, 16, 40, 3, 8, 24, -2], Array<number>(11).fill(0));
    expect(() => createDecoderSync(TYPED, PLAIN).decode({ a: raw })).toThrow(
      'got confidences of keypoints from -2 to 3, expected probabilities in 0..1; if they are raw, say keypointScores: "logits"',
    );
    const found = createDecoderSync({ ...TYPED, keypointScores: "logits" }, PLAIN).decode({ a: raw });
    expect(found.at(0)?.keypoints?.[0].confidence).toBeCloseTo(1 / (1 + Math.exp(-3)), 6);
  });
});

test("a plan file holds the points of a pose network, and is refused where boxes need the task", () => {
  const outputs = { a: { dims: [1, 56, 84] } };
  const typed: TypedOptions = {
    family: "yolov8",
    classes: 1,
    inputSize: [64, 64],
    task: "pose",
    keypoints: [17, 3],
    keypointNames: COCO17_NAMES,
  };
  const data = new Float32Array(56 * 84);
  [32, 20, 10, 8, 0.9, 16, 8, 0.5].forEach((value, channel) => (data[channel * 84] = value));
  const loaded = loadPlanSync(compilePlan(typed, { outputs }));
  const [d] = loaded.decode({ a: { data, dims: [1, 56, 84] } });
  expect(d).toMatchObject({ x_min: 27 / 64, y_max: 24 / 64 });
  expect(d.keypoints?.[0]).toEqual({ x: 16 / 64, y: 8 / 64, confidence: 0.5, name: "nose" });
  expect(() => compilePlan({ family: "movenet" }, { outputs: { a: { dims: [1, 1, 17, 3] } } })).toThrow(
    "got pose: 17 keypoints of x, y and a confidence in 0..1, decoded, 0..1, expected a network whose boxes",
  );
});

test("tiles: a merged detection has the points of its best row, in 0..1 of the picture", () => {
  const typed: TypedOptions = {
    family: "yolov8",
    classes: 1,
    inputSize: [64, 64],
    task: "pose",
    keypoints: [1, 3],
  };
  const decoder = createDecoderSync({ ...typed, keypointNames: ["head"] });
  const seen = (x: number, score: number, point: number): TensorInput => ({
    data: [x, 32, 16, 16, score, point, 16, 0.5, ...Array<number>(8).fill(0)],
    dims: [1, 2, 8],
    order: "rows",
  });
  const size = [96, 64] as const;
  // The object at 40..56 lies in both tiles, which begin at 0 and 32. The second one sees it better.
  const merger = createTileMerger(size);
  for (const tile of tiles(size, { tile: 64, overlap: 0.5 }))
    merger.add(tile, decoder.decode([tile.x === 0 ? seen(48, 0.5, 44) : seen(16, 0.75, 10)]));
  const found = merger.merge();
  expect(found.length).toBe(1);
  near(pointsOf(found, 0, size), [[42, 16, 0.5]]);
  expect(found.copy().at(0)?.keypoints?.[0].name).toBe("head");
  merger.clear();
  expect(merger.merge().keypoints).toBeUndefined();
});

describe("counts are never guessed", () => {
  const TYPED: TypedOptions = { family: "yolov8", task: "pose", classes: 1, inputSize: [640, 640] };
  const fused = (channels: number): Tensors => ({
    output0: { data: new Float32Array(channels * 8400), dims: [1, channels, 8400] },
  });

  test("channels with several readings are refused, with each of them", () => {
    expect(() => createDecoderSync(TYPED).decode(fused(20))).toThrow(
      "got no number of keypoints, expected keypoints: [count, 2 or 3]; 20 channels of 1 class would be keypoints: [5, 3]",
    );
    const uncounted: TypedOptions = { family: "yolov8", task: "pose", inputSize: [640, 640] };
    expect(() => createDecoderSync(uncounted).decode(fused(56))).toThrow(
      "56 channels of 1 class would be keypoints: [17, 3], or without keypoints they would be 52 classes",
    );
    expect(() => createDecoderSync({ ...uncounted, keypoints: [17, 3] }).decode(fused(56))).toThrow(
      "got 17 keypoints of 3 values, expected the number of classes too",
    );
  });

  test("the counts are those after objectness, and after the columns of a list", () => {
    const of = (family: "yolov5" | "yolo26", dims: readonly number[]): (() => void) => {
      const output0 = { data: new Float32Array(dims[1] * dims[2]), dims };
      return () => createDecoderSync({ ...TYPED, family }).decode({ output0 });
    };
    expect(of("yolov5", [1, 25200, 57])).toThrow("57 channels of 1 class would be keypoints: [17, 3]");
    expect(of("yolo26", [1, 300, 57])).toThrow("57 columns of a list would be keypoints: [17, 3]");
  });

  test("a wrong count says what was expected, and what would fit", () => {
    expect(() => createDecoderSync({ ...TYPED, keypoints: [5, 3] }).decode(fused(56))).toThrow(
      "got no tensor with 5 keypoints of 3 values, expected for yolov8: [1,20,N] (boxes, 1 class, 15 values of points)",
    );
    expect(() => createDecoderSync({ ...TYPED, keypoints: [5, 3] }).decode(fused(56))).toThrow(
      "; with keypoints: [17, 3] these would fit",
    );
    expect(() => createDecoderSync({ ...TYPED, keypoints: [17, 3] }).decode(fused(5))).toThrow(
      "although the boxes are there",
    );
    expect(() => createDecoderSync({ ...TYPED, task: "detect" }).decode(fused(56))).toThrow("say task");
  });

  test.each([
    [{ keypoints: [17] }, "keypoints: got [17], expected [count, values], with 2 values"],
    [{ keypoints: [0, 3] }, "keypoints: got [0,3]"],
    [{ keypoints: [17, 4] }, "keypoints: got [17,4]"],
    [{ keypoints: [2, 3], keypointNames: ["a"] }, "keypointNames: got 1 names, expected 2, one per keypoint"],
    [
      { keypoints: [2, 3], edges: [[1, 2]] },
      "edges: got keypoint 2, expected one of 0..1: edges count from 0",
    ],
    [{ keypoints: [2, 3], edges: [1] }, "edges: got [1], expected pairs of keypoints"],
    [{ keypointScores: "tanh" }, 'keypointScores: got "tanh", expected one of probabilities, logits'],
    [{ keypointz: [17, 3] }, "keypointz: got an unknown name, expected a known one; did you mean keypoints?"],
  ])("%o", (options, message) => {
    expect(() => createDecoderSync({ ...TYPED, ...options } as TypedOptions)).toThrow(message);
  });

  test("names that do not fit the points of a family", () => {
    const decoder = createDecoderSync(
      { family: "yolov5-face", inputSize: [64, 64] },
      { keypointNames: ["a"] },
    );
    expect(() => decoder.decode({ a: { data: new Float32Array(32), dims: [1, 2, 16] } })).toThrow(
      "keypointNames: got 1 names, expected 5, one per keypoint",
    );
  });
});

describe("NN Archive", () => {
  const archive = (metadata: object, outputs: readonly string[]): object => ({
    config_version: "1.0",
    model: {
      metadata: { name: "pose" },
      inputs: [
        { name: "images", input_type: "image", shape: [1, 3, 64, 64], layout: "NCHW", dtype: "float32" },
      ],
      outputs: outputs.map((name) => ({ name, dtype: "float32" })),
      heads: [
        {
          parser: "YOLOExtendedParser",
          metadata: { n_classes: 1, classes: ["person"], anchors: null, conf_threshold: 0.3, ...metadata },
        },
      ],
    },
  });
  /** Maps of an exporter of archives, and points in planes whose confidence is raw. */
  const tensors: Tensors = Object.fromEntries(
    [8, 16, 32].flatMap((stride, i) => {
      const side = 64 / stride;
      const cells = side * side;
      const data = new Float32Array(6 * cells);
      const head = new Float32Array(6 * cells);
      if (stride === 16) {
        // cell (1, 2) of four by four
        [1, 1, 1, 1, 0.9, 0.9].forEach((value, k) => (head[k * cells + 9] = value));
        [20, 40, 2, 24, 44, -2].forEach((value, k) => (data[k * cells + 9] = value));
      }
      return [
        [`output${i + 1}_yolov8`, { data: head, dims: [1, 6, side, side] }],
        [`kpt_output${i + 1}`, { data, dims: [1, 6, cells] }],
      ];
    }),
  );

  test.each([
    ["named", { keypoints_outputs: ["kpt_output1", "kpt_output2", "kpt_output3"] }],
    ["by their usual names", {}],
    ["by the stem of their names, as luxonis/tools writes", { keypoints_outputs: ["kpt_output"] }],
  ])("outputs of points %s, labels, edges; the confidence is raw", (_, more) => {
    const metadata = {
      subtype: "yolov8",
      n_keypoints: 2,
      keypoint_label_names: ["head", "tail"],
      skeleton_edges: [[0, 1]],
      yolo_outputs: ["output1_yolov8", "output2_yolov8", "output3_yolov8"],
      ...more,
    };
    const decoder = createDecoderSync(archive(metadata, Object.keys(tensors)));
    const found = decoder.decode(tensors);
    const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
    near(pointsOf(found, 0, [64, 64]), [
      [20, 40, sigmoid(2)],
      [24, 44, sigmoid(-2)],
    ]);
    expect(found.at(0)?.keypoints?.map(({ name }) => name)).toEqual(["head", "tail"]);
    expect(found.edges).toEqual([[0, 1]]);
  });

  test("rows of YOLO26 and points beside them: decoded, and the confidence is a probability", () => {
    const metadata = { subtype: "yolo26", n_keypoints: 2, yolo_outputs: ["output_yolo26"] };
    const decoder = createDecoderSync(archive(metadata, ["output_yolo26", "kpt_output"]));
    const data = new Float32Array(84 * 6);
    data.set([10, 10, 30, 30, 0.9, 0.9]);
    const points = new Float32Array(84 * 6);
    points.set([20, 12, 0.5, 24, 28, 0.25]);
    const found = decoder.decode({
      output_yolo26: { data, dims: [1, 84, 6] },
      kpt_output: { data: points, dims: [1, 84, 6] },
    });
    near(pointsOf(found, 0, [64, 64]), [
      [20, 12, 0.5],
      [24, 28, 0.25],
    ]);
  });

  test("a head without keypoints has boxes alone", () => {
    expect(createDecoderSync(archive({ subtype: "yolov8" }, ["a"])).config.task).toBeNull();
  });

  test("wrong fields are reported with their paths", () => {
    const wrong = { subtype: "yolov8", n_keypoints: 2, skeleton_edges: [[1, 2]] };
    expect(() => createDecoderSync(archive(wrong, ["a"]))).toThrow(
      "skeleton_edges: got keypoint 2, expected one of 0..1",
    );
  });
});

describe.each(engines)("points in 0..1 beside boxes in pixels, %s", (engine) => {
  const NETWORK: TypedOptions = {
    family: "yolov8",
    task: "pose",
    classes: 1,
    keypoints: [17, 3],
    inputSize: [640, 640],
  };
  /** Planes of YOLOv8 pose with one object in cell 5000. `box` in pixels, points from 300, 300 on, in `unit` pixels. */
  const output = (unit: number, box = [320, 320, 200, 300], place = 300): Tensors => {
    const cells = 8400;
    const data = new Float32Array(56 * cells);
    [...box, 0.9].forEach((value, channel) => (data[channel * cells + 5000] = value));
    for (let k = 0; k < 17; k++)
      [(place + k) / unit, (place + 5 * k) / unit, 0.9].forEach(
        (value, i) => (data[(5 + 3 * k + i) * cells + 5000] = value),
      );
    return { output0: { data, dims: [1, 56, cells] } };
  };
  const told =
    /got keypoints within 0.594 pixels of the corner beside boxes that reach 470, expected pixels of a 640x640 input; if they are 0..1, say keypointCoordinates: "normalised"/;

  test("are refused by the first frame with points, with what to say", () => {
    const decoder = createDecoderSync(NETWORK, { engine });
    decoder.decode({ output0: { data: new Float32Array(56 * 8400), dims: [1, 56, 8400] } });
    const frame = { width: 1280, height: 720, resize: "letterbox" } as const;
    expect(() => decoder.decode(output(640), frame)).toThrow(told);
    const plan = compilePlan(NETWORK, { outputs: [{ name: "output0", dims: [1, 56, 8400] }] });
    expect(() => loadPlanSync(plan, { engine }).decode(output(640))).toThrow(told);
  });
  test("are right with that option, and points in pixels are right without", () => {
    const options = { engine, keypointCoordinates: "normalised" } as const;
    for (const found of [
      createDecoderSync(NETWORK, options).decode(output(640)),
      createDecoderSync(NETWORK, { engine }).decode(output(1)),
    ])
      near(pointsOf(found, 0, [640, 640]).slice(0, 2), [
        [300, 300, Math.fround(0.9)],
        [301, 305, Math.fround(0.9)],
      ]);
  });
  test("are not suspected if all are missing, or if the object lies in the corner too", () => {
    const none = output(Infinity);
    expect(createDecoderSync(NETWORK, { engine }).decode(none).length).toBe(1);
    expect(createDecoderSync(NETWORK, { engine }).decode(output(50, [3, 3, 6, 6], 1)).length).toBe(1);
  });
});

test("rows of BlazeFace are no palms: the count of points is the family's own", () => {
  const outputs = {
    boxes: { data: new Float32Array(896 * 16), dims: [1, 896, 16] },
    scores: { data: new Float32Array(896), dims: [1, 896, 1] },
  };
  const decoder = createDecoderSync({ family: "mediapipe-palm", inputSize: [128, 128] });
  expect(() => decoder.decode(outputs)).toThrow("[1,N,18] + [1,N,1]");
});
