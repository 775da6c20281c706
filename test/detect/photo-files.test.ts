/** `detect` takes the file of a photo, and the forms of pixels that decoders of photos give. */
import { PNG } from "pngjs";
import jpeg from "jpeg-js";
import * as ort from "onnxruntime-node";
import { expect, test } from "vitest";
import {
  type Detector,
  type DetectorImage,
  type ImageInput,
  createDecoder,
  createDetector,
  onnxRuntime,
  prepareImage,
} from "../../src/entries/index.ts";
import { readImage } from "../../src/entries/node.ts";
import { HEIGHT, type Row, WIDTH, echoOnnx, expectedOf, pictureOf } from "../support/echo-network.ts";
import { readFixture } from "../support/files.ts";

const dog: Row = [51, 102, 153, 204, 230, 255];
const open = (): Promise<Detector> => createDetector({ model: echoOnnx(), runtime: onnxRuntime(ort) });
const picture = pictureOf([dog]);
// A PNG keeps the colours of opaque pixels only.
for (let alpha = 3; alpha < picture.data.length; alpha += 4) picture.data[alpha] = 255;
const rgba = { ...picture, data: new Uint8Array(picture.data) };
const image = Object.assign(new PNG({ width: WIDTH, height: HEIGHT }), { data: Buffer.from(picture.data) });
const png = new Uint8Array(PNG.sync.write(image));
const found = async (detector: Detector, image: DetectorImage): Promise<object[]> =>
  Array.from(await detector.detect(image), (d) => ({ ...d }));

/** Returns a session of 32 x 32 that takes its picture in this memory, and always gives this output. */
function sessionOf(
  input: Float32Array,
  output0: { readonly data: Float32Array; readonly dims: readonly number[] },
) {
  const lane = {
    input: () => input,
    run: () => Promise.resolve({ output0 }),
    release: () => {},
    close: () => {},
  };
  return {
    inputs: [{ name: "images", dims: [1, 3, 32, 32], type: "float32" as const }],
    overlaps: false,
    createLane: () => lane,
    close: () => Promise.resolve(),
  };
}

test("the bytes of a PNG, a buffer of them and a Blob are as good as its pixels", async () => {
  const detector = await open();
  const expected = await found(detector, picture);
  expect(expected).toHaveLength(expectedOf([dog]).length);
  for (const file of [png, Buffer.from(png), png.buffer, new Blob([png])])
    expect(await found(detector, file)).toEqual(expected);
  const streamed: number[] = [];
  for await (const { length } of detector.detectAll([png, picture, png])) streamed.push(length);
  expect(streamed).toEqual([1, 1, 1]);
});

test("the bytes of a JPEG are decoded as readImage does it", async () => {
  const bytes = readFixture("photos/coffee.jpg");
  const pixels = await readImage(bytes);
  const { width, height, data } = jpeg.decode(bytes, { useTArray: true });
  expect([pixels.width, pixels.height]).toEqual([width, height]);
  expect(Buffer.compare(pixels.data, data)).toBe(0);
  // The picture that the network gets.
  const input = new Float32Array(3 * 32 * 32);
  const session = sessionOf(input, { data: new Float32Array(6), dims: [1, 1, 6] });
  const config = { family: "yolov8", classes: 2, inputSize: [32, 32], reading: "end-to-end" };
  const detector = await createDetector({ session, config }, { warmUp: 0 });
  await detector.detect(pixels);
  const expected = input.slice();
  input.fill(0);
  await detector.detect(bytes);
  expect(expected.some((value) => value > 0)).toBe(true);
  expect(input).toEqual(expected);
});

test("a damaged photo, and a format that nothing decodes, are told with the ways to decode them", async () => {
  const detector = await open();
  const webp = Uint8Array.of(0x52, 0x49, 0x46, 0x46, 0, 0, 0, 0, 0x57, 0x45, 0x42, 0x50);
  for (const [bytes, message] of [
    [
      png.subarray(0, 40),
      /^image: got the bytes of a PNG file \(.*\), expected a whole JPEG or PNG and the package that reads it, or pixels/,
    ],
    [
      webp,
      /^image: got the bytes of a WebP file \(.*\), expected a whole JPEG or PNG.*createImageBitmap.*readImage.*sharp/,
    ],
    [new Uint8Array(0), /^image: got an empty file, expected/],
    // What sharp() returns, and what toBuffer({ resolveWithObject: true }) resolves to.
    [{}, /^image: got an object without a width and a height, .* sharp\(bytes\)/],
    [
      { data: rgba.data, info: { width: 32 } },
      /^image: got \{ data, info \}, .* expected \{ data, \.\.\.info \}/,
    ],
    [new Uint8Array(5), /^image: got 5 bytes without a width and a height, expected/],
  ] as const)
    await expect(detector.detect(bytes as DetectorImage)).rejects.toThrow(message);
});

