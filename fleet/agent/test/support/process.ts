/** The agent as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

export interface AgentProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; text: string }>;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Starts `command` with arguments; the agent by default.
 * @param env variables beside those of this process
 */
export function startProcess(
  args: readonly string[],
  command = process.execPath,
  isMain = true,
  env: Readonly<Record<string, string>> = {},
): AgentProcess {
  const child = spawn(command, isMain ? [MAIN, ...args] : [...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null; text: string }>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, text })),
  );
  onTestFinished(async () => {
    child.kill("SIGKILL");
    // A process that still writes would bring its folder back.
    await ended;
  });
  return { child, ended, kill: (signal) => void child.kill(signal) };
}

/** Writes settings into a folder. Returns the path of the file. */
export function writeSettings(folder: string, settings: object): string {
  const path = join(folder, "settings.json");
  writeFileSync(path, JSON.stringify(settings));
  return path;
}

/** Waits until something holds. */
export async function until(holds: () => boolean | Promise<boolean>, what: string, seconds = 60): Promise<void> {
  for (let tries = 0; tries < seconds * 20; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`waited ${seconds} s for ${what}`);
}
