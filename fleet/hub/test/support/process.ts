/** Runs the hub as its operator does: the compiled command, in a process of its own. */
import { fileURLToPath } from "node:url";
import { Child, type Ended } from "boxwright-service/testing/child";
import { keyOn, password, Person } from "./person.ts";

/** This file is also compiled into out/test/support. The command stays in dist/. */
const CLI = fileURLToPath(import.meta.url).includes("/out/test/support/")
  ? new URL("../../../dist/cli/main.js", import.meta.url)
  : new URL("../../dist/cli/main.js", import.meta.url);
export const cli = fileURLToPath(CLI);

export type Environment = Record<string, string>;

export const merged = (env: Environment): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  ...env,
});

export interface Ran extends Ended {
  /** The JSON that the process printed, if any. */
  readonly json: any;
}

/** Runs the command to its end. `killWhen` is asked every millisecond, and true means SIGKILL. */
export async function run(
  args: readonly string[],
  env: Environment,
  options: { input?: string; killWhen?: () => boolean; cwd?: string } = {},
): Promise<Ran> {
  const child = new Child([process.execPath, cli, ...args], { env: merged(env), cwd: options.cwd }, options.input);
  const { killWhen } = options;
  const watch = killWhen && setInterval(() => killWhen() && child.kill("SIGKILL"), 1);
  const ended = await child.ended;
  clearInterval(watch);
  let json: unknown;
  try {
    json = JSON.parse(ended.stdout);
  } catch {
    json = undefined;
  }
  return { ...ended, json };
}

export class HubProcess extends Child {
  url = "";
  port = 0;

  static async start(env: Environment): Promise<HubProcess> {
    const hub = new HubProcess([process.execPath, cli, "serve", "--create"], {
      env: merged({ HUB_PORT: "0", ...env }),
    });
    const [line] = await hub.says(/^\{"listening":.*\}$/m);
    const { listening, port } = JSON.parse(line) as { listening: string; port: number };
    return Object.assign(hub, { url: listening, port });
  }

  stop(): Promise<number | NodeJS.Signals | null> {
    return this.end("SIGTERM");
  }
}

/** Opens the one-time link that `boxwright-hub init` or `boxwright-hub users invite` printed, and is signed in. */
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
