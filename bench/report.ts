/** The report: plain data, a chart of it as SVG, and a page with both. */
import type { Measured } from "./child.ts";
import type { Column } from "./engines.ts";
import { captionOf, type Made } from "./results.ts";
import { cellsOf, type Cell } from "./targets.ts";
import type { WorkloadSpec } from "./workloads.ts";

export interface Row extends Column, Measured {
  readonly toNative?: number;
  readonly toReadOnce?: number;
}

export interface WorkloadReport extends WorkloadSpec {
  readonly bytes: number;
  /** Microseconds: every element loaded once; a plain copy of the tensors. */
  readonly readOnce?: number;
  readonly copy?: number;
  readonly rows: readonly Row[];
}

export interface Report extends Made {
  /** Of the files that were measured. */
  readonly build?: string;
  readonly rounds: number;
  readonly milliseconds: number;
  readonly workloads: WorkloadReport[];
}

export const escape = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] as string);

/** Three digits, in the unit that suits: 0.123 us, 12.3 us, 123 us, 1.23 ms, 123 s. */
export function short(us: number): string {
  const digits = (value: number): string => Number(value.toPrecision(3)).toLocaleString("en");
  return us >= 1e6
    ? `${digits(us / 1e6)} s`
    : us >= 1000
      ? `${digits(us / 1000)} ms`
      : `${us < 100 ? Number(us.toPrecision(3)).toString() : us.toFixed(0)} us`;
}

/** What people call an engine. */
export function nameOf({ engine, mode }: Pick<Row, "engine" | "mode">): string {
  const ours = ["simd", "scalar", "ts"].includes(engine);
  return ours
    ? `${engine}, ${mode === "resident" ? "in its slot" : "from an array"}`
    : (NAMES[engine] ?? engine);
}

const NAMES: Readonly<Record<string, string>> = {
  native: "native C++, 128 bit",
  "simd-scan": "simd, scan alone",
  "js-best": "careful JavaScript",
  "js-typical": "usual JavaScript",
  "ort-node": "ONNX Runtime, Node",
  "ort-web": "ONNX Runtime, web",
  "ort-node-multi": "ONNX, Node, multi-label",
  "ort-web-multi": "ONNX, web, multi-label",
  tfjs: "TensorFlow.js, wasm",
};

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

const BAR = 15;
const [LABEL, PLOT, VALUE] = [172, 270, 68];
const PANEL = LABEL + PLOT + VALUE;

interface Axis {
  readonly low: number;
  readonly high: number;
}

/** Rows that belong into a chart: a part of a decode and a question that does not apply do not. */
const charted = ({ rows }: WorkloadReport): readonly Row[] =>
  rows.filter(({ engine, status }) => engine !== "simd-scan" && status !== "n/a");

const panelHeight = (workload: WorkloadReport): number => 58 + BAR * charted(workload).length;

/** Horizontal bars, a red dashed line where every byte has been read once. */
function panel(workload: WorkloadReport, { low, high }: Axis, left: number, top: number): string {
  const x = (us: number): number =>
    left + LABEL + (PLOT * (Math.max(low, Math.log10(us)) - low)) / (high - low);
  const rows = charted(workload);
  const first = top + 24;
  const last = first + BAR * rows.length;
  const parts = [`<text x="${left + 8}" y="${top + 14}" font-weight="600">${escape(workload.title)}</text>`];
  for (let power = low; power <= high; power++) {
    const at = x(10 ** power).toFixed(1);
    parts.push(
      `<line x1="${at}" x2="${at}" y1="${first}" y2="${last}" stroke="#ddd"/>`,
      `<text x="${at}" y="${last + 13}" text-anchor="middle" font-size="10" fill="#666">${short(10 ** power)}</text>`,
    );
  }
  // Numbers come last and with a rim, so that the line does not cross them.
  const numbers: string[] = [];
  rows.forEach((row, i) => {
    const y = first + BAR * i;
    const { engine, mode, median, status } = row;
    parts.push(`<text x="${left + LABEL - 6}" y="${y + 11}" text-anchor="end">${escape(nameOf(row))}</text>`);
    if (median === undefined) {
      parts.push(`<text x="${left + LABEL + 5}" y="${y + 11}" fill="#888">${status}</text>`);
      return;
    }
    const pale = ["simd", "scalar", "ts"].includes(engine) && mode === "array";
    parts.push(
      `<rect x="${left + LABEL}" y="${y + 2}" width="${Math.max(1, x(median) - left - LABEL).toFixed(1)}" height="${BAR - 4}" fill="${COLOURS[engine] ?? "#999"}"${pale ? ' fill-opacity="0.65"' : ""}/>`,
    );
    numbers.push(
      `<text x="${(x(median) + 5).toFixed(1)}" y="${y + 11}" paint-order="stroke" stroke="#fff" stroke-width="3">${short(median)}</text>`,
    );
  });
  const { readOnce } = workload;
  if (workload.kind !== "nms" && readOnce !== undefined && readOnce >= 10 ** low) {
    const at = x(readOnce).toFixed(1);
    parts.push(
      `<line x1="${at}" x2="${at}" y1="${first}" y2="${last}" stroke="#c00" stroke-dasharray="3 2"/>`,
    );
  }
  return [...parts, ...numbers].join("\n");
}

