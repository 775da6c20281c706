/** Prints the sections in the terminal. */
import { time, verdict } from "./table.mjs";

/** Limit of printed problems for each picture. */
const SHOWN = 5;

export function printSection({ title, what }) {
  console.log(`\n== ${title} ==\n${wrapped(what)}`);
}

export function printShot(shot) {
  const { title, head, rows, runs, problems, note } = shot;
  console.log(`\n${title}`);
  const lines = [head, ...(rows.length > 0 ? rows : [["(nothing)"]])];
  const widths = head.map((_, i) => Math.max(...lines.map((row) => (row[i] ?? "").length)));
  for (const row of lines)
    console.log(
      `  ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  ")}`,
    );
  console.log(`  time: ${runs.map(({ engine, us }) => `${engine} ${time(us)}`).join(", ")}`);
  console.log(`  ${verdict(shot)}`);
  for (const problem of problems.slice(0, SHOWN)) console.log(`    ${problem}`);
  if (problems.length > SHOWN) console.log(`    and ${problems.length - SHOWN} more`);
  if (note) console.log(wrapped(note, "  "));
}

/** Returns a text wrapped at 110 columns. */
function wrapped(text, indent = "") {
  const lines = [indent];
  for (const word of text.split(" ")) {
    if (lines.at(-1).length + word.length > 108) lines.push(indent);
    lines[lines.length - 1] += (lines.at(-1) === indent ? "" : " ") + word;
  }
  return lines.join("\n");
}
