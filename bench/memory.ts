/**
 * What the decoder costs besides time: garbage per frame, memory held, time from import to the first
 * detection, bytes to ship.
 *
 *   npm run bench:memory -- [--frames 100000] [--only garbage,memory,start,sizes] [--append] [--publish]
 *                           [--out DIR]
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import type { EngineName } from "../src/entries/index.ts";
import { optionsOf, outputsOf } from "./engines.ts";
import { loadPackage, type Decoder, type Detections } from "./package.ts";
import { publish } from "./publish.ts";
import { load, machineOf, reportFolder, save, type Made } from "./results.ts";
import { loadWorkload, WORKLOADS, type Workload } from "./workloads.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    frames: { type: "string", default: "100000" },
    only: { type: "string", default: "garbage,memory,start,sizes" },
    append: { type: "boolean", default: false },
    publish: { type: "boolean", default: false },
    out: { type: "string", default: reportFolder },
  },
});

async function decoderOf(workload: Workload, engine: EngineName): Promise<Decoder> {
  const { createDecoderSync } = await loadPackage();
  const outputs = outputsOf(workload);
  const decoder = createDecoderSync(optionsOf(workload), { engine, outputs });
  for (const [name, { data }] of Object.entries(outputs))
    (decoder.slots[name].data as Float32Array).set(data as Float32Array);
  decoder.decode(outputs);
  return decoder;
}

// -----------------------------------------------------------------------------------------------------------
// in a process of its own: garbage

export type Path = "columns, in its slot" | "columns, from an array" | "objects";

export interface Garbage {
  readonly bytesPerFrame: number;
  readonly collections: number;
  readonly grown: number;
  readonly frames: number;
}

async function garbage(name: string, engine: EngineName, path: Path, frames: number): Promise<Garbage> {
  const workload = loadWorkload(name);
  const decoder = await decoderOf(workload, engine);
  const outputs = outputsOf(workload);
  // A typed array, since a number kept in a closure's variable is a new heap object each time it is set.
  const sink = new Float64Array(1);
  const columns = (found: Detections): void => {
    const { boxes, scores, classIds, length } = found;
    let sum = 0;
    for (let i = 0; i < length; i++) sum += boxes[4 * i] + scores[i] + classIds[i];
    sink[0] += sum;
  };
  const frame =
    path === "columns, in its slot"
      ? () => columns(decoder.decode())
      : path === "columns, from an array"
        ? () => columns(decoder.decode(outputs))
        : () => {
            for (const detection of decoder.decode()) sink[0] += detection.x_min + detection.confidence;
          };
  const starts: number[] = [];
  const observer = new PerformanceObserver((list) =>
    starts.push(...list.getEntries().map((e) => e.startTime)),
  );
  observer.observe({ entryTypes: ["gc"] });
  const collect = globalThis.gc as () => void;
  const settle = async (): Promise<void> => {
    collect();
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  // Until the code is compiled for good, V8 itself allocates.
  for (let i = 0; i < Math.max(3000, frames / 10); i++) frame();
  await settle();
  const before = process.memoryUsage().heapUsed;
  const began = performance.now();
  for (let i = 0; i < frames; i++) frame();
  const ended = performance.now();
  const after = process.memoryUsage().heapUsed;
  await new Promise((resolve) => setTimeout(resolve, 20));
  // V8 also collects for no garbage of ours, when it finds itself idle after the frames
  const collected = starts.filter((t) => t >= began && t <= ended).length;
  await settle();
  const grown = process.memoryUsage().heapUsed - before;
  if (!(sink[0] > 0)) throw new Error("nothing was found");
  return { bytesPerFrame: (after - before) / frames, collections: collected, grown, frames };
}

// -----------------------------------------------------------------------------------------------------------
// in a process of its own: memory held

export interface Held {
  readonly held: number;
  readonly slots: number;
  readonly limit: number;
  readonly peakRss: number;
}

/** Cells whose candidates there must be room for. */
const CELLS: Readonly<Record<string, number>> = { v8: 8400, v5: 25200, v3: 3 * (26 * 26 + 13 * 13) };

async function memory(name: string, engine: EngineName): Promise<Held> {
  const workload = loadWorkload(name);
  const before = process.resourceUsage().maxRSS;
  const decoder = await decoderOf(workload, engine);
  for (let i = 0; i < 200; i++) decoder.decode();
  const cells = CELLS[workload.kind] ?? workload.boxes ?? 0;
  return {
    held: decoder.stats.bytes,
    slots: workload.bytes,
    limit: workload.bytes + 40 * cells + 65536,
    peakRss: (process.resourceUsage().maxRSS - before) * 1024,
  };
}

