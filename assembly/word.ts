/** Loads and stores of plan words: `at` is the byte address of a block or record, `word` an offset from abi.ts. */

// @ts-ignore: decorator
@inline
export function int(at: usize, word: i32): i32 {
  return load<i32>(at + ((<usize>word) << 2));
}

// @ts-ignore: decorator
@inline
export function ptr(at: usize, word: i32): usize {
  return <usize>load<u32>(at + ((<usize>word) << 2));
}

// @ts-ignore: decorator
@inline
export function flt(at: usize, word: i32): f32 {
  return load<f32>(at + ((<usize>word) << 2));
}

// @ts-ignore: decorator
@inline
export function setInt(at: usize, word: i32, value: i32): void {
  store<i32>(at + ((<usize>word) << 2), value);
}
