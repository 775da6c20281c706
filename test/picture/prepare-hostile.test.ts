/** Rules and images that would give a tensor of other pixels than anybody wants, without a word. */
import { describe, expect, test } from "vitest";
import { createDecoderSync, prepareImage } from "../../src/entries/index.ts";
import type { PrepareRule } from "../../src/core/prepare-rule.ts";

const SIZE = [8, 8] as const;
const bytes = (channels: number) => new Uint8Array(8 * 4 * channels).fill(128);
const IMAGE = { data: bytes(4), width: 8, height: 4 };

test.each<readonly [name: string, rule: Omit<PrepareRule, "size">, message: string]>([
  [
    "mean and std of pictures in 0..1",
    { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] },
    "rule: std: got [0.229,0.224,0.225], expected mean and std of bytes, 0..255: 255 times those",
  ],
  [
    "the mean alone of pictures in 0..1",
    { mean: [0.485, 0.456, 0.406] },
    "rule: mean: got [0.485,0.456,0.406], expected the mean of bytes, 0..255: 255 times that of pictures in 0..1",
  ],
  ["a mean that no byte has", { mean: 1000 }, "rule: mean: got [1000,1000,1000], expected the mean of bytes"],
  ["a factor of 255", { factor: 255 }, "rule: factor: got [255,255,255], expected mean and std of bytes"],
  [
    "0..1 in bytes",
    { type: "u8", factor: 1 / 255 },
    'rule: got black as 0 and white as 1 in type "u8", expected values that fill 0..255: scale and zeroPoint',
  ],
  [
    "a mean without a zero point",
    { type: "u8", mean: 160 },
    'rule: got black as -160 and white as 95 in type "u8", expected values that fill 0..255',
  ],
  [
    "a zero point that is missing",
    { type: "i8", scale: 1 / 255, mean: 0, std: 255 },
    'rule: got black as 0 and white as 255 in type "i8", expected values that fill -128..127',
  ],
])("%s", (_, rule, message) => {
  expect(() => prepareImage(IMAGE, { size: SIZE, ...rule })).toThrow(message);
});

test.each<Omit<PrepareRule, "size">>([
  { mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375] },
  { std: 1 },
  { factor: 1 },
  { type: "u8" },
  { type: "i8", scale: 1 / 255, zeroPoint: -128 },
  // A TFLite network with the statistics of ImageNet.
  { type: "u8", mean: 123.7, std: 58.4, scale: 0.0186, zeroPoint: 114 },
])("%j is fine", (rule) => {
  expect(prepareImage(IMAGE, { size: SIZE, ...rule }).tensor.dims).toEqual([1, 3, 8, 8]);
});

describe("images", () => {
  test.each([
    ["rgb", 4, "128 bytes, 4 for each pixel of 8x4, expected 96"],
    ["bgr", 4, "128 bytes, 4 for each pixel of 8x4, expected 96"],
    ["gray", 3, "96 bytes, 3 for each pixel of 8x4, expected 32"],
    ["nv12", 4, "128 bytes, 4 for each pixel of 8x4, expected 48"],
  ] as const)("%s of %d bytes a pixel", (format, channels, message) => {
    const image = { ...IMAGE, data: bytes(channels), format };
    expect(() => prepareImage(image, { size: SIZE })).toThrow(`image: data: got ${message} for format`);
    // A stride says where rows begin, so that bytes may be left over.
    const stride = { rgb: 24, bgr: 24, gray: 8, nv12: 8 }[format];
    const exact = image.data.subarray(0, Number(/expected (\d+)/.exec(message)?.[1]));
    expect(prepareImage({ ...image, stride }, { size: SIZE }).tensor.data).toEqual(
      prepareImage({ ...image, data: exact }, { size: SIZE }).tensor.data,
    );
  });

  test("a buffer that is longer than the image: what follows the image is not read", () => {
    const long = new Uint8Array(1000).fill(200);
    long.set(IMAGE.data);
    const rule = { size: SIZE };
    const { data } = prepareImage({ ...IMAGE, data: long }, rule).tensor;
    expect(data).toEqual(prepareImage(IMAGE, rule).tensor.data);
    expect(data).toEqual(prepareImage({ ...IMAGE, data: bytes(3), format: "rgb" }, rule).tensor.data);
    expect(new Set(data).size).toBe(2); // grey, and the padding
  });
});

test("options that are none: the size is that of the decoder", () => {
  const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 32] });
  expect(() => decoder.prepare(IMAGE, { size: [32, 64] } as never)).toThrow(
    "size: got an unknown name, expected one of engine, into, crop; the rule is that of the decoder",
  );
  decoder.prepare(IMAGE, null as never);
});

test("a rule that is missing", () => {
  const prepare = prepareImage as (...given: unknown[]) => unknown;
  expect(() => prepare(IMAGE)).toThrow("rule: got undefined, expected {size: [width, height], ...}");
});

test("a frame that was prepared for another network", () => {
  const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
  const outputs = { o: { data: new Float32Array(5 * 84), dims: [1, 5, 84] } };
  for (const resize of ["letterbox", "letterbox-topleft"] as const) {
    const { frame } = prepareImage(IMAGE, { size: [640, 640], resize });
    expect(() => decoder.decode(outputs, frame)).toThrow(
      /frame: got placed \[0,(160|0),640,320\] .* expected .* in pixels of the 64x64 input$/,
    );
    decoder.decode(outputs, prepareImage(IMAGE, { size: [64, 64], resize }).frame);
  }
  // A crop fills the input and reaches beyond it.
  const square = { ...IMAGE, width: 4, height: 8 };
  decoder.decode(outputs, prepareImage(square, { size: [64, 64], resize: "crop" }).frame);
});

test.each([
  ["in 0..1", "letterbox", [0, 0.25, 1, 0.5]],
  ["beside a stretch that fills the input", "stretch", [0, 16, 64, 32]],
  ["of an image with width and height exchanged", "letterbox", [16, 0, 32, 64]],
  ["of a centred image", "letterbox-topleft", [0, 16, 64, 32]],
  ["of a letterbox", "crop", [0, 16, 64, 32]],
] as const)("a place %s is refused", (_, resize, placed) => {
  const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
  const outputs = { o: { data: new Float32Array(5 * 84), dims: [1, 5, 84] } };
  const frame = { width: 200, height: 100, resize, placed };
  expect(() => decoder.decode(outputs, frame)).toThrow(
    `frame: got placed ${JSON.stringify(placed)} and resize "${resize}" of 200x100, expected [left, top, width, height]`,
  );
});

test.each([
  ["letterbox", [0, 32, 64, 32]],
  ["letterbox", [20, 40, 40, 20]],
  ["letterbox", [0, 0, 60, 32]],
  ["stretch", [0, 0, 64, 64]],
] as const)(
  "a place may be anywhere in the input, with sides rounded to blocks: %s, %j",
  (resize, placed) => {
    const decoder = createDecoderSync({ family: "yolov8", classes: 1, inputSize: [64, 64] });
    const [left, top, width, height] = placed;
    const data = new Float32Array(5 * 84);
    // A box in the middle of the image, with half its sides.
    [left + width / 2, top + height / 2, width / 2, height / 2, 0.9].forEach((v, k) => (data[k * 84] = v));
    const found = decoder.decode(
      { o: { data, dims: [1, 5, 84] } },
      { width: 200, height: 100, resize, placed },
    );
    expect(found.length).toBe(1);
    expect([...found.boxes.subarray(0, 4)].map((v) => Number(v.toFixed(6)))).toEqual([
      0.25, 0.25, 0.75, 0.75,
    ]);
  },
);
