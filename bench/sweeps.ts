/**
 * How cost grows as the work grows, and the worst cases; one process per sweep and engine.
 *
 *   npm run bench:sweeps -- [--engines simd,scalar,ts] [--only boxes,classes] [--time 250] [--append]
 *                           [--publish] [--out DIR]
 *
 * The exponent is the slope of log(time) over log(size), fitted over all points. A fit would hide a cliff, so
 * each step between two neighbours is also held against the work it adds; more than twice that is flagged.
 * A line with such a step is measured again, up to twice: on a shared machine a point can be slow by itself.
 * Thresholds are plotted as their inverse, and their work is the number of candidates that pass.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Detections, EngineName, TensorInput } from "../src/entries/index.ts";
import { outputsOf, optionsOf } from "./engines.ts";
import { cliffsOf, leastOf, type Point } from "./fit.ts";
import { loadPackage } from "./package.ts";
import { publish } from "./publish.ts";
import { gaussian, mulberry32 } from "./random.ts";
import { short } from "./report.ts";
import { appended, machineOf, reportFolder, save } from "./results.ts";
import { lineOf, sweepsChart, type SweepReport } from "./sweep-report.ts";
import { IOU_THRESHOLD, loadWorkload, makeNms, MAX_DETECTIONS } from "./workloads.ts";

interface Task {
  readonly label: string;
  readonly x: number;
  /** What there is to do, where what is found tells: see Point. */
  work(found: number): number;
  run(): number;
  /** What the last run answered, for a digest. */
  answer(): readonly (Float32Array | Int32Array)[];
}

interface Sweep {
  readonly title: string;
  readonly axis: string;
  tasks(engine: EngineName): AsyncGenerator<Task>;
}

/**
 * Planes [batch, 4 + classes, cells]: 40 objects of 12 cells in a background that passes 0.001 now and then.
 */
function planes(classes: number, cells: number, batch: number, every = false, alike = false): Float32Array {
  const random = mulberry32(classes * 7919 + cells);
  const normal = gaussian(random);
  const data = new Float32Array(batch * (4 + classes) * cells);
  for (let image = 0; image < batch; image++) {
    const base = image * (4 + classes) * cells;
    for (let cell = 0; cell < cells; cell++) {
      const w = alike ? 100 : 20 + 60 * random();
      data[base + cell] = alike ? 320 : 60 + 520 * random();
      data[base + cells + cell] = alike ? 320 : 60 + 520 * random();
      data[base + 2 * cells + cell] = w;
      data[base + 3 * cells + cell] = w;
    }
    for (let at = base + 4 * cells; at < base + (4 + classes) * cells; at++)
      data[at] = every ? 0.3 + 0.6 * random() : Math.min(0.2, 2e-5 * Math.exp(1.3 * normal()));
    for (let object = 0; object < 40 && !every; object++) {
      const label = Math.floor(random() * classes);
      const first = Math.floor(random() * (cells - 12));
      for (let cell = first; cell < first + 12; cell++) {
        for (let i = 0; i < 4; i++) data[base + i * cells + cell] = data[base + i * cells + first];
        data[base + (4 + label) * cells + cell] = 0.4 + 0.5 * random();
      }
    }
  }
  return data;
}

async function decode(
  engine: EngineName,
  options: object,
  outputs: Record<string, TensorInput>,
): Promise<Pick<Task, "run" | "answer">> {
  const { createDecoderSync } = await loadPackage();
  const decoder = createDecoderSync(options, { engine, outputs });
  for (const [name, { data }] of Object.entries(outputs))
    (decoder.slots[name].data as Float32Array).set(data as Float32Array);
  decoder.decode(outputs);
  // A batch answers an array of detections, one image its detections; the length of either is enough of a
  // sink.
  const run = (): number => (decoder.decode() as { readonly length: number }).length;
  return { run, answer: () => columnsOf(decoder.decode()) };
}

/** The columns of detections, of all images of a batch. */
const columnsOf = (all: Detections | readonly Detections[]): Float32Array[] =>
  [all]
    .flat()
    .flatMap(({ length, boxes, scores, classIds, sources }) => [
      boxes.slice(0, 4 * length),
      scores.slice(0, length),
      Float32Array.from(classIds.subarray(0, length)),
      Float32Array.from(sources.subarray(0, length)),
    ]);

