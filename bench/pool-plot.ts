/**
 * Draws the memory of a load on a pool, second by second, as SVG:
 *
 *     node --import ./bench/ts.mjs --no-warnings bench/pool-plot.ts LOAD.ndjson docs/pool-load.svg
 *
 * `bench/pool-load.ts --out` writes LOAD.ndjson.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { runScript } from "./options.ts";

interface Second {
  readonly type: string;
  readonly second: number;
  /** Resident memory in MB. */
  readonly memory: number;
}

const [WIDTH, HEIGHT] = [720, 300];
const AREA = { left: 56, top: 16, right: 60, bottom: 40 };
const COLOURS = ["#1f77b4", "#d62728", "#2ca02c"];

/** Returns a step of 1, 2 or 5 times a power of ten that gives at most six lines. */
function stepOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most / 6));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => most / step <= 6) ?? most;
}

function plot(seconds: readonly Second[]): string {
  const types = [...new Set(seconds.map(({ type }) => type))];
  const longest = Math.max(...seconds.map(({ second }) => second));
  const most = Math.max(...seconds.map(({ memory }) => memory));
  const x = (second: number): string =>
    (AREA.left + (second / longest) * (WIDTH - AREA.left - AREA.right)).toFixed(1);
  const y = (memory: number): string =>
    (HEIGHT - AREA.bottom - (memory / most) * (HEIGHT - AREA.top - AREA.bottom)).toFixed(1);
  const marks = (upTo: number): number[] => {
    const step = stepOf(upTo);
    return Array.from({ length: Math.floor(upTo / step) + 1 }, (_, i) => i * step);
  };
  const lines = types.map((type, i) => {
    const own = seconds.filter((s) => s.type === type);
    const points = own.map(({ second, memory }) => `${x(second)},${y(memory)}`).join(" ");
    const last = own[own.length - 1];
    return (
      `<polyline fill="none" stroke="${COLOURS[i]}" stroke-width="1.5" points="${points}"/>` +
      `<text x="${x(last.second)}" y="${y(last.memory)}" dx="6" dy="4" fill="${COLOURS[i]}">${type}</text>`
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    ...marks(most).map(
      (mb) =>
        `<path d="M${x(0)} ${y(mb)}H${x(longest)}" stroke="#ddd"/>` +
        `<text x="${x(0)}" y="${y(mb)}" dx="-6" dy="4" text-anchor="end">${mb}</text>`,
    ),
    ...marks(longest).map(
      (s) => `<text x="${x(s)}" y="${HEIGHT - AREA.bottom}" dy="16" text-anchor="middle">${s}</text>`,
    ),
    `<text x="${x(longest / 2)}" y="${HEIGHT - 6}" text-anchor="middle">seconds; resident memory in MB</text>`,
    ...lines,
    "</svg>\n",
  ].join("\n");
}

await runScript(async () => {
  const [load, out] = process.argv.slice(2);
  if (!load || !out) throw new Error("Say two files: what pool-load.ts --out wrote, and the SVG to write.");
  const seconds = readFileSync(load, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Second)
    // Use every tenth second: memory changes slowly, and this keeps the file small.
    .filter(({ second }) => second % 10 === 1);
  writeFileSync(out, plot(seconds));
});
