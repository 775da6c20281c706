/** The reports as Markdown. Each function writes what stands between one pair of marks. */
import type { MemoryReport } from "./memory.ts";
import type { RecipeReport } from "./recipes.ts";
import { answerOf, cellsTable, nameOf, short, type Report, type Row, type WorkloadReport } from "./report.ts";
import { captionOf } from "./results.ts";
import { sweepsTable, type SweepReport } from "./sweep-report.ts";
import { cellsOf, NATIVE_TO_READ_ONCE, tally } from "./targets.ts";

/** A table of Markdown; the first row is its head. */
export function tableOf([head, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Rows of such a table, without its head. */
const rowsOf = (table: string): string[][] =>
  table
    .split("\n")
    .slice(2)
    .map((line) => line.slice(2, -2).split(" | "));

/** "1.1", or "1.1 to 1.6" */
function spanOf(ratios: readonly number[], digits = 1): string {
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map((r) => r.toFixed(digits));
  return low === high ? low : `${low} to ${high}`;
}

const us = (value: number | undefined): string =>
  value === undefined ? "-" : value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en");

const find = (workload: WorkloadReport, engine: string, mode: Row["mode"]): Row | undefined =>
  workload.rows.find((row) => row.engine === engine && row.mode === mode);

const ratiosOf = (report: Report, prefix: RegExp, engine: string, mode: Row["mode"]): number[] =>
  report.workloads
    .filter(({ name }) => prefix.test(name))
    .flatMap((workload) => find(workload, engine, mode)?.toNative ?? []);

const madeBy = (report: Report): string =>
  `${captionOf(report)}; least disturbed of ${report.rounds === 1 ? "1 round" : `${report.rounds} rounds or more`} of ${report.milliseconds} ms, one process a row`;

/** What the digests of all rows say, but for those that answer another question by design. */
function sameAnswers(report: Report): string {
  const rows = report.workloads
    .flatMap((workload) => workload.rows)
    .filter(({ status, other }) => status === "ok" && !other);
  const wrong = rows.filter(({ digest, expected }) => digest !== expected).length;
  return wrong === 0
    ? `All ${rows.length} rows gave the boxes of the definition, proved by digests.`
    : `**${wrong} of ${rows.length} rows gave other boxes than the definition.**`;
}

/** For the README: the table and what follows from it, in a few lines. */
export function shortBlock(report: Report): string {
  const columns: readonly [string, string, Row["mode"]][] = [
    ["native C++", "native", "resident"],
    ["`simd`", "simd", "resident"],
    ["`simd` + copy", "simd", "array"],
    ["`scalar`", "scalar", "resident"],
    ["`ts`", "ts", "resident"],
    ["careful JS", "js-best", "array"],
    ["usual JS", "js-typical", "array"],
    ["ONNX Runtime, Node", "ort-node", "array"],
    ["ONNX Runtime, web", "ort-web", "array"],
    ["tfjs, wasm", "tfjs", "array"],
  ];
  const rows = report.workloads.map((workload) => [
    workload.title,
    workload.kind === "nms" ? "-" : us(workload.readOnce),
    ...columns.map(([, engine, mode]) => us(find(workload, engine, mode)?.median)),
  ]);
  const cells = cellsOf(report);
  const count = (bar: "required" | "own" | "row"): string => {
    const { met, told } = tally(cells, bar);
    return `${met} of ${told}`;
  };
  const big = spanOf(ratiosOf(report, /^(v8|v5)@/, "simd", "resident"));
  const small = spanOf(ratiosOf(report, /^v3@/, "simd", "resident"));
  const alone = spanOf(ratiosOf(report, /^nms-(1000|8400|25200)$/, "simd", "array"));
  const faster = spanOf(
    report.workloads.flatMap(({ name, ...workload }) => {
      const own = find({ name, ...workload }, "native", "resident")?.toReadOnce;
      return own === undefined || !(name in NATIVE_TO_READ_ONCE) ? [] : NATIVE_TO_READ_ONCE[name] / own;
    }),
  );
  return `Microseconds, median, one thread (${madeBy(report)}):

${tableOf([["", "read once", ...columns.map(([title]) => title)], ...rows])}

${sameAnswers(report)} "Read once" loads every byte and nothing else; "native" is C++ with 128-bit vectors,
written for these workloads (\`bench/native\`). For it, \`simd\`, \`scalar\`, \`ts\` and tfjs the tensor is in place; the others take a caller's array, and so does
"\`simd\` + copy": where every byte has to be copied first, that is most of the time. In its slot \`simd\` takes
${big} times native on f32 YOLOv8 and v5 and ${small} times on tiny-YOLOv3; \`nms()\` of an array of 1,000 boxes and more takes ${alone} times. The limits that the
project set itself are multiples of a native decoder, which took a stated multiple of reading once: by that measure ${count("required")} are met. Our own native decoder is
${faster} times faster than that one; by it ${count("own")} are, those of suppression, where nothing is read once, among them. Of limits beside other rows and careful JavaScript,
${count("row")} are. Ratios travel, microseconds do not.`;
}

export function timesBlock(report: Report): string {
  const head = ["engine", "median", "min", "p90", "x native", "x read once", "found", "digest"];
  const parts = report.workloads.map((workload) => {
    const { title, rows, readOnce, copy, name } = workload;
    const asked = NATIVE_TO_READ_ONCE[name];
    const own = find(workload, "native", "resident")?.toReadOnce;
    const native =
      asked === undefined || own === undefined
        ? ""
        : ` Our native takes ${own.toFixed(2)} times that; a reference has to stay within ${asked}.`;
    const table = tableOf([
      head,
      ...rows
        .filter(({ status }) => status !== "n/a")
        .map((row) =>
          row.status === "ok"
            ? [
                nameOf(row),
                short(row.median ?? 0),
                short(row.min ?? 0),
                short(row.p90 ?? 0),
                row.toNative?.toFixed(2) ?? "",
                workload.kind === "nms" ? "" : (row.toReadOnce?.toFixed(2) ?? ""),
                String(row.count),
                answerOf(row),
              ]
            : [nameOf(row), `${row.status}: ${row.reason}`, "", "", "", "", "", ""],
        ),
    ]);
    const note =
      readOnce === undefined || workload.kind === "nms"
        ? ""
        : `Reading once takes ${short(readOnce)}, copying ${short(copy ?? NaN)}.${native}\n\n`;
    return `### ${title}\n\n${note}${table}`;
  });
  return `${madeBy(report)}. Made by \`${report.command}\`.

${parts.join("\n\n")}`;
}

export function cellsBlock(report: Report): string {
  const cells = cellsOf(report);
  const line = (["required", "own", "row"] as const).map((bar) => {
    const { met, told } = tally(cells, bar);
    return `${met} of ${told}`;
  });
  return `Met: ${line[0]} by the required native, ${line[1]} by our own native, ${line[2]} by another row.

${tableOf(cellsTable(report))}`;
}

const kB = (bytes: number): string => `${Math.round(bytes / 1024).toLocaleString("en")} KiB`;

/** The young space of a measured process: what goes beyond it is collected, and can only be counted in its units. */
const YOUNG_SPACE = 256 * 2 ** 20;

function garbageOf({ collections, bytesPerFrame, frames }: MemoryReport["garbage"][number]): string {
  if (collections === 0) return `${bytesPerFrame.toFixed(1)} bytes`;
  return `about ${Math.round((collections * YOUNG_SPACE) / frames / 1000)} kB (${collections} collections)`;
}

/** What everything imported may weigh, gzipped: as in scripts/size.mjs. */
const BUNDLE_LIMIT = 30 * 1024;

export function memoryBlock(report: MemoryReport): string {
  const { garbage, memory, start, sizes, dependencies } = report;
  const frames = garbage[0]?.frames.toLocaleString("en");
  const workloads = [...new Set(memory.map(({ workload }) => workload))];
  const paths = [...new Set(garbage.map(({ path }) => path))];
  const engines = [...new Set(garbage.map(({ engine }) => engine))];
  return `${captionOf(report)}.

### Garbage

\`npm run bench:memory -- --only garbage\`: bytes of heap a frame over ${frames} frames of tiny-YOLOv3 at 0.25 (55 detections), after warm-up.
Where the young space of 256 MiB overflowed, so often times its size.

${tableOf([
  ["", ...engines.map((e) => `\`${e}\``)],
  ...paths.map((path) => [
    path,
    ...engines.map((engine) => {
      const row = garbage.find((g) => g.path === path && g.engine === engine);
      return row === undefined ? "" : garbageOf(row);
    }),
  ]),
])}

