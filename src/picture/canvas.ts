/** Draws detections on a canvas of a page, of a worker (`OffscreenCanvas`), or of a package for Node. */
import type { DetectionList } from "../decode/rows.ts";
import { EDGES, type Edges } from "../core/keypoints.ts";
import { DOT_FILL, DOT_RING, HALO } from "./colours.ts";
import { ANY, FUNCTION } from "../core/options.ts";
import { DrawError, type Drawn, readDrawOptions } from "./drawn.ts";
import { showJson } from "../core/json.ts";
import { MASK_OPACITY, type Mark, marksOf } from "./marks.ts";
import { type Area, FONTS, cornerRadius, textPlace } from "./tags.ts";

/** The members of a `CanvasRenderingContext2D` that are used here. */
export interface CanvasContext {
  readonly canvas: { readonly width: number; readonly height: number };
  fillStyle: unknown;
  strokeStyle: unknown;
  globalAlpha: number;
  lineWidth: number;
  lineJoin: string;
  font: string;
  textAlign: string;
  textBaseline: string;
  /** Keeps the styles and the transformation. */
  save(): void;
  /** Restores what `save` kept. */
  restore(): void;
  /** Moves the origin. */
  translate(x: number, y: number): void;
  /** Draws the outline of a rectangle. */
  strokeRect(x: number, y: number, width: number, height: number): void;
  /** Begins a new path. */
  beginPath(): void;
  /** Begins a line of the path. */
  moveTo(x: number, y: number): void;
  /** Adds a line to the path. */
  lineTo(x: number, y: number): void;
  /** Adds an arc to the path. */
  arc(x: number, y: number, radius: number, startAngle: number, endAngle: number): void;
  /** Draws the path. */
  stroke(): void;
  /** Adds a round corner to the path. */
  arcTo(x1: number, y1: number, x2: number, y2: number, radius: number): void;
  /** Closes the line. */
  closePath(): void;
  /** Fills the path. */
  fill(rule?: "evenodd"): void;
  /** Writes a text, no wider than `maxWidth`. */
  fillText(text: string, x: number, y: number, maxWidth?: number): void;
}

/** Options of `drawCanvas`. */
export interface CanvasOptions {
  /**
   * Returns the text of a tag. Default: the confidence in percent after the label, or after the class id. `row` is the
   * index of the detection, for instance for `ids[row]` of a tracker.
   */
  readonly tag?: (detection: Drawn, row: number) => string;
  /** Pairs of keypoints to join. Default: the edges of the detections, or COCO's for 17 keypoints. */
  readonly edges?: Edges;
  /** Part of the canvas that shows the photo, in pixels. Default: the whole canvas. */
  readonly area?: Area;
}

const OPTIONS = { tag: FUNCTION, edges: EDGES, area: ANY };

/**
 * Draws boxes and tags on a canvas, in the style of `drawSvg`. Does not clear the canvas: draw the photo first. Boxes
 * outside the photo are drawn at its edge.
 * @param context 2D context of a canvas
 * @param detections coordinates normalised to the photo, 0..1
 * @throws DrawError if the context's canvas has no size, or boxes are in pixels
 * @example
 * import { type CanvasContext, drawCanvas } from "boxwright";
 *
 * const context = {
 *   canvas: { width: 320, height: 240 },
 *   fillText: (text: string) => console.log(text),
 * } as unknown as CanvasContext; // in a page: canvas.getContext("2d")
 * const others =
 *   "save restore translate strokeRect beginPath moveTo lineTo arc stroke arcTo closePath fill".split(" ");
 * Object.assign(context, Object.fromEntries(others.map((name) => [name, () => {}])));
 * const cat = { class_id: 0, label: "cat", confidence: 0.93, x_min: 0.2, y_min: 0.1, x_max: 0.9, y_max: 0.9 };
 * drawCanvas(context, [cat]); // cat 93%
 */
