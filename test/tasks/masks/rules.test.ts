/** Every rule against the specification in doubles, worked numbers, and what is refused. */
import { describe, expect, test } from "vitest";
import { mulberry32 } from "../../../bench/random.ts";
import { bilinear, each, MASK_RULES, sigmoid } from "../../../spec/masks.ts";
import {
  type MaskInputs,
  classMap,
  createDecoderSync,
  labelMap,
  masksOf,
  parseConfig,
} from "../../../src/entries/index.ts";
import type { Mask, MaskOptions, MaskRule } from "../../../src/decode/mask.ts";
import type { Frame } from "../../../src/decode/frame.ts";
import { engines } from "../../support/engines.ts";

const random = mulberry32(29);

/** Returns a smooth picture, so that masks are blobs and not noise. */
function smooth(width: number, height: number): number[][] {
  const [a, b, c, d] = [random(), random(), 6 * random(), 6 * random()];
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (__, x) => Math.fround(2 * Math.sin(a * x + c) + 2 * Math.cos(b * y + d))),
  );
}

function wholeOf({ x, y, width, height, data, size }: Mask): number[][] {
  return Array.from({ length: size[1] }, (_, row) =>
    Array.from({ length: size[0] }, (__, column) =>
      column >= x && column < x + width && row >= y && row < y + height
        ? data[(row - y) * width + column - x]
        : 0,
    ),
  );
}

type Box = [number, number, number, number];

/** A case with the padding that `decode` would undo. */
function makeCase(frame?: Frame): {
  inputs: MaskInputs & { frame?: Frame };
  prototypes: number[][][];
  inputBox: Box;
  imageBox: Box;
} {
  const prototypes = Array.from({ length: 4 }, () => smooth(24, 16));
  const coefficients = Array.from({ length: 4 }, () => Math.fround(2 * random() - 1));
  const side = (): [number, number] => {
    const a = Math.fround(random() * 0.6);
    return [a, Math.fround(a + 0.1 + random() * 0.3)];
  };
  const [[x1, x2], [y1, y2]] = [side(), side()];
  const imageBox: Box = [x1, y1, x2, y2];
  let inputBox = imageBox;
  if (frame) {
    const scale = Math.min(96 / frame.width, 64 / frame.height);
    const [w, h] = [Math.round(frame.width * scale), Math.round(frame.height * scale)];
    const [left, top] = [Math.floor((96 - w) / 2), Math.floor((64 - h) / 2)];
    inputBox = [(x1 * w + left) / 96, (y1 * h + top) / 64, (x2 * w + left) / 96, (y2 * h + top) / 64];
  }
  return {
    inputs: {
      prototypes: { data: Float32Array.from(prototypes.flat(2)), dims: [1, 4, 16, 24], order: "NCHW" },
      coefficients,
      boxes: imageBox,
      inputSize: [96, 64],
      ...(frame && { frame }),
    },
    prototypes,
    inputBox,
    imageBox,
  };
}

