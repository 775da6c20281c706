import { refuse } from "./errors.ts";

/** The linear memory of a decoder as words and as floats. It never grows, so neither array detaches. */
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

/** Largest allowed memory in bytes. Addresses are signed 32-bit words, and WebAssembly allocates pages of 64 KiB. */
const MOST_BYTES = 0x7fff0000;

/** Throws an error of class `Kind` if a plan needs more memory than is allowed. */
export function checkSize(bytes: number, Kind: new (message: string) => Error): void {
  if (bytes > MOST_BYTES)
    refuse(
      "memory",
      `${bytes} bytes`,
      `at most ${MOST_BYTES}: fewer boxes or classes, or a lower maxDetections`,
      Kind,
    );
}

/**
 * Largest index of a word. `index & INDEX` lets V8 omit an overflow test, which takes a third of a loop's time. With a
 * variable in place of the constant, V8 keeps the test.
 */
export const INDEX = 0x3fffffff;
