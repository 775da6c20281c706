import { refuse } from "./errors.ts";

/** One linear memory seen as words and floats. Made once per decoder; it never grows, so no view detaches. */
export interface Memory {
  readonly buffer: ArrayBuffer;
  readonly f32: Float32Array<ArrayBuffer>;
  readonly i32: Int32Array<ArrayBuffer>;
}

export function memoryOf(buffer: ArrayBuffer): Memory {
  return {
    buffer,
    f32: new Float32Array(buffer),
    i32: new Int32Array(buffer),
  };
}

/** Addresses are signed words of the image, and memory comes in whole pages. */
const MOST_BYTES = 0x7fff0000;

/** Throws where an image is larger than any memory. */
export function checkSize(bytes: number, Kind: new (message: string) => Error): void {
  if (bytes > MOST_BYTES)
    refuse("memory", `${bytes} bytes`, `at most ${MOST_BYTES}: fewer boxes, or a lower maxDetections`, Kind);
}

/**
 * The largest index of a word. Where a loop masks its index with it, V8 leaves out the tests for overflow of `w + 1`, a third of the
 * loop's time. In a file of its own, so that the build writes the number where it is used: bundlers would make a variable of it.
 */
export const INDEX = 0x3fffffff;