describe.each(engines)("%s", (engine) => {
  test.each([
    ["proto", "prototype"],
    ["proto", "network"],
    ["proto", "frame"],
    ["input", "network"],
    ["input_crop_first", "network"],
    ["image", "frame"],
    ["image", [41, 90]],
    ["sigmoid_input", "network"],
    ["sigmoid_input_crop_first", "network"],
    ["sigmoid_image", "frame"],
  ] as const)("%s, %s: no pixel differs from the specification in doubles", (rule, size) => {
    for (const [width, height] of [
      [300, 170],
      [90, 170],
      [24, 16],
      [50, 40],
    ])
      for (const frame of [undefined, { width, height, resize: "letterbox" } as const]) {
        if (size === "frame" && !frame) continue;
        const { inputs, ...rest } = makeCase(frame);
        const [mask] = masksOf(inputs, { engine, rule, size });
        const values = MASK_RULES[rule]({
          ...rest,
          coefficients: inputs.coefficients as number[],
          size: mask.size,
          ...(frame && typeof size !== "string" && { image: [width, height] as const }),
          ...(size === "frame" && { image: [width, height] as const }),
        });
        const limit = rule.startsWith("sigmoid") ? 0.5 : 0;
        const wrong = wholeOf(mask).flatMap((row, y) =>
          row.flatMap((pixel, x) => {
            const value = values[y][x];
            const isNear = rule !== "proto" && Math.abs(value - limit) < 1e-4 && value !== 0;
            return isNear || pixel === (value > limit ? 1 : 0) ? [] : `${x} ${y}: ${value}`;
          }),
        );
        expect(wrong).toEqual([]);
        expect(mask.size).toEqual(
          typeof size === "string"
            ? { prototype: [24, 16], network: [96, 64], frame: [width, height] }[size]
            : size,
        );
      }
  });

  const worked: MaskInputs = {
    prototypes: { data: [-3, 1, 1, 1], dims: [1, 1, 2, 2], order: "NCHW" },
    coefficients: [1],
    boxes: [0, 0, 1, 1],
    inputSize: [4, 4],
  };
  const bitsOf = (mask: Mask): string =>
    wholeOf(mask)
      .map((row) => row.join(""))
      .join(" / ");

  test("worked by hand: logits resized, and probabilities resized", () => {
    expect(bitsOf(masksOf(worked, { engine, rule: "input" })[0])).toBe("0001 / 0011 / 0111 / 1111");
    expect(bitsOf(masksOf(worked, { engine, rule: "sigmoid_input" })[0])).toBe("0011 / 0011 / 1111 / 1111");
  });

  test("worked by hand: columns from 2.0 to 5.0 and from 2.1 to 5.1", () => {
    const columns = (low: number, high: number): number[] => {
      const inputs = {
        prototypes: { data: new Float32Array(10).fill(1), dims: [1, 1, 1, 10] },
        coefficients: [1],
        boxes: Float32Array.of(low / 10, 0, high / 10, 1),
        inputSize: [40, 4] as const,
      };
      const [{ x, width }] = masksOf(inputs, { engine, size: "prototype" });
      return Array.from({ length: width }, (_, i) => x + i);
    };
    expect(columns(2, 5)).toEqual([2, 3, 4]);
    expect(columns(2.1, 5.1)).toEqual([3, 4, 5]);
    // 0.3 and 0.7 are no f32: an edge that near to a whole number is one.
    expect(columns(3, 7)).toEqual([3, 4, 5, 6]);
    expect(columns(-5, 0.5)).toEqual([0]);
    expect(columns(9.5, 70)).toEqual([]);
    expect(columns(7, 7)).toEqual([]);
  });

  test("a threshold is a probability, and a pixel is set if it is greater", () => {
    const at = (threshold: number, rule: MaskRule): string =>
      bitsOf(
        masksOf(
          { ...worked, prototypes: { ...worked.prototypes, data: [-1, 0, 1, 2] } },
          { engine, rule, size: rule === "proto" ? "prototype" : "network", threshold },
        )[0],
      );
    expect(at(0.5, "proto")).toBe("00 / 11");
    expect(at(0.49, "proto")).toBe("01 / 11");
    expect(at(sigmoid(1) - 1e-6, "proto")).toBe("00 / 11");
    expect(at(sigmoid(1) + 1e-6, "proto")).toBe("00 / 01");
    for (const threshold of [0.3, 0.8]) {
      const picture = bilinear(
        [
          [-1, 0],
          [1, 2],
        ],
        4,
        4,
      );
      const bits = each(picture, (v) => (sigmoid(v) > threshold ? 1 : 0));
      expect(at(threshold, "input")).toBe(bits.map((row) => row.join("")).join(" / "));
    }
  });

  test("a mask may be empty, and a box outside the picture has no pixels", () => {
    const options: MaskOptions & { engine: typeof engine } = { engine };
    const [none, outside] = masksOf(
      { ...worked, coefficients: [0, 1], boxes: [0, 0, 1, 1, 1.5, 0, 2, 1] },
      options,
    );
    expect([none.area, none.width, none.toPolygons()]).toEqual([0, 4, []]);
    expect([outside.area, outside.width * outside.height, outside.toRle().counts]).toEqual([0, 0, "`0"]);
  });
});