### Memory held

\`npm run bench:memory -- --only memory\`: \`stats.bytes\`, and the limit of slots + 40 bytes a cell + 64 KiB. Memory of
WebAssembly comes in pages of 64 KiB, so that an engine may be over by less than one. Behind it stands by how much the process's peak of resident memory grew from
before the package was imported to 200 decodes later: the package, its compiled code and what is warm in the young space are in it.

${tableOf([
  ["workload", "slots", "limit", ...engines.map((e) => `\`${e}\``)],
  ...workloads.map((workload) => {
    const rows = memory.filter((m) => m.workload === workload);
    return [
      workload,
      kB(rows[0].slots),
      kB(rows[0].limit),
      ...rows.map(
        (row) =>
          `${kB(row.held)}${row.held <= row.limit ? "" : ` **over by ${kB(row.held - row.limit)}**`}, peak +${(row.peakRss / 2 ** 20).toFixed(0)} MiB`,
      ),
    ];
  }),
])}

### Start

\`npm run bench:memory -- --only start\`: milliseconds from \`import\` to the first detection in a fresh process (cold), of that the import alone, and for a second
decoder in the same process (warm); median of 9 processes.

${tableOf([
  ["workload", "engine", "import", "cold", "warm"],
  ...start.map((row) => [
    row.workload,
    `\`${row.engine}\``,
    row.imported.toFixed(1),
    row.cold.toFixed(1),
    row.warm.toFixed(2),
  ]),
])}

