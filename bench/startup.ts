/** Time from the import of the package to the first detection, in a fresh process without a loader. */
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { OUR_ENGINES, optionsOf } from "./engines.ts";
import { chosen, positive, runScript } from "./options.ts";
import { otherEntry, ownEntry } from "./package.ts";
import { machineLine, madeBy, printerFor, writeReport } from "./report.ts";
import { layOut, us } from "./table.ts";
import { compare, measureRound, median, sidesOf } from "./turns.ts";
import { bytesOf, makeWorkload, WORKLOADS } from "./workloads.ts";

/** Milliseconds. */
interface Start {
  /** The import alone. */
  readonly imported: number;
  /** From the import to the first detection. */
  readonly cold: number;
  /** The same for a later decoder in the same process, the package being loaded. */
  readonly warm: number;
}

/** Runs in the fresh process. The tensor comes by standard input. */
const PROGRAM = `
import { readFileSync } from "node:fs";
const [, entry, engine, options, dims] = process.argv;
const bytes = readFileSync(0);
const data = new Float32Array(new Uint8Array(bytes).buffer);
const outputs = { output0: { data, dims: JSON.parse(dims), type: "float32" } };
const start = async () => {
  const from = performance.now();
  const { createDecoderSync } = await import(entry);
  const imported = performance.now();
  const found = createDecoderSync(JSON.parse(options), { engine }).decode(outputs);
  if (!(found.at(0).confidence > 0)) throw new Error("nothing was found");
  return [imported - from, performance.now() - from];
};
const [imported, cold] = await start();
const warm = [];
for (let i = 0; i < 15; i++) warm.push((await start())[1]);
console.log(JSON.stringify({ imported, cold, warm: warm.sort((a, b) => a - b)[7] }));
`;

const workload = makeWorkload(WORKLOADS[0]);
const tensor = bytesOf(workload);

async function startOf(entry: string, engine: string): Promise<Start> {
  const task = [
    entry,
    engine,
    JSON.stringify(optionsOf(workload)),
    JSON.stringify(workload.tensors.output0.dims),
  ];
  const flags = ["--input-type=module", "-e", PROGRAM, "--", ...task];
  return JSON.parse(execFileSync(process.execPath, flags, { input: tensor, encoding: "utf8" })) as Start;
}

const KEYS = ["imported", "cold", "warm"] as const;

const summarise = (starts: readonly Start[]): Start => {
  const of = (key: keyof Start): number => median(starts.map((start) => start[key]));
  return { imported: of("imported"), cold: of("cold"), warm: of("warm") };
};

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      engines: { type: "string" },
      against: { type: "string" },
      release: { type: "string" },
      rounds: { type: "string" },
      out: { type: "string" },
    },
  });
  const print = printerFor(values.out);
  const engines = chosen("--engines", values.engines, OUR_ENGINES, (name) => name);
  const other = otherEntry(values);
  const rounds = positive("--rounds", values.rounds, 9);
  const made = madeBy("bench:startup");
  print(`${machineLine(made)}; ${workload.title}; median of ${rounds} processes, milliseconds`);
  const rows = [];
  for (const engine of engines) {
    const sides = sidesOf<Start>(ownEntry(), other);
    for (let round = 0; round < rounds; round++)
      await measureRound(round, sides, (entry) => startOf(entry, engine));
    const [ours, theirs] = sides.map((side) => side.rounds);
    const cold = (starts: Start[]): number[] => starts.map((start) => start.cold);
    rows.push({
      engine,
      ...summarise(ours),
      ...(theirs && { other: summarise(theirs), comparison: compare(cold(ours), cold(theirs)) }),
    });
  }
  const lines = rows.map(({ engine, other: before, comparison, ...start }) => [
    engine,
    ...KEYS.map((key) => us(start[key])),
    before === undefined ? "" : us(before.cold),
    comparison === undefined ? "" : comparison.ratio.toFixed(3),
  ]);
  for (const line of layOut(["engine", ...KEYS, "other cold", "new/other"], lines, 1)) print(line);
  writeReport(values.out, { ...made, rounds, workload: workload.name, rows });
}

await runScript(main);
