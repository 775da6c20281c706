/**
 * The numbers to reach, all of them, and how far a report comes. Each limit is a ratio to what a yardstick
 * takes here and now, since microseconds do not travel.
 *
 * Where a limit is a multiple of "native", it is stated twice. `required`: by the native decode that a
 * reference has to reach to count as one, which is a ratio to reading every byte once. `own`: by the native
 * reference beside this file. Ours is several times faster than required on some workloads, and a reader
 * should see both bars.
 */
import type { Mode } from "./engines.ts";
import type { Report, WorkloadReport } from "./report.ts";

export type Bar = "required" | "own" | "row";

export interface Limit {
  readonly bar: Bar;
  /** Where the number comes from. */
  readonly text: string;
  /** Microseconds; undefined where the yardstick has no row. */
  readonly us?: number;
  readonly met?: boolean;
}

export interface Cell {
  readonly workload: string;
  readonly engine: string;
  readonly mode: Mode;
  readonly measured?: number;
  readonly limits: readonly Limit[];
}

/**
 * What a native decode takes at most, as a multiple of reading every byte once: measured on one Zen 4 core with
 * 128-bit vectors. A reference slower than that is none. For suppression alone there is nothing to read once.
 */
export const NATIVE_TO_READ_ONCE: Readonly<Record<string, number>> = {
  "v8@.25": 1.83,
  "v8@.001": 3.34,
  "v5@.25": 0.49,
  "v5@.001": 1.45,
  "v3@.25": 3.7,
  "v3@.001": 5.7,
};

interface Goal {
  readonly workload: string;
  readonly engine: string;
  readonly mode: Mode;
  readonly factor: number;
  readonly of: "native" | "native + copy" | "read once" | { readonly row: Row; readonly name: string };
}

interface Row {
  readonly workload: string;
  readonly engine: string;
  readonly mode: Mode;
}

const FLOATS = ["v8@.25", "v8@.001", "v5@.25", "v5@.001", "v3@.25", "v3@.001"];
const QUANTISED = ["v8-f16@.25", "v8-int8@.25"];
const BOXES = ["nms-1000", "nms-8400", "nms-25200"];

const row = (workload: string, engine: string, mode: Mode, name: string): Goal["of"] => ({
  row: { workload, engine, mode },
  name,
});

const GOALS: readonly Goal[] = [
  // The reference itself, before anything is held against it.
  ...FLOATS.map((workload): Goal => ({
    workload,
    engine: "native",
    mode: "resident",
    factor: NATIVE_TO_READ_ONCE[workload],
    of: "read once",
  })),
  ...[...FLOATS, ...BOXES].map((workload): Goal => ({
    workload,
    engine: "simd",
    mode: "resident",
    factor: 1.1,
    of: "native",
  })),
  ...BOXES.map((workload): Goal => ({ workload, engine: "simd", mode: "array", factor: 1.1, of: "native" })),
  ...["v8@.25", "v8@.001"].map((workload): Goal => ({
    workload,
    engine: "simd",
    mode: "array",
    factor: 1.25,
    of: "native + copy",
  })),
  // None is set for rows at a low threshold, where most of the tensor is read.
  { workload: "v5@.25", engine: "simd", mode: "array", factor: 2.5, of: "native" },
  ...["v3@.25", "v3@.001"].map((workload): Goal => ({
    workload,
    engine: "simd",
    mode: "array",
    factor: 1.6,
    of: "native",
  })),
  ...QUANTISED.flatMap((workload, i): Goal[] => [
    {
      workload,
      engine: "simd",
      mode: "resident",
      factor: [0.75, 0.6][i],
      of: row("v8@.25", "simd", "resident", "our f32"),
    },
    {
      workload,
      engine: "simd-scan",
      mode: "resident",
      factor: [0.6, 0.35][i],
      of: row("v8@.25", "simd-scan", "resident", "our f32 scan"),
    },
  ]),
  ...[...FLOATS, ...QUANTISED, ...BOXES].flatMap((workload): Goal[] => [
    {
      workload,
      engine: "scalar",
      mode: "resident",
      factor: 1,
      of: row(workload, "ts", "resident", "`ts`"),
    },
    {
      workload,
      engine: "ts",
      mode: "resident",
      factor: 1,
      of: row(workload, "js-best", "array", "careful JavaScript"),
    },
  ]),
];

function medianOf(report: Report, { workload, engine, mode }: Row): number | undefined {
  return report.workloads
    .find(({ name }) => name === workload)
    ?.rows.find((r) => r.engine === engine && r.mode === mode && r.status === "ok")?.median;
}

function limitsOf({ workload, factor, of }: Goal, report: Report): Omit<Limit, "met">[] {
  const yard: Partial<WorkloadReport> = report.workloads.find(({ name }) => name === workload) ?? {};
  const times = (us: number | undefined): number | undefined => (us === undefined ? undefined : factor * us);
  if (typeof of === "object")
    return [{ bar: "row", text: `${factor} x ${of.name}`, us: times(medianOf(report, of.row)) }];
  const { readOnce, copy } = yard;
  if (of === "read once") return [{ bar: "required", text: `${factor} x read once`, us: times(readOnce) }];
  const ratio = NATIVE_TO_READ_ONCE[workload];
  const own = medianOf(report, { workload, engine: "native", mode: "resident" });
  const required = ratio === undefined || readOnce === undefined ? undefined : ratio * readOnce;
  const add = (us: number | undefined): number | undefined =>
    of === "native" ? us : us === undefined || copy === undefined ? undefined : us + copy;
  const plus = of === "native" ? "" : " + copy";
  return [
    ...(ratio === undefined
      ? []
      : [
          {
            bar: "required" as const,
            text: `${factor} x (${ratio} x read once${plus})`,
            us: times(add(required)),
          },
        ]),
    {
      bar: "own",
      text: plus === "" ? `${factor} x native` : `${factor} x (native${plus})`,
      us: times(add(own)),
    },
  ];
}

/** Every cell, measured or not, in the order of the list. */
export function cellsOf(report: Report): Cell[] {
  return GOALS.map((goal) => {
    const { workload, engine, mode } = goal;
    const measured = medianOf(report, goal);
    return {
      workload,
      engine,
      mode,
      ...(measured === undefined ? {} : { measured }),
      limits: limitsOf(goal, report).map((limit) => ({
        ...limit,
        ...(measured === undefined || limit.us === undefined ? {} : { met: measured <= limit.us }),
      })),
    };
  });
}

/** How many limits of a bar are met, of those that could be told. The reference's own are no merit of ours. */
export function tally(cells: readonly Cell[], bar: Bar): { met: number; told: number } {
  const ours = cells.filter(({ engine }) => engine !== "native");
  const told = ours.flatMap(({ limits }) => limits.filter((l) => l.bar === bar && l.met !== undefined));
  return { met: told.filter(({ met }) => met).length, told: told.length };
}
