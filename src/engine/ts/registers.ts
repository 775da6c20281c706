/**
 * Numbers on their way from one function to another. V8 may make a heap object of a double that is an argument or a
 * result, unless it inlines the call. A number in a typed array never becomes an object.
 *
 * Only here: the whole file. WebAssembly hands numbers over without objects.
 */

/** f32 registers: the four channels of a box at 0 to 3, then the places named below. */
export const scratch32 = new Float32Array(7);
/** The same registers as bits. */
export const scratch32Bits = new Int32Array(scratch32.buffer);
export const OBJECTNESS = 4;
export const SCORE = 5;
/** The largest logit of a softmax. */
export const TOP_LOGIT = 6;

/** f64 registers: argument and result of `exp` at 0, then the place named below. */
export const scratch64 = new Float64Array(2);
/** The sum of the exponentials of a softmax. */
export const SUM = 1;
