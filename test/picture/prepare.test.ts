/** Preparing an image: places and frames, `into`, rules and where they come from, refusals. */
import { describe, expect, test } from "vitest";
import { createDecoderSync as createCoreDecoder, explain } from "../../src/entries/core.ts";
import { createDecoderSync, prepareImage } from "../../src/entries/index.ts";
import type { PartialRule, PrepareResize, PrepareRule } from "../../src/core/prepare-rule.ts";
import type { ImageInput } from "../../src/decode/prepare.ts";
import { ruleOf } from "../../src/picture/prepare/config-rule.ts";
import { halfOf } from "../../src/picture/prepare/values.ts";
import { parseConfig, readConfig } from "../../src/config/config.ts";
import { FAMILIES, TRAITS } from "../../src/core/families.ts";
import { halfToFloat } from "../../src/core/number.ts";
import { isThorough } from "../support/effort.ts";
import { engines } from "../support/engines.ts";

const RESIZES = ["letterbox", "letterbox-topleft", "stretch", "crop"] as const;

/** Returns a grey image whose pixels are `grey`. */
const flat = (width: number, height: number, grey: number): ImageInput => ({
  data: new Uint8Array(width * height).fill(grey),
  width,
  height,
  format: "gray",
});

/** Numbers from 1 to `most`, the same in every run. */
function* sizes(count: number, most: number): Generator<[number, number, number, number]> {
  let state = 7;
  const next = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return 1 + ((state >>> 8) % most);
  };
  for (let i = 0; i < count; i++) yield [next(), next(), next(), next()];
}

describe("there and back", () => {
  /** Decodes a box that stands at these corners of the input, as pixels of the input, with the frame. */
  function decoded(size: readonly [number, number], box: readonly number[], frame: object): number[] {
    const decoder = createDecoderSync(
      { family: "boxes", classes: 1, inputSize: size, boxFormat: "xyxy", coordinates: "pixels" },
      { engine: "ts", rules: { clamp: "none" }, roles: { boxes: "b", scores: "s" } },
    );
    const outputs = {
      b: { data: Float32Array.from(box), dims: [1, 1, 4] },
      s: { data: Float32Array.of(0.9), dims: [1, 1, 1] },
    };
    const [found] = decoder.decode(outputs, frame as Parameters<typeof decoder.decode>[1]);
    return [found.x_min, found.y_min, found.x_max, found.y_max];
  }

  test.each(RESIZES)("%s: a box of the image comes back within 1e-6 of it", (resize) => {
    for (const [width, height, inputWidth, inputHeight] of sizes(60, 700)) {
      const { frame } = prepareImage(flat(width, height, 9), { size: [inputWidth, inputHeight], resize });
      const [left, top, w, h] = frame.placed as readonly number[];
      const image = [0.25, 0.125, 0.75, 0.875];
      const input = image.map((v, i) => (i % 2 === 0 ? left + v * w : top + v * h));
      const f32 = 6e-8 * Math.max(1, Math.max(...input.map(Math.abs)) / Math.min(w, h));
      decoded([inputWidth, inputHeight], input, frame).forEach((v, i) =>
        expect(Math.abs(v - image[i]), JSON.stringify([width, height, frame])).toBeLessThan(
          Math.max(1e-6, 4 * f32),
        ),
      );
    }
  });

  // 100 x 99 into 64 x 64 becomes 64 x 63: half a pixel of padding on each side, which no image can have.
  const odd = prepareImage(flat(100, 99, 200), { size: [64, 64], type: "u8", pad: 0 });

  test("the frame has the padding that is there, not the half pixel on each side that other decoders take off", () => {
    expect(odd.frame.placed).toEqual([0, 0, 64, 63]);
    const [, top, , bottom] = decoded([64, 64], [0, 0, 64, 63], odd.frame);
    expect(top).toBeCloseTo(0, 7);
    expect(bottom).toBeCloseTo(1, 7);
    // (0 - 0.5) / 63 is the upper edge of a decoder that undoes the ideal padding.
    expect(Math.abs(top - -0.5 / 63)).toBeGreaterThan(1e-3);
  });

  test("the picture and both paddings fill the input where half of the padding is truncated by others", () => {
    const column = Array.from({ length: 64 }, (_, y) => odd.tensor.data[64 * y + 32]);
    expect(column).toEqual([...Array<number>(63).fill(200), 0]);
    // Every column and row belongs to the picture where the frame says so, and to the padding elsewhere.
    for (const [width, height, inputWidth, inputHeight] of sizes(80, 40)) {
      const size = [inputWidth, inputHeight] as const;
      const { tensor, frame } = prepareImage(flat(width, height, 200), { size, type: "u8", pad: 0 });
      const [left, top, w, h] = frame.placed as readonly number[];
      for (let y = 0; y < inputHeight; y++)
        for (let x = 0; x < inputWidth; x++) {
          const isPicture = x >= left && x < left + w && y >= top && y < top + h;
          expect(tensor.data[y * inputWidth + x]).toBe(isPicture ? 200 : 0);
        }
    }
  });

  test("sizes that end in one half are rounded to even, as Python does it", () => {
    const placed = (height: number): unknown =>
      prepareImage(flat(8, height, 0), { size: [4, 99] }).frame.placed;
    expect(placed(5)).toEqual([0, 48, 4, 2]); // 2.5
    expect(placed(7)).toEqual([0, 47, 4, 4]); // 3.5
  });

  test("a crop cuts the smaller half off at the left", () => {
    const { frame } = prepareImage(flat(9, 4, 0), { size: [4, 4], resize: "crop" });
    expect(frame.placed).toEqual([-2, 0, 9, 4]);
  });
});

