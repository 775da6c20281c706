/**
 * Registers: typed arrays that pass numbers between functions. V8 may allocate a heap object for a double argument or
 * result, unless it inlines the call, but never for an element of a typed array.
 *
 * Only here: the whole file. WebAssembly passes numbers without objects.
 */

/** f32 registers: the four channels of a box at 0 to 3, then the named ones below. */
export const scratch32 = new Float32Array(7);
/** The same registers as bits. */
export const scratch32Bits = new Int32Array(scratch32.buffer);
export const OBJECTNESS = 4;
export const SCORE = 5;
/** Register of the largest logit of a softmax. */
export const TOP_LOGIT = 6;

/** f64 registers: argument and result of `exp` at 0, then the named one below. */
export const scratch64 = new Float64Array(2);
/** Register of a softmax's sum of exponentials. */
export const SUM = 1;
