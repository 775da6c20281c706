/** The agent as a process of its own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child } from "boxwright-service/testing/child";
import { onTestFinished } from "vitest";

export const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/**
 * Starts the agent, which ends with the test at the latest.
 * @param env variables beside those of this process
 * @param prefix command that runs the agent, such as one that enters a namespace
 */
export function startProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  prefix: readonly string[] = [],
): Child {
  const child = new Child([...prefix, process.execPath, MAIN, ...args], { env: { ...process.env, ...env } });
  // A process that still writes would bring its folder back.
  onTestFinished(() => child.end("SIGKILL").then(() => undefined));
  return child;
}

/** Writes settings into a folder. Returns the path of the file. */
export function writeSettings(folder: string, settings: object): string {
  const path = join(folder, "settings.json");
  writeFileSync(path, JSON.stringify(settings));
  return path;
}