// -----------------------------------------------------------------------------------------------------------
// in a process of its own, without the type-erasing loader: start

const START = `
import { readFileSync } from "node:fs";
const [, url, engine, file, options, specs] = process.argv;
const outputs = JSON.parse(specs);
const raw = readFileSync(file);
let at = 0;
for (const spec of Object.values(outputs)) {
  spec.data = new Float32Array(spec.length);
  new Uint8Array(spec.data.buffer).set(raw.subarray(at, (at += 4 * spec.length)));
}
const first = async () => {
  const start = performance.now();
  const { createDecoderSync } = await import(url);
  const imported = performance.now();
  const decoder = createDecoderSync(JSON.parse(options), { engine });
  const found = decoder.decode(outputs);
  const confidence = found.at(0).confidence;
  return { imported: imported - start, total: performance.now() - start, confidence };
};
const cold = await first();
const warm = [];
for (let i = 0; i < 15; i++) warm.push((await first()).total);
warm.sort((a, b) => a - b);
console.log(JSON.stringify({ imported: cold.imported, cold: cold.total, warm: warm[7] }));
`;

export interface Start {
  readonly imported: number;
  readonly cold: number;
  readonly warm: number;
}

const median = (list: number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1];

function start(name: string, engine: EngineName): Start {
  const workload = loadWorkload(name);
  const specs = Object.fromEntries(
    Object.entries(workload.tensors).map(([key, { data, ...rest }]) => [
      key,
      { ...rest, length: data.length },
    ]),
  );
  const url = import.meta.resolve("boxwright");
  const args = [url, engine, workload.file, JSON.stringify(optionsOf(workload)), JSON.stringify(specs)];
  const runs = Array.from({ length: 9 }, () => {
    const flags = ["--input-type=module", "-e", START, "--", ...args];
    return JSON.parse(execFileSync(process.execPath, flags, { encoding: "utf8" })) as Start;
  });
  const of = (key: keyof Start): number => median(runs.map((run) => run[key]));
  return { imported: of("imported"), cold: of("cold"), warm: of("warm") };
}

// -----------------------------------------------------------------------------------------------------------
// bytes to ship

export interface Size {
  readonly file: string;
  readonly bytes: number;
  readonly gzip: number;
}

async function sizes(): Promise<Size[]> {
  const list: Size[] = [];
  const add = (file: string, content: Uint8Array): void =>
    void list.push({ file, bytes: content.length, gzip: gzipSync(content, { level: 9 }).length });
  for (const file of ["build/simd.wasm", "build/scalar.wasm", "dist/index.mjs", "dist/index.cjs"])
    if (existsSync(here(`../${file}`)) && statSync(here(`../${file}`)).isFile())
      add(file, readFileSync(here(`../${file}`)));
  const bundles = {
    "whole API, bundled and minified, both binaries inside": "index.mjs",
    "boxwright/plan, the same": "plan.mjs",
    "boxwright/plan/ts, which has no WebAssembly": "plan.ts.mjs",
  };
  try {
    const { build } = await import("esbuild");
    for (const [name, file] of Object.entries(bundles)) {
      // what a bundler for browsers takes
      const entry = here(`../dist/${file}`);
      const stdin = { contents: `export * from ${JSON.stringify(entry)}`, resolveDir: here(".") };
      const { outputFiles } = await build({
        stdin,
        bundle: true,
        minify: true,
        format: "esm",
        platform: "neutral",
        write: false,
        external: ["node:*"],
      });
      add(name, outputFiles[0].contents);
    }
  } catch (error) {
    console.log(`bundle: missing (${String(error).split("\n", 1)[0]})`);
  }
  return list;
}

export interface MemoryReport extends Made {
  readonly garbage: (Garbage & { readonly engine: EngineName; readonly path: Path })[];
  readonly memory: (Held & { readonly engine: EngineName; readonly workload: string })[];
  readonly start: (Start & { readonly engine: EngineName; readonly workload: string })[];
  readonly sizes: Size[];
  /** How many packages come with an installation. */
  readonly dependencies: number;
}

// -----------------------------------------------------------------------------------------------------------

