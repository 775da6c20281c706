/** Measures in five sweeps how time grows with work. Each point has its own process, and its answer is checked. */
import { parseArgs } from "node:util";
import { define, digestOf } from "./definition.ts";
import { OUR_ENGINES, type Row } from "./engines.ts";
import { chosen, positive, runScript } from "./options.ts";
import { ownEntry } from "./package.ts";
import { measureRow, type RowResult } from "./processes.ts";
import { machineLine, madeBy, printerFor, writeReport } from "./report.ts";
import { faultOf, reportRow, type RowReport } from "./summary.ts";
import { layOut, us } from "./table.ts";
import { cellsOf } from "./tensors.ts";
import { makeWorkload, nmsClassesSpec, nmsSpec, v8Spec, type WorkloadSpec } from "./workloads.ts";

interface Point {
  /** The value on the axis. */
  readonly size: number;
  /** Units of work, by which the time is divided: the size, or the boxes if the size is a step of class ids. */
  readonly work: number;
  readonly spec: WorkloadSpec;
}

interface Sweep {
  readonly name: string;
  readonly title: string;
  readonly input: Row["input"];
  readonly points: readonly Point[];
}

const sweepOf = (
  name: string,
  title: string,
  values: readonly number[],
  specOf: (value: number) => WorkloadSpec,
  sizeOf = (value: number): number => value,
): Sweep => ({
  name,
  title,
  input: values.every((value) => specOf(value).kind === "nms") ? "array" : "slot",
  points: values.map((value) => {
    const spec = specOf(value);
    const size = sizeOf(value);
    return { size, work: spec.classStep > 0 ? spec.boxes : size, spec };
  }),
});

/** Count of boxes in the sweep over class ids. The largest class id, 65536 times this count, fits 32 bits. */
const DISTINCT = 30_000;

const SWEEPS: readonly Sweep[] = [
  sweepOf("boxes", "nms() of clustered boxes, 300 kept", [1e2, 1e3, 1e4, 1e5, 1e6], nmsSpec),
  sweepOf(
    "class-ids",
    `nms() of ${DISTINCT} boxes, the class id of box i is i times the size: times should be alike`,
    [1, 256, 257, 65536],
    (step) => nmsClassesSpec(DISTINCT, step),
  ),
  sweepOf("classes", "[1,4+C,8400] at 0.25", [1, 10, 80, 320, 1000], (classes) =>
    v8Spec(`${classes} classes`, { classes }),
  ),
  sweepOf(
    "cells",
    "[1,84,N] at 0.25, inputs of 96 to 1280 pixels",
    [96, 160, 320, 640, 1280],
    (inputSize) => v8Spec(`${inputSize} pixels`, { inputSize }),
    cellsOf,
  ),
  sweepOf("images", "[B,84,8400] at 0.25", [1, 2, 4, 8, 16], (images) =>
    v8Spec(`${images} images`, { images }),
  ),
];

interface PointReport {
  readonly size: number;
  readonly work: number;
  readonly expected: string;
  readonly rows: readonly RowReport[];
}

async function measurePoint(
  { size, work, spec }: Point,
  rows: readonly Row[],
  rounds: number,
  milliseconds: number,
): Promise<PointReport> {
  const truth = define(makeWorkload(spec));
  const results = rows.map((row) => ({ row, rounds: [] as RowResult[] }));
  for (let round = 0; round < rounds; round++)
    for (const result of results)
      result.rounds.push(await measureRow({ spec, row: result.row, entry: ownEntry(), milliseconds }));
  return {
    size,
    work,
    expected: digestOf(truth, truth),
    rows: results.map((result) => reportRow(result.row, result.rounds, undefined, truth)),
  };
}

/** Formats a sweep. Each time is followed by the time per unit of work: if that stays equal, time grows linearly. */
function tableOf(unit: string, points: readonly PointReport[]): readonly string[] {
  const engines = points[0].rows.map(({ engine }) => engine);
  return layOut(
    [unit, ...engines.flatMap((engine) => [`${engine} us`, "ns each"]), ""],
    points.map(({ size, work, rows, expected }) => [
      String(size),
      ...rows.flatMap(({ median = NaN }) => [us(median), us((1000 * median) / work)]),
      rows.flatMap((row) => faultOf(row, expected) ?? []).join("; "),
    ]),
    0,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      engines: { type: "string" },
      rounds: { type: "string" },
      time: { type: "string" },
      out: { type: "string" },
    },
  });
  const print = printerFor(values.out);
  const chosenSweeps = chosen("--only", values.only, SWEEPS, ({ name }) => name);
  const engines = chosen("--engines", values.engines, OUR_ENGINES, (name) => name);
  const rounds = positive("--rounds", values.rounds, 2);
  const milliseconds = positive("--time", values.time, 250);
  const made = madeBy("bench:scaling");
  print(machineLine(made));
  const sweeps = [];
  for (const { name, title, input, points } of chosenSweeps) {
    const rows = engines.map((engine): Row => ({ engine, input }));
    const reports: PointReport[] = [];
    for (const point of points) reports.push(await measurePoint(point, rows, rounds, milliseconds));
    print(`\n${title}`);
    for (const line of tableOf(name, reports)) print(line);
    sweeps.push({ name, title, points: reports });
  }
  writeReport(values.out, { ...made, rounds, milliseconds, sweeps });
  const isAtFault = ({ rows, expected }: PointReport): boolean =>
    rows.some((row) => faultOf(row, expected) !== undefined);
  if (sweeps.some(({ points }) => points.some(isAtFault))) process.exitCode = 1;
}

await runScript(main);