interface PlaneShape {
  readonly label: string;
  /** Where it stands on the axis; the work grows with it. */
  readonly x: number;
  readonly classes?: number;
  readonly size?: number;
  readonly batch?: number;
  readonly every?: boolean;
  readonly alike?: boolean;
}

const cellsOf = (size: number): number => (size / 8) ** 2 + (size / 16) ** 2 + (size / 32) ** 2;

/** One shape for each input size, by the cells that it has. */
const sizes = (list: number[], rest: Partial<PlaneShape> = {}): PlaneShape[] =>
  list.map((size) => ({ label: String(cellsOf(size)), x: cellsOf(size), size, ...rest }));

async function* planesOver(engine: EngineName, shapes: readonly PlaneShape[]): AsyncGenerator<Task> {
  for (const { label, x, classes = 80, size = 640, batch = 1, every = false, alike = false } of shapes) {
    const cells = cellsOf(size);
    const data = planes(classes, cells, batch, every, alike);
    const output0 = { data, dims: [batch, 4 + classes, cells] };
    const options = {
      family: "yolov8",
      classes,
      inputSize: [size, size],
      confidenceThreshold: 0.25,
      iouThreshold: IOU_THRESHOLD,
      activation: "sigmoid",
    };
    yield { label, x, work: () => x, ...(await decode(engine, options, { output0 })) };
  }
}

/** Rows of YOLOv5, [1,N,85], every one of which passes; boxes scattered. */
async function* rowsOver(engine: EngineName, list: number[]): AsyncGenerator<Task> {
  for (const size of list) {
    const rows = 3 * cellsOf(size);
    const random = mulberry32(rows);
    const data = Float32Array.from({ length: rows * 85 }, (_, i) =>
      i % 85 < 2 ? size * (0.1 + 0.8 * random()) : i % 85 < 4 ? 20 + 60 * random() : 0.6 + 0.4 * random(),
    );
    const options = {
      family: "yolov5",
      classes: 80,
      inputSize: [size, size],
      confidenceThreshold: 0.25,
      iouThreshold: IOU_THRESHOLD,
    };
    const task = await decode(engine, options, { output0: { data, dims: [1, rows, 85] } });
    yield { label: String(rows), x: rows, work: () => rows, ...task };
  }
}

interface Boxes {
  readonly boxes: Float32Array;
  readonly scores: Float32Array;
}

/** The work of suppression is boxes times kept: at most so many pairs are held against each other. */
async function* boxesOver(
  engine: EngineName,
  list: number[],
  make: (n: number) => Boxes,
  maxDetections?: number,
): AsyncGenerator<Task> {
  const { nms } = await loadPackage();
  for (const n of list) {
    const { boxes, scores } = make(n);
    const options = {
      iouThreshold: IOU_THRESHOLD,
      engine,
      ...(maxDetections === undefined ? {} : { maxDetections }),
    };
    yield {
      label: String(n),
      x: n,
      work: (found) => n * found,
      run: () => nms(boxes, scores, options).length,
      answer: () => [nms(boxes, scores, options)],
    };
  }
}

const clusters = (n: number): Boxes => {
  const { boxes, scores } = makeNms(1, n);
  return { boxes: boxes.data as Float32Array, scores: scores.data as Float32Array };
};

/** Squares of ten on a grid: a step of 0 lays them all on one place, one of 12 apart. */
function gridOf(n: number, step: number): Boxes {
  const random = mulberry32(n);
  const boxes = new Float32Array(4 * n);
  const side = Math.ceil(Math.sqrt(n));
  for (let i = 0; i < n; i++) {
    const x = (i % side) * step;
    const y = Math.floor(i / side) * step;
    boxes.set([x, y, x + 10, y + 10], 4 * i);
  }
  return { boxes, scores: Float32Array.from({ length: n }, random) };
}

const HALF_DECADES = [1e2, 3e2, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6];

