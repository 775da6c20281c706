/** The command `boxwright-agent`. */
import { readFileSync } from "node:fs";
import { Agent, type RunResult } from "../agent.ts";
import { messageOf } from "boxwright-service/errors";
import { outliveRotation } from "boxwright-service/hang-up";
import { explainLimit } from "boxwright-service/limits";
import { SettingsError } from "../core/errors.ts";
import { openLog } from "../core/log.ts";
import { RecentLog } from "../core/recent-log.ts";
import { parseConfig } from "../network/config-files.ts";
import { Network } from "../network/network.ts";
import { ENROL_USAGE, runEnrol } from "./enrol-command.ts";
import { providerProblems } from "../network/session.ts";
import { acceptedIdentity } from "../hub/enrol.ts";
import type { Settings } from "../settings/schema.ts";
import { hwaccelProblems } from "../sources/ffmpeg.ts";
import { USAGE, readCommand } from "./arguments.ts";
import { RELEASE_USAGE, runRelease } from "./release-command.ts";
import { REFUSED_USAGE, runRefused } from "./refused-command.ts";

/**
 * Exit codes. FINE: all frames arrived. INCOMPLETE: some did not. WRONG: settings are wrong, or a part cannot start.
 */
const [FINE, INCOMPLETE, WRONG] = [0, 1, 2];
/** Milliseconds from the signal until the process is ended forcibly. */
const GRACE = 15_000;

async function main(): Promise<number> {
  if (process.argv[2] === "refused") {
    process.stdout.write(await runRefused(process.argv.slice(3)));
    return FINE;
  }
  if (process.argv[2] === "enrol") {
    process.stdout.write(await runEnrol(process.argv.slice(3)));
    return FINE;
  }
  if (process.argv[2] === "release") {
    process.stdout.write(runRelease(process.argv.slice(3)));
    return FINE;
  }
  const command = readCommand(process.argv.slice(2));
  if (!command) {
    process.stdout.write(USAGE + ENROL_USAGE + REFUSED_USAGE + RELEASE_USAGE);
    return process.argv.length > 2 ? FINE : WRONG;
  }
  const { network, sources } = command.settings;
  const problems = [...providerProblems(network.providers), ...hwaccelProblems(sources)];
  if (problems.length > 0) throw new SettingsError(problems);
  return command.isCheck ? check(command.settings) : run(command.settings);
}

async function run(settings: Settings): Promise<number> {
  const recent = new RecentLog();
  const log = openLog(settings.log, recent);
  outliveRotation((message) => log.info(message));
  process.on("exit", (code) => recent.keep(settings.state, code === WRONG));
  const agent = await Agent.start(settings, log, recent).catch((error: unknown) => {
    recent.add(messageOf(error));
    throw error;
  });
  let isEnding = false;
  const end = (signal: string): void => {
    // Let a second signal end the process at once.
    if (isEnding) process.exit(INCOMPLETE);
    isEnding = true;
    log.info({ signal }, "ending");
    setTimeout(() => process.exit(INCOMPLETE), GRACE).unref();
    // Exit with 0 even if frames were lost, since the service manager requested the end. The summary names the losses.
    void agent.close().then(() => (printSummary(agent.result()), process.exit(FINE)));
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
  // End if the launcher has died: a restarted launcher starts another agent, which needs the state folder.
  process.on("disconnect", () => end("disconnect"));
  const result = await agent.run();
  // Never resolve: the handler of the signal ends the process once everything is closed.
  if (isEnding) return new Promise(() => undefined);
  await agent.close();
  printSummary(result);
  return result.failed + result.lost === 0 ? FINE : INCOMPLETE;
}

function printSummary({ sent, duplicates, waiting, failed, lost }: RunResult): void {
  const known = duplicates > 0 ? ` (${duplicates} of them duplicates, which the receiver had already)` : "";
  const rest = waiting > 0 ? `, ${waiting} wait for the next start` : "";
  process.stderr.write(`${sent} frames sent${known}, ${failed} failed, ${lost} lost${rest}\n`);
}

/** Opens model and config, runs the network on an empty picture, and prints the agent's plan. */
async function check({ hub, state, network: given }: Settings): Promise<number> {
  if (hub) {
    const identity = await acceptedIdentity(state, hub.url);
    const enrolled = identity
      ? `enrolled in ${hub.url} as ${identity.name}, device:${identity.deviceId}`
      : "not enrolled yet";
    process.stdout.write(`${enrolled}\n`);
  }
  const { model } = given;
  if (model === null) {
    process.stdout.write("the hub gives the network\n");
    return FINE;
  }
  const network = await Network.open({ ...given, model });
  const config = given.config === null ? undefined : parseConfig(readFileSync(given.config, "utf8"), given.config);
  await network.use(config);
  const { decoder, decodes } = network.plan!;
  process.stdout.write(`${decodes ? "the device decodes" : "the host decodes"}\n${decoder.describe().text}\n`);
  await network.close();
  return FINE;
}

await main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${explainLimit(error) ?? messageOf(error)}\n`);
    process.exit(WRONG);
  },
);