test.each([
  ["TIFF", "II*\0"],
  ["TIFF", "MM\0*"],
  ["AVIF", "\0\0\0\x1cftypavif"],
  ["HEIC", "\0\0\0\x18ftypheic"],
  ["HEIC", "\0\0\0\x18ftypmif1"],
  ["JPEG XL", "\xff\x0a"],
])("the bytes of a %s are named", async (format, start) => {
  const bytes = Uint8Array.from(start.padEnd(40, "\0"), (letter) => letter.charCodeAt(0));
  await expect((await open()).detect(bytes)).rejects.toThrow(
    `the bytes of ${format === "AVIF" ? "an" : "a"} ${format} file (`,
  );
  expect(() => prepareImage(bytes as never, { size: [32, 32] })).toThrow(`${format} file`);
});

test("the path of a photo is told from its bytes", async () => {
  await expect((await open()).detect("street.jpg" as never)).rejects.toThrow(
    'got "street.jpg", expected the picture itself: the bytes of the file (readFileSync(path) in Node)',
  );
  await expect((await open()).detect(new URL("file:///street.jpg") as never)).rejects.toThrow(
    "got a URL, expected the picture itself",
  );
});

test("pixels as sharp gives them need no format", async () => {
  const decoder = await createDecoder({ family: "yolov8", classes: 1, inputSize: [32, 32] });
  const { width, height } = rgba;
  const three = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) three.set(rgba.data.subarray(4 * i, 4 * i + 3), 3 * i);
  const info = {
    format: "raw",
    width,
    height,
    channels: 3,
    premultiplied: false,
    size: three.length,
  } as const;
  const expected = decoder.prepare(rgba).tensor.data;
  expect(decoder.prepare({ data: three, ...info }).tensor.data).toEqual(expected);
  expect(decoder.prepare({ data: three, width, height, channels: 3 }).tensor.data).toEqual(expected);
  const prepare = (image: object) => (): unknown => decoder.prepare(image as ImageInput);
  expect(prepare({ data: three, width, height, channels: 4, format: "rgb" })).toThrow(
    'image: channels: got 4 beside format "rgb", expected 3, or one of the two alone',
  );
  expect(prepare({ data: three, width, height })).toThrow(
    `got ${three.length} bytes, expected at least ${4 * width * height} for ${width}x${height} "rgba". These are 3 bytes a pixel: format: "rgb" or "bgr"`,
  );
  expect(prepare({ data: three, width, height, format: "raw", channels: 2 })).toThrow(
    "image: channels: got 2, expected 1, 3 or 4",
  );
  // sharp adds fields for trim() and resize(), other depths, and the format of a file without raw().
  const trimmed = { ...info, trimOffsetLeft: -2, trimOffsetTop: 0, cropOffsetLeft: 0, depth: "uchar" };
  expect(decoder.prepare({ data: three, ...trimmed }).tensor.data).toEqual(expected);
  expect(prepare({ data: three, ...info, depth: "ushort" })).toThrow(
    'image.depth: got "ushort", expected "uchar"',
  );
  expect(prepare({ data: png, ...info, format: "png" })).toThrow("image: data: got the bytes of a PNG file");
  expect(() => prepareImage(png as unknown as ImageInput, { size: [32, 32] })).toThrow(
    /the bytes of a PNG file/,
  );
});

test("a network of 80 classes without names says how it gets them, once", async () => {
  const output0 = { data: new Float32Array(84 * 21), dims: [1, 84, 21] };
  const session = sessionOf(new Float32Array(3 * 32 * 32), output0);
  const advice = 'labels: "coco80" names them if they are COCO\'s';
  for (const [labels, expected] of [
    [undefined, [`the network has class ids and no names: ${advice}`]],
    ["coco80", []],
  ] as const) {
    const notes: string[] = [];
    const config = { family: "yolov8", classes: 80, inputSize: [32, 32] };
    const options = { ...(labels && { labels }), onNote: (note: string) => void notes.push(note) };
    const detector = await createDetector({ session, config }, options);
    await detector.detect({ data: new Uint8Array(32 * 32 * 4), width: 32, height: 32 });
    expect(notes.filter((note) => note.includes("names"))).toEqual(expected);
    const said = detector.decoder.describe().text.includes(advice);
    expect(said).toBe(labels === undefined);
  }
});
