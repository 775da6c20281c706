/** Overlaps of oriented boxes: rows of centre x, centre y, width, height and angle in radians. */

import { exp, writeCosSin } from "../../core/elementary.ts";
import { log } from "../../core/exp.ts";

/** Count of a box's values: centre x, centre y, width, height, angle. */
export const ORIENTED_WIDTH = 5;

/** Added so that denominators and logarithms stay finite. The value is eps of the published ProbIoU, 1e-7. */
export const LITTLE = 1e-7;

/** e^-LITTLE. */
const NEARLY_ONE = 0.999999900000005;

/** Cosine and sine of the last angle. */
const cosSin = /* @__PURE__ */ new Float64Array(2);

/** Measures overlaps between the boxes of a list. The arrays grow with the longest list, and are reused. */
export interface Overlaps {
  /** Radius of each box. If centres are further apart than the sum of two radii, overlap is below the threshold. */
  readonly radii: Float64Array;
  /** Reads `n` boxes. Overlaps below the threshold may be returned as 0. */
  read(boxes: ArrayLike<number>, n: number, threshold: number): void;
  of(a: number, b: number): number;
  /**
   * True if box `i` overlaps a box of a chain too much: `better`, then `before[better]`, and so on. With class ids,
   * only boxes of the same class count.
   */
  anyPasses(
    better: number,
    before: Int32Array,
    i: number,
    classIds: ArrayLike<number> | null,
    orEqual: boolean,
  ): boolean;
}

/** ProbIoU: the overlap of two Gaussians, each of which describes one box. */
export class ProbIou implements Overlaps {
  radii = new Float64Array(0);
  /** Seven values per box: centre x, y, variances along x and y, covariance, root of determinant, largest variance. */
  #gaussians = new Float64Array(0);
  /** No overlap passes if squared centre distance / sum of both largest variances is above this value. */
  #farRatio = Infinity;
  #threshold = 0;
  /** Bhattacharyya distance at which the overlap equals the threshold. */
  #limit = 0;
  /** Result of `#measure`: the part of the Bhattacharyya distance that comes from the centres. */
  #centreTerm = 0.5;
  /** Result of `#measure`: the part of the distance that comes from the shapes is ln(`#shapeRatio`) / 2. */
  #shapeRatio = 0.5;

