/** Converts boxes to corners, the form that suppression uses. */
import type { SuppressBoxFormat } from "./suppression.ts";

/** Writes the box at `from` as corners to `corners` at `to`. The two corners in `boxes` may come in either order. */
export function writeCorners(
  corners: Float32Array | Float64Array,
  to: number,
  boxes: ArrayLike<number>,
  from: number,
  format: SuppressBoxFormat,
): void {
  let a = boxes[from];
  let b = boxes[from + 1];
  let c = boxes[from + 2];
  let d = boxes[from + 3];
  if (format === "yxyx") {
    const y = a;
    a = b;
    b = y;
    const y2 = c;
    c = d;
    d = y2;
  } else if (format !== "xyxy") {
    if (format === "cxcywh") {
      a -= c / 2;
      b -= d / 2;
    }
    c += a;
    d += b;
  }
  corners[to] = Math.min(a, c);
  corners[to + 1] = Math.min(b, d);
  corners[to + 2] = Math.max(a, c);
  corners[to + 3] = Math.max(b, d);
}
