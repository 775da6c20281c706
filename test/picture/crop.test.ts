/** Input tensors of crops: the definition pixel by pixel, formats, the edge, and the frame that takes points back. */
import { describe, expect, test } from "vitest";
import type { Crop } from "../../src/core/crop.ts";
import type { ImageFormat, ImageInput } from "../../src/decode/prepare.ts";
import { prepareImage } from "../../src/picture/prepare/prepare.ts";
import { engines } from "../support/engines.ts";

const [WIDTH, HEIGHT] = [37, 23];
const noise = (i: number): number => (Math.imul(i + 1, 2654435761) >>> 24) & 255;
const rgb = Uint8Array.from({ length: WIDTH * HEIGHT * 3 }, (_, i) => noise(i));
const image: ImageInput = { data: rgb, width: WIDTH, height: HEIGHT, format: "rgb" };

/** The definition in doubles: bilinear between pixels whose centres are whole numbers, at 1/32 of a pixel. */
function defined(
  crop: Required<Crop>,
  [w, h]: readonly [number, number],
  { border = "pad", udp = false, pad = 114 } = {},
): number[] {
  const { cx, cy, width, height, angle } = crop;
  const at = (x: number, y: number, c: number): number => {
    const isOutside = x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT;
    if (isOutside && border === "pad") return pad;
    const column = Math.min(Math.max(x, 0), WIDTH - 1);
    const row = Math.min(Math.max(y, 0), HEIGHT - 1);
    return rgb[(row * WIDTH + column) * 3 + c];
  };
  const out: number[] = [];
  for (let j = 0; j < h; j++)
    for (let i = 0; i < w; i++) {
      const u = (i / (udp ? w - 1 : w) - 0.5) * width;
      const v = (j / (udp ? h - 1 : h) - 0.5) * height;
      const x = cx + u * Math.cos(angle) - v * Math.sin(angle);
      const y = cy + u * Math.sin(angle) + v * Math.cos(angle);
      for (let c = 0; c < 3; c++) {
        const [left, top] = [Math.floor(x), Math.floor(y)];
        const [right, below] = [x - left, y - top];
        out.push(
          (at(left, top, c) * (1 - right) + at(left + 1, top, c) * right) * (1 - below) +
            (at(left, top + 1, c) * (1 - right) + at(left + 1, top + 1, c) * right) * below,
        );
      }
    }
  return out;
}

/** A coordinate that is off by 1/64 of a pixel changes a value by less than this between black and white. */
const TOLERANCE = (2 * 255) / 64 + 1;
const BYTES = { layout: "NHWC", type: "u8" } as const;

const CROPS: readonly Required<Crop>[] = [
  { cx: 18, cy: 11, width: 20, height: 15, angle: 0 },
  { cx: 18.3, cy: 11.7, width: 21, height: 21, angle: 0.8 },
  { cx: 2, cy: 20, width: 30, height: 30, angle: -2.4 },
  { cx: 18, cy: 11, width: 200, height: 200, angle: 3 },
  { cx: -60, cy: 11, width: 20, height: 20, angle: 0 },
];

describe.each(CROPS)("crop %o", (crop) => {
  test.each([{ border: "pad", pad: 7 }, { border: "edge" }, { border: "edge", udp: true }] as const)(
    "%o",
    (rule) => {
      const size = [16, 12] as const;
      const expected = defined(crop, size, rule);
      for (const engine of engines) {
        const { tensor } = prepareImage(image, { size, ...BYTES, ...rule }, { crop, engine });
        expect(tensor.dims).toEqual([1, 12, 16, 3]);
        for (let i = 0; i < expected.length; i++)
          expect(Math.abs(tensor.data[i] - expected[i]), `element ${i}`).toBeLessThan(TOLERANCE);
      }
    },
  );
});

test("a crop of whole pixels copies them", () => {
  const crop = { cx: 10, cy: 8, width: 8, height: 6 };
  const { tensor } = prepareImage(image, { size: [8, 6], ...BYTES }, { crop });
  const expected = Array.from({ length: 8 * 6 * 3 }, (_, i) => {
    const row = Math.floor(i / 24);
    return rgb[((row + 5) * WIDTH + 6) * 3 + (i % 24)];
  });
  expect([...tensor.data]).toEqual(expected);
});