describe("rows whose length is around that of vectors", () => {
  const widths = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 50];
  const rules: readonly Partial<PrepareRule>[] = [
    { resample: "bilinear" },
    { resample: "nearest" },
    { resample: "area" },
    { resample: "pillow" },
    { layout: "NHWC", factor: 0.1, mean: [1, 2, 3], order: "BGR" },
    { type: "f16", layout: "NHWC" },
    { type: "u8", order: "BGR" },
    { type: "u8", layout: "NHWC" },
    { type: "i8", scale: 1 / 255, zeroPoint: -128, layout: "NHWC", order: "BGR" },
    { type: "i8", scale: 1 / 255, zeroPoint: -128 },
  ];
  const formats = ["rgba", "bgra", "rgb", "bgr", "gray", "nv12", "i420", "yuyv"] as const;
  /** How many pixels become one. */
  const TIMES = [1, 2, 3, 0.6, 1.7];
  const noise = Uint8Array.from({ length: 4 * 60 * 101 }, (_, i) => (i * i * 7 + i * 31) & 255);
  test.each(formats)("%s: three engines, the same bytes, and none outside", (format) => {
    for (const [w, width] of widths.entries())
      for (const [r, rule] of rules.entries())
        for (const times of isThorough ? TIMES : [TIMES[(w + r) % TIMES.length]]) {
          const sourceWidth = Math.max(1, Math.round(width * times));
          // Odd sizes too: the last chroma sample stands for one pixel.
          const height = 5;
          const data = noise.subarray(0, 4 * 60 * (sourceWidth + 1));
          const image = { data, width: sourceWidth, height, format };
          const full: PrepareRule = { size: [width, 3], resize: "stretch", ...rule };
          const made = engines.map((engine) => {
            const { tensor } = prepareImage(image, full, { engine });
            return Buffer.from(tensor.data.buffer);
          });
          if (made.some((bytes) => !bytes.equals(made[0])))
            throw new Error(`engines differ: ${JSON.stringify([full, sourceWidth])}`);
        }
  });

  test("every luma beside every extreme of chroma, where vectors clamp by narrowing", () => {
    const ends = [0, 1, 16, 127, 128, 240, 255];
    // A row for each pair of chroma values, a column for each luma.
    const [width, height] = [256, 2 * ends.length ** 2];
    const data = new Uint8Array((width * height * 3) / 2);
    for (let i = 0; i < width * height; i++) data[i] = i % width;
    ends.forEach((u, i) =>
      ends.forEach((v, k) => {
        const row = width * height + (i * ends.length + k) * width;
        for (let x = 0; x < width; x += 2) data.set([u, v], row + x);
      }),
    );
    const rule = { size: [width, height], resize: "stretch", type: "u8", layout: "NHWC" } as const;
    const made = engines.map((engine) => {
      const { tensor } = prepareImage({ data, width, height, format: "nv12" }, rule, { engine });
      return Buffer.from(tensor.data.buffer).toString("hex");
    });
    expect(new Set(made).size).toBe(1);
  });

  test.each(["i420", "nv12"] as const)("%s halved: the means of the picture's own pixels", (format) => {
    const ends = [0, 1, 15, 16, 17, 127, 128, 129, 234, 235, 240, 255];
    // 8 and 24 pixels go through vectors, 12 do not; the strip of 640 x 480 is one of several.
    for (const [width, height, seed] of [
      [16, 4, 1],
      [48, 50, 2],
      [24, 6, 3],
      [640, 480, 4],
    ]) {
      const data = new Uint8Array((width * height * 3) / 2);
      let state = seed;
      for (let i = 0; i < data.length; i++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        data[i] = state & (1 << 20) ? state >>> 24 : ends[(state >>> 8) % ends.length];
      }
      const image = { data, width, height, format };
      const rule = { resize: "stretch", type: "u8", layout: "NHWC" } as const;
      const whole = prepareImage(image, { ...rule, size: [width, height] }, { engine: "ts" }).tensor.data;
      const half = [width / 2, height / 2] as const;
      const expected = new Uint8Array(3 * half[0] * half[1]);
      for (let i = 0; i < expected.length; i++) {
        const [channel, x, y] = [i % 3, Math.floor(i / 3) % half[0], Math.floor(i / 3 / half[0])];
        const at = 3 * (2 * y * width + 2 * x) + channel;
        const sum = [0, 3, 3 * width, 3 * width + 3].reduce((all, step) => all + Number(whole[at + step]), 0);
        expected[i] = (sum + 2) >> 2;
      }
      const pixels = { data: expected, width: half[0], height: half[1], format: "rgb" } as const;
      // Floats in planes are made of the means at once, other tensors of pixels.
      for (const kind of [
        rule,
        { resize: "stretch", mean: [1, 2, 3], std: [50, 60, 70] },
        { resize: "stretch", order: "BGR", mean: [103, 116, 123], factor: 0.0172 },
      ] as const) {
        const made = (picture: ImageInput, engine: (typeof engines)[number]): Buffer =>
          Buffer.from(prepareImage(picture, { ...kind, size: half }, { engine }).tensor.data.buffer);
        const wanted = made(pixels, "ts");
        for (const engine of engines)
          expect(made(image, engine).equals(wanted), `${engine}, ${width} x ${height}`).toBe(true);
      }
    }
  });
});

