/** What can be made of a mask: COCO's runs, polygons, bits. */
import { describe, expect, test } from "vitest";
import { PixelMask } from "../../../src/tasks/masks/mask.ts";
import { runsOf, textOfRuns } from "../../../src/tasks/masks/rle.ts";
import { mulberry32 } from "../../../bench/random.ts";
import { readBeyond } from "../../support/beyond.ts";

interface RleFile {
  readonly cases: readonly {
    readonly size: readonly [number, number];
    /** numpy.packbits of the whole picture, in hexadecimal. */
    readonly bits: string;
    readonly counts: string;
    readonly area: number;
  }[];
}
const { cases } = readBeyond("rle") as RleFile;

/** Returns the pixels of a packed picture. */
function unpack(hex: string, pixels: number): Uint8Array {
  const bytes = Buffer.from(hex, "hex");
  return Uint8Array.from({ length: pixels }, (_, i) => (bytes[i >> 3] >> (7 - (i & 7))) & 1);
}

/** Cuts the smallest window out of a picture, or one that is larger by `more` where it fits. */
function maskOf(pixels: Uint8Array, width: number, height: number, more = 0): PixelMask {
  const at = [...pixels.keys()].filter((i) => pixels[i] === 1);
  const xs = at.map((i) => i % width);
  const ys = at.map((i) => Math.floor(i / width));
  const least = (all: number[]): number => Math.max(0, all.reduce((a, b) => Math.min(a, b), Infinity) - more);
  const most = (all: number[], end: number): number =>
    Math.min(end, all.reduce((a, b) => Math.max(a, b), 0) + 1 + more);
  if (at.length === 0) return new PixelMask(0, 0, 0, 0, [width, height]);
  const [x, y] = [least(xs), least(ys)];
  const mask = new PixelMask(x, y, most(xs, width) - x, most(ys, height) - y, [width, height]);
  for (let row = 0; row < mask.height; row++)
    for (let column = 0; column < mask.width; column++)
      mask.data[row * mask.width + column] = pixels[(y + row) * width + x + column];
  return mask;
}

/** Fills a ring by the even-odd rule at the centres of pixels. */
function isInside(ring: readonly number[], x: number, y: number): boolean {
  let inside = false;
  for (let i = 0; i < ring.length; i += 2) {
    const j = (i + 2) % ring.length;
    const [x1, y1, x2, y2] = [ring[i], ring[i + 1], ring[j], ring[j + 1]];
    if (x1 === x2 && x1 > x && Math.min(y1, y2) < y && Math.max(y1, y2) > y) inside = !inside;
  }
  return inside;
}

/** Returns twice the signed area: positive if the ring runs clockwise on the screen. */
function areaOf(ring: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < ring.length; i += 2) {
    const j = (i + 2) % ring.length;
    sum += ring[i] * ring[j + 1] - ring[j] * ring[i + 1];
  }
  return sum / 2;
}

describe("toRle", () => {
  test.each(cases.map((c, i) => [i, c] as const))("case %i: the text of pycocotools", (_, c) => {
    const [height, width] = c.size;
    const pixels = unpack(c.bits, width * height);
    for (const more of [0, 2]) {
      const mask = maskOf(pixels, width, height, more);
      expect(mask.toRle()).toEqual({ size: c.size, counts: c.counts });
      expect(mask.area).toBe(c.area);
    }
  });

  test("runs begin with zeros, column by column", () => {
    const mask = new PixelMask(1, 1, 2, 1, [3, 2]);
    mask.data.set([1, 1]);
    expect(runsOf(mask)).toEqual([3, 1, 1, 1]);
    expect(textOfRuns([3, 1, 1, 1])).toBe("3110");
    expect(runsOf(new PixelMask(0, 0, 0, 0, [3, 2]))).toEqual([6]);
  });
});

