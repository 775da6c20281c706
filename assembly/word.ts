/**
 * Loads and stores words of the plan. `at` is the byte address of a plan block or head record, `word` is an index of
 * `src/core/abi.ts`.
 *
 * Only here: the whole file. The TypeScript engine indexes typed arrays.
 */

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

/** Returns a raw threshold: an f32, or an integer key for all other types. */
// @ts-ignore: decorator
@inline
export function loadThreshold<K>(at: usize, word: i32): K {
  if (isFloat<K>()) return <K>flt(at, word);
  else return <K>int(at, word);
}

/** Adds 1 to a word. */
// @ts-ignore: decorator
@inline
export function increment(at: usize, word: i32): void {
  setInt(at, word, int(at, word) + 1);
}

// The scalar kernel has no bulk-memory instructions, and AssemblyScript's own fill and copy are as large as the sort.

/** Clears `bytes` from `at` on, rounded up to whole u64. */
export function clear(at: usize, bytes: usize): void {
  for (const end = at + bytes; at < end; at += 8) store<u64>(at, 0);
}

/** Copies `bytes`, a multiple of 4, from one place to another. The two must not overlap. */
export function copy(to: usize, from: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 4) store<u32>(to + i, load<u32>(from + i));
}
