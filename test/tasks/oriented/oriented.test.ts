/** Oriented boxes through a decoder: forms, rules, frames, results and refusals. */
import { describe, expect, test } from "vitest";
import type { DecoderOptions } from "../../../src/config/types.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { createDecoderSync } from "../../../src/whole/decoder.ts";
import type { Detections } from "../../../src/decode/detections.ts";
import { toPixels } from "../../../src/decode/pixels.ts";
import type { Frame } from "../../../src/decode/frame.ts";
import {
  type OrientedBox,
  cornersOf,
  fitCorners,
  nmsOriented,
  regularise,
} from "../../../src/entries/index.ts";
import { mulberry32 } from "../../../bench/random.ts";
import { engines } from "../../support/engines.ts";

/** A box of a test: centre, size, angle, class id and score. */
type Row = readonly [...box: OrientedBox, classId: number, score: number];

/** Returns rows cx cy w h, two classes, angle. */
const rowsOf = (rows: readonly Row[]) => ({
  output0: {
    data: Float32Array.from(
      rows.flatMap(([cx, cy, w, h, angle, id, score]) => [
        cx,
        cy,
        w,
        h,
        ...[0, 1].map((c) => (c === id ? score : 0)),
        angle,
      ]),
    ),
    dims: [1, rows.length, 7],
    order: "rows",
  } as const,
});

const BASE = {
  family: "yolov8",
  classes: 2,
  task: "oriented",
  inputSize: [200, 100],
  // Two classes and an angle are as many channels as a list of detections has.
  reading: "class-rows",
} as const;
const decode = (rows: readonly Row[], options: DecoderOptions = {}, frame?: Frame): Detections =>
  createDecoderSync(BASE, options).decode(rowsOf(rows), frame);
const only = (found: Detections) => {
  expect(found.length).toBe(1);
  const d = found.at(0);
  if (!d) throw new Error("no detection");
  return d;
};
const ONE: Row = [100, 50, 60, 20, 0.5, 1, 0.9];

const near = (got: readonly (number | undefined)[], expected: readonly number[], digits = 4): void => {
  expect(got).toHaveLength(expected.length);
  expected.forEach((v, i) => expect(got[i], `${got.join()} for ${expected.join()}`).toBeCloseTo(v, digits));
};
const inPixels = (
  d: Parameters<typeof toPixels>[0],
  width: number,
  height: number,
): (number | undefined)[] => {
  const p = toPixels(d, width, height);
  return [p.cx, p.cy, p.width, p.height, p.angle];
};

