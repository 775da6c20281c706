/** The host as its operator runs it: the built command, in a process of its own. */
import { fileURLToPath } from "node:url";
import { Child } from "boxwright-service/testing/child";

export const COMMAND = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

type Options = Readonly<Record<string, string | number>>;

/** Returns the command that runs the host. Without other options: on any port, with one thread. */
export function commandOf(options: Options, prefix: readonly string[] = []): string[] {
  const all = Object.entries({ port: 0, threads: 1, ...options });
  return [...prefix, process.execPath, COMMAND, ...all.flatMap(([name, value]) => [`--${name}`, String(value)])];
}

export class HostProcess extends Child {
  url = "";

  /**
   * Starts the host, and waits until it listens.
   * @param prefix command that runs the host, such as one that enters a namespace
   * @param env variables beside those of this process
   */
  static async start(
    options: Options,
    prefix: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<HostProcess> {
    const host = new HostProcess(commandOf(options, prefix), { env: { ...process.env, ...env } });
    const [, port] = await host.says(/"port":(\d+),"page"/);
    host.url = `http://127.0.0.1:${port}`;
    return host;
  }
}

/** Runs the command to its end. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  const child = new Child([process.execPath, COMMAND, ...args], { env: { ...process.env, ...env } });
  const { code, text } = await child.ended;
  return { code, output: text };
}
