/** The agent of the workspace beside this one, as its operator runs it. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const AGENT = fileURLToPath(new URL("../../../agent/dist/cli/main.js", import.meta.url));

/** Runs an agent by a settings file until its source has ended and every packet is acknowledged. Returns its log. */
export async function runAgent(folder: string, settings: object): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "settings.json");
  writeFileSync(file, JSON.stringify({ ...settings, state: "state", log: "warn" }));
  const child = spawn(process.execPath, [AGENT, file], { stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`got exit ${String(code)} of the agent, expected 0:\n${text}`);
  return text;
}
