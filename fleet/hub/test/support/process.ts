/** Runs the hub as its operator does: the compiled command, in a process of its own. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { keyOn, password, Person } from "./person.ts";

/** This file is also compiled into out/test/support. The command stays in dist/. */
const CLI = fileURLToPath(import.meta.url).includes("/out/test/support/")
  ? new URL("../../../dist/cli/main.js", import.meta.url)
  : new URL("../../dist/cli/main.js", import.meta.url);
const cli = fileURLToPath(CLI);

export type Environment = Record<string, string>;

const merged = (env: Environment): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  ...env,
});

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: any;
}

/** Runs the command to its end. `killWhen` is asked every millisecond, and true means SIGKILL. */
export function run(
  args: readonly string[],
  env: Environment,
  options: { input?: string; killWhen?: () => boolean; cwd?: string } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    let watch: NodeJS.Timeout | undefined;
    const child = execFile(
      process.execPath,
      [cli, ...args],
      { env: merged(env), cwd: options.cwd, maxBuffer: 2 ** 26 },
      (_error, stdout, stderr) => {
        clearInterval(watch);
        let json: unknown;
        try {
          json = JSON.parse(stdout);
        } catch {
          json = undefined;
        }
        resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr, json });
      },
    );
    if (options.input !== undefined) child.stdin?.end(options.input);
    const { killWhen } = options;
    if (killWhen !== undefined) watch = setInterval(() => killWhen() && child.kill("SIGKILL"), 1);
  });
}

export class HubProcess {
  readonly #child: ChildProcess;
  readonly url: string;
  readonly port: number;
  #output = "";
  readonly ended: Promise<number | NodeJS.Signals | null>;

  private constructor(child: ChildProcess, output: string, listening: { listening: string; port: number }) {
    this.#child = child;
    this.#output = output;
    this.url = listening.listening;
    this.port = listening.port;
    child.stdout?.on("data", (chunk: string) => (this.#output += chunk));
    child.stderr?.on("data", (chunk: string) => (this.#output += chunk));
    this.ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
  }

  static start(env: Environment): Promise<HubProcess> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [cli, "serve", "--create"], {
        env: merged({ HUB_PORT: "0", ...env }),
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      const collect = (chunk: string): void => {
        output += chunk;
        const line = /^\{"listening":.*\}$/m.exec(output)?.[0];
        if (line === undefined) return;
        child.stdout.off("data", collect);
        child.stderr.off("data", collect);
        child.off("exit", failed);
        resolve(new HubProcess(child, output, JSON.parse(line) as { listening: string; port: number }));
      };
      const failed = (code: number | null): void =>
        reject(new Error(`got exit code ${code} before the hub listened, expected it to run:\n${output}`));
      child.stdout.setEncoding("utf8").on("data", collect);
      child.stderr.setEncoding("utf8").on("data", collect);
      child.once("exit", failed);
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get output(): string {
    return this.#output;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  async stop(): Promise<number | NodeJS.Signals | null> {
    this.#child.kill("SIGTERM");
    return this.ended;
  }
}

/** Opens the one-time link that `hub init` or `hub users invite` printed, and is signed in. */
export async function useLinkAt(url: string, link: string): Promise<Person> {
  const person = new Person(url);
  const { status } = await person.post(new URL(link).pathname, { password });
  if (status !== 303) throw new Error(`got status ${status} from the link, expected 303`);
  return person;
}

export async function makeKey(person: Person, teamId: string): Promise<string> {
  const form = await person.formOf(`/teams/${teamId}/settings`, `/teams/${teamId}/keys`);
  const key = keyOn((await person.post(`/teams/${teamId}/keys`, form)).html);
  if (key === undefined) throw new Error("got a page without a key, expected one");
  return key;
}
