/** Runs programs that measure what the heap gains. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Flags of a process in which the same program leaves the same bytes, however busy the machine is. The young space is
 * never collected. V8 compiles on the one thread: threads beside it would be late on a busy machine, and code that is
 * not compiled yet keeps its fractions as objects.
 */
const FLAGS = ["--expose-gc", "--max-semi-space-size=128", "--min-semi-space-size=128", "--single-threaded"];

/** Returns what a program prints, in a process of its own. */
export const printedBy = (program: string): string =>
  execFileSync(process.execPath, [...FLAGS, "--input-type=module", "--eval", program], {
    encoding: "utf8",
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
  });