describe("into", () => {
  test("shares no byte with the image", () => {
    const { buffer } = new Uint8Array(4 * 4 * 4 + 3 * 16 * 4);
    const image = { data: new Uint8Array(buffer, 0, 64), width: 4, height: 4 };
    const behind = new Float32Array(buffer, 64, 48);
    expect(prepareImage(image, { size: [4, 4] }, { into: behind }).tensor.data).toBe(behind);
    const rule = { size: [4, 4], type: "u8" } as const;
    for (const [from, to] of [
      [0, 0],
      [47, 0],
      [0, 47],
      [100, 60],
    ]) {
      const own = { ...image, data: new Uint8Array(buffer, from, 64) };
      expect(() => prepareImage(own, rule, { into: new Uint8Array(buffer, to, 48) })).toThrow(
        "into: got memory that the image lies in, expected an array that shares no byte with the image",
      );
    }
  });
  const image = flat(8, 8, 255);
  test("is written and handed back; without it the memory is new each time", () => {
    const into = new Float32Array(3 * 16);
    const made = prepareImage(image, { size: [4, 4] }, { into });
    expect(made.tensor.data).toBe(into);
    expect([...into]).toEqual(Array(48).fill(1));
    const other = prepareImage(image, { size: [4, 4] });
    expect(other.tensor.data).not.toBe(prepareImage(image, { size: [4, 4] }).tensor.data);
    expect(other.tensor.dims).toEqual([1, 3, 4, 4]);
  });

  test("may be a part of a larger memory, of which nothing else changes", () => {
    const all = new Uint8Array(100).fill(7);
    prepareImage(image, { size: [4, 4], type: "u8" }, { into: all.subarray(20, 68) });
    expect([...all.subarray(0, 20), ...all.subarray(68)]).toEqual(Array(52).fill(7));
    expect([...all.subarray(20, 68)]).toEqual(Array(48).fill(255));
  });

  test("of another type or length is refused", () => {
    expect(() => prepareImage(image, { size: [4, 4] }, { into: new Uint8Array(48) })).toThrow(
      'into: got a Uint8Array of 48, expected a Float32Array of 48 for type "f32", [1,3,4,4]',
    );
    expect(() => prepareImage(image, { size: [4, 4] }, { into: new Float32Array(47) })).toThrow(RangeError);
  });
});

