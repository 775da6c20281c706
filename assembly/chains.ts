/**
 * Chains of kept boxes, and the bound of rounding: nms.ts and nms4.ts share them.
 *
 * Only here: the whole file. The TypeScript engine has one way of suppression, and these lines stand in it.
 */
import { CHAINS } from "../src/core/abi";

/** Slightly below 1, by 2^-22. This is more than the rounding errors of a quotient and of its bound together. */
export const NEARLY_ONE: f32 = 0.99999976;

/**
 * Returns the offset, in the chains, of the chain of a class. The first 256 classes have one each. The upper bits of
 * other class ids choose among the chains too: 50,000 classes with one low byte took 37 times as long without.
 */
// @ts-ignore: decorator
@inline
export function chainOf(classId: i32): usize {
  return (<usize>(((<u32>classId) ^ ((((<u32>classId) >>> 8) * 0x9e3779b1) >>> 24)) & (CHAINS - 1))) << 2;
}
