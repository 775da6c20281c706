/**
 * Arrays over one memory, one for each element type that masks need.
 *
 * Only here: the whole file. A kernel loads any type from its memory.
 */
export interface MaskMemory {
  readonly u8: Uint8Array;
  readonly i8: Int8Array;
  readonly u16: Uint16Array;
  readonly i16: Int16Array;
  readonly i32: Int32Array;
  readonly f32: Float32Array;
}

export const maskMemoryOf = (buffer: ArrayBuffer): MaskMemory => ({
  u8: new Uint8Array(buffer),
  i8: new Int8Array(buffer),
  u16: new Uint16Array(buffer),
  i16: new Int16Array(buffer),
  i32: new Int32Array(buffer),
  f32: new Float32Array(buffer),
});
