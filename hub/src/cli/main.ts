#!/usr/bin/env node
/**
 * The operator's command. Results are one JSON document on standard output; problems are sentences on standard error.
 * Exit codes: 0 done, 1 not done, 2 the command or the configuration is wrong.
 *
 * This and `main` in it are the only place with side effects on the process.
 */
import "../core/production.ts";
import { readFile } from "node:fs/promises";
import { buffer as readStream } from "node:stream/consumers";
import { parseArgs, type ParseArgsConfig } from "node:util";
import { backup, restore } from "../backup/restore.ts";
import { ConfigProblems, options as configOptions, readConfig, readConfigFile, type Config } from "../core/config.ts";
import type { Database } from "../database/database.ts";
import { UserError } from "../core/errors.ts";
import { decodeDeviceFile, parseDeviceFile } from "./devicefile.ts";
import { createLogger, redact } from "../core/log.ts";
import { keysMadeBy, revokeKey } from "../nouns/apikey.ts";
import { readAudit } from "../nouns/audit.ts";
import { addDevices, listDevices, removeDevice } from "../nouns/device.ts";
import { addTeam, findTeam, listTeams, membersOf, removeMember, renameTeam, setRole, teamsOf } from "../nouns/team.ts";
import { parseRole } from "../nouns/role.ts";
import { cleanEmail } from "../nouns/text.ts";
import { findUser, initialise, invite, listUsers, removeUser, resetLink } from "../nouns/user.ts";
import { openDatabase } from "../database/open.ts";
import { serve } from "../server.ts";

const ACTOR = "operator";

interface Call {
  readonly config: Config;
  readonly db: Database;
  /** A value that the command cannot do without. */
  need(name: string): string;
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Says on standard error what the operator has to know beside the result. */
  warn(text: string): void;
  readonly rest: readonly string[];
}

interface Command {
  readonly usage: string;
  readonly about: string;
  /** Options that take a value, and switches. */
  readonly values?: readonly string[];
  readonly switches?: readonly string[];
  readonly takesRest?: boolean;
  run(call: Call): Promise<unknown>;
}

class Usage extends Error {}

const link = (config: Config, token: string): string =>
  `${config.baseUrl ?? `http://localhost:${config.port}`}/link/${token}`;
const iso = (time: number): string => new Date(time).toISOString();