async function* thresholdsOver(engine: EngineName, set: string): AsyncGenerator<Task> {
  const { createDecoderSync } = await loadPackage();
  const workload = loadWorkload(`${set}@.25`);
  const outputs = outputsOf(workload);
  const decoder = createDecoderSync(optionsOf(workload), { engine, outputs });
  for (const [name, { data }] of Object.entries(outputs))
    (decoder.slots[name].data as Float32Array).set(data as Float32Array);
  decoder.decode(outputs);
  for (const threshold of [0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001]) {
    decoder.update({ confidenceThreshold: threshold });
    decoder.decode();
    const work = decoder.stats.candidates;
    yield {
      label: String(threshold),
      x: 1 / threshold,
      work: () => work,
      run: () => decoder.decode().length,
      answer: () => columnsOf(decoder.decode()),
    };
  }
}

const CLASS_COUNTS = [1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1000];
const SIZES = [96, 160, 320, 480, 640, 960];

const SWEEPS: Readonly<Record<string, Sweep>> = {
  boxes: {
    title: "Suppression of clustered boxes, 300 kept",
    axis: "boxes",
    tasks: (engine) => boxesOver(engine, HALF_DECADES, clusters, MAX_DETECTIONS),
  },
  "boxes-all-kept": {
    title: "Suppression of clustered boxes, no cap",
    axis: "boxes",
    tasks: (engine) => boxesOver(engine, [100, 300, 1000, 3000, 10000, 30000], clusters),
  },
  "boxes-alike": {
    title: "Worst case: all boxes overlap",
    axis: "boxes",
    tasks: (engine) => boxesOver(engine, HALF_DECADES, (n) => gridOf(n, 0), MAX_DETECTIONS),
  },
  "boxes-apart": {
    title: "Worst case: no two boxes overlap, no cap",
    axis: "boxes",
    tasks: (engine) => boxesOver(engine, [100, 300, 1000, 3000, 10000], (n) => gridOf(n, 12)),
  },
  "boxes-apart-capped": {
    title: "No two boxes overlap, 300 kept",
    axis: "boxes",
    tasks: (engine) => boxesOver(engine, HALF_DECADES, (n) => gridOf(n, 12), MAX_DETECTIONS),
  },
  classes: {
    title: "Classes, [1,4+C,8400] at 0.25",
    axis: "classes",
    tasks: (engine) =>
      planesOver(
        engine,
        CLASS_COUNTS.map((classes) => ({ label: String(classes), x: classes, classes })),
      ),
  },
  cells: {
    title: "Cells, [1,84,N] at 0.25",
    axis: "cells",
    tasks: (engine) => planesOver(engine, sizes([...SIZES, 1280])),
  },
  batch: {
    title: "Batch, [B,84,8400] at 0.25",
    axis: "images",
    tasks: (engine) =>
      planesOver(
        engine,
        [1, 2, 4, 8, 16].map((batch) => ({ label: String(batch), x: batch, batch })),
      ),
  },
  "cells-all-pass": {
    title: "Worst case: every cell passes, boxes scattered",
    axis: "cells",
    tasks: (engine) => planesOver(engine, sizes(SIZES, { every: true })),
  },
  "cells-all-alike": {
    title: "Worst case: every cell passes, one box for all",
    axis: "cells",
    tasks: (engine) => planesOver(engine, sizes(SIZES, { every: true, alike: true })),
  },
  "rows-all-pass": {
    title: "Worst case: every row of YOLOv5 passes",
    axis: "rows",
    tasks: (engine) => rowsOver(engine, SIZES),
  },
  "threshold-v8": {
    title: "Threshold 0.5 to 0.001, YOLOv8",
    axis: "1 / threshold",
    tasks: (engine) => thresholdsOver(engine, "v8"),
  },
  "threshold-v5": {
    title: "Threshold 0.5 to 0.001, YOLOv5",
    axis: "1 / threshold",
    tasks: (engine) => thresholdsOver(engine, "v5"),
  },
  "threshold-v3": {
    title: "Threshold 0.5 to 0.001, tiny-YOLOv3",
    axis: "1 / threshold",
    tasks: (engine) => thresholdsOver(engine, "v3"),
  },
};