test("two sizes of image in turn under one rule do not disturb each other", () => {
  const rule = { size: [6, 6], type: "u8" } as const;
  const first = prepareImage(flat(6, 3, 50), rule).tensor.data;
  prepareImage(flat(3, 6, 90), rule);
  expect(prepareImage(flat(6, 3, 50), rule).tensor.data).toEqual(first);
});

test("a frozen rule is remembered, and still makes each image anew", () => {
  const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [4, 4] });
  expect(Object.isFrozen(decoder.prepareRule)).toBe(true);
  const first = (grey: number, width = 4): number => decoder.prepare(flat(width, 4, grey)).tensor.data[5];
  expect([first(255), first(0), first(51), first(255, 8), first(0)]).toEqual([1, 0, Math.fround(0.2), 1, 0]);
});

test("a rule that changes in place counts as another", () => {
  const rule = { size: [2, 2] as [number, number], type: "u8" as const, pad: 1 };
  const pad = (): number => prepareImage(flat(2, 1, 0), rule).tensor.data[2];
  expect(pad()).toBe(1);
  rule.pad = 2;
  expect(pad()).toBe(2);
});

test("the bits of a half float are the nearest, also of small and of large numbers", () => {
  // Every half comes back from its own value.
  for (let bits = 0; bits < 0x7c00; bits++) {
    expect(halfOf(halfToFloat(bits))).toBe(bits);
    if (bits > 0) expect(halfOf(-halfToFloat(bits))).toBe(bits | 0x8000);
  }
  expect(halfOf(65519.99)).toBe(0x7bff);
  expect(halfOf(65520)).toBe(0x7c00);
  expect(halfOf(1 + 1 / 2048)).toBe(0x3c00); // a tie: to even
  expect(halfOf(1 + 3 / 2048)).toBe(0x3c02);
});

