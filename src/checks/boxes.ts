/** Checks the boxes of the first candidates. A wrong unit, format, order or activation gives strange boxes. */
import type { PlanInMemory } from "../decode/values.ts";
import type { Moment } from "./check.ts";
import * as A from "../core/abi.ts";
import { refuseFor } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { READINGS } from "../core/readings.ts";
import type { MemoryImage } from "../memory/write.ts";
import type { Plan } from "../plan/plan.ts";

/** Smallest count of candidates for a conclusion about all boxes. */
const FEWEST_BOXES = 4;
/** Part of the input around its upper left corner, as a fraction of the sides. Real pictures have boxes outside it. */
const CORNER = 0.03;

/** Measurements of the candidates' boxes. Coordinates are in 0..1 if the config states the right unit. */
interface MeasuredBoxes {
  readonly count: number;
  /** Largest absolute x of all corners. */
  readonly across: number;
  /** Largest absolute y of all corners. */
  readonly down: number;
  /** Count of boxes with x_max < x_min or y_max < y_min. */
  readonly swapped: number;
  /** Count of boxes without width or height. */
  readonly flat: number;
  /** Largest x and y among the centres of the boxes. */
  readonly centre: readonly [number, number];
}

function measureBoxes({ memory: { i32, f32 } }: MemoryImage, at: number): MeasuredBoxes {
  const count = i32[(at >> 2) + A.P_CANDIDATES];
  const boxes = i32[(at >> 2) + A.P_BOXES] >> 2;
  let across = 0;
  let down = 0;
  let swapped = 0;
  let flat = 0;
  let centreX = 0;
  let centreY = 0;
  // Read element by element, without iterators: this code usually runs once, before V8 compiles it.
  for (let i = boxes; i < boxes + count * 4; i += 4) {
    const a = f32[i];
    const b = f32[i + 1];
    const c = f32[i + 2];
    const d = f32[i + 3];
    across = Math.max(across, Math.abs(a), Math.abs(c));
    down = Math.max(down, Math.abs(b), Math.abs(d));
    if (c < a || d < b) swapped++;
    else if (c === a || d === b) flat++;
    centreX = Math.max(centreX, (a + c) / 2);
    centreY = Math.max(centreY, (b + d) / 2);
  }
  return { count, across, down, swapped, flat, centre: [centreX, centreY] };
}

/** Box kinds whose four numbers are a decoded box. */
const DECODED = ["centre", "corners", "topleft"];

/**
 * Checks the first candidates for boxes that cannot be right:
 * - offsets from priors, read as corners: many have x_max < x_min;
 * - 0..1, read as pixels: all boxes lie within two pixels of the corner;
 * - pixels, read as 0..1: boxes are many images wide.
 * @throws TensorError if the boxes look like one of these
 */
export function checkBoxes({ work, block }: Moment<PlanInMemory>): null {
  const { plan } = work;
  const measured = measureBoxes(work, block);
  const { count, swapped } = measured;
  const { about, kind } = plan.heads[0];
  if (TRAITS[plan.family].head === "prior" && kind === "corners" && swapped * 4 > count)
    refuseFor(
      ["variances"],
      about,
      `${swapped} of ${count} boxes with x_max < x_min or y_max < y_min`,
      "corners; if these are offsets from prior boxes, say variances (and priors, where the family has none of its own)",
    );
  if (count > 0 && DECODED.includes(kind)) checkUnit(plan, measured);
  return null;
}

/**
 * Returns a note if the first candidates look wrong:
 * - another format: many have x_max < x_min;
 * - rows that are not decoded yet: all boxes lie in the corner;
 * - data in another order than the dims say: boxes have no area.
 */
export function noteOfBoxes({ work, block }: Moment<PlanInMemory>): string | null {
  const { plan } = work;
  const measured = measureBoxes(work, block);
  const { count, swapped, flat } = measured;
  if (count === 0) return null;
  const isDecoded = DECODED.includes(plan.heads[0].kind);
  // For boxes made from distances, allow half of them to be inverted: even trained networks output some negative
  // distances.
  if (swapped * (isDecoded ? 4 : 2) > count)
    return (
      `${swapped} of the first ${count} candidates have x_max < x_min or y_max < y_min: are the boxes as ` +
      "boxFormat says, or as it is by default?"
    );
  if (!isDecoded) return null;
  const sides = noteOfSides(work, block);
  if (sides !== null) return sides;
  return flat * 2 > count && count >= FEWEST_BOXES
    ? `${flat} of the first ${count} candidates have no width or no height: are dims and order those of the data ` +
        "(NCHW or NHWC)?"
    : noteOfPlace(plan, measured);
}