function child<T>(...args: string[]): T {
  // Young space large enough that nothing is collected while garbage is counted, unless there is a great deal
  // of it; a process whose peak is asked for has its usual one.
  const flags = [
    "--expose-gc",
    ...(args[0] === "garbage" ? ["--min-semi-space-size=256", "--max-semi-space-size=256"] : []),
    "--import",
    new URL("./ts.mjs", import.meta.url).href,
    "--no-warnings",
  ];
  const output = execFileSync(
    process.execPath,
    [...flags, here("./memory.ts"), ...args, "--frames", values.frames],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as T;
}

const [task, name, engine, path] = positionals;
if (task === "garbage") {
  console.log(JSON.stringify(await garbage(name, engine as EngineName, path as Path, Number(values.frames))));
} else if (task === "memory") {
  console.log(JSON.stringify(await memory(name, engine as EngineName)));
} else {
  const engines: EngineName[] = ["simd", "scalar", "ts"];
  const kB = (bytes: number): string => `${(bytes / 1024).toFixed(0)} KiB`;
  const wanted = values.only.split(",");
  const before = values.append ? load<MemoryReport>(values.out, "memory") : undefined;
  /** A part that was asked for is measured, another stays as an earlier run left it. */
  const part = <T>(name: "garbage" | "memory" | "start" | "sizes", measure: () => T[]): T[] =>
    wanted.includes(name) ? measure() : ((before?.[name] ?? []) as T[]);

  const garbage = part("garbage", () => {
    console.log(`Garbage over ${values.frames} frames of tiny-YOLOv3 at 0.25 (55 detections)`);
    return engines.flatMap((engine) =>
      (["columns, in its slot", "columns, from an array", "objects"] satisfies Path[]).map((path) => {
        const row = child<Garbage>("garbage", "v3@.25", engine, path);
        console.log(
          `  ${engine.padEnd(7)} ${path.padEnd(23)} ` +
            (row.collections === 0
              ? `${row.bytesPerFrame.toFixed(2).padStart(8)} bytes a frame, none collected`
              : `${row.collections} collections of a young space of 256 MiB`) +
            `, heap after collection ${row.grown >= 0 ? "+" : ""}${row.grown} bytes`,
        );
        return { engine, path, ...row };
      }),
    );
  });

  const memory = part("memory", () => {
    console.log(
      "\nMemory held (stats.bytes), against slots + 40 bytes a cell + 64 KiB; growth of the process's peak",
    );
    return WORKLOADS.flatMap(({ name: workload }) =>
      engines.map((engine) => {
        const row = child<Held>("memory", workload, engine);
        console.log(
          `  ${workload.padEnd(12)} ${engine.padEnd(7)} ${kB(row.held).padStart(10)} of ${kB(row.limit).padStart(10)} ` +
            `${row.held <= row.limit ? "met    " : "NOT MET"} peak +${kB(row.peakRss)}`,
        );
        return { workload, engine, ...row };
      }),
    );
  });

  const starts = part("start", () => {
    console.log(
      "\nFrom import to the first detection, median of 9 processes (ms); warm: a second decoder in the same one",
    );
    return ["v8@.25", "v3@.25"].flatMap((workload) =>
      engines.map((engine) => {
        const row = start(workload, engine);
        console.log(
          `  ${workload.padEnd(8)} ${engine.padEnd(7)} import ${row.imported.toFixed(1)}, cold ${row.cold.toFixed(1)}, warm ${row.warm.toFixed(2)}`,
        );
        return { workload, engine, ...row };
      }),
    );
  });

  const measured = wanted.includes("sizes") ? await sizes() : [];
  const bytes = part("sizes", () => {
    console.log("\nBytes");
    for (const { file, bytes: raw, gzip } of measured)
      console.log(`  ${file.padEnd(55)} ${String(raw).padStart(7)}, gzipped ${String(gzip).padStart(6)}`);
    return measured;
  });
  const manifest = JSON.parse(readFileSync(here("../package.json"), "utf8")) as { dependencies?: object };
  const dependencies = Object.keys(manifest.dependencies ?? {}).length;
  console.log(`  dependencies at run time: ${dependencies}\n`);

  const report: MemoryReport = {
    ...machineOf("bench:memory"),
    garbage,
    memory,
    start: starts,
    sizes: bytes,
    dependencies,
  };
  save(values.out, "memory", report);
  if (values.publish) publish(values.out);
}