test("padding at prototype size is cut as Ultralytics cuts it: rounded, not truncated", () => {
  // 160 x 160 prototypes of a photo of 810 x 1080: 120 columns, 20 on each side. Of 640 x 427: 160 x 106.75.
  const inputs = (width: number, height: number): MaskInputs => ({
    // Rows of the prototypes are their own number, so that the mask tells where the photo begins.
    prototypes: {
      data: Float32Array.from({ length: 160 * 160 }, (_, i) => (Math.floor(i / 160) >= 27 ? 1 : -1)),
      dims: [1, 1, 160, 160],
      order: "NCHW",
    },
    coefficients: [1],
    boxes: [0, 0, 1, 1],
    inputSize: [640, 640],
    frame: { width, height, resize: "letterbox" },
  });
  // 160 - round(106.75) = 53 rows of padding: round(26.5 - 0.1) = 26 above, round(26.5 + 0.1) = 27 below.
  const [mask] = masksOf(inputs(640, 427));
  const firstRow = Array.from({ length: 427 }, (_, y) => mask.data[y * 640]).indexOf(1);
  // Row 26 is the photo's first one of the prototypes; the step to row 27 lies between their centres.
  expect(firstRow).toBe(4);
  expect(mask.size).toEqual([640, 427]);
});

describe("refusals", () => {
  const inputs: MaskInputs = {
    prototypes: { data: new Float32Array(8 * 12), dims: [1, 4, 4, 6] },
    coefficients: [1, 2, 3, 4],
    boxes: [0, 0, 1, 1],
    inputSize: [24, 16],
  };
  const refused = (options: object, text: string): void =>
    expect(() => masksOf(inputs, options as MaskOptions)).toThrow(text);

  test("options of a mask", () => {
    refused({ rule: "retina" }, 'rule: got "retina", expected one of proto, input, input_crop_first, image');
    refused(
      { rule: "input", size: [30, 20] },
      'rule: got "input" with size [30,20], expected size "network"',
    );
    refused(
      { rule: "image", size: "network" },
      'expected size "frame" or [width, height] with it, or rule "input"',
    );
    refused({ size: "frame" }, 'size: got "frame", and decode() got no frame');
    refused({ size: "photo" }, 'size: got "photo", expected "prototype", "network"');
    refused({ size: [0, 4] }, "size: got [0,4]");
    refused({ size: [1.5, 4] }, "size: got [1.5,4]");
    for (const threshold of [0, 1, NaN, -1, "0.5"])
      refused(
        { threshold },
        `threshold: got ${JSON.stringify(threshold)?.replace("null", "NaN")}, expected a probability`,
      );
    refused({ rule: "input_crop_first", threshold: 0.4 }, "expected 0.5 or more");
    refused({ engine: "gpu" }, "engine: got");
  });

  test("inputs of masksOf", () => {
    const other = (more: object, text: string): void =>
      expect(() => masksOf({ ...inputs, ...more })).toThrow(text);
    other({ coefficients: [1, 2, 3] }, "prototypes [1,4,4,6] for 3 coefficients a box");
    other({ boxes: [0, 0, 1] }, "boxes: got 3 numbers, expected four for each box");
    other({ inputSize: 24 }, "inputSize: got 24");
    other({ prototypes: { data: new Float32Array(96), dims: [4, 24] } }, "for 4 coefficients");
    other(
      { prototypes: { data: new Int32Array(96), dims: [1, 4, 4, 6] } },
      "type i32, expected f32, f16, u8 or i8",
    );
    other({ prototypes: { data: new Int8Array(96), dims: [1, 4, 4, 6] } }, "i8 without a scale");
    const square = { data: new Float32Array(64), dims: [1, 4, 4, 4] };
    other({ prototypes: square }, "expected order: NCHW or NHWC");
    expect(
      masksOf({ ...inputs, inputSize: [16, 16], prototypes: { ...square, order: "NHWC" } }),
    ).toHaveLength(1);
    expect(masksOf({ ...inputs, boxes: [], coefficients: [] })).toEqual([]);
  });

  const head = { family: "yolo26", inputSize: [24, 16], coordinates: "pixels", task: "segment" } as const;
  const rows = (columns: number) => ({ data: new Float32Array(5 * columns), dims: [1, 5, columns] });
  const protos = (...dims: number[]) => ({ data: new Float32Array(dims.reduce((a, b) => a * b, 1)), dims });
  const decode = (options: object, outputs: object): void => {
    createDecoderSync({ ...head, ...options } as typeof head).decode(
      outputs as Parameters<ReturnType<typeof createDecoderSync>["decode"]>[0],
    );
  };

  test("tensors of a network", () => {
    expect(() => decode({ classes: 80 }, { a: rows(10), b: protos(1, 3, 4, 6) })).toThrow(
      /segment: got a \[1,5,10\], b \[1,3,4,6\], expected boxes with 32 coefficients .* prototypes \[1,32,4,6\]/,
    );
    expect(() => decode({ maskCoefficients: 8 }, { a: rows(10), b: protos(1, 4, 4, 6) })).toThrow(
      "expected boxes with 8 coefficients",
    );
    expect(() => decode({}, { a: rows(10) })).toThrow("segment: got a [1,5,10]");
    const planes = { data: new Float32Array(116 * 8), dims: [1, 116, 8] };
    expect(() => decode({ family: "yolov8" }, { a: planes, b: protos(1, 32, 4, 6) })).toThrow(
      "b [1,32,4,6], and no number of classes, expected option classes, or labels (these shapes would be of 80 classes)",
    );
    // The count with which every tensor plays a part.
    const maps = [64, 80, 32].map((k) => [`m${k}`, protos(1, k, 2, 3)]);
    expect(() =>
      decode({ family: "yolov8" }, { ...Object.fromEntries(maps), p: protos(1, 32, 4, 6) }),
    ).toThrow("(these shapes would be of 80 classes)");
    expect(() =>
      decode({ family: "yolov8", classes: 80 }, { a: planes, b: protos(1, 32, 4, 6) }),
    ).not.toThrow();
    expect(() => decode({ inputSize: [16, 16] }, { a: rows(10), b: protos(1, 4, 4, 4) })).toThrow(
      'which can be read in 2 ways: "b" as 4 prototypes of 4x4 (NCHW), "b" as 4 prototypes of 4x4 (NHWC)',
    );
    const settled = { a: rows(10), b: { ...protos(1, 4, 4, 4), order: "NHWC" } };
    expect(() => decode({ inputSize: [16, 16] }, settled)).not.toThrow();
    expect(() => decode({}, { a: rows(10), b: protos(2, 4, 4, 6) })).toThrow("segment: got");
    const i8 = { data: new Int8Array(96), dims: [1, 4, 4, 6] };
    expect(() => decode({}, { a: rows(10), b: i8 })).toThrow('prototypes "b": got i8 without a scale');
    expect(() => decode({ maskCoefficients: 0 }, {})).toThrow("maskCoefficients: got 0");
  });

  test("rows that are not there, detections without masks", () => {
    const decoder = createDecoderSync(head);
    const data = Float32Array.of(1, 1, 20, 12, 0.9, 0, 1, 1, 1, 1);
    const found = decoder.decode({ a: { data, dims: [1, 1, 10] }, b: protos(1, 4, 4, 6) });
    expect(found.length).toBe(1);
    expect(found.mask(-1).size).toEqual([24, 16]);
    for (const i of [1, -2, 0.5, NaN])
      expect(() => found.mask(i)).toThrow(`mask: got row ${i}, expected 0 to 0`);
    expect(() => labelMap(structuredClone(found.copy()))).toThrow(TypeError);
    expect(() => labelMap(found, { overlap: "all" as "first" })).toThrow('overlap: got "all"');
    expect(() =>
      createDecoderSync({ ...head, task: "detect" })
        .decode({ a: rows(6) })
        .mask(0),
    ).toThrow('got no masks, expected what a decoder with task "segment" returned');
  });
});

