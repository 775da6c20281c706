#!/usr/bin/env node
/**
 * The command `boxwright-agent-launcher`: starts the agent with a settings file, and tries new versions of the agent.
 */
import { fileURLToPath } from "node:url";
import { messageOf } from "boxwright-service/errors";
import { outliveRotation } from "boxwright-service/hang-up";
import { LogOutput } from "boxwright-service/log-output";
import { printVersion } from "boxwright-service/version";
import { machine } from "../core/machine.ts";
import { Launcher } from "../launcher/launcher.ts";
import { readSettingsFile } from "../settings/read.ts";

const USAGE = `boxwright-agent-launcher SETTINGS.json   runs boxwright-agent, and versions of it that the hub gives
boxwright-agent-launcher --version       prints the version of the launcher
`;

async function main(args: readonly string[]): Promise<number> {
  if (printVersion(import.meta.url, args)) return 0;
  const [file, ...rest] = args;
  if (file === undefined || rest.length > 0 || file.startsWith("-")) {
    process.stdout.write(USAGE);
    return file === "--help" || file === "-h" ? 0 : 2;
  }
  const { state, update } = readSettingsFile(file);
  const output = new LogOutput(2);
  const launcher = new Launcher({
    ...{ state, args, version: machine.version },
    main: fileURLToPath(new URL("main.js", import.meta.url)),
    healthy: update.healthyMinutes * 60_000,
    write: (text) => output.write(text),
  });
  outliveRotation((message) => output.write(`launcher: ${message}\n`));
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => launcher.end(signal));
  return launcher.run();
}

await main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(2);
  },
);
