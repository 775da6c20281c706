/**
 * The padding that rule "image" cuts off, against the published formula of Ultralytics' `scale_masks` (2026), written
 * plainly: gain = min(mh / h0, mw / w0); pad = side - round(side0 * gain), halved; first = round(pad - 0.1);
 * last = side - round(pad + 0.1). Halves go to the even number, as Python rounds.
 */
import { expect, test } from "vitest";
import { masksOf, prepareImage } from "../../../src/entries/index.ts";
import type { Frame } from "../../../src/decode/frame.ts";
import { imageAxes } from "../../../src/tasks/masks/axis.ts";

const CELLS = 160;

function pythonRound(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Returns the cells that are cut off before the image, and the cell after its last one. */
function published(side: number, gain: number): [number, number] {
  const pad = (CELLS - pythonRound(side * gain)) / 2;
  return [pythonRound(pad - 0.1), CELLS - pythonRound(pad + 0.1)];
}

/** Resizes the cells of the image to the photo: half-pixel centres, edges repeated. */
function expectedPixels(logits: Float32Array, width: number, height: number): Uint8Array {
  const gain = Math.min(CELLS / width, CELLS / height);
  const [left, right] = published(width, gain);
  const [top, bottom] = published(height, gain);
  const at = (x: number, y: number): number =>
    logits[(top + Math.min(y, bottom - top - 1)) * CELLS + left + Math.min(x, right - left - 1)];
  const pixels = new Uint8Array(width * height);
  for (let j = 0; j < height; j++)
    for (let i = 0; i < width; i++) {
      const x = Math.max(0, ((i + 0.5) * (right - left)) / width - 0.5);
      const y = Math.max(0, ((j + 0.5) * (bottom - top)) / height - 0.5);
      const [x0, y0] = [Math.floor(x), Math.floor(y)];
      const [fx, fy] = [x - x0, y - y0];
      const upper = at(x0, y0) * (1 - fx) + at(x0 + 1, y0) * fx;
      const lower = at(x0, y0 + 1) * (1 - fx) + at(x0 + 1, y0 + 1) * fx;
      pixels[j * width + i] = upper * (1 - fy) + lower * fy > 0 ? 1 : 0;
    }
  return pixels;
}

const PHOTOS = [
  [640, 427],
  [427, 640],
  [600, 400],
  [1200, 800],
  [500, 333],
  [640, 429],
  [640, 480],
] as const;

test.each(PHOTOS)("a photo of %i x %i: no pixel differs from the published formula", (width, height) => {
  const logits = Float32Array.from({ length: CELLS * CELLS }, (_, i) =>
    Math.sin((i % CELLS) * 0.13 + Math.floor(i / CELLS) * 0.17 + 0.4),
  );
  const photo = { data: new Uint8Array(4 * width * height), width, height };
  const frames: Frame[] = [
    { width, height, resize: "letterbox" },
    prepareImage(photo, { size: [640, 640] }).frame,
  ];
  for (const frame of frames) {
    const [mask] = masksOf(
      {
        prototypes: { data: logits, dims: [1, 1, CELLS, CELLS], order: "NCHW" },
        coefficients: [1],
        boxes: [0, 0, 1, 1],
        inputSize: [640, 640],
        frame,
      },
      { rule: "image", size: "frame" },
    );
    expect([mask.x, mask.y, mask.width, mask.height]).toEqual([0, 0, width, height]);
    const expected = expectedPixels(logits, width, height);
    expect(expected.reduce((n, pixel, i) => n + Number(pixel !== mask.data[i]), 0)).toBe(0);
  }
});

test("photos 640 wide, of any height, are cut where the formula cuts", () => {
  for (let height = 200; height <= 640; height++) {
    const frame: Frame = { width: 640, height, resize: "letterbox" };
    const top = Math.floor((640 - height) / 2);
    const [, y] = imageAxes([640, height], [CELLS, CELLS], {
      frame,
      scale: [1, 640 / height],
      shift: [0, (-top / 640) * (640 / height)],
    });
    expect([y.low, y.high], `height ${height}`).toEqual(published(height, 0.25));
  }
});