describe("decoder.prepare", () => {
  const decoder = (config: object, options = {}) =>
    createDecoderSync({ classes: 1, inputSize: [8, 8], ...config } as never, options);

  test("follows the family's row; its frame goes to decode", () => {
    const d = decoder({ family: "yolox" });
    const image = { data: Uint8Array.of(10, 20, 30, 255, 10, 20, 30, 255), width: 2, height: 1 };
    const { tensor, frame } = d.prepare(image);
    expect(tensor).toMatchObject({ type: "f32", dims: [1, 3, 8, 8] });
    // BGR, 0..255, top left, 114.
    expect([0, 64, 128, 63].map((i) => tensor.data[i])).toEqual([30, 20, 10, 114]);
    expect(frame).toEqual({ width: 2, height: 1, resize: "letterbox-topleft", placed: [0, 0, 8, 4] });
    expect(d.describe().text).toContain(
      "picture: letterbox-topleft to 8x8, pad 114, bilinear; BGR, (x - 0) / 1; f32 NCHW",
    );
  });

  test("the option prepare goes over it, and a factor over std", () => {
    const d = decoder({ family: "nanodet" }, { prepare: { factor: 0.5, resize: "crop" } });
    expect(d.prepareRule).toEqual({
      size: [8, 8],
      resize: "crop",
      order: "BGR",
      mean: [103.53, 116.28, 123.675],
      factor: 0.5,
    });
  });

  test("without an input size the error names the option", () => {
    const d = createDecoderSync({ family: "yolov8", classes: 1 });
    expect(() => d.prepare(flat(2, 2, 0))).toThrow(/rule: size: got undefined.*option inputSize/);
  });

  test("without the task the error names its import, and describe() says nothing of pictures", () => {
    const d = createCoreDecoder({ family: "yolov8", classes: 1, inputSize: [8, 8] }, { explain });
    expect(() => d.prepare(flat(2, 2, 0))).toThrow('import { prepare } from "boxwright/core"');
    expect(d.describe().text).not.toContain("picture:");
  });
});

