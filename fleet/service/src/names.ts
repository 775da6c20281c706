/**
 * Suggests the name that a misspelt name probably means. The package boxwright has a stricter finder, which also knows
 * names of other projects. The package does not export this finder.
 */

/** Returns the edit distance: how many letters must be added, removed, changed or swapped with their neighbour. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity;
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, change, swap));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

const plain = (name: string): string => name.toLowerCase().replace(/[-_]/g, "");

/** Returns the nearest name: at most a third of its letters differ, or it starts with the given text. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const short = plain(given).slice(0, 64);
  const ranked = names.map((name) => ({ name, steps: distance(short, plain(name)) }));
  const [best] = ranked.sort((a, b) => a.steps - b.steps);
  if (best !== undefined && best.steps <= Math.max(1, Math.floor(plain(best.name).length / 3))) return best.name;
  return short.length < 4 ? undefined : names.find((name) => plain(name).startsWith(short));
}

/** Returns ". Did you mean NAME?", or the list of names if none is near. */
export function meantBy(given: string, names: readonly string[], prefix = ""): string {
  const meant = nearest(given, names);
  return meant === undefined
    ? `, expected one of ${names.map((name) => prefix + name).join(", ")}`
    : `. Did you mean ${prefix}${meant}?`;
}
