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

/** A gate: an f32, or an integer for all other types. */
// @ts-ignore: decorator
@inline
export function rawGate<K>(head: usize, word: i32): K {
  if (isFloat<K>()) return <K>flt(head, word);
  else return <K>int(head, word);
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

/** Offset of the i-th of the wanted classes, `step` bytes apart, in a list of numbers of classes; without a list, of the i-th of all. */
// @ts-ignore: decorator
@inline
export function classAt(list: usize, i: i32, step: usize): usize {
  return (list != 0 ? <usize>load<u32>(list + ((<usize>i) << 2)) : <usize>i) * step;
}
