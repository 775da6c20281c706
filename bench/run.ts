/**
 * The benchmark: every workload x every engine, each in a fresh process, with digests that prove equal
 * results.
 *
 *   npm run bench -- [--quick] [--only v8,nms] [--engines native,simd,ts] [--rounds 3] [--time 700]
 *                    [--append] [--again] [--publish] [--out DIR] [--help]
 *
 * `--append` adds to the report that stands there already, so that a long run can be made in pieces; `--again`
 * measures once more what was disturbed in that report, of the same build and machine, and the least disturbed stays;
 * `--publish` writes what the reports hold into README.md, docs/performance.md and the charts beside it.
 * Exits 1 when two rows of a workload found different boxes, or a row failed. A peer that is not installed,
 * and the native reference where there is no compiler, are reported as missing.
 */
import { execFile } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import type { Measured } from "./child.ts";
import { COLUMNS, type Column } from "./engines.ts";
import { compileNative, runNative, type NativeResult } from "./native.ts";
import { publish } from "./publish.ts";
import {
  answerOf,
  cellsTable,
  chartOf,
  pageOf,
  type Report,
  type Row,
  type WorkloadReport,
} from "./report.ts";
import { appended, buildOf, load, machineOf, reportFolder, save, usageOf } from "./results.ts";
import { cellsOf, NATIVE_TO_READ_ONCE, tally } from "./targets.ts";
import { loadWorkload, WORKLOADS, type WorkloadSpec } from "./workloads.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    engines: { type: "string" },
    rounds: { type: "string" },
    time: { type: "string" },
    append: { type: "boolean", default: false },
    again: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
    publish: { type: "boolean", default: false },
    out: { type: "string", default: reportFolder },
  },
});
if (values.help) {
  console.log(usageOf(here("./run.ts")));
  process.exit();
}
const append = values.append || values.again;
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
const furtherRounds = values.quick ? 0 : rounds;
const time = Number(values.time ?? (values.quick ? 250 : 700));
const wanted = values.engines?.split(",");
const only = values.only?.split(",");
/** A name, or its beginning up to a sign: "v8" is v8@.25 and v8-f16@.25, and "nms-100" is not nms-1000. */
function isMeant(word: string, name: string): boolean {
  return name === word || name.startsWith(`${word}@`) || name.startsWith(`${word}-`);
}
const before = load<Report>(values.out, "report");
const workloads = WORKLOADS.filter(
  ({ name }) =>
    (only === undefined || only.some((word) => isMeant(word, name))) &&
    (!values.again || before?.workloads.some((w) => w.name === name) === true),
);
const names = WORKLOADS.map(({ name }) => name);
const unknown = only?.filter((word) => !names.some((name) => isMeant(word, name))) ?? [];
if (unknown.length > 0)
  throw new Error(
    `--only: got ${unknown.join(", ")}, expected some of ${names.join(", ")}, or how they begin`,
  );
const engines = new Set(["native", ...COLUMNS.map(({ engine }) => engine as string)]);
const strangers = wanted?.filter((engine) => !engines.has(engine)) ?? [];
if (strangers.length > 0)
  throw new Error(`--engines: got ${strangers.join(", ")}, expected some of ${[...engines].join(", ")}`);
const columns = COLUMNS.filter(({ engine }) => wanted === undefined || wanted.includes(engine));
if (workloads.length === 0)
  throw new Error(
    values.again && before === undefined
      ? `--again: got no report in ${values.out}, expected one to measure again`
      : `--only ${values.only}: got no workload, expected some of ${names.join(", ")}`,
  );

const run = promisify(execFile);

async function measureColumn(name: string, { engine, mode }: Column): Promise<Measured> {
  const flags = ["--import", new URL("./ts.mjs", import.meta.url).href, "--no-warnings"];
  try {
    const { stdout } = await run(
      process.execPath,
      [...flags, here("./child.ts"), name, engine, mode, String(time)],
      {
        maxBuffer: 1 << 24,
        timeout: 600_000,
      },
    );
    return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as Measured;
  } catch (error) {
    return { status: "failed", reason: String(error).split("\n", 1)[0] };
  }
}

const us = (value: number | undefined): string =>
  value === undefined
    ? ""
    : value < 10
      ? value.toFixed(2)
      : value < 100
        ? value.toFixed(1)
        : value.toFixed(0);
