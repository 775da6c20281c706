/**
 * Checks the system's limits when a service starts, and explains problems. Imports nothing, so that it can run before
 * all other modules.
 */
import { readFileSync } from "node:fs";

/** Number of file descriptors below which not even the modules can be loaded. */
const LEAST_FILES = 256;

/** Returns how many files this process may open, or undefined if the system does not say. */
export function mostFiles(limits = readLimits()): number | undefined {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? undefined : Number(soft);
}

function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}

/** Returns why a service cannot start under the limits of the system, or undefined. */
export function limitProblem(limits?: string): string | undefined {
  const most = mostFiles(limits);
  if (most === undefined || most >= LEAST_FILES) return undefined;
  return `open files: got a limit of ${most}, expected at least ${LEAST_FILES}; raise it with ulimit -n, or with LimitNOFILE in the unit`;
}

/** Returns a warning if this process may open fewer files than it accepts connections, or undefined. */
export function connectionLimitProblem(connections: number, limits?: string): string | undefined {
  const most = mostFiles(limits);
  const needed = connections + LEAST_FILES;
  if (most === undefined || most >= needed) return undefined;
  return `open files: got a limit of ${most}, expected ${needed} for ${connections} connections; raise it with ulimit -n, or with LimitNOFILE in the unit`;
}

/** Explanations of errors that a system limit causes. */
const SENTENCES: Readonly<Record<string, string>> = {
  EMFILE: "open files: the limit of this process is reached; raise it with ulimit -n, or with LimitNOFILE in the unit",
  ENFILE: "open files: the limit of this machine is reached; raise fs.file-max",
  EAGAIN: "processes and threads: the limit is reached; raise it with ulimit -u, or with TasksMax in the unit",
  ENOMEM: "memory: the limit is reached; raise it with ulimit -v, or with MemoryMax in the unit",
  ERR_WORKER_INIT_FAILED: "threads: one could not start; raise the limits of ulimit -u and ulimit -v",
  ERR_WORKER_OUT_OF_MEMORY: "memory: a thread ran out of it; raise the limits of ulimit -v, or MemoryMax in the unit",
};

/** Returns a sentence for an error that a limit of the system causes, or undefined. */
export function explainLimit(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" && Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : undefined;
}

/** Loads and runs a command if the system's limits suffice. Otherwise explains the problem, and ends with code 2. */
export async function runWithinLimits(name: string, load: () => Promise<unknown>): Promise<void> {
  const refuse = (problem: string): void => {
    process.stderr.write(`${name}: ${problem}\n`);
    process.exit(2);
  };
  const problem = limitProblem();
  if (problem !== undefined) return refuse(problem);
  try {
    await load();
  } catch (error) {
    const sentence = explainLimit(error);
    if (sentence === undefined) throw error;
    refuse(sentence);
  }
}