export function drawCanvas(
  context: CanvasContext,
  detections: DetectionList<Drawn>,
  options: CanvasOptions = {},
): void {
  const { tag, area = wholeOf(context), edges } = readDrawOptions(options, OPTIONS);
  checkArea(area);
  if (typeof (context as Partial<CanvasContext> | null)?.save !== "function")
    throw new DrawError(
      `got ${showJson(context)} as the context, expected what canvas.getContext("2d") returns. It returns null ` +
        "where the canvas has another kind of context.",
    );
  const { stroke, list } = marksOf(detections, area, tag, edges);
  context.save();
  try {
    context.translate(area.x, area.y);
    context.lineJoin = "miter";
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    for (const mark of list) drawMask(context, mark);
    // Draw all tags above all outlines, so that no line crosses out a name.
    for (const mark of list) drawOutline(context, mark, stroke);
    for (const mark of list) drawSkeleton(context, mark);
    for (const mark of list) drawTag(context, mark);
  } finally {
    context.restore();
  }
}

function wholeOf(context: CanvasContext): Area {
  const { width = NaN, height = NaN } = (context as Partial<CanvasContext> | null)?.canvas ?? {};
  return { x: 0, y: 0, width, height };
}

function checkArea(area: Area): void {
  const { x, y, width, height } = area;
  const isPixel = width <= 1 && height <= 1; // most likely given in 0..1 of the canvas
  if (!([x, y, width, height].every(Number.isFinite) && width > 0 && height > 0) || isPixel)
    throw new DrawError(
      `got an area of ${showJson(area)} to draw on, expected x, y, width and height in pixels. Pass the ` +
        "2D context of a canvas, or the option area.",
    );
}

function drawMask(context: CanvasContext, { mask, colour }: Mark): void {
  if (mask === null) return;
  context.globalAlpha = MASK_OPACITY;
  context.fillStyle = colour;
  context.beginPath();
  for (const ring of mask) {
    context.moveTo(ring[0], ring[1]);
    for (let i = 2; i < ring.length; i += 2) context.lineTo(ring[i], ring[i + 1]);
    context.closePath();
  }
  context.fill("evenodd");
  context.globalAlpha = 1;
}

function drawOutline(context: CanvasContext, { box, corners, colour }: Mark, stroke: number): void {
  const { x, y, width, height } = box;
  const outline = (): void => {
    if (!corners) {
      context.strokeRect(x, y, width, height);
      return;
    }
    context.beginPath();
    corners.forEach(([cornerX, cornerY], k) => context[k === 0 ? "moveTo" : "lineTo"](cornerX, cornerY));
    context.closePath();
    context.stroke();
  };
  // Draw a dark line first. The coloured line on it then stays visible on a photo of the same colour.
  context.globalAlpha = HALO.opacity;
  context.strokeStyle = "#000";
  context.lineWidth = stroke * HALO.width;
  outline();
  context.globalAlpha = 1;
  context.strokeStyle = colour;
  context.lineWidth = stroke;
  outline();
}

function drawSkeleton(context: CanvasContext, { skeleton, colour }: Mark): void {
  if (skeleton === null) return;
  const { lines, dots, stroke, radius } = skeleton;
  for (const [style, alpha, width] of [
    ["#000", HALO.opacity, stroke * HALO.width],
    [colour, 1, stroke],
  ] as const) {
    context.globalAlpha = alpha;
    context.strokeStyle = style;
    context.lineWidth = width;
    context.beginPath();
    for (const [x1, y1, x2, y2] of lines) {
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    }
    context.stroke();
  }
  context.fillStyle = DOT_FILL;
  context.lineWidth = stroke * DOT_RING;
  for (const [x, y] of dots) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}

function drawTag(context: CanvasContext, { tag, colour, ink }: Mark): void {
  if (tag.text === "") return;
  const [x, y] = textPlace(tag);
  context.fillStyle = colour;
  fillRounded(context, tag.area, cornerRadius(tag));
  context.fillStyle = ink;
  context.font = `${tag.fontSize}px ${FONTS}`;
  // Limit the width, so that the text stays inside the tag in any font.
  context.fillText(tag.text, x, y, tag.textWidth);
}

/** Fills a rectangle with round corners. `roundRect` is missing in browsers before 2023. */
function fillRounded(context: CanvasContext, { x, y, width, height }: Area, radius: number): void {
  const [right, bottom] = [x + width, y + height];
  context.beginPath();
  context.moveTo(x + radius, y);
  context.arcTo(right, y, right, bottom, radius);
  context.arcTo(right, bottom, x, bottom, radius);
  context.arcTo(x, bottom, x, y, radius);
  context.arcTo(x, y, right, y, radius);
  context.closePath();
  context.fill();
}
