/** The host as its operator runs it: the built command, in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const COMMAND = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Children that run. A test that fails must leave none behind. */
const children = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

export class HostProcess {
  readonly #child: ChildProcess;
  readonly url: string;
  readonly #ended: Promise<number | NodeJS.Signals | null>;

  /** What it has written so far. */
  readonly output: () => string;

  private constructor(
    child: ChildProcess,
    port: number,
    ended: Promise<number | NodeJS.Signals | null>,
    output: () => string,
  ) {
    this.output = output;
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
    this.#ended = ended;
  }

  /**
   * Starts the host, and waits until it listens.
   * @param prefix command that runs the host, such as one that enters a namespace
   * @param env variables beside those of this process
   */
  static start(
    options: Readonly<Record<string, string | number>>,
    prefix: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<HostProcess> {
    const args = Object.entries({ port: 0, threads: 1, ...options }).flatMap(([name, value]) => [
      `--${name}`,
      String(value),
    ]);
    const [program, ...rest] = [...prefix, process.execPath, COMMAND, ...args];
    const child = spawn(program!, rest, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
    children.add(child);
    const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
      child.once("exit", (code, signal) => {
        children.delete(child);
        resolve(code ?? signal);
      }),
    );
    let output = "";
    return new Promise((resolve, reject) => {
      const collect = (chunk: string): void => {
        output = (output + chunk).slice(-100_000);
        const port = /"port":(\d+),"page"/.exec(output)?.[1];
        if (port !== undefined) resolve(new HostProcess(child, Number(port), ended, () => output));
      };
      child.stdout.setEncoding("utf8").on("data", collect);
      child.stderr.setEncoding("utf8").on("data", collect);
      void ended.then((code) => reject(new Error(`got exit ${code} before the host listened:\n${output}`)));
    });
  }

  /** Kills every host that runs. */
  static async killAll(): Promise<void> {
    const ends = [...children].map((child) => new Promise((resolve) => child.once("exit", resolve)));
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(ends);
  }

  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    this.#child.kill(signal);
    return this.#ended;
  }
}

/** Runs the command to its end. */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [COMMAND, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("exit", (code) => resolve({ code, output }));
  });
}
