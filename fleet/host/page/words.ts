/** Figures as words. */

const UNITS = [
  ["s", 1000],
  ["min", 60_000],
  ["h", 3_600_000],
  ["days", 86_400_000],
] as const;

/** Returns a time in the largest unit of which it has ten: photos of a folder may be years old. */
export function duration(milliseconds: number): string {
  const unit = UNITS.findLast(([, size]) => Math.abs(milliseconds) >= 10 * size);
  if (!unit) return `${milliseconds.toFixed(Math.abs(milliseconds) < 10 ? 2 : 0)} ms`;
  const [name, size] = unit;
  return `${(milliseconds / size).toFixed(name === "s" ? 1 : 0)} ${name}`;
}

/** Returns rows of a description list. */
export function listOf(values: Readonly<Record<string, string | number>>): HTMLElement[] {
  return Object.entries(values).map(([name, value]) => {
    const row = document.createElement("div");
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    text.textContent = String(value);
    row.append(term, text);
    return row;
  });
}
