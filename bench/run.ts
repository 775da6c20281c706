/** The benchmark: every workload by every engine, each row in its own process, with digests of the answers. */
import { parseArgs } from "node:util";
import { codecTable, measureCodec } from "./codec.ts";
import { define, digestOf } from "./definition.ts";
import { isOurs, ROWS, type Row } from "./engines.ts";
import { measurePicture, pictureFault, type PictureReport, pictureTable } from "./pictures/run.ts";
import { PICTURE_ENGINES, PICTURES, type PictureEngine, type PictureSpec } from "./pictures/picture.ts";
import { compileReadOnce, measureYardstick, type Yardstick } from "./native.ts";
import { chosen, positive, runScript } from "./options.ts";
import { otherEntry, ownEntry } from "./package.ts";
import { measureRow, type RowResult } from "./processes.ts";
import { machineLine, madeBy, printerFor, writeReport } from "./report.ts";
import { faultOf, leastOf, reportRow, type RowReport } from "./summary.ts";
import { layOut, times, us } from "./table.ts";
import { measureRound, median, sidesOf } from "./turns.ts";
import { isMeant, makeWorkload, WORKLOADS, type WorkloadSpec } from "./workloads.ts";

const ENGINES = [...new Set(["native", ...ROWS.map(({ engine }) => engine), ...PICTURE_ENGINES])];

const USAGE = `npm run bench -- [options]
  --quick            one short round of each row
  --only v8,nms-100  workloads, or the beginnings of their names; packet is the codec of packets
  --engines simd,js  some of ${ENGINES.join(", ")}
  --against DIR      measure in turns with another build: a checkout, an unpacked package, or its dist
  --release FILE     the same with a packed tarball, such as that of the last release
  --rounds N         rounds of each row: 3, 1 with --quick, and two more in turns
  --time MS          length of a round: 700, 250 with --quick
  --out FILE         write the report as JSON, - for standard output
Exits with 1 if a row failed or did not give the definition's answer.`;

interface Plan {
  readonly workloads: readonly WorkloadSpec[];
  readonly pictures: readonly PictureSpec[];
  readonly pictureEngines: readonly PictureEngine[];
  readonly rows: readonly Row[];
  /** The program that reads once, if it is requested and compiles. */
  readonly program?: string;
  readonly entry: string;
  /** Entry of the other package, which is measured alternately. */
  readonly other?: string;
  readonly rounds: number;
  readonly milliseconds: number;
}

interface WorkloadReport extends WorkloadSpec {
  readonly yardstick?: Yardstick;
  /** Digest of the specification's answer. */
  readonly expected: string;
  readonly rows: readonly RowReport[];
}

async function measureWorkload(spec: WorkloadSpec, plan: Plan): Promise<WorkloadReport> {
  const { rows, program, entry, other, milliseconds } = plan;
  const workload = makeWorkload(spec);
  const truth = define(workload);
  const results = rows.map((row) => ({
    row,
    sides: sidesOf<RowResult>(entry, isOurs(row) ? other : undefined),
  }));
  const yardsticks: Yardstick[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const yardstick = program === undefined ? undefined : measureYardstick(program, workload, milliseconds);
    if (yardstick !== undefined) yardsticks.push(yardstick);
    for (const { row, sides } of results)
      await measureRound(round, sides, (from) => measureRow({ spec, row, entry: from, milliseconds }));
  }
  return {
    ...spec,
    ...(yardsticks.length > 0 ? { yardstick: leastOf(yardsticks, ({ readOnce }) => readOnce) } : {}),
    expected: digestOf(truth, truth),
    rows: results.map(({ row, sides: [ours, theirs] }) => reportRow(row, ours.rounds, theirs?.rounds, truth)),
  };
}

/** Formats a workload as a table. A ratio is a row's time divided by that of its reference. */
function tableOf({ title, yardstick, expected, rows }: WorkloadReport): readonly string[] {
  const simd = rows.find(({ engine, input }) => engine === "simd" && input === "slot")?.median;
  const ratio = (time: number, to: number | undefined): string => (to === undefined ? "" : times(time / to));
  const lines = rows.map((row) => {
    const { engine, input, status, reason, median, min, p90, count, digest, other, comparison } = row;
    if (median === undefined || min === undefined || p90 === undefined)
      return [engine, input, ...Array<string>(11).fill(""), `${status}: ${reason}`];
    return [
      engine,
      input,
      us(median),
      us(min),
      us(p90),
      ratio(median, simd),
      ratio(median, yardstick?.requiredNative),
      ratio(median, yardstick?.readOnce),
      other?.median === undefined ? "" : us(other.median),
      comparison === undefined ? "" : comparison.ratio.toFixed(3),
      comparison === undefined ? "" : `${comparison.low.toFixed(2)}-${comparison.high.toFixed(2)}`,
      String(count),
      digest === expected ? "as defined" : "",
      faultOf(row, expected) ?? "",
    ];
  });
  const yard =
    yardstick &&
    ` (read once ${us(yardstick.readOnce)} us, required native ${us(yardstick.requiredNative)} us,` +
      ` copy ${us(yardstick.copy)} us)`;
  const head = ["engine", "input", "median us", "min", "p90", "/simd", "/native", "/read once"];
  const others = ["other us", "new/other", "rounds", "found", "answer", ""];
  return ["", `${title}${yard ?? ""}`, ...layOut([...head, ...others], lines, 2)];
}

