/** Lays out a detection's keypoints: lines and dots of its skeleton. */
import { COCO17_EDGES, COCO17_NAMES, type Edges } from "../core/keypoints.ts";
import type { Drawn, DrawnPoint } from "./drawn.ts";

/** Layout of a skeleton on a picture, in pixels. */
export interface Skeleton {
  readonly lines: readonly (readonly [x1: number, y1: number, x2: number, y2: number])[];
  readonly dots: readonly (readonly [x: number, y: number])[];
  /** Width of a line. Thinner than the lines of a box if points are close together. */
  readonly stroke: number;
  readonly radius: number;
}

/** Confidence below which a point is not drawn, since it may lie anywhere. */
const SEEN = 0.25;

/** Radius of a dot as a multiple of the line width. */
const DOT = 1.2;

/**
 * Largest line width as a fraction of the distance between points. Wider lines would hide the face below its 468
 * points.
 */
const OF_DISTANCE = 1 / 8;

/** Returns the default edges: COCO's for 17 keypoints, else none. */
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

/**
 * Estimates the distance between neighbouring points. Assumes that the points fill their rectangle or lie on a line.
 */
function distanceBetween(dots: readonly (readonly [x: number, y: number])[]): number {
  if (dots.length < 2) return Infinity;
  const [width, height] = ([0, 1] as const).map((axis) => {
    const values = dots.map((dot) => dot[axis]);
    return Math.max(...values) - Math.min(...values);
  });
  // Return Infinity if all points coincide, so that their dots have the usual size.
  const inRow = Math.max(width, height) / (dots.length - 1);
  return Math.max(Math.sqrt((width * height) / dots.length), inRow) || Infinity;
}
