/** Rows of text as columns: numbers to the right, words to the left. */
export function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  // Names come from files: what would move the cursor, or turn the direction of writing, is not for a terminal.
  const rows = lines.map((cells) =>
    cells.map((c) => c.replace(/\p{Cc}|\p{Bidi_Control}|[\u2028\u2029]/gu, "\ufffd")),
  );
  const widths = head.map((h, i) => Math.max(...[h, ...rows.map((r) => r[i])].map(widthOf)));
  const right = head.map((_, i) => rows.length > 0 && rows.every((r) => /^-?[\d.]*$/.test(r[i])));
  const line = (cells: readonly string[]) =>
    cells
      .map((c, i) => {
        const pad = " ".repeat(widths[i] - widthOf(c));
        return right[i] ? pad + c : c + pad;
      })
      .join("  ")
      .trimEnd();
  return [head, ...rows].map((cells) => `${line(cells)}\n`).join("");
}

/** Columns on a terminal: East Asian wide characters take two. */
const widthOf = (text: string): number =>
  [...text].reduce(
    (n, c) =>
      n +
      (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{3fffd}]/u.test(
        c,
      )
        ? 2
        : 1),
    0,
  );
