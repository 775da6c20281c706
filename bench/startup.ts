/**
 * Measures CPU times in a fresh process without a loader: of the import of the package, of the import with the first
 * detection, and of a later decoder. Rows: Node alone, each engine of `boxwright`, `boxwright/core`, and both entries
 * by `require`. `--against` measures another build alternately.
 */
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { OUR_ENGINES, optionsOf } from "./engines.ts";
import { chosen, positive, runScript } from "./options.ts";
import { otherEntry, ownEntry } from "./package.ts";
import { machineLine, madeBy, printerFor, writeReport } from "./report.ts";
import { layOut, us } from "./table.ts";
import { compare, measureRound, median, sidesOf } from "./turns.ts";
import { bytesOf, makeWorkload, WORKLOADS } from "./workloads.ts";

/** CPU time in milliseconds, user and system. */
interface Start {
  /** The import alone. */
  readonly imported: number;
  /** The import and the first detection together. */
  readonly cold: number;
  /** To the first detection of a later decoder in the same process, when the package is already loaded. */
  readonly warm: number;
}

/** Ways in which a process loads the package. */
interface Way {
  readonly entry: "." | "./core";
  readonly loader: "import" | "require";
  readonly engine: string;
}

/** Runs in the fresh process. Standard input gives the tensor. */
const PROGRAM = `
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
const [, entry, loader, engine, options, dims] = process.argv;
const bytes = readFileSync(0);
const data = new Float32Array(new Uint8Array(bytes).buffer);
const outputs = { output0: { data, dims: JSON.parse(dims), type: "float32" } };
const file = fileURLToPath(entry.replace(/mjs$/, "cjs"));
const load = () => loader === "require" ? createRequire(file)(file) : import(entry);
const spent = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const start = async () => {
  const from = spent();
  const { createDecoderSync } = await load();
  const imported = spent();
  const found = createDecoderSync(JSON.parse(options), { engine }).decode(outputs);
  if (!(found.at(0).confidence > 0)) throw new Error("nothing was found");
  return [imported - from, spent() - from];
};
const [imported, cold] = await start();
const warm = [];
for (let i = 0; i < 15; i++) warm.push((await start())[1]);
console.log(JSON.stringify({ imported, cold, warm: warm.sort((a, b) => a - b)[7] }));
`;

/** Prints the CPU time of a process that only started Node. */
const NODE_ALONE = `
const { user, system } = process.cpuUsage();
console.log((user + system) / 1000);
`;

const workload = makeWorkload(WORKLOADS[0]);
const tensor = bytesOf(workload);

async function startOf(file: string, { loader, engine }: Way): Promise<Start> {
  const task = [
    file,
    loader,
    engine,
    JSON.stringify(optionsOf(workload)),
    JSON.stringify(workload.tensors.output0.dims),
  ];
  const flags = ["--input-type=module", "-e", PROGRAM, "--", ...task];
  return JSON.parse(execFileSync(process.execPath, flags, { input: tensor, encoding: "utf8" })) as Start;
}

/** Returns the milliseconds that Node itself takes to start: the median of `rounds` processes. */
const nodeAlone = (rounds: number): number =>
  median(
    Array.from({ length: rounds }, () =>
      Number(execFileSync(process.execPath, ["--input-type=module", "-e", NODE_ALONE], { encoding: "utf8" })),
    ),
  );

const KEYS = ["imported", "cold", "warm"] as const;

type Compared = Record<(typeof KEYS)[number], ReturnType<typeof compare>>;

const summarise = (starts: readonly Start[]): Start => {
  const of = (key: keyof Start): number => median(starts.map((start) => start[key]));
  return { imported: of("imported"), cold: of("cold"), warm: of("warm") };
};

/** Returns what to measure: `boxwright` with each engine, and other imports with the first engine. */
const waysOf = (engines: readonly string[]): Way[] => [
  ...engines.map((engine) => ({ entry: ".", loader: "import", engine }) as const),
  { entry: "./core", loader: "import", engine: engines[0] },
  { entry: ".", loader: "require", engine: engines[0] },
  { entry: "./core", loader: "require", engine: engines[0] },
];

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
  const rounds = positive("--rounds", values.rounds, 9);
  const made = madeBy("bench:startup");
  print(
    `${machineLine(made)}; ${workload.title}; median of ${rounds} processes, milliseconds of the processor`,
  );
  const alone = nodeAlone(rounds);
  print(`Node alone takes ${us(alone)} before the import`);
  const rows = [];
  for (const way of waysOf(engines)) {
    const sides = sidesOf<Start>(ownEntry(way.entry), otherEntry(values, way.entry));
    for (let round = 0; round < rounds; round++)
      await measureRound(round, sides, (file) => startOf(file, way));
    const [ours, theirs] = sides.map((side) => side.rounds);
    const of = (key: keyof Start, starts: Start[]): number[] => starts.map((start) => start[key]);
    const compared = theirs && KEYS.map((key) => [key, compare(of(key, ours), of(key, theirs))] as const);
    rows.push({
      ...way,
      ...summarise(ours),
      ...(theirs && { other: summarise(theirs), comparison: Object.fromEntries(compared) as Compared }),
    });
  }
  const lines = rows.map(({ entry, loader, engine, other: before, comparison, ...start }) => [
    `${entry === "." ? "boxwright" : "boxwright/core"}, ${loader}, ${engine}`,
    ...KEYS.flatMap((key) =>
      before ? [us(start[key]), us(before[key]), comparison?.[key].ratio.toFixed(2) ?? ""] : [us(start[key])],
    ),
  ]);
  const isCompared = rows.some((row) => "other" in row);
  const columns = KEYS.flatMap((key) => (isCompared ? [key, "other", "new/other"] : [key]));
  for (const line of layOut(["entry, loader, engine", ...columns], lines, 1)) print(line);
  writeReport(values.out, { ...made, rounds, workload: workload.name, nodeAlone: alone, rows });
}

await runScript(main);