/** Panels in two columns on one axis, on a card of its own so that it can be read on any page. */
export function chartOf(report: Report, only?: readonly string[]): string {
  const shown = report.workloads.filter(({ name }) => only === undefined || only.includes(name));
  const values = shown.flatMap((w) => charted(w).flatMap(({ median }) => median ?? []));
  const axis: Axis = {
    // A little room to the left, so that the shortest bar can be seen.
    low: Math.floor(Math.log10(Math.min(...values, 10) / 1.5)),
    high: Math.ceil(Math.log10(Math.max(...values, 100))),
  };
  const parts: string[] = [];
  let y = 56;
  for (let i = 0; i < shown.length; i += 2) {
    const pair = shown.slice(i, i + 2);
    pair.forEach((workload, column) => parts.push(panel(workload, axis, 10 + column * (PANEL + 10), y)));
    y += Math.max(...pair.map(panelHeight));
  }
  const width = 2 * PANEL + 30;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="11" fill="#222">
<rect x="0.5" y="0.5" width="${width - 1}" height="${y - 1}" rx="6" fill="#fff" stroke="#ccc"/>
<text x="18" y="22" font-size="14" font-weight="600">Time for one decode on one thread: shorter is better, the axis is logarithmic</text>
<text x="18" y="40" fill="#555">${escape(`${captionOf(report)}. ${report.command}. Red: every byte read once.`)}</text>
${parts.join("\n")}
</svg>
`;
}

/** What the digest of a row says. */
export function answerOf({ engine, digest, expected, other }: Row): string {
  if (engine === "simd-scan") return "candidates as defined";
  return `${digest}${other ? " (other question)" : digest === expected ? "" : " MISMATCH"}`;
}

/** A measured cell against its limits, in words. */
export function verdictOf({ measured, limits }: Cell, bar: "required" | "own" | "row"): string {
  const limit = limits.find((l) => l.bar === bar);
  if (limit === undefined) return "";
  if (limit.us === undefined) return `${limit.text}: no yardstick`;
  const verdict = measured === undefined ? "not measured" : limit.met ? "met" : "**not met**";
  return `${limit.text} = ${short(limit.us)}: ${verdict}`;
}

/** The cells as a table: by the native that is required, and by our own. */
export function cellsTable(report: Report, only?: readonly string[]): string[][] {
  const titles = new Map(report.workloads.map(({ name, title }) => [name, title]));
  return [
    [
      "workload",
      "row",
      "measured",
      "limit by the required native, or by another row",
      "limit by our own native",
    ],
    ...cellsOf(report)
      .filter(({ workload }) => only === undefined || only.includes(workload))
      .map((cell) => [
        titles.get(cell.workload) ?? cell.workload,
        nameOf(cell),
        cell.measured === undefined ? "" : short(cell.measured),
        verdictOf(cell, "required") || verdictOf(cell, "row"),
        verdictOf(cell, "own"),
      ]),
  ];
}

export function pageOf(report: Report): string {
  const line = (cells: readonly string[], tag: "td" | "th"): string =>
    `<tr>${cells.map((text) => `<${tag}>${escape(text)}</${tag}>`).join("")}</tr>`;
  const head = ["engine", "median", "min", "p90", "x native", "x read-once", "found", "digest"];
  const tables = report.workloads.map(({ title, rows, readOnce, copy }) => {
    const lines = rows.map((row) => {
      if (row.status !== "ok")
        return `<tr><td>${escape(nameOf(row))}</td><td colspan="7">${escape(`${row.status}: ${row.reason}`)}</td></tr>`;
      return line(
        [
          nameOf(row),
          short(row.median ?? 0),
          short(row.min ?? 0),
          short(row.p90 ?? 0),
          row.toNative?.toFixed(2) ?? "",
          row.toReadOnce?.toFixed(2) ?? "",
          String(row.count),
          answerOf(row),
        ],
        "td",
      );
    });
    const note =
      readOnce === undefined ? "" : `<p>Read once ${short(readOnce)}, copy ${short(copy ?? 0)}.</p>`;
    return `<h2>${escape(title)}</h2>${note}<table>${line(head, "th")}${lines.join("\n")}</table>`;
  });
  const [first, ...cells] = cellsTable(report);
  const plain = (cell: string): string => cell.replaceAll("**", "").replaceAll("`", "");
  const { rounds, milliseconds } = report;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light"><title>boxwright benchmark</title>
<style>body{font:14px system-ui,sans-serif;margin:2rem;max-width:75rem;color:#222;background:#fff}table{border-collapse:collapse}td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}</style>
<h1>boxwright benchmark</h1>
<p>${escape(`${captionOf(report)}. Least disturbed of ${rounds} round(s) or more, ${milliseconds} ms each, one process per row.`)} Made by <code>${escape(report.command)}</code>.</p>
${chartOf(report)}
${tables.join("\n")}
<h2>Numbers to reach</h2>
<table>${line(first, "th")}${cells.map((cell) => line(cell.map(plain), "td")).join("\n")}</table>
</html>
`;
}
