/** Freezing of values that several callers hold. */

/** Freezes a value and all that it holds, but for typed arrays, which cannot be frozen. */
export function deepFreeze<const T>(x: T): T {
  if (typeof x === "object" && x !== null && !ArrayBuffer.isView(x)) {
    Object.values(x).forEach(deepFreeze);
    Object.freeze(x);
  }
  return x;
}
