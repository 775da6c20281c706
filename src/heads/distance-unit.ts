/** Decides if distances are in pixels or strides: mmdetection's RTMDet multiplies by the stride, mmyolo's does not. */
import type { HeadDraft } from "./head.ts";
import type { HeadQuery } from "./query.ts";

/** Unit of distances. */
export type DistanceUnit = "pixels" | "strides";

/** One map of distances and its stride in pixels. */
export interface DistanceMap {
  readonly box: HeadDraft["box"];
  readonly stride: number;
}

/** A typical distance in strides. In trained networks the median lies between a third and three times this value. */
const TYPICAL = 2;

/** Smallest `gap` for a decision. The gap is |log2(median / middle between both units)|. */
const CLEAR = 1;

/** Smallest `gap` for a decision without a note about doubt. */
const CERTAIN = 1.5;

/**
 * Returns the likelier unit of the values, and whether it is certain. Returns `null` if no values are known, or if they
 * lie in the middle between both units.
 */
export function unitByValues(
  { valuesOf }: HeadQuery,
  maps: readonly DistanceMap[],
): { readonly unit: DistanceUnit; readonly isCertain: boolean } | null {
  let sum = 0;
  let told = 0;
  for (const { box, stride } of maps) {
    const values = valuesOf(box.tensor);
    const middle = values && medianOf(values);
    if (!middle) continue;
    // Compare with the middle between TYPICAL strides and TYPICAL pixels, on a logarithmic scale.
    sum += Math.log2(middle / (TYPICAL * Math.sqrt(stride)));
    told++;
  }
  const gap = Math.abs(sum / told);
  if (told === 0 || gap < CLEAR) return null;
  return { unit: sum > 0 ? "pixels" : "strides", isCertain: gap >= CERTAIN };
}

/** Largest count of values to sort. The median of that many samples is as reliable as that of all values. */
const MOST = 4095;

/** Returns the median of the absolute values above zero, or 0. Samples large maps. */
function medianOf(values: ArrayLike<number>): number {
  const sizes = Float64Array.from(values, Math.abs).filter((x) => x > 0 && x < Infinity);
  // Take an odd step: an even step would never sample some of the four distances of a cell.
  const step = Math.ceil(sizes.length / MOST) | 1;
  const some = step > 1 ? sizes.filter((_, i) => i % step === 0) : sizes;
  some.sort();
  return some.length === 0 ? 0 : some[some.length >> 1];
}