test("an NN Archive says where coefficients and prototypes are", () => {
  const maps = (name: string, channels: number): object[] =>
    [8, 4, 2].map((side, i) => ({ name: `output${i + 1}${name}`, shape: [1, channels, side, side] }));
  const archive = (metadata: object): object => ({
    config_version: "1.0",
    model: {
      inputs: [{ name: "images", shape: [1, 3, 64, 64], layout: "NCHW" }],
      outputs: [
        ...maps("_yolov8", 6),
        ...maps("_masks", 4),
        { name: "protos_output", shape: [1, 4, 16, 16] },
      ],
      heads: [
        {
          parser: "YOLOExtendedParser",
          outputs: ["output1_yolov8", "output2_yolov8", "output3_yolov8"],
          metadata: {
            classes: ["a"],
            n_classes: 1,
            subtype: "yolov8",
            yolo_outputs: ["output1_yolov8", "output2_yolov8", "output3_yolov8"],
            ...metadata,
          },
        },
      ],
    },
  });
  const stated = {
    n_prototypes: 4,
    mask_outputs: ["output1_masks", "output2_masks", "output3_masks"],
    protos_outputs: "protos_output",
  };
  for (const metadata of [stated, { n_prototypes: 4 }]) {
    const config = parseConfig(archive(metadata));
    expect(config.task).toEqual({ name: "segment", maskCoefficients: 4 });
    expect(config.roles).toMatchObject({ prototypes: "protos_output", coefficients: stated.mask_outputs });
    expect(config.headOutputs).toHaveLength(7);
  }
  const none = archive({ n_prototypes: null, mask_outputs: null, protos_outputs: null }) as {
    model: { outputs: object[] };
  };
  none.model.outputs.splice(3);
  expect(parseConfig(none).task).toBeNull();
});

