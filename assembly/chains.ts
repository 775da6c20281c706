/**
 * Chains of kept boxes, and the bound for rounding, both for nms.ts and nms4.ts.
 *
 * Only here: the whole file. The TypeScript engine has a single suppression, which contains these lines.
 */
import { CHAINS } from "../src/core/abi";

/** Slightly below 1, by 2^-22. This is more than the rounding errors of a quotient and of its bound together. */
export const NEARLY_ONE: f32 = 0.99999976;

/**
 * Returns the offset of a class's chain in the chains. The first 256 classes have a chain each. For other class ids the
 * upper bits take part in the choice: without them, 50,000 classes with equal low bytes took 37 times as long.
 */
// @ts-ignore: decorator
@inline
export function chainOf(classId: i32): usize {
  return (<usize>(((<u32>classId) ^ ((((<u32>classId) >>> 8) * 0x9e3779b1) >>> 24)) & (CHAINS - 1))) << 2;
}
