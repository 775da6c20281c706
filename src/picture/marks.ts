/** Lays out detections on a picture. `drawSvg` and `drawCanvas` draw the layout. */
import type { DetectionList } from "../decode/rows.ts";
import { colourOf, coloursOf, inkOn } from "./colours.ts";
import { showJson } from "../core/json.ts";
import { DrawError, type Drawn, checkDetections } from "./drawn.ts";
import { type Skeleton, skeletonOf } from "./skeleton.ts";
import type { Edges } from "../core/keypoints.ts";
import type { Mask, MaskOptions } from "../decode/mask.ts";
import { type Area, type Canvas, type Tag, boxArea, canvasOf, placeTag } from "./tags.ts";

/** The layout of one detection. */
export interface Mark {
  readonly box: Area;
  /** Corners of an oriented box, drawn in place of `box`. `box` is then the upright box around them. */
  readonly corners: readonly (readonly [x: number, y: number])[] | null;
  readonly tag: Tag;
  /** Colour of the class as "#rrggbb". */
  readonly colour: string;
  /** Colour of text on that colour. */
  readonly ink: string;
  /** Lines and dots of the keypoints, `null` if there are none. */
  readonly skeleton: Skeleton | null;
  /** Outlines of the mask in pixels, to fill by the even-odd rule; `null` if there is no mask. */
  readonly mask: readonly (readonly number[])[] | null;
}

/** Function that returns the text of a tag. `row` is the index of the detection in the drawn list. */
export type TagOf = (detection: Drawn, row: number) => string;

/** Opacity of masks. */
export const MASK_OPACITY = 0.45;

/** The members of detections with masks that are used here. */
interface Masked {
  mask(i: number, options: MaskOptions): Mask;
}

export interface Marks {
  /** Width of the lines of boxes. */
  readonly stroke: number;
  /** Marks in drawing order. The best detection comes last, on top of the others. */
  readonly list: readonly Mark[];
}

/**
 * Lays out detections on a picture of the given size.
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
  // Place tags for the best scores first, while there is most room. Draw them last, on top.
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
    // Skip a tag without text.
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
 * Returns the highest corner inside the picture, the left one of two at the same height. Returns `null` if none is
 * inside. The tag of a turned box touches this corner, since the corner of the upright box may be far from any line.
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

/** Returns the detections if they have masks, else `null`. A clone of detections has no masks. */
function masksOf(detections: DetectionList<Drawn>): Masked | null {
  const found = detections as Partial<Masked> & { readonly taskFunctions?: { readonly mask?: unknown } };
  // Rows of the command line have only `taskFunctions`.
  const has = found.taskFunctions ? found.taskFunctions.mask : Array.isArray(detections) && found.mask;
  return has ? (found as Masked) : null;
}

/** Returns the outlines of a mask on a picture of the given size. */
function ringsOf(masks: Masked, row: number, [width, height]: readonly [number, number]): number[][] {
  const size = [Math.max(1, Math.round(width)), Math.max(1, Math.round(height))] as const;
  const mask = masks.mask(row, { size });
  const [scaleX, scaleY] = [width / size[0], height / size[1]];
  return mask
    .toPolygons()
    .flatMap(({ outer, holes }) => [outer, ...holes])
    .map((ring) => ring.map((value, i) => value * (i % 2 === 0 ? scaleX : scaleY)));
}

/** Returns label and confidence. If the network has no names, the label is the class id. */
function defaultTag({ label, class_id, confidence }: Drawn): string {
  const name = (label ?? "") === "" || label === String(class_id) ? `class ${class_id}` : label;
  return `${name} ${Math.round(confidence * 100)}%`;
}
