/** One linear memory seen as words, floats and bytes. Made once per decoder; it never grows, so no view detaches. */
export interface Memory {
  readonly buffer: ArrayBuffer;
  readonly f32: Float32Array<ArrayBuffer>;
  readonly i32: Int32Array<ArrayBuffer>;
  readonly i16: Int16Array<ArrayBuffer>;
  readonly u16: Uint16Array<ArrayBuffer>;
  readonly i8: Int8Array<ArrayBuffer>;
  readonly u8: Uint8Array<ArrayBuffer>;
}

export function memoryOf(buffer: ArrayBuffer): Memory {
  return {
    buffer,
    f32: new Float32Array(buffer),
    i32: new Int32Array(buffer),
    i16: new Int16Array(buffer),
    u16: new Uint16Array(buffer),
    i8: new Int8Array(buffer),
    u8: new Uint8Array(buffer),
  };
}

/**
 * No word's index is above; where a loop says so, V8 computes `w + 1` without tests for overflow: a third of its time. It stands apart
 * from its users, so that the build writes the number itself: bundlers make a variable of a constant.
 */
export const INDEX = 0x3fffffff;
