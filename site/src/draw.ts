/** Draws photos, heat maps and boxes on canvases. */
import { type Drawn, drawCanvas } from "boxwright";
import { type HeatMap, heatGrid } from "./heat.ts";
import type { Grid } from "./numbers.ts";
import type { Found } from "./worker/jobs.ts";
import type { Candidate } from "./worker/reading.ts";

/** Longest side of the picture in pixels. Larger photos are drawn smaller. */
const LONGEST = 1280;
/** Smallest length of the longer side. A smaller picture, such as 192 x 128 pixels, is enlarged. */
const SHORTEST = 768;

export type Size = readonly [width: number, height: number];

/** Returns the size of the canvas: that of the photo, else that of the input, within limits. */
export function sizeOf(bitmap: ImageBitmap | null, inputSize: Size | null): Size {
  const [width, height] = bitmap ? [bitmap.width, bitmap.height] : (inputSize ?? [640, 480]);
  const long = Math.max(width, height);
  const scale = Math.min(Math.max(long, SHORTEST), LONGEST) / long;
  return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
}

/** Gives a canvas a size and returns its context, empty. */
function blank(canvas: HTMLCanvasElement, [width, height]: Size): CanvasRenderingContext2D {
  const context = canvas.getContext("2d")!;
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  else context.clearRect(0, 0, width, height);
  return context;
}

/** Background colour without a photo. */
const GROUND = "#3a3e44";

/** Draws the photo, or a plain background, and the heat map above it. */
export function drawPhoto(
  canvas: HTMLCanvasElement,
  size: Size,
  bitmap: ImageBitmap | null,
  heat: HeatMap | null,
): void {
  const context = blank(canvas, size);
  if (bitmap) context.drawImage(bitmap, 0, 0, ...size);
  else {
    context.fillStyle = GROUND;
    context.fillRect(0, 0, ...size);
  }
  const grid = heatGrid(heat, null, size[0] / size[1]);
  if (grid) drawGrid(context, size, grid, 0.6);
}

/** Returns red, green and blue of a value 0..1: from dark violet over red to yellow. */
const colourOf = (v: number): readonly [number, number, number] => [
  Math.min(255, 40 + 330 * v),
  Math.min(255, 400 * Math.max(0, v - 0.4)),
  Math.max(0, 90 - 180 * Math.abs(v - 0.25)),
];

/** Draws a grid on a canvas. With an opacity, low values are transparent. */
export function drawGrid(
  context: CanvasRenderingContext2D,
  size: Size,
  { width, height, values }: Grid,
  opacity?: number,
): void {
  const small = new OffscreenCanvas(width, height);
  const image = new ImageData(width, height);
  values.forEach((value, i) => {
    // Take the square root: most scores are low, and would hardly be visible.
    const v = Math.sqrt(Math.min(1, Math.max(0, value)));
    image.data.set([...colourOf(v), opacity === undefined ? 255 : 255 * Math.min(opacity, v)], 4 * i);
  });
  small.getContext("2d")!.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = opacity !== undefined;
  context.drawImage(small, 0, 0, ...size);
}

/** Returns the detections as a list to draw, with masks and skeletons. */
export function rowsToDraw({ rows, edges, outlines }: Found): Iterable<Drawn> {
  const mask = (i: number) => ({ toPolygons: () => outlines![i] });
  return Object.assign([...rows], { edges, ...(outlines !== null && { mask }) });
}

/** Draws the boxes, and one candidate with dashes. Rows may have a method `mask`, like detections. */
export function drawOverlay(
  canvas: HTMLCanvasElement,
  size: Size,
  found: Iterable<Drawn> | null,
  candidate: Candidate | null,
): void {
  const context = blank(canvas, size);
  if (found !== null) drawCanvas(context, found);
  if (candidate === null) return;
  const { x_min, y_min, x_max, y_max } = candidate;
  const [width, height] = size;
  context.save();
  for (const [colour, dash] of [
    ["#000", []],
    ["#fff", [8, 6]],
  ] as const) {
    context.strokeStyle = colour;
    context.lineWidth = 3;
    context.setLineDash([...dash]);
    context.strokeRect(x_min * width, y_min * height, (x_max - x_min) * width, (y_max - y_min) * height);
  }
  context.restore();
}
