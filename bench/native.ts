/** Compiles and runs the C++ reference, where there is a compiler. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { define, digest, type Found } from "./definition.ts";
import { cacheDirectory, type Workload } from "./workloads.ts";

export const COMPILE = ["-O3", "-msse4.1"];

export interface Timing {
  readonly median: number;
  readonly min: number;
  readonly p90: number;
  readonly runs: number;
}

export interface NativeResult {
  readonly decode: Timing;
  readonly readOnce: Timing;
  readonly copy: Timing;
  readonly count: number;
  readonly digest: string;
  readonly expected: string;
}

/** Path of the compiled reference, or why there is none. */
export function compileNative(): { program: string } | { reason: string } {
  const source = fileURLToPath(new URL("./native/reference.cpp", import.meta.url));
  if (process.arch !== "x64") return { reason: `written for x64, this is ${process.arch}` };
  const compiler = process.env.CXX ?? "g++";
  const hash = createHash("sha256")
    .update(readFileSync(source))
    .update([compiler, ...COMPILE].join(" "))
    .digest("hex");
  const program = join(cacheDirectory, `reference-${hash.slice(0, 12)}`);
  if (existsSync(program)) return { program };
  mkdirSync(cacheDirectory, { recursive: true });
  try {
    execFileSync(compiler, [...COMPILE, "-o", `${program}.${process.pid}`, source], {
      stdio: ["ignore", "ignore", "pipe"],
    });
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: Buffer };
    return {
      reason:
        code === "ENOENT" ? `no ${compiler} here` : `${compiler} failed: ${String(stderr).split("\n", 1)[0]}`,
    };
  }
  renameSync(`${program}.${process.pid}`, program);
  return { program };
}

export function runNative(program: string, workload: Workload, milliseconds: number): NativeResult {
  const columns = join(cacheDirectory, `columns-${process.pid}`);
  const kind = workload.type === "float32" ? workload.kind : workload.set;
  const output = execFileSync(
    program,
    [
      kind,
      workload.file,
      String(workload.threshold),
      String(milliseconds),
      columns,
      String(workload.boxes ?? 0),
    ],
    { encoding: "utf8" },
  );
  const bytes = Uint8Array.from(readFileSync(columns));
  rmSync(columns);
  const n = new DataView(bytes.buffer).getInt32(0, true);
  const ints = (from: number, length: number): Int32Array =>
    new Int32Array(bytes.buffer, 4 + 4 * from, length);
  const floats = (from: number, length: number): Float32Array =>
    new Float32Array(bytes.buffer, 4 + 4 * from, length);
  const found: Found =
    workload.kind === "nms"
      ? { count: n, kept: ints(0, n), boxes: [], scores: [], classIds: [] }
      : { count: n, boxes: floats(0, 4 * n), scores: floats(4 * n, n), classIds: ints(5 * n, n) };
  const truth = define(workload);
  return {
    ...(JSON.parse(output) as NativeResult),
    digest: digest(found, truth),
    expected: digest(truth, truth),
  };
}
