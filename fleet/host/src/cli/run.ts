/** The command `boxwright-host`. */
import { readFlags } from "boxwright-service/flags";
import { isLoopback, misspeltVariables, type Option, readJsonFile } from "boxwright-service/schema/options";
import { type Config, missingForOthers, options, readConfig } from "../core/config.ts";
import { UserError, messageOf } from "boxwright-service/errors";
import { outliveRotation } from "boxwright-service/hang-up";
import { createLogger } from "boxwright-service/log";
import { MOST_CONNECTIONS, startHost } from "../host.ts";
import { connectionLimitProblem, explainLimit } from "boxwright-service/limits";
import { UnavailableError } from "boxwright-service/errors";

const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function help(): string {
  const lines = Object.entries<Option>(options).map(([name, { about, fallback }]) => {
    const isShown = fallback !== undefined && (!Array.isArray(fallback) || fallback.length > 0);
    return `  --${flagOf(name).padEnd(20)} ${about}${isShown ? ` (default ${JSON.stringify(fallback)})` : ""}`;
  });
  return `boxwright-host [--config FILE] [--OPTION VALUE ...]
boxwright-host --version

Receives frames of devices, decodes raw ones, and stores their detections.
A JSON file may hold every option by its name, as in {"port": 8790, "agentToken": "..."}.
Tokens may come from BOXWRIGHT_AGENT_TOKEN and BOXWRIGHT_PAGE_TOKEN, and addresses with a password from
BOXWRIGHT_DATABASE, BOXWRIGHT_NATS and BOXWRIGHT_MQTT: flags are visible to everybody on the machine.

${lines.join("\n")}
`;
}

/**
 * Environment variables for secrets. Secrets are not command-line flags, because every user of the machine can see the
 * flags.
 */
const VARIABLES: Readonly<Record<string, keyof Config>> = {
  BOXWRIGHT_AGENT_TOKEN: "agentToken",
  BOXWRIGHT_PAGE_TOKEN: "pageToken",
  BOXWRIGHT_DATABASE: "database",
  BOXWRIGHT_NATS: "nats",
  BOXWRIGHT_MQTT: "mqtt",
};

/** Reads the settings from flags, environment and config file. */
function readSettings(args: readonly string[]): Config | null {
  const names = Object.keys(options);
  const known = Object.fromEntries(names.map((name) => [flagOf(name), "text"] as const));
  const { values, words, problems } = readFlags(args, { ...known, config: "text", help: "switch" });
  if (values["help"] === true) return null;
  const found = [
    ...problems,
    ...words.map((word) => `${JSON.stringify(word.slice(0, 40))}: belongs to no flag, expected --OPTION VALUE`),
    ...misspeltVariables(process.env, "BOXWRIGHT_", Object.keys(VARIABLES), true),
  ];
  const file = typeof values["config"] === "string" ? readJsonFile(values["config"]) : {};
  const secrets = Object.entries(VARIABLES).map(([variable, name]) => [name, process.env[variable]] as const);
  const given = [...secrets, ...names.map((name) => [name, values[flagOf(name)]] as const)];
  return readConfig(file, Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== "")), found);
}

async function main(): Promise<void> {
  const config = readSettings(process.argv.slice(2));
  if (config === null) return void process.stdout.write(help());
  const log = createLogger(config.logLevel);
  outliveRotation((message) => log.info(message));
  const host = await startHost({ config, log, waits: true });
  const stop = (): void => {
    // Let a second signal end the process at once.
    process.once("SIGTERM", () => process.exit(1)).once("SIGINT", () => process.exit(1));
    host.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ error: messageOf(error) }, "could not stop in order");
        process.exit(1);
      },
    );
  };
  // Listen for signals before printing "listening": programs that wait for this line may send one at once.
  process.once("SIGTERM", stop).once("SIGINT", stop);
  const missing = missingForOthers(config);
  log.info({ address: config.address, port: host.port, page: `http://localhost:${host.port}/` }, "listening");
  const limit = connectionLimitProblem(MOST_CONNECTIONS);
  if (limit !== undefined) log.warn(limit);
  if (missing !== "") log.info(`this machine alone can reach the host. For others, set ${missing}`);
  if (!isLoopback(config.address) && config.proxyHops === 0)
    log.warn("tokens travel in clear text: let a proxy with TLS listen in place of the host (docs/tls.md)");
}

await main().catch((error: unknown) => {
  const isWrong = error instanceof UserError;
  if (error instanceof UnavailableError) {
    const { message, cause } = error;
    console.error(`database: ${message}${cause === undefined ? "" : ` (${messageOf(cause)})`}`);
  } else console.error(isWrong ? error.message : (explainLimit(error) ?? error));
  process.exit(isWrong ? 2 : 1);
});
