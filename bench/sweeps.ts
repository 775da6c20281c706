/**
 * How cost grows as the work grows, and the worst cases; one process per sweep and engine.
 *
 *   npm run bench:sweeps -- [--engines simd,scalar,ts] [--only boxes,classes] [--time 250] [--out DIR]
 *
 * The exponent is the slope of log(time) over log(size), fitted over all points; the steepest step between
 * two neighbouring points shows a cliff that a fit would hide. Thresholds are plotted as their inverse.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { EngineName, TensorInput } from "../src/index.ts";
import { outputsOf, optionsOf } from "./engines.ts";
import { loadPackage } from "./package.ts";
import { gaussian, mulberry32 } from "./random.ts";
import { escape, short } from "./report.ts";
import { IOU_THRESHOLD, loadWorkload, makeNms, MAX_DETECTIONS } from "./workloads.ts";

interface Point {
  /** What the point is called in the table. */
  readonly label: string;
  /** Where it stands on the axis. */
  readonly x: number;
  readonly us: number;
  readonly found: number;
}

interface Task {
  readonly label: string;
  readonly x: number;
  run(): number;
}

interface Sweep {
  readonly title: string;
  readonly axis: string;
  tasks(engine: EngineName): Generator<Task> | AsyncGenerator<Task>;
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
): Promise<() => number> {
  const { createDecoderSync } = await loadPackage();
  const decoder = createDecoderSync(options, { engine, outputs });
  for (const [name, { data }] of Object.entries(outputs))
    (decoder.slots[name].data as Float32Array).set(data as Float32Array);
  decoder.decode(outputs);
  // A batch answers an array of detections, one image its detections; the length of either is enough of a
  // sink.
  return () => (decoder.decode() as { readonly length: number }).length;
}

const v8Options = (classes: number, size: number, threshold: number): object => ({
  family: "yolov8",
  classes,
  inputSize: [size, size],
  confidenceThreshold: threshold,
  iouThreshold: IOU_THRESHOLD,
  activation: "sigmoid",
});

const cellsOf = (size: number): number => (size / 8) ** 2 + (size / 16) ** 2 + (size / 32) ** 2;

async function* planesOver(
  engine: EngineName,
  shapes: {
    label: string;
    x: number;
    classes?: number;
    size?: number;
    batch?: number;
    every?: boolean;
    alike?: boolean;
  }[],
): AsyncGenerator<Task> {
  for (const { label, x, classes = 80, size = 640, batch = 1, every = false, alike = false } of shapes) {
    const cells = cellsOf(size);
    const data = planes(classes, cells, batch, every, alike);
    const output0 = { data, dims: [batch, 4 + classes, cells] };
    yield { label, x, run: await decode(engine, v8Options(classes, size, 0.25), { output0 }) };
  }
}

async function* boxesOver(
  engine: EngineName,
  sizes: number[],
  make: (n: number) => { boxes: Float32Array; scores: Float32Array },
  maxDetections?: number,
): AsyncGenerator<Task> {
  const { nms } = await loadPackage();
  for (const n of sizes) {
    const { boxes, scores } = make(n);
    const options = {
      iouThreshold: IOU_THRESHOLD,
      engine,
      ...(maxDetections === undefined ? {} : { maxDetections }),
    };
    yield { label: String(n), x: n, run: () => nms(boxes, scores, options).length };
  }
}

const clusters = (n: number): { boxes: Float32Array; scores: Float32Array } => {
  const { boxes, scores } = makeNms(1, n);
  return { boxes: boxes.data as Float32Array, scores: scores.data as Float32Array };
};

function gridOf(n: number, step: number): { boxes: Float32Array; scores: Float32Array } {
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
    yield { label: String(threshold), x: 1 / threshold, run: () => decoder.decode().length };
  }
}

