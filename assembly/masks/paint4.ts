/** `paint` with vector instructions. */

/** Writes the labels of a row, eight pixels at a time. Returns the count of pixels done; the caller does the rest. */
export function paint4(from: usize, label: i32, isFree: bool, to: usize, width: i32): i32 {
  const labels = i16x8.splat(<i16>label);
  const none = i16x8.splat(-1);
  let x = 0;
  for (; x + 8 <= width; x += 8) {
    const at = to + (x << 1);
    const before = v128.load(at);
    let isSet = i16x8.neg(i16x8.extend_low_i8x16_u(v128.load64_zero(from + x)));
    if (isFree) isSet = v128.and(isSet, i16x8.eq(before, none));
    v128.store(at, v128.bitselect(labels, before, isSet));
  }
  return x;
}
