/**
 * Runs each row in a process of its own. V8 specialises a loop to the arrays that it has seen, so an engine must not
 * inherit types or garbage from the previous one.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Row } from "./engines.ts";
import type { Timing } from "./measure.ts";
import type { Answer } from "./peers/prepared.ts";
import type { WorkloadSpec } from "./workloads.ts";

export interface RowTask {
  readonly spec: WorkloadSpec;
  readonly row: Row;
  /** URL of the package that is measured. */
  readonly entry: string;
  readonly milliseconds: number;
}

export type RowResult =
  | { readonly status: "ok"; readonly timing: Timing; readonly answer: Answer }
  | { readonly status: "missing" | "n/a" | "failed"; readonly reason: string };

const run = promisify(execFile);

/** Measures a row in a process of its own. */
export async function measureRow(task: RowTask): Promise<RowResult> {
  const loader = new URL("./ts.mjs", import.meta.url).href;
  const script = fileURLToPath(new URL("./row.ts", import.meta.url));
  try {
    const { stdout } = await run(
      process.execPath,
      ["--import", loader, "--no-warnings", script, JSON.stringify(task)],
      { maxBuffer: 1 << 26, timeout: 600_000 },
    );
    return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as RowResult;
  } catch (error) {
    return { status: "failed", reason: String(error).split("\n", 1)[0] };
  }
}