test("layout, order, mean and type are those of the rule", () => {
  const crop = { cx: 10, cy: 8, width: 8, height: 6 };
  const size = [8, 6] as const;
  const { data } = prepareImage(image, { size, ...BYTES }, { crop }).tensor;
  const mean = [10, 20, 30];
  const std = [2, 4, 5];
  const planes = prepareImage(image, { size, order: "BGR", mean, std }, { crop }).tensor;
  expect(planes.dims).toEqual([1, 3, 6, 8]);
  for (let i = 0; i < 48; i++)
    for (let c = 0; c < 3; c++)
      expect(planes.data[c * 48 + i]).toBeCloseTo((data[3 * i + 2 - c] - mean[c]) / std[c], 5);
  const into = new Uint16Array(144);
  const half = prepareImage(image, { size, type: "f16" }, { crop, into }).tensor;
  expect(half.data).toBe(into);
  expect(half.type).toBe("f16");
});

test("all formats of one picture give one tensor", () => {
  const gray = Uint8Array.from({ length: WIDTH * HEIGHT }, (_, i) => noise(i));
  const spread = (n: number, order: readonly number[]): Uint8Array =>
    Uint8Array.from({ length: WIDTH * HEIGHT * n }, (_, i) =>
      i % n === 3 ? 255 : rgb[Math.floor(i / n) * 3 + order[i % n]],
    );
  const crop = { cx: 15, cy: 9, width: 30, height: 30, angle: 1 };
  const rule = { size: [16, 16], ...BYTES } as const;
  const bytesOf = (data: Uint8Array, format: ImageFormat): readonly number[] => [
    ...prepareImage({ data, width: WIDTH, height: HEIGHT, format }, rule, { crop }).tensor.data,
  ];
  expect(bytesOf(spread(4, [0, 1, 2]), "rgba")).toEqual(bytesOf(rgb, "rgb"));
  expect(bytesOf(spread(3, [2, 1, 0]), "bgr")).toEqual(bytesOf(rgb, "rgb"));
  expect(bytesOf(spread(4, [2, 1, 0]), "bgra")).toEqual(bytesOf(rgb, "rgb"));
  const threefold = Uint8Array.from({ length: gray.length * 3 }, (_, i) => gray[Math.floor(i / 3)]);
  expect(bytesOf(gray, "gray")).toEqual(bytesOf(threefold, "rgb"));
  // Grey in video range, whose colour planes say "no colour".
  const half = ((WIDTH + 1) >> 1) * ((HEIGHT + 1) >> 1);
  const i420 = new Uint8Array(gray.length + 2 * half).fill(128);
  i420.fill(126, 0, gray.length);
  const flat = bytesOf(i420, "i420");
  expect(new Set(flat.slice(3 * (8 * 16 + 8), 3 * (8 * 16 + 8) + 3)).size).toBe(1);
});

test("the frame holds the crop, frozen, and the whole image is left as it was", () => {
  const crop = { cx: 10, cy: 8, width: 8, height: 6, angle: 0.5 };
  const { frame } = prepareImage(image, { size: [8, 6] }, { crop });
  expect(frame).toEqual({ width: WIDTH, height: HEIGHT, resize: "stretch", crop });
  expect(Object.isFrozen(frame) && Object.isFrozen(frame.crop)).toBe(true);
  expect(frame.crop).not.toBe(crop);
});

test.each([
  [{ cx: NaN, cy: 0, width: 1, height: 1 }],
  [{ cx: 0, cy: 0, width: 0, height: 1 }],
  [{ cx: 0, cy: 0, width: 1, height: 1, angle: Infinity }],
  [null],
  [4],
])("crop %o is refused", (crop) => {
  expect(() => prepareImage(image, { size: [8, 6] }, { crop: crop as unknown as Crop })).toThrow(
    /crop: got .*expected \{cx, cy, width, height, angle\}/,
  );
});
