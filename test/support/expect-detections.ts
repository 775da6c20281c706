import { expect } from "vitest";
import type { Row } from "./shared-data.ts";

const CORNERS = ["x_min", "y_min", "x_max", "y_max"] as const;

/** Largest difference of the corners. */
export function apart(a: Row, b: Row): number {
  return Math.max(...CORNERS.map((k) => Math.abs(a[k] - b[k])));
}

const show = (d: Row): string =>
  `${d.class_id} ${d.confidence.toFixed(6)} [${CORNERS.map((k) => d[k].toFixed(6)).join(" ")}]`;

/**
 * Each expected detection has one of its own among those got: same class, score and corners within the tolerance,
 * and none is left over. With `order`, also at the same place in the list.
 */
export function expectSame(
  got: readonly Row[],
  expected: readonly Row[],
  tolerance = 1e-5,
  order = false,
): void {
  const fits = (a: Row, b: Row): boolean =>
    a.class_id === b.class_id &&
    Math.abs(a.confidence - b.confidence) <= tolerance &&
    apart(a, b) <= tolerance;
  const left = new Set(got);
  const missing: string[] = [];
  expected.forEach((e, i) => {
    const all = (order ? got.slice(i, i + 1) : got).filter((g) => left.has(g) && fits(g, e));
    // of several that fit, the nearest: the others may be another's
    const found = all.sort((a, b) => apart(a, e) - apart(b, e))[0];
    if (found === undefined) missing.push(show(e));
    else left.delete(found);
  });
  expect({ missing, unexpected: [...left].map(show) }).toEqual({ missing: [], unexpected: [] });
  expect(got).toHaveLength(expected.length);
}

export function iou(a: Row, b: Row): number {
  const w = Math.max(0, Math.min(a.x_max, b.x_max) - Math.max(a.x_min, b.x_min));
  const h = Math.max(0, Math.min(a.y_max, b.y_max) - Math.max(a.y_min, b.y_min));
  const area = (r: Row): number => (r.x_max - r.x_min) * (r.y_max - r.y_min);
  return (w * h) / (area(a) + area(b) - w * h);
}