describe("where a rule comes from", () => {
  const archive = (preprocessing: unknown): unknown => ({
    config_version: "1.0",
    model: {
      metadata: { name: "net", path: "net.onnx" },
      inputs: [{ name: "in", dtype: "float32", input_type: "image", shape: [1, 3, 32, 64], preprocessing }],
      outputs: [{ name: "output0", dtype: "float32", shape: [1, 5, 42] }],
      heads: [{ parser: "YOLO", outputs: ["output0"], metadata: { subtype: "yolov8", n_classes: 1 } }],
    },
  });

  const ruleIn = (preprocessing: unknown, input: object = {}, prepare?: PartialRule): PartialRule => {
    const json = archive(preprocessing) as { model: { inputs: object[] } };
    Object.assign(json.model.inputs[0], input);
    return ruleOf(readConfig(json, prepare ? { prepare } : {}));
  };

  test("the preprocessing block of an NN Archive", () => {
    const plain = { size: [64, 32], type: "f32", layout: "NCHW" };
    expect(ruleIn({ mean: [1, 2, 3], scale: [4, 5, 6], dai_type: "BGR888p" })).toEqual({
      ...plain,
      mean: [1, 2, 3],
      std: [4, 5, 6],
      order: "BGR",
    });
    // luxonis-ml: null is the default of each field, and modelconverter takes it for RGB, 0 and 1.
    for (const block of [{}, { mean: null, scale: null }, { reverse_channels: null, dai_type: null }])
      expect(ruleIn(block)).toEqual({ ...plain, order: "RGB", mean: 0, std: 1 });
    expect(ruleIn({ mean: null, scale: [2] })).toMatchObject({ mean: 0, std: [2] });
    expect(ruleIn(undefined)).toEqual(plain);
  });

  test.each<[string, object, string]>([
    ["reverse_channels: true", { reverse_channels: true }, "RGB"],
    ["reverse_channels: false", { reverse_channels: false }, "BGR"],
    ["dai_type over it", { reverse_channels: false, dai_type: "RGB888p" }, "RGB"],
  ])("%s", (_, block, order) => {
    expect(ruleIn(block).order).toBe(order);
  });

  const nhwc = { shape: [1, 32, 64, 3] };
  test.each<[string, object, object, object]>([
    ["the shape", {}, nhwc, { layout: "NHWC" }],
    ["letters", {}, { ...nhwc, layout: "NHWC" }, { layout: "NHWC" }],
    ["letters without a batch", {}, { shape: [32, 64, 3], layout: "hwc" }, { layout: "NHWC" }],
    ["letters of which two say nothing", {}, { layout: "NCDE" }, { layout: "NCHW" }],
    ["interleaved_to_planar", { interleaved_to_planar: true }, nhwc, { layout: "NHWC" }],
    ["dai_type over both", { interleaved_to_planar: false, dai_type: "RGB888i" }, nhwc, { layout: "NHWC" }],
    ["dtype", {}, { dtype: "float16" }, { type: "f16" }],
    ["dai_type without dtype", { dai_type: "RGBF16F16F16p" }, { dtype: undefined }, { type: "f16" }],
    [
      "bytes that are pixels",
      { mean: null, scale: [1, 1, 1] },
      { dtype: "uint8" },
      { type: "u8", std: [1, 1, 1] },
    ],
  ])("layout and type by %s", (_, block, input, expected) => {
    expect(ruleIn(block, input)).toMatchObject({ size: [64, 32], ...expected });
  });

  test.each<[string, object, object, string]>([
    ["grey", { dai_type: "GRAY8" }, {}, 'preprocessing.dai_type: got "GRAY8", expected RGB or BGR'],
    ["one channel", {}, { shape: [1, 1, 32, 64] }, "shape: got 1 channels in [1,1,32,64], expected 3"],
    ["four channels", {}, { shape: [1, 32, 64, 4] }, "shape: got 4 channels in [1,32,64,4], expected 3"],
    ["a vector", {}, { input_type: "raw" }, 'input_type: got "raw", expected "image"'],
    ["a type", {}, { dtype: "int16" }, 'dtype: got "int16", expected one of float32, float16, uint8, int8'],
    ["quantised", {}, { dtype: "int8" }, 'dtype: got "int8", a quantised input'],
    [
      "scaled bytes",
      { scale: [255, 255, 255] },
      { dtype: "uint8" },
      'dtype: got "uint8" beside a mean and a scale',
    ],
    ["planes", { dai_type: "RGB888p" }, nhwc, 'preprocessing.dai_type: got "RGB888p", which means NCHW'],
    ["a flag", { interleaved_to_planar: true }, {}, "interleaved_to_planar: got true, which means NHWC"],
    ["letters", {}, { layout: "NHWC" }, 'layout: got "NHWC", which means NHWC, expected NCHW, as shape'],
    ["letters for other dimensions", {}, { layout: "CHW" }, 'layout: got "CHW", expected 4 letters'],
    ["a mean", { mean: [1, 2] }, {}, "preprocessing.mean: got [1,2], expected three numbers, or null"],
    [
      "a scale",
      { scale: [1, 0, 1] },
      {},
      "preprocessing.scale: got [1,0,1], expected three numbers other than 0",
    ],
    ["a word", { reverse_channels: "no" }, {}, 'reverse_channels: got "no", expected true, false or null'],
    [
      "a key",
      { resize: "crop" },
      {},
      "preprocessing.resize: got an unknown name, expected one of mean, scale",
    ],
    ["a key of the input", {}, { encoding: "BGR" }, "model.inputs[0].encoding: got an unknown name"],
  ])("refused by name: %s", (_, block, input, message) => {
    expect(() => ruleIn(block, input)).toThrow(message);
  });

  test("the option prepare settles it, and decoding needs no picture", () => {
    expect(ruleIn({ dai_type: "RGB888p" }, nhwc, { layout: "NHWC" })).toMatchObject({ layout: "NHWC" });
    expect(ruleIn({}, { dtype: "int16" }, { type: "f32" })).toMatchObject({ type: "f32" });
    expect(ruleIn({}, { dtype: "int8" }, { scale: 0.5, zeroPoint: 3 })).toMatchObject({
      type: "i8",
      scale: 0.5,
    });
    const json = archive({ dai_type: "GRAY8" });
    expect(createDecoderSync(json).describe().text).toContain(
      "picture: not prepared: model.inputs[0].preprocessing.dai_type",
    );
  });

  const model = (input: object): unknown => ({
    format: "tflite",
    missing: [],
    outputs: [],
    inputs: [],
    description: null,
    options: { family: "tflite-postprocess", inputSize: [300, 300] },
    archive: null,
    input: {
      name: "in",
      dims: [1, 300, 300, 3],
      quantisation: null,
      layout: "NHWC",
      normalisation: null,
      ...input,
    },
  });

  test("the input of a model file: layout, type, quantisation, normalisation", () => {
    const quantisation = { scale: [0.0078125], zeroPoint: [128], axis: 0 };
    expect(ruleOf(parseConfig(model({ type: "u8", quantisation })))).toMatchObject({
      layout: "NHWC",
      type: "u8",
      mean: 127.5,
      std: 127.5,
      scale: 0.0078125,
      zeroPoint: 128,
    });
    const normalisation = { mean: [0], std: [1] };
    expect(ruleOf(parseConfig(model({ type: "f32", normalisation })))).toMatchObject({ mean: [0], std: [1] });
  });

  test("bytes without a scale stay as they are, whatever the family's floats are", () => {
    expect(ruleOf(parseConfig(model({ type: "u8" })))).toMatchObject({ type: "u8", mean: 0, std: 1 });
  });

  test("every family's row is a rule", () => {
    for (const family of FAMILIES) {
      const rule = { size: [8, 8], ...TRAITS[family].prepare } as PrepareRule;
      expect(() => prepareImage(flat(3, 3, 1), rule), family).not.toThrow();
    }
  });
});

