/**
 * Text boxes from a map of probabilities, in plain doubles and in the simplest way. Source: PaddleOCR,
 * `ppocr/postprocess/db_postprocess.py`, with quads as polygons and the fast score. Coordinates are indices of pixels.
 */
export type Point = readonly [x: number, y: number];

/** A rectangle by its centre, its sides, and the direction of the first side. */
export interface Rectangle {
  readonly centre: Point;
  readonly sides: readonly [number, number];
  readonly direction: Point;
}

/** Returns groups of set pixels that touch at an edge or a corner. */
export function components(mask: readonly (readonly boolean[])[]): Point[][] {
  const seen = new Set<string>();
  const groups: Point[][] = [];
  mask.forEach((row, top) =>
    row.forEach((_, left) => {
      const group: Point[] = [];
      const open: Point[] = [[left, top]];
      for (let point = open.pop(); point; point = open.pop()) {
        const [x, y] = point;
        if (!mask[y]?.[x] || seen.has(`${x},${y}`)) continue;
        seen.add(`${x},${y}`);
        group.push(point);
        for (const dy of [-1, 0, 1]) for (const dx of [-1, 0, 1]) open.push([x + dx, y + dy]);
      }
      if (group.length > 0) groups.push(group);
    }),
  );
  return groups;
}

/**
 * Returns, for each line through two of the points, the rectangle along this line around all points. Edges of the hull
 * are among these lines.
 */
export const rectanglesAround = (points: readonly Point[]): Rectangle[] =>
  points.flatMap(([x1, y1]) =>
    points.flatMap(([x2, y2]): Rectangle[] => {
      const length = Math.hypot(x2 - x1, y2 - y1);
      if (length === 0) return [];
      const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
      const along = points.map(([x, y]) => x * ux + y * uy);
      const across = points.map(([x, y]) => y * ux - x * uy);
      const [a, b] = [along, across].map((values) => [Math.min(...values), Math.max(...values)]);
      const [m, n] = [(a[0] + a[1]) / 2, (b[0] + b[1]) / 2];
      return [
        {
          centre: [m * ux - n * uy, m * uy + n * ux],
          sides: [a[1] - a[0], b[1] - b[0]],
          direction: [ux, uy],
        },
      ];
    }),
  );

export const areaOf = ({ sides: [a, b] }: Rectangle): number => a * b;

/** Returns the smallest rectangle around points, the first of those with the same area. Source: `cv2.minAreaRect`. */
export function smallestRectangle(points: readonly Point[]): Rectangle {
  const [first = { centre: points[0], sides: [0, 0], direction: [1, 0] }, ...others] =
    rectanglesAround(points);
  return others.reduce((best, one) => (areaOf(one) < areaOf(best) ? one : best), first);
}

/** Returns the rectangle after each side moved outwards by area x ratio / perimeter: `unclip`, with round corners. */
export function unclip({ centre, sides: [a, b], direction }: Rectangle, ratio: number): Rectangle {
  const grow = (a * b * ratio) / (2 * (a + b));
  return { centre, sides: [a + 2 * grow, b + 2 * grow], direction };
}

/** Returns the corners of a rectangle, in order around it. */
export const cornersOf = ({ centre: [x, y], sides: [a, b], direction: [ux, uy] }: Rectangle): Point[] =>
  [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ].map(([i, j]) => [x + (i * a * ux - j * b * uy) / 2, y + (i * a * uy + j * b * ux) / 2]);

/** Settings of PaddleOCR's configs. */
export const SETTINGS = { mask: 0.3, box: 0.6, ratio: 1.5, side: 3, grownSide: 5 } as const;
