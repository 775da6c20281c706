/** Figures as words. */

export const milliseconds = (value: number): string =>
  Math.abs(value) >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${value.toFixed(value < 10 ? 2 : 0)} ms`;

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