describe("refusals", () => {
  const image = flat(4, 4, 0);
  const refused = (change: object, imageChange: object = {}): string => {
    try {
      prepareImage({ ...image, ...imageChange }, { size: [4, 4], ...change } as PrepareRule);
    } catch (e) {
      expect(e).toBeInstanceOf(RangeError);
      return (e as Error).message;
    }
    return "nothing";
  };
  test.each<[object, string]>([
    [{ size: [4] }, "rule: size: got [4], expected [width, height] of the network's input"],
    [{ size: [4, 1e9] }, "rule: size: got [4,1000000000]"],
    [
      { resize: "fit" },
      'rule: resize: got "fit", expected "letterbox", "letterbox-topleft", "stretch", "crop"',
    ],
    [{ resample: "lanczos" }, 'rule: resample: got "lanczos"'],
    [{ pad: 300 }, "rule: pad: got 300, expected a number in 0..255"],
    [{ pad: -1 }, "rule: pad: got -1"],
    [{ std: 0 }, "rule: std: got 0, expected a positive number"],
    [{ mean: [1, 2] }, "rule: mean: got [1,2], expected a number, or three of them"],
    [{ std: 1, factor: 1 }, "rule: got std and factor, expected one of them"],
    [{ type: "i8" }, "rule: scale: got none"],
    [{ scale: 2 }, 'rule: scale: got 2 for type "f32", expected std: 2, which divides bytes'],
    [{ scale: 1 / 255 }, "expected std: 255, which divides bytes"],
    [{ zeroPoint: 3 }, "rule: zeroPoint: got 3"],
    [{ swapRB: true }, "rule.swapRB: got an unknown name"],
  ])("rule %j", (change, message) => {
    expect(refused(change)).toContain(message);
  });
  test.each<[object, string]>([
    [{ data: [1, 2] }, "image: data: got [1,2], expected the bytes of the pixels"],
    [{ width: 0 }, "image: got width 0, height 4"],
    [{ format: "hsv" }, 'image: format: got "hsv"'],
    [{ stride: 3 }, "image: stride: got 3, expected whole bytes from row to row, at least 4"],
    [{ stride: 5 }, 'image: data: got 16 bytes, expected at least 19 for 4x4 "gray" with stride 5'],
    [{ format: "rgba" }, 'image: data: got 16 bytes, expected at least 64 for 4x4 "rgba"'],
    [{ format: "nv12" }, "expected at least 24"],
    [{ format: "i420" }, "expected at least 24"],
  ])("image %j", (change, message) => {
    expect(refused({}, change)).toContain(message);
  });
  test("an engine that is none", () => {
    expect(() => prepareImage(image, { size: [4, 4] }, { engine: "gpu" as "ts" })).toThrow(
      'engine: got "gpu"',
    );
  });
  test("frames of decode: a place that is none", () => {
    const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
    const outputs = [{ data: new Float32Array(5 * 84), dims: [1, 5, 84] }];
    const resize: PrepareResize = "letterbox";
    for (const placed of [[0, 0, 0, 1], [0, 0, 1], "all", [NaN, 0, 1, 1]])
      expect(() => decoder.decode(outputs, { width: 1, height: 1, resize, placed } as never)).toThrow(
        /frame: got placed .* expected \[left, top, width, height\]/,
      );
  });
});

