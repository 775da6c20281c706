/** Lays out the keypoints of a detection: the lines and dots of its skeleton. */
import { COCO17_EDGES, COCO17_NAMES, type Edges } from "../core/keypoints.ts";
import type { Drawn, DrawnPoint } from "./drawn.ts";

/** A skeleton on a picture, in pixels. */
export interface Skeleton {
  readonly lines: readonly (readonly [x1: number, y1: number, x2: number, y2: number])[];
  readonly dots: readonly (readonly [x: number, y: number])[];
  /** Width of a line: thinner than that of a box where points are close together. */
  readonly stroke: number;
  /** Radius of a dot. */
  readonly radius: number;
}

/** Points of a lower confidence are not drawn: they lie anywhere. */
const SEEN = 0.25;

/** Radius of a dot in widths of a line. */
const DOT = 1.2;

/** Most width of a line, as a part of the distance between points. Else 468 points hide the face below them. */
const OF_DISTANCE = 1 / 8;

/** Returns the edges of a skeleton where nobody states any: 17 keypoints are usually those of COCO. */
const usualEdges = (count: number): Edges => (count === COCO17_NAMES.length ? COCO17_EDGES : []);

/** Returns the skeleton of a detection, `null` if it has no keypoints. */
export function skeletonOf(
  { keypoints }: Drawn,
  edges: Edges | undefined,
  { width, height, stroke }: { readonly width: number; readonly height: number; readonly stroke: number },
): Skeleton | null {
  if (!keypoints || keypoints.length === 0) return null;
  const isSeen = (p: DrawnPoint | undefined): p is DrawnPoint =>
    p !== undefined && Number.isFinite(p.x) && Number.isFinite(p.y) && (p.confidence ?? 1) >= SEEN;
  const place = ({ x, y }: DrawnPoint): [number, number] => [x * width, y * height];
  const dots = keypoints.filter(isSeen).map(place);
  const thin = Math.min(stroke, distanceBetween(dots) * OF_DISTANCE);
  return {
    lines: (edges ?? usualEdges(keypoints.length)).flatMap(([a, b]) => {
      const [from, to] = [keypoints[a], keypoints[b]];
      return isSeen(from) && isSeen(to) ? [[...place(from), ...place(to)] as const] : [];
    }),
    dots,
    stroke: thin,
    radius: thin * DOT,
  };
}

/** Estimates the distance between neighbours, for points that fill their rectangle or lie in a row. */
function distanceBetween(dots: readonly (readonly [x: number, y: number])[]): number {
  if (dots.length < 2) return Infinity;
  const [width, height] = ([0, 1] as const).map((axis) => {
    const values = dots.map((dot) => dot[axis]);
    return Math.max(...values) - Math.min(...values);
  });
  // Points in one place have distance 0. Return Infinity: their dots then have the usual size.
  const inRow = Math.max(width, height) / (dots.length - 1);
  return Math.max(Math.sqrt((width * height) / dots.length), inRow) || Infinity;
}
