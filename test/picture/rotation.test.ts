/** Pictures on their side: preparing one with its rotation equals preparing the picture that was turned by hand. */
import { describe, expect, test } from "vitest";
import { mulberry32 } from "../../bench/random.ts";
import { type ImageFormat, type ImageInput, prepareImage } from "../../src/entries/index.ts";
import { engines } from "../support/engines.ts";

/** Odd sizes, so that chroma planes have a half pixel, and more rows than are turned at once. */
const [WIDTH, HEIGHT] = [37, 21];
const FORMATS: readonly ImageFormat[] = ["rgba", "bgra", "rgb", "bgr", "gray", "yuyv", "nv12", "i420"];

function pictureOf(format: ImageFormat): ImageInput {
  const random = mulberry32(5);
  const data = Uint8Array.from({ length: 250 * HEIGHT }, () => Math.floor(random() * 256));
  return { data, width: WIDTH, height: HEIGHT, format, stride: format.endsWith("a") ? 152 : 148 };
}

/** Returns the picture as RGB, turned clockwise pixel by pixel, one turn after the other. */
function turnedByHand(image: ImageInput, turns: number): ImageInput {
  if (turns === 0) {
    const size = [image.width, image.height] as const;
    const { tensor } = prepareImage(image, { size, resize: "stretch", type: "u8", layout: "NHWC" });
    return { data: tensor.data as Uint8Array, width: image.width, height: image.height, format: "rgb" };
  }
  const { data, width, height } = turnedByHand(image, turns - 1);
  const turned = new Uint8Array(data.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      // The left column becomes the upper row, its lowest pixel first.
      for (let c = 0; c < 3; c++)
        turned[(x * height + (height - 1 - y)) * 3 + c] = data[(y * width + x) * 3 + c];
  return { data: turned, width: height, height: width, format: "rgb" };
}

describe.each(engines)("%s", (engine) => {
  test.each(FORMATS)("%s: bytes and place are those of the picture turned by hand", (format) => {
    const image = pictureOf(format);
    for (const rotation of [1, 2, 3] as const)
      for (const rule of [
        { size: [32, 48], type: "u8", order: "BGR" },
        { size: [24, 24], resize: "crop", resample: "area", mean: [1, 2, 3], std: [50, 60, 70] },
      ] as const) {
        const { tensor, frame } = prepareImage({ ...image, rotation }, rule, { engine });
        const upright = prepareImage(turnedByHand(image, rotation), rule, { engine });
        expect(Buffer.compare(Buffer.from(tensor.data.buffer), Buffer.from(upright.tensor.data.buffer))).toBe(
          0,
        );
        expect(frame).toEqual({ ...upright.frame, width: WIDTH, height: HEIGHT, rotation });
        expect(Object.isFrozen(frame)).toBe(true);
        // A stream gets the same object, which the decoder's loop remembers.
        expect(prepareImage({ ...image, rotation }, rule, { engine }).frame).toBe(frame);
      }
  });
});

const rule = { size: [16, 16] } as const;
const plain = { data: new Uint8Array(64), width: 4, height: 4 };

test.each([
  [
    { ...plain, rotation: 90 },
    /^image.rotation: got 90, expected 0, 1, 2 or 3 quarter turns.*90 degrees are 1$/,
  ],
  [
    { ...plain, rotatio: 1 },
    /^image.rotatio: got an unknown name, expected one of data, width, .*did you mean/,
  ],
  [{ ...plain, orientation: 6 }, /^image.orientation: got an unknown name, expected one of data, width/],
  [{ ...plain, formt: "rgb" }, /^image.formt: got an unknown name.*did you mean format\?$/],
  [
    Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13),
    /^image: got the bytes of a PNG file, expected pixels.*createImageBitmap.*readImage.*sharp/,
  ],
  [
    { ...plain, data: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0) },
    /^image: data: got the bytes of a JPEG file, expected pix/,
  ],
])("refuses %j by name", (image, message) => {
  expect(() => prepareImage(image as ImageInput, rule)).toThrow(message);
});

test("takes what decoders of photos give, and objects of classes", () => {
  class Picture {
    readonly data = plain.data;
    readonly width = 4;
    readonly height = 4;
    readonly own = 1;
  }
  const pngjs = {
    ...plain,
    gamma: 0,
    depth: 8,
    interlace: false,
    palette: false,
    color: true,
    alpha: true,
    bpp: 4,
  };
  for (const image of [new Picture(), { ...pngjs, colorType: 6 }, { ...plain, size: 64, channels: 4 }])
    expect(prepareImage(image, rule).frame.width).toBe(4);
});