### Bytes

\`npm run bench:memory -- --only sizes\`; ${dependencies} dependencies at run time. \`npm run size\` has the cost of each import. Everything
imported, bundled and minified, should stay under ${BUNDLE_LIMIT / 1024} KiB gzipped.

${tableOf([
  ["file", "bytes", "gzipped"],
  ...sizes.map(({ file, bytes, gzip }) => [
    file,
    bytes.toLocaleString("en"),
    `${gzip.toLocaleString("en")}${file.startsWith("whole") && gzip > BUNDLE_LIMIT ? " **not met**" : ""}`,
  ]),
])}`;
}

/** @param lines of instructions.tsv: workload, what ran, instructions; a later one replaces an earlier one */
export function instructionsBlock(lines: readonly string[]): string {
  const counts = new Map<string, string>();
  const workloads = new Set<string>();
  const subjects = new Set<string>();
  for (const line of lines) {
    const [workload, subject, count] = line.split("\t");
    workloads.add(workload);
    subjects.add(subject);
    counts.set(`${workload} ${subject}`, Number(count).toLocaleString("en"));
  }
  return tableOf([
    ["", ...workloads],
    ...[...subjects].map((subject) => [
      subject,
      ...[...workloads].map((workload) => counts.get(`${workload} ${subject}`) ?? "-"),
    ]),
  ]);
}

export function sweepsBlock(report: SweepReport): string {
  const cliffs = report.sweeps.flatMap(({ lines }) => lines.flatMap((line) => line.cliffs)).length;
  return `${captionOf(report)}. Made by \`${report.command}\`. ${cliffs === 0 ? "No cliff" : `${cliffs} cliff${cliffs === 1 ? "" : "s"}`} in ${report.sweeps.length} sweeps.

${tableOf(sweepsTable(report))}`;
}