/** The word of `--only` that selects the codec of packets. */
const CODEC = "packet";

const OPTIONS = {
  quick: { type: "boolean", default: false },
  only: { type: "string" },
  engines: { type: "string" },
  against: { type: "string" },
  release: { type: "string" },
  rounds: { type: "string" },
  time: { type: "string" },
  out: { type: "string" },
  help: { type: "boolean", default: false },
} as const;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) return console.log(USAGE);
  const print = printerFor(values.out);
  const engines = chosen("--engines", values.engines, ENGINES, (name) => name);
  const native = engines.includes("native") ? compileReadOnce() : undefined;
  const other = otherEntry(values);
  const words = values.only?.split(",").filter((word) => word !== CODEC);
  const only = words === undefined || words.length > 0 ? words?.join() : null;
  const known = [...WORKLOADS, ...PICTURES];
  const wanted = only === null ? [] : chosen("--only", only, known, ({ name }) => name, isMeant);
  const plan: Plan = {
    workloads: WORKLOADS.filter((spec) => wanted.includes(spec)),
    pictures: PICTURES.filter((spec) => wanted.includes(spec)),
    pictureEngines: PICTURE_ENGINES.filter((engine) => engines.includes(engine)),
    rows: ROWS.filter(({ engine }) => engines.includes(engine)),
    ...(native !== undefined && "program" in native ? { program: native.program } : {}),
    entry: ownEntry(),
    ...(other === undefined ? {} : { other }),
    rounds: positive("--rounds", values.rounds, (values.quick ? 1 : 3) + (other === undefined ? 0 : 2)),
    milliseconds: positive("--time", values.time, values.quick ? 250 : 700),
  };
  const made = madeBy("bench");
  print(
    `${machineLine(made)}; ${plan.rounds} round(s) of ${plan.milliseconds} ms, the least disturbed shown`,
  );
  if (other !== undefined) print(`other: ${other}`);
  if (native !== undefined && "reason" in native) print(`native is missing: ${native.reason}`);

  const workloads: WorkloadReport[] = [];
  for (const spec of plan.workloads) {
    const report = await measureWorkload(spec, plan);
    for (const line of tableOf(report)) print(line);
    workloads.push(report);
  }

  const pictures: PictureReport[] = [];
  for (const spec of plan.pictures) {
    // Decoder and preparation come from one entry.
    const entries = [ownEntry(), ownEntry()] as const;
    const report = await measurePicture(spec, plan.pictureEngines, { ...plan, entries });
    for (const line of pictureTable(report)) print(line);
    pictures.push(report);
  }
  const isCodec = values.only === undefined || values.only.split(",").includes(CODEC);
  const codec = isCodec ? await measureCodec(plan.milliseconds) : [];
  if (isCodec) for (const line of codecTable(codec)) print(line);

  const rows = workloads.flatMap(({ expected, rows }) => rows.map((row) => ({ row, expected })));
  const pictureRows = pictures.flatMap((report) => report.rows.map((row) => ({ row, report })));
  const faults = [
    ...rows.filter(({ row, expected }) => faultOf(row, expected) !== undefined),
    ...pictureRows.filter(({ row, report }) => pictureFault(row, report) !== undefined),
  ];
  const ratios = rows.flatMap(({ row: { comparison } }) =>
    comparison === undefined ? [] : [comparison.ratio],
  );
  const measured = [...rows, ...pictureRows].filter(({ row }) => row.status === "ok").length;
  print(`\n${measured} rows measured, ${faults.length} at fault`);
  if (ratios.length > 0)
    print(
      `new/other: median ${median(ratios).toFixed(3)}, lowest ${Math.min(...ratios).toFixed(3)}, ` +
        `highest ${Math.max(...ratios).toFixed(3)}`,
    );
  const { rounds, milliseconds } = plan;
  writeReport(values.out, { ...made, rounds, milliseconds, workloads, pictures, codec });
  if (faults.length > 0) process.exitCode = 1;
}

await runScript(main);
