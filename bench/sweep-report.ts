/** The sweeps as a chart of panels and as a table. */
import { cliffsOf, exponentOf, steepestOf, type Point, type Step } from "./fit.ts";
import { escape, short } from "./report.ts";
import { captionOf, type Made } from "./results.ts";

export interface Line {
  readonly engine: string;
  readonly points: readonly Point[];
  readonly exponent: number;
  readonly steepest?: Step;
  readonly cliffs: readonly Step[];
}

export interface SweepReport extends Made {
  readonly sweeps: {
    readonly name: string;
    readonly title: string;
    readonly axis: string;
    readonly lines: readonly Line[];
  }[];
}

export const lineOf = (engine: string, points: readonly Point[]): Line => ({
  engine,
  points,
  exponent: exponentOf(points),
  steepest: steepestOf(points),
  cliffs: cliffsOf(points),
});

const COLOURS: Readonly<Record<string, string>> = { simd: "#0b6e4f", scalar: "#b87708", ts: "#3f6296" };

const [WIDTH, HEIGHT] = [340, 240];
const [LEFT, RIGHT, TOP, BOTTOM] = [58, 16, 46, 44];

/** Whole decades that hold all values, at least one. */
function decadesOf(values: readonly number[]): [number, number] {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  return [low, Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9))];
}

function panel({ title, axis, lines }: SweepReport["sweeps"][number], left: number, top: number): string {
  const all = lines.flatMap(({ points }) => points);
  const [x0, x1] = decadesOf(all.map((p) => p.x));
  const [y0, y1] = decadesOf(all.map((p) => p.us));
  const x = (value: number): number =>
    left + LEFT + ((Math.log10(value) - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number =>
    top + HEIGHT - BOTTOM - ((Math.log10(value) - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
  const n = (value: number): string => value.toFixed(1);
  const parts = [`<text x="${left + 10}" y="${top + 16}" font-weight="600">${escape(title)}</text>`];
  for (let p = y0; p <= y1; p++)
    parts.push(
      `<line x1="${n(x(10 ** x0))}" x2="${n(x(10 ** x1))}" y1="${n(y(10 ** p))}" y2="${n(y(10 ** p))}" stroke="#ddd"/>`,
      `<text x="${left + LEFT - 6}" y="${n(y(10 ** p) + 4)}" text-anchor="end">${short(10 ** p)}</text>`,
    );
  for (let p = x0; p <= x1; p++)
    parts.push(
      `<line x1="${n(x(10 ** p))}" x2="${n(x(10 ** p))}" y1="${n(y(10 ** y0))}" y2="${n(y(10 ** y0) + 4)}" stroke="#999"/>`,
      `<text x="${n(x(10 ** p))}" y="${top + HEIGHT - BOTTOM + 17}" text-anchor="middle">${(10 ** p).toLocaleString("en", { notation: "compact" })}</text>`,
    );
  parts.push(
    `<text x="${n(left + (LEFT + WIDTH - RIGHT) / 2)}" y="${top + HEIGHT - BOTTOM + 33}" text-anchor="middle" fill="#555">${escape(axis)}</text>`,
  );
  lines.forEach(({ engine, points, exponent, cliffs }, i) => {
    const colour = COLOURS[engine] ?? "#555";
    const path = points.map((p) => `${n(x(p.x))},${n(y(p.us))}`);
    parts.push(`<polyline points="${path.join(" ")}" fill="none" stroke="${colour}" stroke-width="1.6"/>`);
    points.forEach((p) => {
      // A point that time jumped to is ringed.
      const cliff = cliffs.some(({ to }) => to === p.label);
      parts.push(
        `<circle cx="${n(x(p.x))}" cy="${n(y(p.us))}" r="2.3" fill="${colour}"/>`,
        ...(cliff
          ? [
              `<circle cx="${n(x(p.x))}" cy="${n(y(p.us))}" r="6" fill="none" stroke="#c00" stroke-width="1.5"/>`,
            ]
          : []),
      );
    });
    parts.push(
      `<text x="${left + 10 + 108 * i}" y="${top + 33}" fill="${colour}" font-weight="600">${escape(engine)}: x<tspan dy="-4" font-size="9">${exponent.toFixed(2)}</tspan></text>`,
    );
  });
  return parts.join("\n");
}

/** Panels in three columns, on a card of its own so that it can be read on any page. */
export function sweepsChart(report: SweepReport): string {
  const { sweeps } = report;
  const [width, height] = [3 * WIDTH + 20, 66 + HEIGHT * Math.ceil(sweeps.length / 3)];
  const place = (i: number): [number, number] => [10 + WIDTH * (i % 3), 66 + HEIGHT * Math.floor(i / 3)];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="11" fill="#222">
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6" fill="#fff" stroke="#ccc"/>
<text x="20" y="22" font-size="14" font-weight="600">Time as the work grows; both axes logarithmic; the exponent fitted over all points stands in the legend</text>
<text x="20" y="39" fill="#555">${escape(`${captionOf(report)}. ${report.command}`)}</text>
<text x="20" y="54" fill="#555">A red ring: time grew more than twice as much as the work since the point before.</text>
${sweeps.map((sweep, i) => panel(sweep, ...place(i))).join("\n")}
</svg>
`;
}

/** A row for each sweep and engine. */
export function sweepsTable({ sweeps }: SweepReport): string[][] {
  return [
    ["sweep", "from … to", "engine", "exponent", "first … last", "worst step, time over work", "cliffs"],
    ...sweeps.flatMap(({ title, axis, lines }) =>
      lines.map(({ engine, points, exponent, steepest, cliffs }, i) => [
        i === 0 ? title : "",
        i === 0
          ? `${points[0].label} … ${points.at(-1)?.label} ${axis === "1 / threshold" ? "" : axis}`.trim()
          : "",
        `\`${engine}\``,
        exponent.toFixed(2),
        `${short(points[0].us)} … ${short(points.at(-1)?.us ?? NaN)}`,
        steepest === undefined ? "" : `${steepest.excess.toFixed(2)} (${steepest.from} → ${steepest.to})`,
        cliffs.length === 0 ? "none" : cliffs.map(({ from, to }) => `${from} → ${to}`).join(", "),
      ]),
    ),
  ];
}
