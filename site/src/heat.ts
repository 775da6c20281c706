/** Heat maps: the best score at each place of the picture, over all heads or over the heads that read one tensor. */
import type { Grid } from "./numbers.ts";

/** Scores of cells with their boxes and heads. The worker makes this. */
export interface HeatMap {
  /** Each head: its first cell, the count of its cells, and the names of the tensors it reads. */
  readonly heads: readonly {
    readonly first: number;
    readonly cells: number;
    readonly names: readonly string[];
  }[];
  /** x_min, y_min, x_max, y_max of each candidate cell, 0..1. */
  readonly boxes: Float32Array;
  readonly scores: Float32Array;
  /** Index of each cell, counted over all heads. */
  readonly sources: Uint32Array;
}

/** True if a head reads the tensor. */
export const isRead = (map: HeatMap | null, name: string): boolean =>
  map !== null && map.heads.some(({ names }) => names.includes(name));

/** Returns a grid for a picture with this aspect, null if there is nothing to show. `name` null: all heads. */
export function heatGrid(map: HeatMap | null, name: string | null, aspect: number): Grid | null {
  if (map === null) return null;
  const heads = map.heads.filter(({ names }) => name === null || names.includes(name));
  if (heads.length === 0) return null;
  const cells = Math.max(...heads.map((head) => head.cells));
  const side = Math.min(80, Math.max(8, Math.round(Math.sqrt(cells))));
  const [width, height] =
    aspect >= 1
      ? [side, Math.max(1, Math.round(side / aspect))]
      : [Math.max(1, Math.round(side * aspect)), side];
  const values = new Float32Array(width * height);
  const { boxes, scores, sources } = map;
  for (let i = 0; i < scores.length; i++) {
    const source = sources[i];
    if (!heads.some(({ first, cells }) => source >= first && source < first + cells)) continue;
    const x = Math.floor(((boxes[4 * i] + boxes[4 * i + 2]) / 2) * width);
    const y = Math.floor(((boxes[4 * i + 1] + boxes[4 * i + 3]) / 2) * height);
    if (x < 0 || y < 0 || x >= width || y >= height) continue;
    values[y * width + x] = Math.max(values[y * width + x], scores[i]);
  }
  return { width, height, values };
}
