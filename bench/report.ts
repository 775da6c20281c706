/** The report: plain data, a chart of it as SVG, and a page with both. */
import type { Measured } from "./child.ts";
import type { Column } from "./engines.ts";
import type { Target } from "./targets.ts";
import type { WorkloadSpec } from "./workloads.ts";

export interface Row extends Column, Measured {
  readonly toNative?: number;
  readonly toReadOnce?: number;
  readonly target?: Target;
  readonly met?: boolean;
}

export interface WorkloadReport extends WorkloadSpec {
  readonly bytes: number;
  /** Microseconds: every element loaded once; a plain copy of the tensors. */
  readonly readOnce?: number;
  readonly copy?: number;
  readonly simd?: number;
  readonly rows: readonly Row[];
}

export interface Report {
  readonly made: string;
  readonly command: string;
  readonly machine: {
    readonly cpu: string;
    readonly arch: string;
    readonly platform: string;
    readonly node: string;
  };
  readonly rounds: number;
  readonly milliseconds: number;
  readonly workloads: WorkloadReport[];
}

export const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] as string);

export const short = (us: number): string =>
  us >= 1e6
    ? `${(us / 1e6).toPrecision(3)} s`
    : us >= 1000
      ? `${(us / 1000).toPrecision(3)} ms`
      : `${us.toPrecision(3)} us`;

/**
 * Ours in one hue, the yardstick black, everything else grey to orange: colour says whose it is, the label
 * which.
 */
const COLOURS: Readonly<Record<string, string>> = {
  native: "#222222",
  simd: "#0b6e4f",
  scalar: "#3d9a75",
  ts: "#84c7a6",
  "js-best": "#c98a1b",
  "js-typical": "#e0b66a",
  "ort-node": "#7a8794",
  "ort-web": "#98a4ae",
  "ort-node-multi": "#b3bcc4",
  "ort-web-multi": "#c8cfd5",
  tfjs: "#b5651d",
};

const BAR = 13;
const LEFT = 190;
const PLOT = 560;
const RIGHT = 150;

/** Horizontal bars on a logarithmic axis, one group per workload; the dashed line is the read-once limit. */
export function chartOf({ workloads, machine, made }: Report): string {
  const values = workloads.flatMap(({ rows }) => rows.flatMap(({ median }) => median ?? []));
  const low = Math.floor(Math.log10(Math.min(...values, 10)));
  const high = Math.ceil(Math.log10(Math.max(...values, 100)));
  const x = (us: number): number => LEFT + (PLOT * (Math.max(low, Math.log10(us)) - low)) / (high - low);
  const parts: string[] = [];
  let y = 56;
  for (const { title, rows, readOnce } of workloads) {
    const shown = rows.filter(({ status }) => status === "ok");
    const top = y + 20;
    parts.push(`<text x="12" y="${y + 12}" font-weight="600">${escape(title)}</text>`);
    for (let power = low; power <= high; power++) {
      const at = x(10 ** power).toFixed(1);
      parts.push(`<line x1="${at}" x2="${at}" y1="${top}" y2="${top + shown.length * BAR}" stroke="#ddd"/>`);
    }
    y = top;
    for (const { engine, mode, median = 0 } of shown) {
      const ours = ["simd", "scalar", "ts"].includes(engine);
      const label = ours ? `${engine}, ${mode === "resident" ? "in its slot" : "from an array"}` : engine;
      parts.push(
        `<text x="${LEFT - 6}" y="${y + 10}" text-anchor="end">${label}</text>`,
        `<rect x="${LEFT}" y="${y + 1}" width="${Math.max(1, x(median) - LEFT).toFixed(1)}" height="${BAR - 3}" fill="${COLOURS[engine] ?? "#999"}"${ours && mode === "array" ? ' fill-opacity="0.65"' : ""}/>`,
        `<text x="${(x(median) + 5).toFixed(1)}" y="${y + 10}">${short(median)}</text>`,
      );
      y += BAR;
    }
    if (readOnce !== undefined && readOnce >= 10 ** low) {
      const at = x(readOnce).toFixed(1);
      parts.push(`<line x1="${at}" x2="${at}" y1="${top}" y2="${y}" stroke="#c00" stroke-dasharray="3 2"/>`);
    }
    y += 14;
  }
  const width = LEFT + PLOT + RIGHT;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y + 4}" viewBox="0 0 ${width} ${y + 4}" font-family="system-ui, sans-serif" font-size="11" fill="#222">
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="20" font-size="14" font-weight="600">Time per decode, logarithmic axis: shorter is better</text>
<text x="12" y="38" fill="#555">${escape(`${machine.cpu}, ${machine.arch}, Node ${machine.node}, one thread, ${made.slice(0, 10)}. Dashed: every byte read once.`)}</text>
${parts.join("\n")}
</svg>
`;
}

export function pageOf(report: Report): string {
  const cell = (value: unknown): string => `<td>${escape(String(value ?? ""))}</td>`;
  const tables = report.workloads.map(({ title, rows, readOnce, copy }) => {
    const lines = rows.map((row) =>
      row.status === "ok"
        ? `<tr>${[
            row.engine,
            row.mode,
            short(row.median ?? 0),
            short(row.min ?? 0),
            short(row.p90 ?? 0),
            row.toNative?.toFixed(2),
            row.toReadOnce?.toFixed(2),
            row.count,
            row.other
              ? `${row.digest} (other question)`
              : row.digest === row.expected
                ? row.digest
                : `${row.digest} MISMATCH`,
            row.target === undefined ? "" : `${row.target.text}: ${row.met ? "met" : "not met"}`,
          ]
            .map(cell)
            .join("")}</tr>`
        : `<tr>${cell(row.engine)}${cell(row.mode)}<td colspan="8">${escape(`${row.status}: ${row.reason}`)}</td></tr>`,
    );
    const head = [
      "engine",
      "mode",
      "median",
      "min",
      "p90",
      "x native",
      "x read-once",
      "found",
      "digest",
      "target",
    ];
    const note =
      readOnce === undefined ? "" : `<p>Read once ${short(readOnce)}, copy ${short(copy ?? 0)}.</p>`;
    return `<h2>${escape(title)}</h2>${note}<table><tr>${head.map((h) => `<th>${h}</th>`).join("")}</tr>${lines.join("\n")}</table>`;
  });
  const { machine, command, rounds, milliseconds } = report;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>boxwright benchmark</title>
<style>body{font:14px system-ui,sans-serif;margin:2rem;max-width:70rem}table{border-collapse:collapse}td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}td:first-child,td:nth-child(2){text-align:left}svg{max-width:100%;height:auto}</style>
<h1>boxwright benchmark</h1>
<p>${escape(`${machine.cpu}, ${machine.arch}, ${machine.platform}, Node ${machine.node}. ${report.made}. Least disturbed of ${rounds} round(s), ${milliseconds} ms each, one process per row.`)} Made by <code>${escape(command)}</code>.</p>
${chartOf(report)}
${tables.join("\n")}
</html>
`;
}
