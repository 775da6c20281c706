/**
 * Whether an object has a key of its own: names in files may be "constructor" or "toString".
 * `Object.hasOwn` would do, but some of the small engines this runs on do not have it.
 */
export function hasOwn(o: object, key: string): boolean {
  return Object.prototype.hasOwnProperty.call(o, key);
}
