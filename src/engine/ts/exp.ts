/** exp and power. Twin of `assembly/exp.ts`, same bits. `core/number.ts` has the steps of exp. */
import { log } from "../../core/exp.ts";
import { expInPlace } from "../../core/number.ts";
import { scratch64 } from "./registers.ts";

/** Replaces x, in the first f64 register, by e^x. */
export function exp(): void {
  expInPlace(scratch64);
}

/** Returns x^y for 0 <= x <= 4 and y > 0. Returns 0 for a negative x; NaN and infinity stay. */
export function power(x: number, y: number): number {
  if (!(x > 0)) return x === x ? 0 : x;
  if (x === Infinity) return x;
  scratch64[0] = y * log(x < 4 ? x : 4);
  exp();
  return scratch64[0];
}