describe("classMap", () => {
  test("argmax of both layouts and all types, the first of equals, NaN below all", () => {
    const planes = [0, 1, NaN, 3, 0, 2, -1, 3, -5, 2, -2, 4];
    const pixels = [0, 0, -5, 1, 2, 2, NaN, -1, -2, 3, 3, 4];
    for (const [data, dims] of [
      [planes, [1, 3, 2, 2]],
      [pixels, [1, 2, 2, 3]],
      [pixels, [2, 2, 3]],
    ] as const) {
      const map = classMap({ data, dims: [...dims] }, { classes: 3 });
      expect(map).toEqual({ width: 2, height: 2, classes: 3, labels: null, data: Uint8Array.of(0, 1, 1, 2) });
    }
    const halves = {
      data: Uint16Array.of(0xbc00, 0x3c00, 0x0001, 0x8001),
      dims: [1, 2, 1, 2],
      type: "f16",
      order: "NCHW",
    } as const;
    expect([...classMap(halves, { classes: 2 }).data]).toEqual([1, 0]);
    const bytes = { data: Int8Array.of(-3, 4, 5, -6), dims: [1, 2, 1, 2], scale: 1, order: "NCHW" as const };
    expect([...classMap(bytes, { classes: 2 }).data]).toEqual([1, 0]);
    const many = { data: Float32Array.from({ length: 300 }, (_, i) => i), dims: [1, 300, 1, 1] };
    expect(classMap(many, { classes: 300 }).data).toEqual(Uint16Array.of(299));
  });

  test("refusals", () => {
    const tensor = { data: new Float32Array(27), dims: [1, 3, 3, 3] };
    expect(() => classMap(tensor)).toThrow(
      "expected classes, or order: NCHW (3 classes) or NHWC (3 classes)",
    );
    expect(() => classMap(tensor, { classes: 3 })).toThrow("order");
    expect(() => classMap(tensor, { classes: 4 })).toThrow("expected 4 classes in it");
    expect(() => classMap(tensor, { classes: -1 })).toThrow("classes: got -1");
    expect(() => classMap({ data: new Float32Array(18), dims: [2, 1, 3, 3] })).toThrow("dims [2,1,3,3]");
  });
});