const ratio = (a: number | undefined, b: number | undefined): string =>
  a === undefined || b === undefined
    ? ""
    : `${a / b < 9.995 ? (a / b).toFixed(2) : (a / b).toFixed(a / b < 99.5 ? 1 : 0)}x`;

/**
 * The least disturbed of several rounds: on a shared machine the lower median is nearer to what the code
 * costs. The fastest sample is that of all rounds.
 */
function better<T extends { median?: number; min?: number }>(a: T | undefined, b: T): T {
  if (a?.median === undefined) return b;
  const least = b.median !== undefined && b.median < a.median ? b : a;
  return { ...least, min: Math.min(a.min ?? Infinity, b.min ?? Infinity) };
}

/** Whether a row was measured in peace: half of its samples stay within a quarter of the fastest. */
const isSettled = ({ median, min }: { median?: number; min?: number } = {}): boolean =>
  median === undefined || min === undefined || median <= 1.25 * min;

const isWrong = (row: Measured, { other }: Column): boolean =>
  row.status !== "ok" || (other !== true && row.digest !== row.expected);

const compiled = compileNative();
const build = buildOf();
if (
  values.again &&
  before &&
  (before.build !== build || before.machine.cpu !== machineOf("bench").machine.cpu)
)
  throw new Error("--again: got a report of another build or machine, expected one of this: measure it anew");

/** The native row and what was measured beside it, as an earlier run left them. */
function nativeIn({ rows, readOnce, copy }: WorkloadReport): NativeResult | undefined {
  const row = rows.find(({ engine, status }) => engine === "native" && status === "ok");
  const known = (median: number): NativeResult["copy"] => ({ median, min: median, p90: median, runs: 0 });
  return row === undefined || readOnce === undefined || copy === undefined
    ? undefined
    : ({ ...row, decode: row, readOnce: known(readOnce), copy: known(copy) } as unknown as NativeResult);
}

async function measureWorkload(spec: WorkloadSpec): Promise<WorkloadReport> {
  const workload = loadWorkload(spec.name);
  const old = append ? before?.workloads.find(({ name }) => name === spec.name) : undefined;
  const former = values.again ? old : undefined;
  let native = former && nativeIn(former);
  const best = columns.map(({ engine, mode }): Measured | undefined =>
    former?.rows.find((row) => row.engine === engine && row.mode === mode),
  );
  // what was disturbed in all rounds so far goes on for a few more
  for (let round = former ? rounds : 0; round < rounds + furtherRounds; round++) {
    const isDue = (row: { median?: number; min?: number } | undefined): boolean =>
      round < rounds || !isSettled(row);
    if ("program" in compiled && (isDue(native?.decode) || isDue(native?.readOnce))) {
      const now = runNative(compiled.program, workload, time);
      native =
        native === undefined
          ? now
          : {
              ...now,
              decode: better(native.decode, now.decode),
              readOnce: better(native.readOnce, now.readOnce),
              copy: better(native.copy, now.copy),
            };
    }
    for (const [i, column] of columns.entries()) {
      const known = best[i];
      // what went wrong once is kept, however well other rounds would go
      if (!isDue(known) || (known !== undefined && isWrong(known, column))) continue;
      const now = await measureColumn(spec.name, column);
      best[i] = isWrong(now, column) ? now : better(known, now);
    }
  }

  const rows: Row[] = [];
  rows.push(
    native === undefined
      ? {
          engine: "native",
          mode: "resident",
          status: "missing",
          reason: "reason" in compiled ? compiled.reason : "",
        }
      : {
          engine: "native",
          mode: "resident",
          status: "ok",
          ...native.decode,
          count: native.count,
          digest: native.digest,
          expected: native.expected,
        },
  );
  columns.forEach((column, i) => rows.push({ ...column, ...(best[i] as Measured) }));
  // With `--append`, rows of other engines stay as an earlier piece left them.
  const kept = old?.rows ?? [];
  const isNew = (old: Row): boolean => rows.some((r) => r.engine === old.engine && r.mode === old.mode);
  const place = ({ engine, mode }: Column): number =>
    COLUMNS.findIndex((c) => c.engine === engine && c.mode === mode);
  rows.push(...kept.filter((old) => !isNew(old)));
  rows.sort((a, b) => place(a) - place(b));
  const report: WorkloadReport = {
    ...spec,
    bytes: workload.bytes,
    ...(native === undefined ? {} : { readOnce: native.readOnce.median, copy: native.copy.median }),
    rows: rows.map((row) => ({
      ...row,
      ...(native !== undefined && row.median !== undefined
        ? { toNative: row.median / native.decode.median, toReadOnce: row.median / native.readOnce.median }
        : {}),
    })),
  };
  print(report);
  return report;
}