/** Median over a bounded time; at least three runs, so that a slow point still has one. */
function medianOf(run: () => number, milliseconds: number): { us: number; found: number } {
  let found = run();
  const warm = performance.now();
  while (performance.now() - warm < milliseconds / 2) found = run();
  const samples: number[] = [];
  const from = performance.now();
  while (samples.length < 3 || performance.now() - from < milliseconds) {
    const start = performance.now();
    found = run();
    samples.push(performance.now() - start);
  }
  samples.sort((a, b) => a - b);
  return { us: 1000 * samples[samples.length >> 1], found };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engines: { type: "string", default: "simd,scalar,ts" },
    only: { type: "string" },
    time: { type: "string", default: "250" },
    append: { type: "boolean", default: false },
    publish: { type: "boolean", default: false },
    out: { type: "string", default: reportFolder },
  },
});

/** Runs of a line that shows a cliff. */
const MOST_RUNS = 3;

function measure(sweep: string, engine: string): Point[] {
  let points = measureOnce(sweep, engine);
  for (let run = 1; run < MOST_RUNS && cliffsOf(points).length > 0; run++)
    points = leastOf(points, measureOnce(sweep, engine));
  return points;
}

function measureOnce(sweep: string, engine: string): Point[] {
  const flags = ["--import", new URL("./ts.mjs", import.meta.url).href, "--no-warnings"];
  const args = [...flags, fileURLToPath(import.meta.url), "child", sweep, engine, "--time", values.time];
  const output = execFileSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "[]") as Point[];
}

if (positionals[0] === "child") {
  const [, sweep, engine] = positionals;
  const points: Point[] = [];
  for await (const { label, x, work, run, answer } of SWEEPS[sweep].tasks(engine as EngineName)) {
    const { us, found } = medianOf(run, Number(values.time));
    const hash = createHash("sha256");
    for (const column of answer()) hash.update(column);
    points.push({ label, x, work: work(found), us, found, digest: hash.digest("hex").slice(0, 12) });
  }
  process.stdout.write(`\n${JSON.stringify(points)}\n`);
} else {
  const wanted = values.only?.split(",");
  const unknown = wanted?.filter((name) => !(name in SWEEPS)) ?? [];
  if (unknown.length > 0)
    throw new Error(`--only ${unknown.join(",")}: known are ${Object.keys(SWEEPS).join(", ")}`);
  const sweeps: SweepReport["sweeps"] = [];
  for (const [name, { title, axis }] of Object.entries(SWEEPS)) {
    if (wanted !== undefined && !wanted.includes(name)) continue;
    const lines = values.engines.split(",").map((engine) => lineOf(engine, measure(name, engine)));
    sweeps.push({ name, title, axis, lines });
    console.log(`\n${title}`);
    for (const { engine, points, exponent, steepest, cliffs } of lines) {
      console.log(
        `  ${engine.padEnd(7)} exponent ${exponent.toFixed(2)}, worst step ${steepest?.excess.toFixed(2)}x its work: ` +
          points.map((p) => `${p.label} ${short(p.us)}`).join(", "),
      );
      for (const { from, to, excess } of cliffs)
        console.log(
          `  CLIFF ${engine}: from ${from} to ${to} time grew ${excess.toFixed(1)}x as much as the work`,
        );
    }
    // engines agree byte for byte
    const odd = lines[0].points.flatMap(({ label, digest }, i) =>
      lines.every(({ points }) => points[i].digest === digest) ? [] : label,
    );
    if (odd.length > 0) {
      console.log(`  MISMATCH: the engines found other boxes at ${odd.join(", ")}`);
      process.exitCode = 1;
    }
  }
  const order = Object.keys(SWEEPS);
  const report: SweepReport = {
    ...machineOf("bench:sweeps"),
    sweeps: appended<SweepReport["sweeps"][number]>(values, "sweeps", sweeps).sort(
      (a, b) => order.indexOf(a.name) - order.indexOf(b.name),
    ),
  };
  const flagged = report.sweeps.flatMap(({ lines }) => lines.flatMap(({ cliffs }) => cliffs)).length;
  console.log(`\n${report.sweeps.length} sweeps, ${flagged} cliff(s)`);
  save(values.out, "sweeps", report, { svg: sweepsChart(report) });
  if (values.publish) publish(values.out);
}
