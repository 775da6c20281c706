/**
 * The yardstick for `simd`: the time to read every value once, measured in C++ with 128-bit vectors on one thread. A
 * native decode counts as a reference if it takes at most NATIVE_PER_READ_ONCE times as long.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bytesOf, type Workload } from "./workloads.ts";

/**
 * Time of the required native decode, divided by the time of reading once. Measured on one Zen 4 core for each
 * workload.
 */
export const NATIVE_PER_READ_ONCE: Readonly<Record<string, number>> = {
  "v8@.25": 1.83,
  "v8@.001": 3.34,
  "v5@.25": 0.49,
  "v5@.001": 1.45,
  "v3@.25": 3.7,
  "v3@.001": 5.7,
};

/** Microseconds. */
export interface Yardstick {
  readonly readOnce: number;
  /** Time of one memcpy of all tensors. */
  readonly copy: number;
  readonly requiredNative: number;
}

/** Returns the compiled program, or the reason why there is none. */
export function compileReadOnce(): { program: string } | { reason: string } {
  if (process.arch !== "x64") return { reason: `it is written for x64, and this is ${process.arch}` };
  const folder = mkdtempSync(join(tmpdir(), "boxwright-native-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "read-once");
  const source = fileURLToPath(new URL("./native/read-once.cpp", import.meta.url));
  try {
    execFileSync(process.env.CXX ?? "g++", ["-O3", "-msse4.1", "-o", program, source], { stdio: "pipe" });
  } catch (error) {
    return { reason: String(error).split("\n", 1)[0] };
  }
  return { program };
}

/** Measures the reference time of a workload. Only float32 tensors of a network have one. */
export function measureYardstick(
  program: string,
  workload: Workload,
  milliseconds: number,
): Yardstick | undefined {
  const factor = NATIVE_PER_READ_ONCE[workload.name];
  if (factor === undefined) return undefined;
  const output = execFileSync(program, [String(milliseconds)], { input: bytesOf(workload) });
  const { readOnce, copy } = JSON.parse(String(output)) as { readOnce: number; copy: number };
  return { readOnce, copy, requiredNative: factor * readOnce };
}