export function recipesBlock(report: RecipeReport): string {
  return `${captionOf(report)}. Made by \`${report.command}\`; median of ${report.frames} frames, microseconds.

${tableOf([
  [
    "recipe",
    "runs in",
    "network (one relu)",
    "of a frame: hand over and decode",
    "a copy alone",
    "decode alone",
    "answer",
  ],
  ...report.rows.map((row) =>
    row.status === "ok"
      ? [
          `[${row.name}](#${row.name})`,
          row.runtime,
          us(row.run),
          us(row.decode),
          us(row.copy),
          us(row.resident),
          row.digest === row.expected ? `${row.count} boxes, digest equal` : "**MISMATCH**",
        ]
      : [`[${row.name}](#${row.name})`, row.runtime, `${row.status}: ${row.reason}`, "", "", "", ""],
  ),
])}`;
}

/** For the README: one line for each thing that was measured beside time. What was not measured this time stays as it `stands`. */
export function factsBlock(
  reports: {
    readonly memory?: MemoryReport;
    readonly sweeps?: SweepReport;
    readonly recipes?: RecipeReport;
    readonly instructions?: readonly string[];
  },
  standing: string,
): string {
  const { memory, sweeps, recipes, instructions } = reports;
  const rows: string[][] = [];
  if (memory !== undefined) {
    const { garbage, memory: held, start, sizes } = memory;
    const slot = garbage.filter(({ path }) => path === "columns, in its slot");
    if (slot.length > 0)
      rows.push([
        `garbage a frame in the columns, tensor in its slot, over ${slot[0].frames.toLocaleString("en")} frames`,
        slot.map((row) => `\`${row.engine}\` ${garbageOf(row)}`).join(", "),
        "`npm run bench:memory -- --only garbage`",
      ]);
    if (held.length > 0)
      rows.push([
        "memory held, against slots + 40 bytes a cell + 64 KiB",
        `within it in ${held.filter((row) => row.held <= row.limit).length} of ${held.length} rows; over by ${kB(Math.max(0, ...held.map((row) => row.held - row.limit)))} at most, of a page of 64 KiB`,
        "`npm run bench:memory -- --only memory`",
      ]);
    const first = start.find(({ engine, workload }) => engine === "simd" && workload === "v8@.25");
    if (first !== undefined)
      rows.push([
        "from `import` to the first detection, `simd`, YOLOv8",
        `${first.cold.toFixed(0)} ms cold, ${first.warm.toFixed(1)} ms warm`,
        "`npm run bench:memory -- --only start`",
      ]);
    const binary = (name: string): string =>
      ((sizes.find(({ file }) => file.endsWith(name))?.bytes ?? NaN) / 1000).toFixed(1);
    const bundle = sizes.find(({ file }) => file.startsWith("whole"));
    const byPlan = sizes
      .filter(({ file }) => file.startsWith("boxwright/plan"))
      .map(({ file, gzip }) => `\`${file.split(",", 1)[0]}\` ${(gzip / 1000).toFixed(1)} kB`);
    if (bundle !== undefined)
      rows.push([
        "bytes to ship",
        `binaries ${binary("simd.wasm")} kB (\`simd\`) and ${binary("scalar.wasm")} kB (\`scalar\`); everything imported, bundled and minified ${[`${(bundle.gzip / 1000).toFixed(1)} kB gzipped${bundle.gzip > BUNDLE_LIMIT ? ` (more than the ${BUNDLE_LIMIT / 1024} KiB that were aimed at)` : ""}`, ...byPlan].join(", ")}`,
        "`npm run bench:memory -- --only sizes`",
      ]);
  }
  if (sweeps !== undefined) {
    const cliffs = sweeps.sweeps.flatMap(({ lines }) => lines.flatMap((line) => line.cliffs)).length;
    const exponent = (name: string): string =>
      sweeps.sweeps
        .find((sweep) => sweep.name === name)
        ?.lines.find(({ engine }) => engine === "simd")
        ?.exponent.toFixed(2) ?? "-";
    rows.push([
      "growth: time as a power of boxes, classes, cells, images (`simd`)",
      `${exponent("boxes")}, ${exponent("classes")}, ${exponent("cells")}, ${exponent("batch")}; ${cliffs === 0 ? "no cliff" : `${cliffs} cliff${cliffs === 1 ? "" : "s"}`} in ${sweeps.sweeps.length} sweeps`,
      "`npm run bench:sweeps`",
    ]);
  }
  if (instructions !== undefined) {
    const millions = (subject: string): string => {
      const line = instructions.filter((text) => text.startsWith(`v8@.25\t${subject}\t`)).at(-1);
      return line === undefined ? "-" : (Number(line.split("\t")[2]) / 1e6).toFixed(1);
    };
    rows.push([
      "million instructions a decode, YOLOv8 at 0.25: x64, arm64, armv7",
      `\`simd\` in Node ${["x64", "arm64", "armv7"].map((cpu) => millions(`Node, simd, ${cpu}`)).join(", ")}; the C path ${["x64", "arm64", "armv7"].map((cpu) => millions(`C path, scalar, ${cpu}`)).join(", ")}`,
      "`npm run bench:instructions`",
    ]);
  }
  if (recipes !== undefined) {
    const ok = recipes.rows.filter(({ status }) => status === "ok");
    rows.push([
      "handing over a tensor from each runtime",
      `${ok.length} of ${recipes.rows.length} recipes run, ${ok.filter(({ digest, expected }) => digest === expected).length} with the definition's boxes`,
      "`npm run bench:recipes`",
    ]);
  }
  // a row is known by its command
  const facts = new Map<string, string[]>();
  for (const cells of [...rowsOf(standing), ...rows]) facts.set(cells[2], cells);
  return tableOf([["", "", "command"], ...facts.values()]);
}