function print({ name, title, rows, readOnce, copy, bytes }: WorkloadReport): void {
  const simd = rows.find(({ engine, mode }) => engine === "simd" && mode === "resident")?.median;
  const size = bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(2)} MB`;
  console.log(
    `\n${title}  (${size}${readOnce === undefined ? "" : `; read once ${us(readOnce)} us, copy ${us(copy)} us`})`,
  );
  const head = [
    "engine",
    "mode",
    "median us",
    "min",
    "p90",
    "x native",
    "x read-once",
    "x simd",
    "found",
    "digest",
  ];
  const table = rows.map((row) => [
    row.engine,
    row.mode,
    ...(row.status === "ok"
      ? [
          us(row.median),
          us(row.min),
          us(row.p90),
          row.toNative === undefined ? "" : ratio(row.toNative, 1),
          row.toReadOnce === undefined ? "" : ratio(row.toReadOnce, 1),
          ratio(row.median, simd),
          String(row.count),
          answerOf(row),
        ]
      : [`${row.status}: ${row.reason}`]),
  ]);
  const widths = head.map((_, i) =>
    Math.max(...[head, ...table.filter((r) => r.length > 3)].map((r) => (r[i] ?? "").length)),
  );
  for (const line of [head, ...table])
    console.log(
      line
        .map((cell, i) =>
          i < 2 || i > 8 ? cell.padEnd(widths[i]) : line.length > 3 ? cell.padStart(widths[i]) : cell,
        )
        .join("  ")
        .trimEnd(),
    );
  const asked = NATIVE_TO_READ_ONCE[name];
  const native = rows.find(({ engine }) => engine === "native")?.toReadOnce;
  if (asked !== undefined && native !== undefined)
    console.log(
      `our native takes ${ratio(native, 1)} read-once; to count as a reference it has to stay within ${asked}x`,
    );
}

console.log(
  `boxwright bench: Node ${process.version}, ${cpus()[0]?.model ?? process.arch}, ${rounds} round(s) of ${time} ms a row, up to ${furtherRounds} more for one that is disturbed; the least disturbed shown`,
);
if ("reason" in compiled) console.log(`native: missing (${compiled.reason})`);

const measured: WorkloadReport[] = [];
for (const spec of workloads) measured.push(await measureWorkload(spec));
const order = WORKLOADS.map(({ name }) => name);
const report: Report = {
  ...machineOf("bench"),
  build,
  rounds,
  milliseconds: time,
  workloads: appended({ append, out: values.out }, "workloads", measured, "report").sort(
    (a, b) => order.indexOf(a.name) - order.indexOf(b.name),
  ),
};

console.log("\nNumbers to reach");
const cells = cellsTable(
  report,
  measured.map(({ name }) => name),
).map((row) => row.map((cell) => cell.replaceAll(/[`*]/g, "")));
const widths = cells[0].map((_, i) => Math.max(...cells.map((row) => row[i].length)));
for (const row of cells)
  console.log(`  ${row.map((cell, i) => cell.padEnd(widths[i])).join("  ")}`.trimEnd());

console.log("");
save(values.out, "report", report, { svg: chartOf(report), html: pageOf(report) });

const all = measured.flatMap(({ name, rows }) => rows.map((row) => ({ ...row, workload: name })));
const mismatches = all.filter((row) => row.status === "ok" && !row.other && row.digest !== row.expected);
const failed = all.filter((row) => row.status === "failed");
for (const row of mismatches)
  console.log(`MISMATCH ${row.workload} ${row.engine} ${row.mode}: ${row.digest}, expected ${row.expected}`);
for (const row of failed) console.log(`FAILED ${row.workload} ${row.engine} ${row.mode}: ${row.reason}`);
const goals = cellsOf(report);
const reached = (bar: "required" | "own" | "row"): string => {
  const { met, told } = tally(goals, bar);
  return `${met} of ${told}`;
};
console.log(
  `${all.filter((row) => row.status === "ok").length} rows measured, ${mismatches.length} mismatches, ${failed.length} failed; limits met: ` +
    `${reached("required")} by the required native, ${reached("own")} by our own native, ${reached("row")} by another row`,
);
if (mismatches.length > 0 || failed.length > 0) process.exitCode = 1;
if (values.publish) publish(values.out);
