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

/** One more. */
// @ts-ignore: decorator
@inline
export function increment(at: usize, word: i32): void {
  setInt(at, word, int(at, word) + 1);
}

// Where there is no instruction for it, the library's own fill and copy are as large as the sort.

/** Zeroes from `at`, whole u64s, until `bytes` are covered. */
export function clear(at: usize, bytes: usize): void {
  for (const end = at + bytes; at < end; at += 8) store<u64>(at, 0);
}

/** Copies `bytes`, a multiple of 4, to a place that does not overlap. */
export function copy(to: usize, from: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 4) store<u32>(to + i, load<u32>(from + i));
}
