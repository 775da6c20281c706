/**
 * Arrays over one memory, one for each element type that pictures need.
 *
 * Only here: the whole file. A kernel loads any type from its memory.
 */
export interface PixelMemory {
  readonly u8: Uint8Array;
  readonly i16: Int16Array;
  readonly i32: Int32Array;
  readonly f32: Float32Array;
}

export const pixelMemoryOf = (buffer: ArrayBuffer): PixelMemory => ({
  u8: new Uint8Array(buffer),
  i16: new Int16Array(buffer),
  i32: new Int32Array(buffer),
  f32: new Float32Array(buffer),
});
