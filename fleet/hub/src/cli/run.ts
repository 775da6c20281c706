/**
 * The operator's command. A result is one JSON document on standard output, a problem is a sentence on standard error.
 * Exit codes: 0 done, 1 not done, 2 the call or the configuration is wrong.
 */
import { meantBy } from "boxwright-service/names";
import "../core/production.ts";
import { readFlags, type FlagKind } from "boxwright-service/flags";
import { explainLimit } from "boxwright-service/limits";
import { ConfigProblems } from "boxwright-service/schema/options";
import { options as configOptions, readConfig, readConfigFile, variableOf, type Config } from "../core/config.ts";
import { UnavailableError, UserError } from "boxwright-service/errors";
import { redact } from "../core/log.ts";
import { openDatabase } from "../database/open.ts";
import { adoptKeyCommands } from "./adopt-keys.ts";
import { auditCommands } from "./audit.ts";
import { backupCommands } from "./backup.ts";
import { flagsIn, Usage, type Command, type Commands } from "./command.ts";
import { showConfig } from "./config.ts";
import { databaseCommands } from "./database.ts";
import { deviceCommands } from "./devices.ts";
import { keyCommands } from "./keys.ts";
import { signingKeyCommands } from "./signing-key.ts";
import { teamCommands } from "./teams.ts";
import { userCommands } from "./users.ts";

const commands: Commands = {
  ...databaseCommands,
  ...userCommands,
  ...teamCommands,
  ...deviceCommands,
  ...adoptKeyCommands,
  ...keyCommands,
  ...signingKeyCommands,
  ...auditCommands,
  ...backupCommands,
};

/** Commands that open no database, or that open the database themselves and keep it open. */
const outside = {
  serve: {
    args: "[--create] [--check]",
    about: "runs the hub until SIGTERM; with --check it opens the database and tries the store of files, and ends",
  },
  config: { args: "", about: "checks the configuration and prints it, without secrets" },
} as const;

const all: Readonly<Record<string, Pick<Command, "args" | "about">>> = { ...outside, ...commands };

interface Parsed {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
}

async function main(argv: readonly string[]): Promise<void> {
  const firstOption = argv.findIndex((word) => word.startsWith("-"));
  const words = firstOption < 0 ? argv : argv.slice(0, firstOption);
  if (words.length === 0 || argv.includes("--help")) {
    process.stdout.write(help());
    if (!argv.includes("--help")) throw new Usage("got no command");
    return;
  }
  const name = commandName(words);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const parsed = parse(name, argv.slice(name.split(" ").length));
  const file = parsed.values["config"] as string | undefined;
  const config = readConfig(process.env, readConfigFile(file ?? process.env["HUB_CONFIG"]));
  const create = parsed.values["create"] === true;
  if (name === "serve") {
    // Import on demand: the server takes three quarters of the start time, and no other command needs it.
    const { checkServer, runServer } = await import("./serve.ts");
    return parsed.values["check"] === true ? print(await checkServer(config, create)) : runServer(config, create);
  }
  print(command === undefined ? showConfig(config) : await runCommand(name, command, config, parsed));
}

/**
 * Returns the name of the command at the beginning of the arguments: the first two words if a command has this name,
 * otherwise the first word.
 */
function commandName(words: readonly string[]): string {
  const two = words.slice(0, 2).join(" ");
  const name = Object.hasOwn(commands, two) ? two : words[0]!;
  if (Object.hasOwn(all, name)) return name;
  const names = Object.keys(all);
  const isGroup = names.some((known) => known.startsWith(`${words[0]} `));
  const meant = isGroup ? `, expected one of: ${names.join(", ")}` : meantBy(two, names);
  throw new Usage(`got command ${JSON.stringify(two)}${meant}`);
}

function parse(name: string, args: readonly string[]): Parsed {
  const { flags, rest } = flagsIn(all[name]!.args ?? "");
  const create: Record<string, FlagKind> = name === "config" ? {} : { create: "switch" };
  const { values, words, problems } = readFlags(args, { config: "text", ...create, ...flags });
  const extra = rest ? [] : words;
  const lines = [...problems, ...extra.map((word) => `${JSON.stringify(word)}: belongs to no option`)];
  if (lines.length > 0) throw new Usage(withUsage(lines.join("\n"), name));
  return { values, positionals: words };
}

const usageOf = (name: string): string => `boxwright-hub ${name} ${all[name]!.args ?? ""}`.trim();

/** Appends the usage to a problem, in the same line. */
function withUsage(problem: string, name: string): string {
  return `${problem}${/[.?]$/.test(problem) ? "" : "."} Usage: ${usageOf(name)}`;
}

async function runCommand(
  name: string,
  command: Command,
  config: Config,
  { values, positionals }: Parsed,
): Promise<unknown> {
  const get = (option: string): string | undefined => values[option] as string | undefined;
  const need = (option: string): string => {
    const value = get(option);
    if (value === undefined) throw new Usage(withUsage(`got no --${option}`, name));
    return value;
  };
  // Read the required options from the usage line: they are the options without brackets.
  const needed = [...(command.args ?? "").replace(/\[[^\]]*\]/g, "").matchAll(/--([a-z]+)/g)].map(
    ([, option]) => option!,
  );
  const missing = needed.filter((option) => get(option) === undefined).map((option) => `--${option}`);
  if (missing.length > 0) throw new Usage(withUsage(`got no ${missing.join(" and no ")}`, name));
  command.check?.({ need, get });
  const has = (option: string): boolean => values[option] === true;
  const db = await openDatabase(config, { create: command.creates === true || has("create") });
  try {
    return await command.run({ config, db, need, get, has, warn, rest: positionals });
  } finally {
    await db.close();
  }
}

function help(): string {
  const lines = Object.entries(all).map(([name, { about }]) => `  ${usageOf(name)}\n      ${about}`);
  const settings = Object.entries(configOptions).map(
    ([name, { about }]) => `  ${variableOf(name).padEnd(26)} ${name.padEnd(18)} ${about}`,
  );
  return `Usage: boxwright-hub COMMAND [--config FILE] [--create]
       boxwright-hub --version

Commands want a database that is there. --create makes the SQLite file if it is missing; init does so by itself.

${lines.join("\n")}

Configuration (environment, or the name in the JSON file of --config or HUB_CONFIG):
${settings.join("\n")}
`;
}

function print(result: unknown): void {
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
}

function warn(text: string): void {
  process.stderr.write(`hub: ${text}\n`);
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  const wrongCall = error instanceof Usage || error instanceof ConfigProblems;
  const expected = wrongCall || error instanceof UserError || error instanceof UnavailableError;
  const limit = explainLimit(error);
  const text =
    limit !== undefined
      ? limit
      : error instanceof Error
        ? expected
          ? error.message
          : `${error.name}: ${error.message}`
        : String(error);
  warn(redact(text));
  process.exit(wrongCall ? 2 : 1);
});