const commands: Readonly<Record<string, Command>> = {
  init: {
    usage: "hub init --email EMAIL [--team NAME]",
    about: "makes the first team and a one-time link for its administrator",
    values: ["email", "team"],
    run: async ({ db, config, need, get }) => {
      const { team, token } = await initialise(db, Date.now(), need("email"), () =>
        addTeam(db, Date.now(), ACTOR, get("team") ?? "My team"),
      );
      return { team, link: link(config, token) };
    },
  },
  migrate: {
    usage: "hub migrate",
    about: "brings the database schema up to date (serve does it too)",
    run: ({ db }) => Promise.resolve({ database: db.kind, migrated: true }),
  },
  "users list": {
    usage: "hub users list",
    about: "everyone with an account",
    run: async ({ db }) => (await listUsers(db)).map((user) => ({ ...user, created_at: iso(user.created_at) })),
  },
  "users invite": {
    usage: "hub users invite --team TEAM --email EMAIL [--role admin|member]",
    about: "a one-time link into a team",
    values: ["team", "email", "role"],
    run: async ({ db, config, need, get }) => {
      const team = await findTeam(db, need("team"));
      return {
        team,
        link: link(
          config,
          await invite(db, Date.now(), ACTOR, undefined, team.id, need("email"), parseRole(get("role") ?? "member")),
        ),
      };
    },
  },
  "users reset": {
    usage: "hub users reset --email EMAIL",
    about: "a one-time link to choose a new password",
    values: ["email"],
    run: async ({ db, config, need }) => ({
      link: link(config, await resetLink(db, Date.now(), ACTOR, need("email"))),
    }),
  },
  "users role": {
    usage: "hub users role --team TEAM --email EMAIL --role admin|member",
    about:
      "changes what someone may do in a team; of someone who is no administrator any more it names the API keys they made",
    values: ["team", "email", "role"],
    run: async ({ db, need }) => {
      const team = await findTeam(db, need("team"));
      const role = parseRole(need("role"));
      const email = cleanEmail(need("email"));
      await setRole(db, Date.now(), ACTOR, undefined, team.id, email, role);
      const user = await findUser(db, email);
      return {
        team,
        email,
        role,
        ...(role === "member" && user !== undefined ? { keysThatStay: await keysMadeBy(db, user.id, team.id) } : {}),
      };
    },
  },
  "users remove": {
    usage: "hub users remove --email EMAIL [--team TEAM]",
    about:
      "ends the account, or with --team only the membership, and the invitations the person made; names the API keys they made, which stay until revoked",
    values: ["email", "team"],
    run: async ({ db, need, get, warn }) => {
      const name = get("team");
      const team = name === undefined ? undefined : await findTeam(db, name);
      const email = cleanEmail(need("email"));
      const user = await findUser(db, email);
      if (user === undefined) throw new UserError(`got ${email}, expected a user (\`hub users list\`)`, 404);
      const teams = team === undefined ? await teamsOf(db, user.id) : [team];
      if (team === undefined) await removeUser(db, Date.now(), ACTOR, email);
      else await removeMember(db, Date.now(), ACTOR, undefined, team.id, user.id);
      for (const { id, name: teamName } of teams) {
        if ((await membersOf(db, id)).some(({ role }) => role === "admin")) continue;
        warn(
          `team ${JSON.stringify(teamName)} (${id}) has no administrator now: hub users role, or hub users invite --role admin`,
        );
      }
      const keysThatStay = await keysMadeBy(db, user.id, team?.id);
      return { removed: email, keysThatStay };
    },
  },
  "teams list": {
    usage: "hub teams list",
    about: "every team",
    run: async ({ db }) => (await listTeams(db)).map((team) => ({ ...team, created_at: iso(team.created_at) })),
  },
  "teams add": {
    usage: "hub teams add --name NAME",
    about: "a new, empty team",
    values: ["name"],
    run: ({ db, need }) => addTeam(db, Date.now(), ACTOR, need("name")),
  },
  "teams rename": {
    usage: "hub teams rename --team TEAM --name NAME",
    about: "a new name for a team",
    values: ["team", "name"],
    run: async ({ db, need }) =>
      renameTeam(db, Date.now(), ACTOR, undefined, (await findTeam(db, need("team"))).id, need("name")),
  },
  "teams members": {
    usage: "hub teams members --team TEAM",
    about: "who is in a team",
    values: ["team"],
    run: async ({ db, need }) => membersOf(db, (await findTeam(db, need("team"))).id),
  },
  "devices list": {
    usage: "hub devices list --team TEAM",
    about: "a team's devices",
    values: ["team"],
    run: async ({ db, need }) => listDevices(db, (await findTeam(db, need("team"))).id),
  },
  "devices add": {
    usage: "hub devices add --team TEAM --name NAME [--id ID]",
    about: "one device; without --id the hub makes an id",
    values: ["team", "name", "id"],
    run: async ({ db, config, need, get }) =>
      (
        await addDevices(db, Date.now(), (await findTeam(db, need("team"))).id, config.maxDevices, [
          { id: get("id"), name: need("name") },
        ])
      )[0],
  },
  "devices import": {
    usage: "hub devices import --team TEAM FILE",
    about:
      'many devices, all or none; FILE: a JSON array or JSON lines of {"name", "id"?}, or one name a line; - reads standard input',
    values: ["team"],
    takesRest: true,
    run: async ({ db, config, need, rest }) => {
      const [file] = rest;
      if (file === undefined || rest.length > 1) throw new Usage(`FILE: got ${rest.length} files, expected 1`);
      const bytes =
        file === "-" ? await readStream(process.stdin) : await readFile(file).catch((error: unknown) => error as Error);
      if (bytes instanceof Error)
        throw new UserError(`FILE: got ${JSON.stringify(file)}, expected a readable file (${bytes.message})`);
      const list = parseDeviceFile(decodeDeviceFile(bytes));
      return {
        imported: (await addDevices(db, Date.now(), (await findTeam(db, need("team"))).id, config.maxDevices, list))
          .length,
      };
    },
  },
  "devices remove": {
    usage: "hub devices remove --team TEAM --id ID",
    about: "takes a device away",
    values: ["team", "id"],
    run: async ({ db, need }) => {
      await removeDevice(db, (await findTeam(db, need("team"))).id, need("id"));
      return { removed: need("id") };
    },
  },
  "keys revoke": {
    usage: "hub keys revoke --team TEAM --key PUBLIC_ID",
    about: "revokes an API key, from the next request on; also while the hub runs",
    values: ["team", "key"],
    run: async ({ db, need }) => {
      const { fresh } = await revokeKey(db, Date.now(), ACTOR, (await findTeam(db, need("team"))).id, need("key"));
      return { revoked: need("key"), before: !fresh };
    },
  },
  audit: {
    usage: "hub audit [--team TEAM] [--limit N]",
    about: "what changed access, the newest first",
    values: ["team", "limit"],
    run: async ({ db, get }) => {
      const limit = Number(get("limit") ?? 100);
      if (!Number.isSafeInteger(limit) || limit < 1)
        throw new Usage(`--limit: got ${get("limit")}, expected a whole number from 1`);
      const name = get("team");
      const rows = await readAudit(db, limit, name === undefined ? undefined : (await findTeam(db, name)).id);
      return rows.map((row) => ({ ...row, at: iso(row.at) }));
    },
  },
  backup: {
    usage: "hub backup --out FILE",
    about: "writes everything but sessions and links to FILE (gzipped JSON lines), while the hub runs",
    values: ["out"],
    run: async ({ db, need }) => ({ file: need("out"), ...(await backup(db, Date.now(), need("out"))) }),
  },
  restore: {
    usage: "hub restore --from FILE [--replace]",
    about:
      "fills an empty database from a backup; --replace throws away what is there, but access that was taken away since stays away",
    values: ["from"],
    switches: ["replace"],
    run: async ({ db, need, has, warn }) => {
      const { taken, knowsSince, ...result } = await restore(db, Date.now(), need("from"), has("replace"));
      const at = iso(taken);
      if (!knowsSince && result.inForce.keys + result.inForce.users > 0)
        warn(
          `this database does not know what happened after the backup of ${at}: whatever was taken away since is in force again, ` +
            `among ${result.inForce.keys} API keys and ${result.inForce.users} accounts with their passwords of then; ` +
            "revoke and remove it again (hub keys revoke, hub users remove)",
        );
      if (result.teamsWithoutAdmin.length > 0)
        warn(
          `the administrators of ${result.teamsWithoutAdmin.join(", ")} in the backup were removed or demoted since: invite one (hub users invite --role admin), or name one (hub users role)`,
        );
      return { backup: at, ...result };
    },
  },
};

