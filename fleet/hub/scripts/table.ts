/** Prints rows as a table with aligned columns. The first row is the head. */
export function table(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  for (const row of rows) console.log("  " + row.map((cell, i) => cell.padEnd(widths[i]!)).join("  "));
}