/** Throws if the plan's unit (pixels or 0..1) is impossible for these boxes, and the other unit is possible. */
function checkUnit({ heads: [{ about, unit }], inputSize }: Plan, { across, down }: MeasuredBoxes): void {
  const most = Math.max(across, down);
  if (unit[0] === 1 && most > 16)
    refuseFor(
      [{ option: "coordinates", value: "pixels" }],
      about,
      `box coordinates up to ${Number(most.toPrecision(4))}`,
      '0..1; if they are pixels, say coordinates: "pixels"',
    );
  if (!inputSize) return;
  const pixels = Math.max(across * inputSize[0], down * inputSize[1]);
  if (unit[0] !== 1 && pixels <= 2)
    refuseFor(
      [{ option: "coordinates", value: "normalised" }],
      about,
      `boxes within ${Number(pixels.toPrecision(3))} pixels of the corner`,
      `pixels of a ${inputSize.join("x")} input; if they are 0..1, say coordinates: "normalised"`,
    );
}

/** Returns a note if all boxes lie in the upper left corner, or if the centre of a box lies outside the input. */
function noteOfPlace(
  { heads: [{ unit }], inputSize, inPhoto }: Plan,
  { count, across, down, centre }: MeasuredBoxes,
): string | null {
  if (!inputSize || inPhoto) return null;
  const pixels = Math.max(across * inputSize[0], down * inputSize[1]);
  if (Math.max(across, down) < CORNER && count >= FEWEST_BOXES)
    return (
      `all of the first ${count} candidates lie within ${Math.ceil(pixels)} pixels of the left upper ` +
      "corner: do these rows still need their cell and stride, as those of YOLOX do?"
    );
  // A centre outside the input is unlikely, although boxes may reach over its edge.
  return unit[0] !== 1 && Math.max(...centre) > 1.1
    ? `boxes stand around up to ${centre.map((x, i) => Math.round(x * inputSize[i])).join(", ")} in a ` +
        `${inputSize.join("x")} input: is that its width and height?`
    : null;
}

/** Advice on corners that are in the wrong order. */
export const IF_SIZES = 'If they are corner and size, say boxFormat: "xywh"; if centre and size, "cxcywh"';

/** The check of inverted boxes ends after this many frames with candidates. */
const FRAMES_OF_INVERTED = 100;
/** Smallest count of inverted boxes for a note. A network whose finished boxes really are corners writes none. */
const FEWEST_INVERTED = 3;

/**
 * Detects finished lists whose boxes are a corner and a size, but are read as two corners. In such a list, a box has
 * x_max < x_min if its x is larger than its width. The first frame may have no such box, so later frames are counted
 * too.
 */
export class InvertedBoxes {
  #frames = 0;
  #inverted = 0;

  noteOf({ work, block }: Moment<PlanInMemory>): string | null {
    if (this.#frames >= FRAMES_OF_INVERTED) return null;
    this.#frames++;
    this.#inverted += measureBoxes(work, block).swapped;
    return this.#inverted >= FEWEST_INVERTED
      ? `${this.#inverted} boxes of the first ${this.#frames} frames with any have x_max < x_min or y_max < y_min: are ` +
          `the rows corners? ${IF_SIZES}`
      : null;
  }
}

/** Fraction of a side by which boxes of a finished list may extend over the edge. */
const OVER_EDGE = 0.1;
const FEWEST_OVER = 2;

/** Returns a note if finished boxes extend over an edge, and exchanging width and height would prevent that. */
function noteOfSides({ memory: { i32, f32 }, plan }: MemoryImage, at: number): string | null {
  const { inputSize, inPhoto, heads, reading } = plan;
  if (!inputSize || inPhoto || !READINGS[reading].finished || heads[0].unit[0] === 1) return null;
  const [width, height] = inputSize;
  const boxes = i32[(at >> 2) + A.P_BOXES] >> 2;
  let over = 0;
  for (let i = boxes; i < boxes + 4 * i32[(at >> 2) + A.P_CANDIDATES]; i += 4) {
    const [right, bottom] = [f32[i + 2], f32[i + 3]];
    if (right > 1 + OVER_EDGE || bottom > 1 + OVER_EDGE) over++;
    // Require that with exchanged sides, boxes extend over an edge by at most a hundredth.
    if (right * width > height * 1.01 || bottom * height > width * 1.01) return null;
  }
  return over >= FEWEST_OVER
    ? `${over} of the first candidates reach over an edge of the ${width}x${height} input, and none would of ` +
        `${height}x${width}: inputSize is [width, height]`
    : null;
}

/** Smallest count of candidates for the check of overlaps. Fewer candidates may be separate objects. */
const FEWEST_OBJECTS = 40;

/** Returns a note if the first candidates of maps hardly overlap: grid heads find an object in several cells. */
export function checkOverlaps({ work, block }: Moment<PlanInMemory>): string | null {
  const { i32, f32 } = work.memory;
  const { plan } = work;
  const p = block >> 2;
  const visited = i32[p + A.P_VISITED];
  const kept = i32[p + A.P_DETECTIONS];
  const { suppress: nms, multiLabel } = plan.rules;
  const isSuppressed = nms !== "none" && !multiLabel && f32[p + A.P_IOU] < 0.7;
  const isOfCells = plan.heads[0].kind === "grid" || plan.heads[0].kind === "distance";
  return isSuppressed && isOfCells && visited >= FEWEST_OBJECTS && kept > visited * 0.9
    ? `${kept} of the first ${visited} candidates overlap no other: are dims and order those of the data ` +
        "(NCHW or NHWC)?"
    : null;
}
