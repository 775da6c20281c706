/** Input tensors of one channel. The bytes of colours are those of `cv2.cvtColor` with COLOR_RGB2GRAY. */
import { expect, test } from "vitest";
import { createDecoderSync, prepareImage, readModel } from "../../src/entries/index.ts";
import { onnxFile } from "../support/onnx.ts";

const COLOURS = {
  black: [0, 0, 0],
  red: [255, 0, 0],
  green: [0, 255, 0],
  blue: [0, 0, 255],
  white: [255, 255, 255],
  olive: [128, 128, 0],
} as const;
const GRAYS = [0, 76, 150, 29, 255, 113];
const image = {
  data: Uint8Array.from(Object.values(COLOURS).flat()),
  width: 3,
  height: 2,
  format: "rgb",
} as const;
const RULE = { size: [3, 2], resize: "stretch", order: "GRAY" } as const;

test("bytes are weighted as OpenCV does it", () => {
  const { tensor } = prepareImage(image, { ...RULE, type: "u8" });
  expect([...tensor.data]).toEqual(GRAYS);
  expect(tensor.dims).toEqual([1, 1, 2, 3]);
  const bgr = {
    ...image,
    format: "bgr",
    data: image.data.map((_, i, all) => all[i + 2 - 2 * (i % 3)]),
  } as const;
  expect([...prepareImage(bgr, { ...RULE, type: "u8" }).tensor.data]).toEqual(GRAYS);
});

test("weights have 15 bits, as in OpenCV 4: with 14 bits these colours are off by one", () => {
  const colours = [
    [0, 28, 176, 36],
    [0, 77, 143, 61],
    [254, 63, 198, 135],
    [255, 112, 22, 145],
  ];
  const data = Uint8Array.from(colours.flatMap((colour) => colour.slice(0, 3)));
  const row = { data, width: 4, height: 1, format: "rgb" } as const;
  const { tensor } = prepareImage(row, { ...RULE, size: [4, 1], type: "u8" });
  expect([...tensor.data]).toEqual(colours.map((colour) => colour[3]));
});

test("a padding keeps its fraction, and lists may have one value for the one channel", () => {
  const rule = { size: [3, 4], order: "GRAY", pad: [127.5], mean: [100], std: [1] } as const;
  const { tensor } = prepareImage(image, rule);
  expect([...tensor.data]).toEqual([27.5, 27.5, 27.5, ...GRAYS.map((x) => x - 100), 27.5, 27.5, 27.5]);
  expect(() => prepareImage(image, { ...rule, order: "RGB" })).toThrow("three of them");
});

test("mean, divisor, element types and layout", () => {
  const { tensor } = prepareImage(image, { ...RULE, layout: "NHWC", mean: 127.5, std: 127.5 });
  expect(tensor.dims).toEqual([1, 2, 3, 1]);
  expect([...tensor.data]).toEqual(GRAYS.map((x) => Math.fround(Math.fround(x - 127.5) / 127.5)));
  const quantised = { ...RULE, type: "i8", scale: 1 / 255, zeroPoint: -128 } as const;
  expect([...prepareImage(image, quantised).tensor.data]).toEqual(GRAYS.map((x) => x - 128));
  expect([...prepareImage(image, { ...RULE, type: "f16", std: 1 }).tensor.data.slice(0, 2)]).toEqual([
    0, 0x54c0,
  ]);
});

test("numbers for three channels become one by the same weights", () => {
  const { tensor } = prepareImage(image, { ...RULE, mean: [100, 50, 10], std: 1 });
  expect(tensor.data[0]).toBeCloseTo(-(100 * 0.299 + 50 * 0.587 + 10 * 0.114), 2);
});

test("padding, memory of the caller, and crops", () => {
  const into = new Uint8Array(12);
  const { tensor, frame } = prepareImage(
    image,
    { size: [3, 4], order: "GRAY", type: "u8", pad: 7 },
    { into },
  );
  expect(tensor.data).toBe(into);
  expect(frame.placed).toEqual([0, 1, 3, 2]);
  expect([...into]).toEqual([7, 7, 7, ...GRAYS, 7, 7, 7]);
  expect(() => prepareImage(image, RULE, { into: new Float32Array(18) })).toThrow("a Float32Array of 6");
  const crop = { cx: 1.5, cy: 1, width: 3, height: 2, angle: 0 };
  expect([...prepareImage(image, { ...RULE, type: "u8" }, { crop }).tensor.data]).toEqual(GRAYS);
});

test("a model file whose input has one channel is prepared so, unless the caller says otherwise", async () => {
  const ruleFor = async (dims: readonly number[], options: object = {}): Promise<unknown> => {
    const file = onnxFile({
      inputs: [{ name: "image", type: "float32", dims }],
      outputs: [{ name: "output0", type: "float32", dims: [1, 6, 84] }],
    });
    const model = await readModel(file);
    return createDecoderSync(model, { family: "yolov8", classes: 2, ...options }).prepareRule.order ?? "RGB";
  };
  expect(await ruleFor([1, 1, 64, 64])).toBe("GRAY");
  expect(await ruleFor([1, 64, 64, 1])).toBe("GRAY");
  expect(await ruleFor([1, 3, 64, 64])).toBe("RGB");
  expect(await ruleFor([1, 1, 64, 64], { prepare: { order: "BGR" } })).toBe("BGR");
});
