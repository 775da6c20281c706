/** Runs a program in a process that ends with the tests in any case. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { PATIENCE, timeUp } from "./wait.ts";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output and standard error together, in the order of arrival. */
  readonly text: string;
}

const running = new Set<Child>();
/** Running children, and children that have ended since the last `Child.forgetEnded`. */
const recent = new Set<Child>();
/** Largest number of processes in `Child.lastWords`, and largest number of characters of each. */
const [MOST_CHILDREN, MOST_TEXT] = [6, 2000];
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

export class Child {
  readonly #process: ChildProcess;
  readonly #command: string;
  /** Resolves when the process has ended and all of its output is read. */
  readonly ended: Promise<Ended>;
  #stdout = "";
  #stderr = "";
  #output = "";

  /** @param input text for the standard input. Default: empty */
  constructor(command: readonly string[], options: SpawnOptions = {}, input?: string) {
    const [program, ...args] = command;
    const child = spawn(program!, args, {
      ...options,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    this.#process = child;
    this.#command = command.join(" ");
    running.add(this);
    recent.add(this);
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
      this.#output += text;
    });
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
      this.#output += text;
    });
    child.stdin?.on("error", () => undefined).end(input);
    this.ended = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        running.delete(this);
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr, text: this.#output });
      });
    });
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** Output of the process so far. */
  get output(): string {
    return this.#output;
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Sends a signal and waits for the end. Returns the exit code, or the signal that ended the process. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    this.kill(signal);
    const ended = await this.ended;
    return ended.code ?? ended.signal;
  }

  /** Waits for a pattern in the output. Throws if the process ends first, or after this many seconds. */
  async says(pattern: RegExp, seconds = PATIENCE): Promise<RegExpExecArray> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(timeUp(seconds, `${pattern} in the output`)), seconds * 1000);
    });
    try {
      for (;;) {
        const found = pattern.exec(this.#output);
        if (found) return found;
        const more = new Promise((resolve) => {
          this.#process.stdout!.once("data", resolve);
          this.#process.stderr!.once("data", resolve);
        });
        const ended = await Promise.race([this.ended, more.then(() => undefined), late]);
        if (ended && !pattern.test(this.#output))
          throw new Error(`got exit ${ended.code ?? ended.signal} before ${pattern}:\n${ended.text}`);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Removes the processes that have ended from `lastWords`. */
  static forgetEnded(): void {
    for (const child of recent) if (!running.has(child)) recent.delete(child);
  }

  /** Returns the last output of each process, the newest process last. */
  static lastWords(): string {
    const parts = [...recent].slice(-MOST_CHILDREN).map((child) => {
      const state = running.has(child) ? "runs" : "has ended";
      return `\n${child.#command} (${child.pid}) ${state}, and said last:\n${child.output.slice(-MOST_TEXT)}`;
    });
    return parts.join("");
  }

  /**
   * Kills all running processes, and waits for their ends, since a process that still writes would create its folder
   * again.
   */
  static async killAll(): Promise<void> {
    await Promise.all([...running].map((child) => child.end("SIGKILL")));
  }
}
