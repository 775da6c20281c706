/** Names that people misspell. */

/** Returns a name without case, hyphens, underscores and blanks. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[-_ ]/g, "");

/** True if two plain names are equal, or one letter is wrong, missing or too many, or two neighbours are swapped. */
export function isNearly(a: string, b: string): boolean {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  const [x, y] = [a.slice(i), b.slice(i)];
  const [restOfX, restOfY] = [x.slice(1), y.slice(1)];
  const isSwapped = x.length > 1 && x[0] === y[1] && x[1] === y[0] && x.slice(2) === y.slice(2);
  return restOfX === y || x === restOfY || restOfX === restOfY || isSwapped;
}

/** Returns the name that a misspelt one means, undefined if there is none. */
export const nearestName = (name: string, names: readonly string[]): string | undefined =>
  names.find((known) => isNearly(plainName(name), plainName(known)));

/** Returns the names for an error about an unknown one: `one of a, b, c; did you mean b?` */
export function namesFor(unknown: string, names: readonly string[]): string {
  const meant = nearestName(unknown, names);
  return `one of ${names.join(", ")}${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}