  read(boxes: ArrayLike<number>, n: number, threshold: number): void {
    this.#threshold = threshold;
    this.#limit = -log(1 + LITTLE - (1 - threshold) * (1 - threshold));
    // A ProbIoU above t needs a Bhattacharyya distance below -ln(1 - (1 - t)^2). If the centres are d apart, it is at
    // least d^2 / (4 v), where v is the sum of the largest variances. The code uses 4.04 in place of 4, for rounding.
    const rest = 1 - Math.max(threshold, 1e-6);
    const most = -log(1 - rest * rest + LITTLE);
    this.#farRatio = threshold > 0 ? 4.04 * most + LITTLE : Infinity;
    if (this.radii.length < n) {
      this.radii = new Float64Array(n);
      this.#gaussians = new Float64Array(n * 7);
    }
    const gaussians = this.#gaussians;
    for (let i = 0; i < n; i++) {
      const row = i * ORIENTED_WIDTH;
      const along = (boxes[row + 2] * boxes[row + 2]) / 12;
      const across = (boxes[row + 3] * boxes[row + 3]) / 12;
      writeCosSin(boxes[row + 4], cosSin);
      const cos = cosSin[0];
      const sin = cosSin[1];
      const xx = along * cos * cos + across * sin * sin;
      const yy = along * sin * sin + across * cos * cos;
      const xy = (along - across) * cos * sin;
      const at = i * 7;
      gaussians[at] = boxes[row];
      gaussians[at + 1] = boxes[row + 1];
      gaussians[at + 2] = xx;
      gaussians[at + 3] = yy;
      gaussians[at + 4] = xy;
      gaussians[at + 5] = Math.sqrt(Math.max(0, xx * yy - xy * xy));
      const extent = Math.max(along, across);
      gaussians[at + 6] = extent;
      // `#measure` returns false if d^2 is above `#farRatio` * (the sum of both extents + LITTLE). This is the case
      // whenever d is above the sum of both radii.
      this.radii[i] = Math.sqrt(this.#farRatio * (extent + LITTLE)) * (1 + LITTLE);
    }
  }

  of(a: number, b: number): number {
    return this.#measure(a, b) ? overlapAt(this.#centreTerm, this.#shapeRatio) : 0;
  }

  anyPasses(
    better: number,
    before: Int32Array,
    i: number,
    classIds: ArrayLike<number> | null,
    orEqual: boolean,
  ): boolean {
    for (; better >= 0; better = before[better])
      if ((classIds === null || classIds[better] === classIds[i]) && this.#passes(better, i, orEqual))
        return true;
    return false;
  }

  #passes(a: number, b: number, orEqual: boolean): boolean {
    const threshold = this.#threshold;
    if (!this.#measure(a, b)) return orEqual ? threshold <= 0 : threshold < 0;
    const centreTerm = this.#centreTerm;
    const shapeRatio = this.#shapeRatio;
    // Decide most pairs without a logarithm: for s = shapeRatio, 0 <= ln(s) <= s - 1. The 1e-9 is for rounding.
    if (shapeRatio >= 1) {
      if (centreTerm > this.#limit + 1e-9) return false;
      if (centreTerm + (shapeRatio - 1) / 2 < this.#limit - 1e-9) return true;
    }
    const overlap = overlapAt(centreTerm, shapeRatio);
    return orEqual ? overlap >= threshold : overlap > threshold;
  }

  /** Measures the overlap of two boxes. Returns false if the boxes are too far apart to overlap. */
  #measure(a: number, b: number): boolean {
    const g = this.#gaussians;
    const i = a * 7;
    const j = b * 7;
    const dx = g[i] - g[j];
    const dy = g[i + 1] - g[j + 1];
    if (dx * dx + dy * dy > this.#farRatio * (g[i + 6] + g[j + 6]) + this.#farRatio * LITTLE) return false;
    const xx = g[i + 2] + g[j + 2];
    const yy = g[i + 3] + g[j + 3];
    const xy = g[i + 4] + g[j + 4];
    // Use at least 0: by rounding, boxes without area can have a determinant just below 0, whose logarithm is NaN.
    const determinant = Math.max(0, xx * yy - xy * xy);
    this.#centreTerm = ((xx * dy * dy + yy * dx * dx) / 4 - (xy * dx * dy) / 2) / (determinant + LITTLE);
    this.#shapeRatio = determinant / (4 * (g[i + 5] * g[j + 5]) + LITTLE) + LITTLE;
    return true;
  }
}

function overlapAt(centreTerm: number, shapeRatio: number): number {
  // Calculate e^-distance. The distance is centreTerm + ln(shapeRatio) / 2, and at least LITTLE.
  const alike = exp(-centreTerm) / Math.sqrt(shapeRatio);
  return 1 - Math.sqrt(1 - (alike > NEARLY_ONE ? NEARLY_ONE : alike) + LITTLE);
}

/** Polygon IoU: intersection / union of the areas of two boxes. */
export class PolygonIou implements Overlaps {
  radii = new Float64Array(0);
  /** 13 values per box: four corners in order; left, top, right, bottom of the upright box around them; the area. */
  #boxes = new Float64Array(0);
  #threshold = 0;
  /**
   * The polygon before and after a clip: x, y of each corner. A clip normally adds at most one corner. If sides of both
   * boxes lie on one line, rounding puts corners on either side of the line, and every second corner may become two:
   * four corners become 6, 9, 13 and 19. 64 is more than enough.
   */
  #polygon = new Float64Array(2 * 64);
  #clipped = new Float64Array(2 * 64);

  read(boxes: ArrayLike<number>, n: number, threshold: number): void {
    this.#threshold = threshold;
    if (this.radii.length < n) {
      this.radii = new Float64Array(n);
      this.#boxes = new Float64Array(n * 13);
    }
    const all = this.#boxes;
    for (let i = 0; i < n; i++) {
      const row = i * ORIENTED_WIDTH;
      const x = boxes[row];
      const y = boxes[row + 1];
      const width = boxes[row + 2];
      const height = boxes[row + 3];
      writeCosSin(boxes[row + 4], cosSin);
      const cos = cosSin[0];
      const sin = cosSin[1];
      const ax = (width / 2) * cos;
      const ay = (width / 2) * sin;
      const bx = (-height / 2) * sin;
      const by = (height / 2) * cos;
      const at = i * 13;
      all[at] = ax + bx + x;
      all[at + 1] = ay + by + y;
      all[at + 2] = bx - ax + x;
      all[at + 3] = by - ay + y;
      all[at + 4] = -ax - bx + x;
      all[at + 5] = -ay - by + y;
      all[at + 6] = ax - bx + x;
      all[at + 7] = ay - by + y;
      const halfWidth = Math.abs(ax) + Math.abs(bx);
      const halfHeight = Math.abs(ay) + Math.abs(by);
      all[at + 8] = x - halfWidth;
      all[at + 9] = y - halfHeight;
      all[at + 10] = x + halfWidth;
      all[at + 11] = y + halfHeight;
      all[at + 12] = Math.abs(width * height);
      this.radii[i] = (Math.hypot(width, height) / 2) * (1 + LITTLE);
    }
  }

  of(a: number, b: number): number {
    const all = this.#boxes;
    const i = a * 13;
    const j = b * 13;
    const width = Math.min(all[i + 10], all[j + 10]) - Math.max(all[i + 8], all[j + 8]);
    const height = Math.min(all[i + 11], all[j + 11]) - Math.max(all[i + 9], all[j + 9]);
    if (width < 0 || height < 0) return 0;
    const areas = all[i + 12] + all[j + 12];
    // Use a quick upper bound of the shared area: the area that the upright boxes share, or a box's area if smaller.
    const most = Math.min(width * height, all[i + 12], all[j + 12]) * (1 + LITTLE);
    // Skip boxes without area: they have no sides to clip with.
    if (most === 0 || most < this.#threshold * (areas - most)) return 0;
    const both = this.#sharedArea(i, j);
    const union = areas - both;
    return union > 0 ? both / union : 0;
  }

  anyPasses(
    better: number,
    before: Int32Array,
    i: number,
    classIds: ArrayLike<number> | null,
    orEqual: boolean,
  ): boolean {
    for (; better >= 0; better = before[better])
      if (classIds === null || classIds[better] === classIds[i]) {
        const overlap = this.of(better, i);
        if (orEqual ? overlap >= this.#threshold : overlap > this.#threshold) return true;
      }
    return false;
  }

  /** Returns the area that two boxes share. Clips one box by each side of the other (Sutherland and Hodgman). */
  #sharedArea(a: number, b: number): number {
    let p = this.#polygon;
    let q = this.#clipped;
    for (let k = 0; k < 8; k++) p[k] = this.#boxes[a + k];
    let n = 4;
    for (let side = 0; side < 8 && n > 0; side += 2) {
      n = this.#clip(p, q, n, b + side, b + ((side + 2) & 7));
      const swap = p;
      p = q;
      q = swap;
    }
    // Measure from a corner of the polygon: far from 0, rounding would distort the products.
    const x = p[0];
    const y = p[1];
    let twice = 0;
    for (let i = 4; i < n * 2; i += 2) twice += (p[i - 2] - x) * (p[i + 1] - y) - (p[i] - x) * (p[i - 1] - y);
    return Math.abs(twice) / 2;
  }

  /** Clips the polygon `p` of n corners by the line through two corners of a box. Returns the count of corners left. */
  #clip(p: Float64Array, clipped: Float64Array, n: number, from: number, to: number): number {
    const corners = this.#boxes;
    const x = corners[from];
    const y = corners[from + 1];
    const sideX = corners[to] - x;
    const sideY = corners[to + 1] - y;
    let count = 0;
    let px = p[n * 2 - 2];
    let py = p[n * 2 - 1];
    let before = sideX * (py - y) - sideY * (px - x);
    for (let i = 0; i < n; i++) {
      const qx = p[i * 2];
      const qy = p[i * 2 + 1];
      const here = sideX * (qy - y) - sideY * (qx - x);
      if (before >= 0 !== here >= 0) {
        const part = before / (before - here);
        clipped[count] = px + part * (qx - px);
        clipped[count + 1] = py + part * (qy - py);
        count += 2;
      }
      if (here >= 0) {
        clipped[count] = qx;
        clipped[count + 1] = qy;
        count += 2;
      }
      px = qx;
      py = qy;
      before = here;
    }
    return count >> 1;
  }
}