describe("toPolygons", () => {
  const random = mulberry32(3);
  const noise = [0.2, 0.5, 0.8].flatMap((part) =>
    [1, 2, 7, 16].map((side) => ({
      width: side,
      height: side + 3,
      pixels: Uint8Array.from({ length: side * (side + 3) }, () => (random() < part ? 1 : 0)),
    })),
  );
  const published = cases.map(({ size: [height, width], bits }) => ({
    width,
    height,
    pixels: unpack(bits, width * height),
  }));

  test.each(
    [...noise, ...published.filter(({ pixels }) => pixels.length < 4000)].map((c, i) => [i, c] as const),
  )("case %i: filled again, they give the same pixels, each part once", (_, { width, height, pixels }) => {
    const polygons = maskOf(pixels, width, height).toPolygons();
    for (let i = 0; i < pixels.length; i++) {
      const [x, y] = [(i % width) + 0.5, Math.floor(i / width) + 0.5];
      const holders = polygons.filter(
        ({ outer, holes }) => isInside(outer, x, y) && !holes.some((hole) => isInside(hole, x, y)),
      );
      expect(holders.length, `pixel ${i}`).toBe(pixels[i]);
    }
    const area = polygons.reduce(
      (sum, { outer, holes }) => sum + areaOf(outer) + holes.reduce((a, hole) => a + areaOf(hole), 0),
      0,
    );
    expect(area).toBe(pixels.reduce((a, b) => a + b, 0));
    for (const { outer, holes } of polygons) {
      expect(areaOf(outer)).toBeGreaterThan(0);
      for (const hole of holes) expect(areaOf(hole)).toBeLessThan(0);
    }
  });

  test("corners in pixels of the picture, holes with their part", () => {
    const mask = new PixelMask(10, 20, 5, 3, [100, 100]);
    mask.data.set([1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0, 1]);
    expect(mask.toPolygons()).toEqual([
      { outer: [10, 20, 13, 20, 13, 23, 10, 23], holes: [[11, 22, 12, 22, 12, 21, 11, 21]] },
      { outer: [14, 21, 15, 21, 15, 23, 14, 23], holes: [] },
    ]);
  });

  test("pixels without neighbours: their four corners, clockwise from the first one, at every border", () => {
    const mask = new PixelMask(5, 7, 3, 3, [20, 20]);
    mask.data.set([1, 0, 1, 0, 1, 0, 1, 0, 1]);
    const square = (x: number, y: number): number[] => [x, y, x + 1, y, x + 1, y + 1, x, y + 1];
    const places = [[5, 7], [7, 7], [6, 8], [5, 9], [7, 9]] as const; // prettier-ignore
    expect(mask.toPolygons()).toEqual(places.map(([x, y]) => ({ outer: square(x, y), holes: [] })));
    for (const [width, height] of [[1, 1], [1, 3], [3, 1]] as const) {
      const line = new PixelMask(0, 0, width, height, [9, 9]);
      line.data[line.data.length - 1] = 1;
      expect(line.toPolygons()).toEqual([{ outer: square(width - 1, height - 1), holes: [] }]);
    } // prettier-ignore
  });

  test("pixels that touch at a corner are two parts; a hole open at a corner is one", () => {
    const touching = new PixelMask(0, 0, 2, 2, [2, 2]);
    touching.data.set([1, 0, 0, 1]);
    expect(touching.toPolygons()).toHaveLength(2);
    const holes = new PixelMask(0, 0, 4, 4, [4, 4]);
    holes.data.set([1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1]);
    const [part, ...rest] = holes.toPolygons();
    expect(rest).toEqual([]);
    expect(part.holes).toHaveLength(1);
  });
});

test("toBits packs as numpy does", () => {
  const [, , , , c] = cases;
  const mask = new PixelMask(0, 0, c.size[1], c.size[0], [c.size[1], c.size[0]]);
  mask.data.set(unpack(c.bits, mask.data.length));
  expect(Buffer.from(mask.toBits()).toString("hex")).toBe(c.bits);
});
