/**
 * Gives a run of the tests a temporary folder of its own, and removes it afterwards. A test that is stopped or filtered
 * out, and a process that ends hard, leave their folders there.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { home } from "../runtimes/install.mjs";

export default function setup(): () => void {
  // Programs that are fetched stay for the next run.
  process.env["BOXWRIGHT_RUNTIMES"] = home;
  const before = process.env["TMPDIR"];
  const folder = mkdtempSync(join(tmpdir(), "bw-"));
  // Tests and the processes that they start inherit it.
  process.env["TMPDIR"] = folder;
  // onnxruntime-node would leave a file mat-debug-PID.log for each process.
  process.env["ORT_DISABLE_TELEMETRY"] = "1";
  return () => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(folder, { recursive: true, force: true });
  };
}