const SWEEPS: Readonly<Record<string, Sweep>> = {
  boxes: {
    title: "Suppression of clustered boxes, 300 kept",
    axis: "boxes",
    tasks: (engine) => boxesOver(engine, [1e2, 1e3, 1e4, 1e5, 1e6], clusters, MAX_DETECTIONS),
  },
  "boxes-all-kept": {
    title: "Suppression of clustered boxes, no cap",
    axis: "boxes",
    tasks: (engine) => boxesOver(engine, [100, 300, 1000, 3000, 10000, 30000], clusters),
  },
  "boxes-alike": {
    title: "Worst case: all boxes overlap",
    axis: "boxes",
    tasks: (engine) => boxesOver(engine, [1e2, 1e3, 1e4, 1e5, 1e6], (n) => gridOf(n, 0), MAX_DETECTIONS),
  },
  "boxes-apart": {
    title: "Worst case: no box overlaps another, none is dropped, no cap",
    axis: "boxes",
    tasks: (engine) => boxesOver(engine, [100, 300, 1000, 3000, 10000], (n) => gridOf(n, 12)),
  },
  classes: {
    title: "Classes, [1,4+C,8400] at 0.25",
    axis: "classes",
    tasks: (engine) =>
      planesOver(
        engine,
        [1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1000].map((c) => ({ label: `${c}`, x: c, classes: c })),
      ),
  },
  cells: {
    title: "Cells, [1,84,N] at 0.25",
    axis: "cells",
    tasks: (engine) =>
      planesOver(
        engine,
        [96, 160, 320, 480, 640, 960, 1280].map((size) => ({
          label: `${cellsOf(size)}`,
          x: cellsOf(size),
          size,
        })),
      ),
  },
  batch: {
    title: "Batch, [B,84,8400] at 0.25",
    axis: "images",
    tasks: (engine) =>
      planesOver(
        engine,
        [1, 2, 4, 8, 16].map((batch) => ({ label: `${batch}`, x: batch, batch })),
      ),
  },
  "cells-all-pass": {
    title: "Worst case: every cell passes, boxes scattered",
    axis: "cells",
    tasks: (engine) =>
      planesOver(
        engine,
        [96, 160, 320, 480, 640, 960].map((size) => ({
          label: `${cellsOf(size)}`,
          x: cellsOf(size),
          size,
          every: true,
        })),
      ),
  },
  "cells-all-alike": {
    title: "Worst case: every cell passes with the same box",
    axis: "cells",
    tasks: (engine) =>
      planesOver(
        engine,
        [96, 160, 320, 480, 640, 960].map((size) => ({
          label: `${cellsOf(size)}`,
          x: cellsOf(size),
          size,
          every: true,
          alike: true,
        })),
      ),
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

interface Line {
  readonly engine: string;
  readonly points: Point[];
  readonly exponent: number;
  readonly steepest: number;
}

function lineOf(engine: string, points: Point[]): Line {
  const xs = points.map((p) => Math.log(p.x));
  const ys = points.map((p) => Math.log(p.us));
  const mean = (values: number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  const [mx, my] = [mean(xs), mean(ys)];
  const spread = xs.reduce((sum, x) => sum + (x - mx) ** 2, 0);
  const exponent = xs.reduce((sum, x, i) => sum + (x - mx) * (ys[i] - my), 0) / spread;
  const steps = xs.slice(1).map((x, i) => (x === xs[i] ? 0 : (ys[i + 1] - ys[i]) / (x - xs[i])));
  return { engine, points, exponent, steepest: Math.max(...steps) };
}

const COLOURS: Readonly<Record<string, string>> = { simd: "#0b6e4f", scalar: "#c98a1b", ts: "#4a6fa5" };

function panel(title: string, axis: string, lines: readonly Line[], left: number, top: number): string {
  const [width, height] = [330, 200];
  const all = lines.flatMap(({ points }) => points);
  const range = (values: number[]): [number, number] => [
    Math.floor(Math.log10(Math.min(...values))),
    Math.max(Math.ceil(Math.log10(Math.max(...values))), Math.floor(Math.log10(Math.min(...values))) + 1),
  ];
  const [x0, x1] = range(all.map((p) => p.x));
  const [y0, y1] = range(all.map((p) => p.us));
  const x = (value: number): number => left + 55 + ((Math.log10(value) - x0) / (x1 - x0)) * (width - 75);
  const y = (value: number): number =>
    top + height - 25 - ((Math.log10(value) - y0) / (y1 - y0)) * (height - 60);
  const parts = [`<text x="${left + 8}" y="${top + 16}" font-weight="600">${escape(title)}</text>`];
  for (let p = y0; p <= y1; p++)
    parts.push(
      `<line x1="${left + 55}" x2="${left + width - 20}" y1="${y(10 ** p)}" y2="${y(10 ** p)}" stroke="#ddd"/>`,
      `<text x="${left + 50}" y="${y(10 ** p) + 4}" text-anchor="end">${short(10 ** p)}</text>`,
    );
  for (let p = x0; p <= x1; p++)
    parts.push(
      `<text x="${x(10 ** p)}" y="${top + height - 10}" text-anchor="middle">${(10 ** p).toLocaleString("en")}</text>`,
    );
  parts.push(
    `<text x="${left + width - 20}" y="${top + height + 3}" text-anchor="end" fill="#777">${axis}</text>`,
  );
  lines.forEach(({ engine, points, exponent }, i) => {
    const colour = COLOURS[engine] ?? "#555";
    const path = points.map((p) => `${x(p.x).toFixed(1)},${y(p.us).toFixed(1)}`);
    parts.push(`<polyline points="${path.join(" ")}" fill="none" stroke="${colour}" stroke-width="1.5"/>`);
    for (const at of path)
      parts.push(`<circle cx="${at.split(",")[0]}" cy="${at.split(",")[1]}" r="2.2" fill="${colour}"/>`);
    parts.push(
      `<text x="${left + 62 + 90 * i}" y="${top + 32}" fill="${colour}">${engine}: x^${exponent.toFixed(2)}</text>`,
    );
  });
  return parts.join("\n");
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engines: { type: "string", default: "simd,scalar,ts" },
    only: { type: "string" },
    time: { type: "string", default: "250" },
    out: { type: "string", default: fileURLToPath(new URL("./report", import.meta.url)) },
  },
});

if (positionals[0] === "child") {
  const [, sweep, engine] = positionals;
  const points: Point[] = [];
  for await (const { label, x, run } of SWEEPS[sweep].tasks(engine as EngineName)) {
    const { us, found } = medianOf(run, Number(values.time));
    points.push({ label, x, us, found });
  }
  process.stdout.write(`\n${JSON.stringify(points)}\n`);
} else {
  const names = Object.keys(SWEEPS).filter(
    (name) => values.only === undefined || values.only.split(",").includes(name),
  );
  const result: { name: string; title: string; axis: string; lines: Line[] }[] = [];
  for (const name of names) {
    const { title, axis } = SWEEPS[name];
    const lines = values.engines.split(",").map((engine) => {
      const flags = ["--import", new URL("./ts.mjs", import.meta.url).href, "--no-warnings"];
      const args = [...flags, fileURLToPath(import.meta.url), "child", name, engine, "--time", values.time];
      const output = execFileSync(process.execPath, args, {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      });
      return lineOf(engine, JSON.parse(output.trimEnd().split("\n").at(-1) ?? "[]") as Point[]);
    });
    result.push({ name, title, axis, lines });
    console.log(`\n${title}`);
    for (const { engine, points, exponent, steepest } of lines)
      console.log(
        `  ${engine.padEnd(7)} exponent ${exponent.toFixed(2)}, steepest step ${steepest.toFixed(2)}: ` +
          points.map((p) => `${p.label} ${short(p.us)}`).join(", "),
      );
    const counts = new Set(lines.map(({ points }) => points.map((p) => p.found).join()));
    if (counts.size > 1) {
      console.log(`  MISMATCH: the engines found ${[...counts].join(" / ")}`);
      process.exitCode = 1;
    }
  }
  const rows = Math.ceil(result.length / 3);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1010" height="${rows * 225 + 40}" viewBox="0 0 1010 ${rows * 225 + 40}" font-family="system-ui, sans-serif" font-size="10" fill="#222">
<rect width="100%" height="100%" fill="#fff"/>
<text x="8" y="20" font-size="14" font-weight="600">Cost as the work grows, both axes logarithmic (${escape(cpus()[0]?.model ?? "")}, Node ${process.version})</text>
${result.map(({ title, axis, lines }, i) => panel(title, axis, lines, 8 + (i % 3) * 333, 34 + Math.floor(i / 3) * 225)).join("\n")}
</svg>
`;
  mkdirSync(values.out, { recursive: true });
  writeFileSync(join(values.out, "sweeps.json"), `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(join(values.out, "sweeps.svg"), svg);
  console.log(`\nreport: ${join(values.out, "sweeps.json")}, sweeps.svg`);
}