const outside: Readonly<Record<string, Pick<Command, "usage" | "about">>> = {
  serve: { usage: "hub serve", about: "runs the hub until SIGTERM" },
  config: { usage: "hub config", about: "checks the configuration and prints it, without secrets" },
};

function help(): string {
  const lines = Object.values({ ...outside, ...commands }).map(({ usage, about }) => `  ${usage}\n      ${about}`);
  const settings = Object.entries(configOptions).map(
    ([name, { env, about }]) => `  ${env.padEnd(26)} ${name.padEnd(18)} ${about}`,
  );
  return `Usage: hub COMMAND [--config FILE]\n\n${lines.join("\n")}\n\nConfiguration (environment, or the name in the JSON file of --config or HUB_CONFIG):\n${settings.join("\n")}\n`;
}

async function runServer(config: Config): Promise<void> {
  const log = createLogger(config.logLevel);
  const db = await openDatabase(config, (error) => log.warn({ err: error }, "a database connection broke"));
  const server = await serve({ config, db, log });
  process.stdout.write(`${JSON.stringify({ listening: server.baseUrl, port: server.port, database: db.kind })}\n`);
  const stop = (): void => {
    server.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "did not stop in order");
        log.flush(() => process.exit(1));
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

async function main(argv: readonly string[]): Promise<void> {
  const words: string[] = [];
  for (const word of argv) {
    if (word.startsWith("-")) break;
    words.push(word);
  }
  if (words.length === 0 || argv.includes("--help")) {
    process.stdout.write(help());
    if (words.length === 0 && !argv.includes("--help")) throw new Usage("got no command");
    return;
  }
  const two = words.slice(0, 2).join(" ");
  const name = Object.hasOwn(commands, two) ? two : words[0]!;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined && !Object.hasOwn(outside, name))
    throw new Usage(
      `got command ${JSON.stringify(two)}, expected one of: ${[...Object.keys(outside), ...Object.keys(commands)].join(", ")}`,
    );
  const settings: NonNullable<ParseArgsConfig["options"]> = { config: { type: "string" } };
  for (const option of command?.values ?? []) settings[option] = { type: "string" };
  for (const option of command?.switches ?? []) settings[option] = { type: "boolean" };
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: argv.slice(name.split(" ").length),
      options: settings,
      allowPositionals: command?.takesRest === true,
    });
  } catch (error) {
    throw new Usage(`${(error as Error).message}\nUsage: ${(command ?? outside[name])!.usage}`);
  }
  const { values, positionals } = parsed;
  const get = (option: string): string | undefined => values[option] as string | undefined;
  const config = readConfig(process.env, readConfigFile(get("config") ?? process.env["HUB_CONFIG"]));
  if (name === "serve") return runServer(config);
  if (name === "config") {
    const shown = {
      ...config,
      databaseUrl: config.databaseUrl?.replace(/\/\/.*@/, "//***@").replace(/\?.*/, "?***"),
      metricsToken: config.metricsToken === undefined ? undefined : "***",
    };
    process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    return;
  }
  const need = (option: string): string => {
    const value = get(option);
    if (value === undefined) throw new Usage(`got no --${option}\nUsage: ${command!.usage}`);
    return value;
  };
  // The usage line says which options there must be: those outside brackets.
  for (const [, option] of command!.usage.replace(/\[[^\]]*\]/g, "").matchAll(/--([a-z]+)/g)) need(option!);
  const db = await openDatabase(config, () => undefined);
  try {
    const warn = (text: string): void => void process.stderr.write(`hub: ${text}\n`);
    const result = await command!.run({
      config,
      db,
      need,
      get,
      warn,
      has: (option) => values[option] === true,
      rest: positionals,
    });
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await db.close();
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const wrongCall = error instanceof Usage || error instanceof ConfigProblems;
  const expected = wrongCall || error instanceof UserError;
  process.stderr.write(
    `hub: ${redact(error instanceof Error ? (expected ? error.message : `${error.name}: ${error.message}`) : String(error))}\n`,
  );
  process.exit(wrongCall ? 2 : 1);
});