describe("a result", () => {
  test("has an angle, four corners, and the upright box around them", () => {
    const d = only(decode([ONE]));
    const corners = cornersOf(ONE.slice(0, 5) as unknown as OrientedBox);
    near([d.angle], [0.5], 6);
    near(d.corners?.flatMap(({ x, y }) => [x * 200, y * 100]) ?? [], corners.flat());
    const [xs, ys] = [0, 1].map((k) => corners.map((c) => c[k]));
    const p = toPixels(d, 200, 100);
    near(
      [p.x_min, p.y_min, p.x_max, p.y_max],
      [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
    );
    near(inPixels(d, 200, 100), [100, 50, 60, 20, 0.5]);
    // The spread of DeepStream: half of w |cos| + h |sin|.
    near([d.width * 200], [60 * Math.cos(0.5) + 20 * Math.sin(0.5)]);
  });

  test("travels as JSON, as a copy and to another thread", () => {
    const decoder = createDecoderSync(BASE);
    const found = decoder.decode(rowsOf([ONE]));
    const kept = found.copy();
    const sent = structuredClone(kept) as unknown as { angles: Float32Array; corners: Float32Array };
    expect(sent.angles).toHaveLength(1);
    expect(sent.corners).toHaveLength(8);
    const before = JSON.stringify(found);
    expect(JSON.parse(before)).toMatchObject([
      { class_id: 1, angle: kept.at(0)?.angle, corners: kept.at(0)?.corners },
    ]);
    decoder.decode(rowsOf([[20, 20, 5, 5, 1, 0, 0.8]]));
    expect(JSON.stringify(kept)).toBe(before);
    expect(JSON.stringify(kept.copy())).toBe(before);
    expect(found.at(0)?.angle).toBeCloseTo(1, 6);
  });

  test("regular or as the network gives it", () => {
    const row: Row = [100, 50, 60, 20, -0.3, 0, 0.9];
    near(inPixels(only(decode([row])), 200, 100), [...regularise([100, 50, 60, 20, -0.3])]);
    near(inPixels(only(decode([row], { angleRange: "raw" })), 200, 100), row.slice(0, 5) as number[]);
  });
});

describe("suppression", () => {
  // The second suppresses the third. The first suppresses the second alone.
  const chain: Row[] = [
    [50, 50, 40, 20, 0, 0, 0.9],
    [62, 50, 40, 20, 0, 0, 0.8],
    [74, 50, 40, 20, 0, 0, 0.7],
    [50, 50, 40, 20, 0, 1, 0.6],
  ];
  test.each<readonly [DecoderOptions, readonly number[]]>([
    [{}, [0, 3]],
    [{ orientedSuppression: "ultralytics" }, [0, 3]],
    [{ orientedSuppression: "probiou" }, [0, 2, 3]],
    [{ orientedSuppression: "opencv" }, [0, 2, 3]],
    [{ orientedSuppression: "opencv", rules: { suppress: "all" } }, [0, 2]],
    [{ rules: { suppress: "none" } }, [0, 1, 2, 3]],
    [{ maxDetections: 1 }, [0]],
    [{ iouThreshold: 0.9 }, [0, 1, 2, 3]],
    [{ confidenceThreshold: 0.75 }, [0]],
  ])("%j", (options, rows) => {
    const found = decode(chain, options);
    expect([...found.sources.subarray(0, found.length)]).toEqual(rows);
  });

  test("update changes the threshold", () => {
    const decoder = createDecoderSync(BASE, { orientedSuppression: "probiou" });
    expect(decoder.decode(rowsOf(chain)).length).toBe(3);
    decoder.update({ iouThreshold: 0.95, maxDetections: 2 });
    expect(decoder.decode(rowsOf(chain)).length).toBe(2);
  });

  test("at the threshold itself, by the named set or by the rule", () => {
    const half: Row[] = [
      [64, 32, 32, 16, 0, 0, 0.9],
      [64, 28, 32, 8, 0, 0, 0.8],
    ];
    const kept = (options: DecoderOptions): number =>
      decode(half, { orientedSuppression: "opencv", iouThreshold: 0.5, inputSize: [128, 64], ...options })
        .length;
    expect(kept({})).toBe(2);
    expect(kept({ rules: { iouGate: ">=" } })).toBe(1);
  });

  test.each(engines)(
    "%s: the same rows as nmsOriented, also of more candidates than one wave of the sort",
    (engine) => {
      const random = mulberry32(5);
      const rows = Array.from({ length: 5000 }, (): Row => {
        const [x, y] = [200 * random(), 100 * random()];
        // Scores of 1/64: many are equal, and rows settle them.
        return [
          x,
          y,
          4 + 20 * random(),
          3 + 5 * random(),
          2 * random(),
          Math.floor(2 * random()),
          Math.ceil(63 * random()) / 64,
        ];
      });
      const found = decode(rows, {
        engine,
        confidenceThreshold: 0,
        maxDetections: 5000,
        orientedSuppression: "probiou",
      });
      const expected = nmsOriented(
        rows.flatMap((row) => row.slice(0, 5) as number[]),
        rows.map((row) => row[6]),
        { method: "hard", classIds: rows.map((row) => row[5]) },
      );
      expect(found.length).toBeGreaterThan(300);
      expect([...found.sources.subarray(0, found.length)]).toEqual([...expected]);
    },
  );
});

describe("in a frame", () => {
  test("a letterbox leaves the angle, and divides lengths by its gain", () => {
    // 400 x 300 becomes 133 x 100, 33 pixels from the left.
    const frame: Frame = { width: 400, height: 300, resize: "letterbox" };
    const [cx, cy, w, h, angle] = inPixels(only(decode([ONE], {}, frame)), 400, 300);
    near([cx, cy, angle], [((100 - 33) / 133) * 400, 150, 0.5], 3);
    // The resized width is rounded to whole pixels: 133 for 133.3.
    near([w, h], [180, 60], 0);
    const exact: Frame = { width: 800, height: 400, resize: "letterbox" };
    near(inPixels(only(decode([ONE], {}, exact)), 800, 400), [400, 200, 240, 80, 0.5], 3);
  });

  test("a stretch bends the box: the smallest rectangle around it stands for it", () => {
    const frame: Frame = { width: 300, height: 300, resize: "stretch" };
    const corners = cornersOf(ONE.slice(0, 5) as unknown as OrientedBox).map(([x, y]): [number, number] => [
      x * 1.5,
      y * 3,
    ]);
    near(inPixels(only(decode([ONE], {}, frame)), 300, 300), [...regularise(fitCorners(corners))], 3);
    near(inPixels(only(decode([ONE], { angleRange: "raw" }, frame)), 300, 300), [...fitCorners(corners)], 3);
    const same: Frame = { width: 400, height: 200, resize: "stretch" };
    near(inPixels(only(decode([ONE], {}, same)), 400, 200), [200, 100, 120, 40, 0.5], 3);
  });

  test("each image of a batch has its own", () => {
    const { output0 } = rowsOf([ONE]);
    const two = {
      data: Float32Array.of(...output0.data, ...output0.data),
      dims: [2, 1, 7],
      order: "rows",
    } as const;
    const results = createDecoderSync(BASE).decodeBatch({ output0: two }, [
      { width: 800, height: 400, resize: "letterbox" },
      { width: 300, height: 300, resize: "stretch" },
    ]);
    near([results[0].at(0)?.angle], [0.5], 6);
    expect(results[1].at(0)?.angle).toBeGreaterThan(0.7);
  });
});

describe("what the angle channel holds", () => {
  const angleOf = (value: number, options: DecoderOptions): number | undefined =>
    only(decode([[100, 50, 60, 20, value, 0, 0.9]], { angleRange: "raw", ...options })).angle;
  test("radians, logits, or a sigmoid's output", () => {
    near([angleOf(1.25, {})], [1.25], 6);
    near([angleOf(0, { angleForm: "logits" })], [Math.PI / 4], 6);
    near([angleOf(-1.0986123, { angleForm: "logits" })], [0], 6);
    near([angleOf(0.75, { angleForm: "fractions" })], [Math.PI / 2], 6);
    expect(() => angleOf(1.5, { angleForm: "fractions" })).toThrow(
      'got 1.5 where an angle is the sigmoid of a value, expected a number in 0..1. Say angleForm: "logits"',
    );
  });

  test.each(["radians", "fractions", "logits"] as const)(
    "raw maps with all angles in one tensor: %s",
    (angleForm) => {
      // rknn: box and class maps, and one tensor of angles for the cells of all maps.
      const map = (w: number, h: number) => ({
        data: new Float32Array(66 * w * h).fill(-8),
        dims: [1, 66, h, w],
      });
      const maps = { a: map(24, 16), b: map(12, 8), c: map(6, 4) };
      // The cell at column 5, row 3 of the middle map: distances 2, 1, 4, 3 as certain bins, class 1.
      [2, 1, 4, 3].forEach((bin, side) => (maps.b.data[(side * 16 + bin) * 96 + 3 * 12 + 5] = 80));
      maps.b.data[65 * 96 + 3 * 12 + 5] = 5;
      const raw = {
        radians: 0.5,
        fractions: 0.5 / Math.PI + 0.25,
        logits: -Math.log(1 / (0.5 / Math.PI + 0.25) - 1),
      };
      const angles = new Float32Array(504);
      angles[384 + 3 * 12 + 5] = raw[angleForm];
      const outputs = { ...maps, angles: { data: angles, dims: [1, 1, 504] } };
      const options = {
        family: "yolov8",
        classes: 2,
        task: "oriented",
        inputSize: [192, 128],
        angleRange: "raw",
      } as const;
      expect(() => createDecoderSync(options).decode(outputs)).toThrow(
        "got raw maps, and the angles of all maps in one tensor",
      );
      const found = createDecoderSync(options, { angleForm: angleForm }).decode(outputs);
      near(inPixels(only(found), 192, 128), [94.370512, 77.71213, 96, 64, 0.5], 3);
    },
  );

  test("YOLO26: raw maps hold radians", () => {
    const box = new Float32Array(4 * 24).fill(1);
    const cls = new Float32Array(2 * 24).fill(-8);
    const angle = new Float32Array(24);
    const cell = 3 * 6 + 5;
    [2, 1, 4, 3].forEach((distance, side) => (box[side * 24 + cell] = distance));
    cls[cell] = 5;
    angle[cell] = 0.5 + Math.PI;
    const options = {
      family: "yolo26",
      classes: 2,
      task: "oriented",
      inputSize: [96, 64],
      strides: [16],
    } as const;
    const decoder = createDecoderSync(options, { roles: { angles: "angle" }, scores: "logits" });
    const found = decoder.decode({
      box: { data: box, dims: [1, 4, 4, 6] },
      cls: { data: cls, dims: [1, 2, 4, 6] },
      angle: { data: angle, dims: [1, 1, 4, 6] },
    });
    near(
      inPixels(only(found), 96, 64),
      [
        5.5 * 16 - 16 * (Math.cos(0.5) - Math.sin(0.5)),
        56 - 16 * (Math.cos(0.5) + Math.sin(0.5)),
        96,
        64,
        0.5,
      ],
      3,
    );
  });

  test("integers with a scale", () => {
    const decoder = createDecoderSync({ ...BASE, classes: 1 }, { roles: { angles: "angles" } });
    const found = decoder.decode({
      boxes: { data: Uint8Array.of(50, 25, 30, 10), dims: [1, 1, 4], scale: 2, zeroPoint: 0 },
      scores: { data: Uint8Array.of(230), dims: [1, 1, 1], scale: 1 / 256, zeroPoint: 0 },
      angles: { data: Int8Array.of(-118), dims: [1, 1, 1], scale: 0.05, zeroPoint: -128 },
    });
    near(inPixels(only(found), 200, 100), [100, 50, 60, 20, 0.5], 3);
  });
});

describe("refusals and notes", () => {
  const notesOf = (rows: readonly Row[], options: DecoderOptions = {}): string[] => {
    const notes: string[] = [];
    decode(rows, { ...options, onNote: (note) => notes.push(note) });
    return notes;
  };

  test("a NaN angle drops its box and says so", () => {
    const rows: Row[] = [ONE, [20, 20, 10, 10, NaN, 0, 0.95], [60, 20, 10, 10, Infinity, 0, 0.85]];
    expect([...decode(rows).sources.subarray(0, 1)]).toEqual([0]);
    expect(decode(rows).length).toBe(1);
    expect(notesOf(rows).join()).toContain("2 boxes have an angle that is NaN or infinite, and are dropped");
  });

  test("angles outside the range of their family", () => {
    expect(notesOf([ONE]).join()).not.toContain("angle");
    expect(notesOf([[100, 50, 60, 20, 2.36, 0, 0.9]]).join()).toContain(
      "outside [-pi/4, 3pi/4), the range of its family: 2.36",
    );
    expect(notesOf([[100, 50, 60, 20, 30, 0, 0.9]], { family: "yolo26" }).join()).toContain(
      "outside two turns: 30. Are the angles in degrees",
    );
    expect(notesOf([[100, 50, 60, 20, 3, 0, 0.9]], { family: "yolo26" }).join()).not.toContain("angle");
  });

  test("a number of channels with two readings, and one that does not fit", () => {
    const planes = { output0: { data: new Float32Array(20 * 126), dims: [1, 20, 126] } };
    const read = (options: DecoderOptions) => () =>
      createDecoderSync({ family: "yolov8", task: "oriented", inputSize: [96, 64] }, options).decode(planes);
    expect(read({})).toThrow("20 channels are 15 classes and an angle, or 16 classes without");
    expect(read({})).toThrow(
      "expected oriented boxes of yolov8: the number of classes (option classes, or labels)",
    );
    expect(read({ classes: 16 })).toThrow("[1,21,N] or rows of it (cx cy w h, 16 classes, angle)");
    expect(read({ classes: 15 })).not.toThrow();
  });

  test("no input size", () => {
    expect(() =>
      createDecoderSync({
        family: "yolov8",
        classes: 2,
        task: "oriented",
        coordinates: "normalised",
        reading: "class-rows",
      }).decode(rowsOf([ONE])),
    ).toThrow("oriented boxes and no input size, expected inputSize: [width, height]");
  });

  test("options that cannot be", () => {
    expect(() => parseConfig({ ...BASE, orientedSuppression: "fast" })).toThrow(
      "one of ultralytics, probiou, opencv",
    );
    expect(() => parseConfig({ ...BASE, angleRange: "le90" })).toThrow('angleRange: got "le90"');
    expect(parseConfig({ ...BASE, task: undefined, angleRange: "raw" }).task).toEqual({
      name: "oriented",
      angleRange: "raw",
    });
  });

  test("describe says how angles are read and boxes are suppressed", () => {
    const decoder = createDecoderSync(BASE);
    decoder.decode(rowsOf([ONE]));
    expect(decoder.describe().text).toContain(
      'oriented boxes: angles in radians; suppression "ultralytics" (ProbIoU >=, suppressed boxes suppress too); angles of results in [0, pi/2)',
    );
  });

  test.each([
    ["rows of an end-to-end network", { rules: {} }, "suppression none,", "suppression none;"],
    [
      "the config asks for it",
      { rules: { suppress: "all" } },
      "across classes at 0.7,",
      'suppression "ultralytics"',
    ],
  ] as const)("describe tells one truth: %s", (_, options, rules, own) => {
    const outputs = [{ name: "output0", dims: [1, 300, 7] }];
    const { text } = createDecoderSync(
      { ...BASE, family: "yolo26", reading: "end-to-end", iouThreshold: 0.7, ...options },
      { outputs },
    ).describe();
    expect(text.match(/^rules: .*$/m)?.[0]).toContain(rules);
    expect(text.match(/^oriented boxes: .*$/m)?.[0]).toContain(own);
  });

  test("describe says that candidates of a grid are suppressed", () => {
    const outputs = [{ name: "output0", dims: [1, 20, 8400] }];
    const config = { ...BASE, classes: 15, inputSize: [640, 640], iouThreshold: 0.7 } as const;
    const linesOf = (rules: object): string[] =>
      createDecoderSync({ ...config, rules: rules }, { outputs })
        .describe()
        .text.split("\n");
    expect(linesOf({}).find((l) => l.startsWith("rules"))).toContain("suppression per class at 0.7,");
    const none = linesOf({ suppress: "none" });
    expect(none.find((l) => l.startsWith("rules"))).toContain("suppression none,");
    expect(none.find((l) => l.startsWith("oriented"))).toContain("suppression none;");
  });

  test("an archive that names outputs of angles", () => {
    const outputs = ["output1_yolov8", "output2_yolov8", "output3_yolov8", "angle_output"];
    const head = {
      parser: "YOLO",
      metadata: {
        n_classes: 2,
        subtype: "yolov8",
        yolo_outputs: outputs.slice(0, 3),
        angles_outputs: ["angle_output"],
      },
    };
    const config = parseConfig({
      config_version: "1.0",
      model: { heads: [head], outputs: outputs.map((name) => ({ name, dtype: "float32" })) },
    });
    expect(config.task).toEqual({ name: "oriented", angleForm: "radians" });
    expect(config.roles?.angles).toEqual(["angle_output"]);
    expect(config.headOutputs).toEqual(outputs);
  });
});

test("an IoU of 1/3 equals a threshold of 1/3: both are doubles, in the decoder as in nmsOriented", () => {
  // Two boxes of 64 x 32, of which one half lies in the other.
  const rows: readonly Row[] = [
    [64, 64, 64, 32, 0, 0, 0.9],
    [96, 64, 64, 32, 0, 0, 0.8],
  ];
  const boxes = rows.flatMap((row) => row.slice(0, 5));
  for (const iouGate of [">", ">="] as const)
    for (const [threshold, isKept] of [
      [1 / 3, iouGate === ">"],
      [1 / 3 - 1e-12, false],
      [1 / 3 + 1e-12, true],
    ] as const) {
      const options = { iou: "polygon", method: "hard", iouThreshold: threshold, iouGate } as const;
      expect(nmsOriented(boxes, [0.9, 0.8], options)).toHaveLength(isKept ? 2 : 1);
      const decoder = createDecoderSync(
        { ...BASE, inputSize: [256, 128], orientedSuppression: "opencv", iouThreshold: threshold },
        { rules: { iouGate } },
      );
      expect(decoder.decode(rowsOf(rows))).toHaveLength(isKept ? 2 : 1);
      // `update` changes it between frames.
      decoder.update({ iouThreshold: 1 });
      expect(decoder.decode(rowsOf(rows))).toHaveLength(2);
      decoder.update({ iouThreshold: threshold });
      expect(decoder.decode(rowsOf(rows))).toHaveLength(isKept ? 2 : 1);
    }
});