test.each([
  [{ size: [4n, 4n] }, "rule: size: got [4n,4n], expected [width, height]"],
  [{ size: [4, 4], mean: 1n }, "rule: mean: got 1n, expected a number"],
  [{ size: [4, 4], std: [1n, 1, 1] }, "rule: std: got [1n,1,1], expected a positive number"],
  [1n, "rule: got 1n, expected {size"],
])("a BigInt is refused as any other value, case %#", (rule, message) => {
  const image = { data: new Uint8Array(12), width: 2, height: 2, format: "rgb" } as const;
  expect(() => prepareImage(image, rule as never)).toThrow(message);
});

test("a padding for each channel is exact: EfficientDet's is 0 after normalising", () => {
  const { pad, mean, std } = TRAITS.efficientdet.prepare as PrepareRule;
  const rule = { size: [8, 4], resize: "letterbox-topleft", pad, mean, std } as const;
  const { tensor } = prepareImage(flat(4, 4, 50), rule);
  const data = tensor.data as Float32Array;
  for (let plane = 0; plane < 3; plane++)
    for (let y = 0; y < 4; y++)
      for (let x = 0; x < 8; x++) {
        const value = data[plane * 32 + y * 8 + x];
        if (x >= 4) expect(value).toBe(0);
        else expect(value).toBeLessThan(0);
      }
});

test("a margin: YOLO-NAS's long side has 636 of 640 pixels, and boxes come back", () => {
  const { frame } = prepareImage(flat(300, 200, 1), { size: [640, 640], margin: 4 });
  expect(frame.placed).toEqual([2, 108, 636, 424]);
  for (const margin of [-1, 0.5, 5])
    expect(() => prepareImage(flat(3, 3, 1), { size: [8, 8], margin })).toThrow("rule: margin: got");
});

test("cubic weights are those of Keys with a = -0.75, to one step of a byte", () => {
  const weight = (t: number): number => {
    const x = Math.abs(t);
    if (x < 1) return 1.25 * x ** 3 - 2.25 * x ** 2 + 1;
    return x < 2 ? -0.75 * (x ** 3 - 5 * x ** 2 + 8 * x - 4) : 0;
  };
  const [width, height] = [9, 7];
  const data = Uint8Array.from({ length: width * height }, (_, i) => (i * 89) % 256);
  for (const size of [
    [20, 5],
    [5, 20],
  ] as const) {
    const { tensor } = prepareImage(
      { data, width, height, format: "gray" },
      { size, resize: "stretch", resample: "cubic", type: "u8", layout: "NHWC" },
    );
    for (let y = 0; y < size[1]; y++)
      for (let x = 0; x < size[0]; x++) {
        const [cx, cy] = [((x + 0.5) * width) / size[0] - 0.5, ((y + 0.5) * height) / size[1] - 0.5];
        let sum = 0;
        for (let j = Math.floor(cy) - 1; j <= Math.floor(cy) + 2; j++)
          for (let i = Math.floor(cx) - 1; i <= Math.floor(cx) + 2; i++) {
            const at = Math.min(Math.max(j, 0), height - 1) * width + Math.min(Math.max(i, 0), width - 1);
            sum += weight(cx - i) * weight(cy - j) * data[at];
          }
        expect(Math.abs(tensor.data[(y * size[0] + x) * 3] - Math.min(Math.max(sum, 0), 255))).toBeLessThan(
          1.01,
        );
      }
  }
});
