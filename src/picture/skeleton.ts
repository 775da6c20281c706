/** Lays out the keypoints of a detection: the lines and dots of its skeleton. */
import { COCO17_EDGES, COCO17_NAMES, type Edges } from "../core/keypoints.ts";
import type { Drawn, DrawnPoint } from "./drawn.ts";

/** A skeleton on a picture, in pixels. */
export interface Skeleton {
  readonly lines: readonly (readonly [x1: number, y1: number, x2: number, y2: number])[];
  readonly dots: readonly (readonly [x: number, y: number])[];
  /** Radius of a dot. */
  readonly radius: number;
}

/** Points of a lower confidence are not drawn: they lie anywhere. */
const SEEN = 0.25;

/** Radius of a dot in widths of a box's line. */
const DOT = 1.2;

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
  return {
    lines: (edges ?? usualEdges(keypoints.length)).flatMap(([a, b]) => {
      const [from, to] = [keypoints[a], keypoints[b]];
      return isSeen(from) && isSeen(to) ? [[...place(from), ...place(to)] as const] : [];
    }),
    dots: keypoints.filter(isSeen).map(place),
    radius: stroke * DOT,
  };
}
