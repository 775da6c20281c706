/** Lays out detections on a picture: what `drawSvg` and `drawCanvas` draw, each in its own way. */
import type { DetectionList } from "../decode/rows.ts";
import { colourOf, coloursOf, inkOn } from "./colours.ts";
import { showJson } from "../core/json.ts";
import { DrawError, type Drawn, checkDetections } from "./drawn.ts";
import { type Skeleton, skeletonOf } from "./skeleton.ts";
import type { Edges } from "../core/keypoints.ts";
import type { Mask, MaskOptions } from "../decode/mask.ts";
import { type Area, type Canvas, type Tag, boxArea, canvasOf, placeTag } from "./tags.ts";

/** One detection on a picture. */
export interface Mark {
  readonly box: Area;
  /** Corners of an oriented box, drawn in place of `box`, which then is the upright box around it. */
  readonly corners: readonly (readonly [x: number, y: number])[] | null;
  readonly tag: Tag;
  /** Colour of the class, "#rrggbb". */
  readonly colour: string;
  /** Colour of the text on it. */
  readonly ink: string;
  /** `null` where the detection has no keypoints. */
  readonly skeleton: Skeleton | null;
  /** Rings of its mask in pixels, to fill by the even-odd rule; `null` where the detection has none. */
  readonly mask: readonly (readonly number[])[] | null;
}

/** Returns the text of a tag. `row` is the index of the detection among those that are drawn. */
export type TagOf = (detection: Drawn, row: number) => string;

/** How much of the photo a mask covers. */
export const MASK_OPACITY = 0.45;

/** The part of detections with masks that is used. */
interface Masked {
  mask(i: number, options: MaskOptions): Mask;
}

export interface Marks {
  /** Width of a box's line. */
  readonly stroke: number;
  /** In the order of drawing: the best detection stands on top. */
  readonly list: readonly Mark[];
}

/**
 * Lays out detections on a picture of that size.
 * @param tag returns the text of a tag. Default: label and confidence
 * @param ownEdges edges of skeletons. Default: those of the detections
 * @throws DrawError if detections cannot be drawn
 */
export function marksOf(
  detections: DetectionList<Drawn>,
  { width, height }: { readonly width: number; readonly height: number },
  tag: TagOf = defaultTag,
  ownEdges?: Edges,
): Marks {
  const edges = ownEdges ?? (detections as { readonly edges?: Edges } | null)?.edges;
  // Place the best scores first and draw them last: they get the best places, and stand on top.
  const all = checkDetections(detections);
  const masks = masksOf(detections);
  const rows = new Map(all.map((d, row) => [d, row]));
  const best = all.sort((a, b) => b.confidence - a.confidence);
  const canvas = canvasOf(width, height);
  const colours = coloursOf(best.map((d) => d.class_id));
  const placed: Area[] = [];
  const list = best.map((d) => {
    const box = boxArea(d, canvas);
    const corners = d.corners?.map(({ x, y }) => [x * width, y * height] as const) ?? null;
    const row = rows.get(d) as number;
    const text: unknown = tag(d, row);
    if (typeof text !== "string")
      throw new DrawError(`got ${showJson(text)} from the function tag, expected a text`);
    const place = corners ? (topOf(corners, canvas) ?? box) : box;
    const label = placeTag(text, place, canvas, placed);
    // A tag without text is not drawn.
    if (label.text !== "") placed.push(label.area);
    const colour = colours.get(d.class_id) ?? colourOf(d.class_id);
    return {
      box,
      corners,
      tag: label,
      colour,
      ink: inkOn(colour),
      skeleton: skeletonOf(d, edges, canvas),
      mask: masks && ringsOf(masks, row, [width, height]),
    };
  });
  return { stroke: canvas.stroke, list: list.reverse() };
}

/**
 * Returns the uppermost corner on the picture, `null` if none is: the tag of a turned box touches the box there. The
 * corner of its upright box may be far from any line. Of two that are level, it is the left one.
 */
function topOf(
  corners: readonly (readonly [number, number])[],
  { width, height, stroke }: Canvas,
): Area | null {
  const seen = corners.filter(([x, y]) => x >= 0 && x <= width && y >= 0 && y <= height);
  const top = Math.min(...seen.map(([, y]) => y)) + stroke;
  const [first] = seen.filter(([, y]) => y <= top).sort(([a], [b]) => a - b);
  return first ? { x: first[0], y: first[1], width: 0, height: 0 } : null;
}

/** Returns detections that have masks, `null` for others. A clone has none. */
function masksOf(detections: DetectionList<Drawn>): Masked | null {
  const found = detections as Partial<Masked> & { readonly taskFunctions?: { readonly mask?: unknown } };
  // The rows of the command carry the function alone.
  const has = found.taskFunctions ? found.taskFunctions.mask : Array.isArray(detections) && found.mask;
  return has ? (found as Masked) : null;
}

/** Returns the rings of a mask on a picture of that size. */
function ringsOf(masks: Masked, row: number, [width, height]: readonly [number, number]): number[][] {
  const size = [Math.max(1, Math.round(width)), Math.max(1, Math.round(height))] as const;
  const mask = masks.mask(row, { size });
  const [scaleX, scaleY] = [width / size[0], height / size[1]];
  return mask
    .toPolygons()
    .flatMap(({ outer, holes }) => [outer, ...holes])
    .map((ring) => ring.map((value, i) => value * (i % 2 === 0 ? scaleX : scaleY)));
}

/** Returns label and confidence. A network without names has its class ids for labels. */
function defaultTag({ label, class_id, confidence }: Drawn): string {
  const name = (label ?? "") === "" || label === String(class_id) ? `class ${class_id}` : label;
  return `${name} ${Math.round(confidence * 100)}%`;
}
