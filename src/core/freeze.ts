/** Freezes values that several callers share. */

/** Freezes a value and everything in it, except typed arrays, which cannot be frozen. */
export function deepFreeze<const T>(x: T): T {
  if (typeof x === "object" && x !== null && !ArrayBuffer.isView(x)) {
    Object.values(x).forEach(deepFreeze);
    Object.freeze(x);
  }
  return x;
}
