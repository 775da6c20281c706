/** Lays out detections on a picture: what `drawSvg` and `drawCanvas` draw, each in its own way. */
import { colourOf, coloursOf, inkOn } from "./colours.ts";
import { type Drawn, checkDetections } from "./drawn.ts";
import { type Skeleton, skeletonOf } from "./skeleton.ts";
import type { Edges } from "../core/keypoints.ts";
import { type Area, type Tag, boxArea, canvasOf, placeTag } from "./tags.ts";

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
  detections: Iterable<Drawn>,
  { width, height }: { readonly width: number; readonly height: number },
  tag: (detection: Drawn) => string = defaultTag,
  ownEdges?: Edges,
): Marks {
  const edges = ownEdges ?? (detections as { readonly edges?: Edges } | null)?.edges;
  // Place the best scores first and draw them last: they get the best places, and stand on top.
  const best = checkDetections(detections).sort((a, b) => b.confidence - a.confidence);
  const canvas = canvasOf(width, height);
  const colours = coloursOf(best.map((d) => d.class_id));
  const placed: Area[] = [];
  const list = best.map((d) => {
    const box = boxArea(d, canvas);
    const label = placeTag(tag(d), box, canvas, placed);
    // A tag without text is not drawn.
    if (label.text !== "") placed.push(label.area);
    const colour = colours.get(d.class_id) ?? colourOf(d.class_id);
    const corners = d.corners?.map(({ x, y }) => [x * width, y * height] as const) ?? null;
    return { box, corners, tag: label, colour, ink: inkOn(colour), skeleton: skeletonOf(d, edges, canvas) };
  });
  return { stroke: canvas.stroke, list: list.reverse() };
}

/** Returns label and confidence. A network without names has its class ids for labels. */
function defaultTag({ label, class_id, confidence }: Drawn): string {
  const name = (label ?? "") === "" || label === String(class_id) ? `class ${class_id}` : label;
  return `${name} ${Math.round(confidence * 100)}%`;
}
