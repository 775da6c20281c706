/**
 * Backups: gzipped JSON lines, one row a line, read in one snapshot while the hub runs. One format for both databases,
 * so a backup of SQLite restores into PostgreSQL and the other way round: that is also how one moves.
 *
 *     {"format":"boxwright-hub-backup","schema":2,"at":...}
 *     {"table":"teams","row":{...}}
 *     ...
 *     {"end":true,"rows":123}
 *
 * Sessions and one-time links are left out: restored, they would open doors that were closed since.
 */
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { Database, Queries, Value } from "../database/database.ts";
import { schemaVersion } from "../database/migrations.ts";
import { UserError } from "../core/errors.ts";
import { isObject } from "../core/json.ts";
import { audit, type AuditAction } from "../nouns/audit.ts";
import type { Role } from "../nouns/role.ts";

const FORMAT = "boxwright-hub-backup";
/** The tables below have been as they are since this version of the schema. */
const OLDEST_SCHEMA = 1;
/** In the order of their references. `key`: what pages through the table. */
const tables = [
  { name: "teams", columns: ["id", "name", "created_at"], key: ["id"] },
  { name: "users", columns: ["id", "email", "password", "created_at"], key: ["id"] },
  { name: "members", columns: ["team_id", "user_id", "role", "created_at"], key: ["team_id", "user_id"] },
  { name: "devices", columns: ["team_id", "id", "name", "created_at"], key: ["team_id", "id"] },
  {
    name: "api_keys",
    columns: ["id", "team_id", "hash", "form", "created_by", "created_at", "last_used_at", "revoked_at"],
    key: ["id"],
  },
  { name: "audit", columns: ["id", "at", "actor", "action", "team_id", "subject"], key: ["id"] },
] as const;
const LEFT_OUT = ["sessions", "links"] as const;
const PAGE = 1000;

type Row = Record<string, Value>;

async function* rowsOf(tx: Queries, table: (typeof tables)[number]): AsyncGenerator<Row> {
  const key = table.key.join(", ");
  const marks = table.key.map(() => "?").join(", ");
  for (let last: Value[] = table.key.map(() => ""); ;) {
    const rows = await tx.all<Row>(
      `SELECT ${table.columns.join(", ")} FROM ${table.name} WHERE (${key}) > (${marks}) ORDER BY ${key} LIMIT ${PAGE}`,
      last,
    );
    yield* rows;
    const end = rows.at(-1);
    if (rows.length < PAGE || end === undefined) return;
    last = table.key.map((column) => end[column] ?? "");
  }
}

/** Writes the file whole or not at all: under another name, synced, then renamed. */
export async function backup(db: Database, now: number, file: string): Promise<{ rows: number }> {
  // A name of its own, that must be new: a file that stands there already may be readable by others, or lead elsewhere.
  const draft = `${file}.${randomBytes(6).toString("hex")}.part`;
  let count = 0;
  try {
    // Opened before the database is asked: a folder that is not there is none of its faults.
    const handle = await open(draft, "wx", 0o600);
    try {
      await db.snapshot(async (tx) => {
        async function* lines(): AsyncGenerator<string> {
          yield JSON.stringify({ format: FORMAT, schema: schemaVersion, at: now }) + "\n";
          for (const table of tables) {
            for await (const row of rowsOf(tx, table)) {
              count++;
              yield JSON.stringify({ table: table.name, row }) + "\n";
            }
          }
          yield JSON.stringify({ end: true, rows: count }) + "\n";
        }
        await pipeline(Readable.from(lines()), createGzip(), (packed: AsyncIterable<Buffer>) =>
          writeFile(handle, packed),
        );
      });
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
    // The name is the folder's, which is written on its own.
    const folder = await open(dirname(file), "r");
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    await rm(draft, { force: true });
    throw fileProblem(file, error);
  }
  return { rows: count };
}

/** Of the file system: a sentence for the operator. Of anything else: as it was. */
function fileProblem(file: string, error: unknown): unknown {
  return error instanceof Error && "syscall" in error ? new UserError(`backup ${file}: ${error.message}`) : error;
}

interface Line {
  readonly table: (typeof tables)[number];
  readonly row: Row;
}

/** Without readline, which stops listening at the last line: what is wrong behind it would end the process. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** Reads and checks the whole file. */
async function readBackup(file: string): Promise<{ taken: number; lines: Line[] }> {
  const lines: Line[] = [];
  let taken: number | undefined;
  let end: Record<string, unknown> | undefined;
  let lineNumber = 0;
  const source = createReadStream(file);
  const unzipped = source.pipe(createGunzip());
  source.on("error", (error) => unzipped.destroy(error));
  try {
    for await (const line of linesOf(unzipped)) {
      lineNumber++;
      const value: unknown = JSON.parse(line);
      if (!isObject(value)) throw new Error(`line ${lineNumber}: got ${line.slice(0, 40)}, expected a JSON object`);
      if (taken === undefined) {
        const { format, schema, at } = value;
        if (format !== FORMAT) throw new Error(`got format ${JSON.stringify(format)}, expected ${FORMAT}`);
        if (typeof schema !== "number" || schema < OLDEST_SCHEMA || schema > schemaVersion)
          throw new Error(
            `got schema version ${JSON.stringify(schema)}, expected ${OLDEST_SCHEMA} to ${schemaVersion}: restore with the hub that made it`,
          );
        if (typeof at !== "number" || Number.isNaN(new Date(at).getTime()))
          throw new Error(`at: got ${JSON.stringify(at)}, expected a time in milliseconds`);
        taken = at;
      } else if (value["end"] === true) end = value;
      else {
        const table = tables.find((candidate) => candidate.name === value["table"]);
        if (table === undefined || !isObject(value["row"]))
          throw new Error(
            `line ${lineNumber}: got table ${JSON.stringify(value["table"])}, expected a row of one of ${tables.map((t) => t.name).join(", ")}`,
          );
        lines.push({ table, row: value["row"] as Row });
      }
    }
    if (taken === undefined || end?.["rows"] !== lines.length)
      throw new Error(
        `got ${lines.length} rows and ${end === undefined ? "no last line" : `a last line for ${String(end["rows"])}`}, expected a complete file`,
      );
    return { taken, lines };
  } catch (error) {
    throw new UserError(`backup ${file}: ${(error as Error).message}`);
  } finally {
    source.destroy();
  }
}

/** What the database knows about access that was taken away. People by their email: an account that is made anew has another id. */
interface Known {
  readonly passwords: ReadonlyMap<string, string>;
  /** By `memberKey`. */
  readonly roles: ReadonlyMap<string, Role>;
  readonly revoked: ReadonlyMap<string, number>;
}

const memberKey = (teamId: unknown, email: unknown): string => `${String(teamId)} ${String(email)}`;

async function readKnown(tx: Queries): Promise<Known> {
  const users = await tx.all<{ email: string; password: string }>("SELECT email, password FROM users");
  const members = await tx.all<{ team_id: string; email: string; role: Role }>(
    "SELECT m.team_id AS team_id, u.email AS email, m.role AS role FROM members m JOIN users u ON u.id = m.user_id",
  );
  const keys = await tx.all<{ id: string; revoked_at: number }>(
    "SELECT id, revoked_at FROM api_keys WHERE revoked_at IS NOT NULL",
  );
  return {
    passwords: new Map(users.map(({ email, password }) => [email, password])),
    roles: new Map(members.map(({ team_id, email, role }) => [memberKey(team_id, email), role])),
    revoked: new Map(keys.map(({ id, revoked_at }) => [id, revoked_at])),
  };
}

const HISTORY: readonly AuditAction[] = [
  "user.created",
  "user.removed",
  "member.joined",
  "member.removed",
  "key.revoked",
];

/**
 * The same from the audit, which restores leave in place: that someone is not there says nothing yet, for they may have
 * been lost with an earlier restore. Who or what was taken away last, and not given back after it?
 */
async function readTakenAway(
  tx: Queries,
): Promise<{ users: Set<string>; members: Set<string>; keys: Map<string, number> }> {
  const users = new Set<string>();
  const members = new Set<string>();
  const teams = new Map<string, Set<string>>();
  const keys = new Map<string, number>();
  const rows = await tx.all<{ at: number; action: AuditAction; team_id: string | null; subject: string }>(
    `SELECT at, action, team_id, subject FROM audit WHERE action IN (${HISTORY.map(() => "?").join(", ")}) ORDER BY id`,
    HISTORY,
  );
  for (const { at, action, team_id, subject } of rows) {
    // Of someone who joined the role stands behind the email, which holds no space.
    const [email = ""] = subject.split(" ");
    const key = memberKey(team_id, email);
    if (action === "key.revoked") keys.set(subject, keys.get(subject) ?? at);
    else if (action === "user.created") users.delete(email);
    else if (action === "member.removed") members.add(key);
    else if (action === "member.joined") {
      members.delete(key);
      teams.set(email, (teams.get(email) ?? new Set()).add(key));
    } else if (action === "user.removed") {
      users.add(email);
      for (const left of teams.get(email) ?? []) members.add(left);
    }
  }
  return { users, members, keys };
}

export interface Restored {
  readonly rows: number;
  /** When the backup was made. */
  readonly taken: number;
  /**
   * Did the database hold the backup's whole audit? Then it went on from there, and the rest says what was taken away
   * since and so did not come back. Else it may know nothing of that, and things are in force as when the backup was made.
   */
  readonly knowsSince: boolean;
  readonly inForce: { readonly users: number; readonly keys: number };
  readonly stayRevoked: readonly string[];
  readonly stayRemoved: readonly { readonly email: string; readonly team_id?: string }[];
  readonly stayDemoted: readonly { readonly email: string; readonly team_id: string }[];
  /** Whose password is the one they had in the database, not the one in the backup. */
  readonly keptPasswords: readonly string[];
  /** Teams whose administrators of the backup are all among the above. */
  readonly teamsWithoutAdmin: readonly string[];
}

/**
 * Fills an empty database from a backup, in one transaction. With `replace`, what is there goes first; but access that
 * was taken away since the backup stays away, for whoever took it had a reason: keys stay revoked, people removed,
 * administrators demoted, and passwords are the newer ones. The audit is added to and never thrown away: it is what
 * tells all that, at the next restore too.
 */
export async function restore(db: Database, now: number, file: string, replace: boolean): Promise<Restored> {
  // Read and checked whole before the first write.
  const { taken, lines } = await readBackup(file);
  return db.write(async (tx) => {
    for (const { name } of tables) {
      if (replace) continue;
      const [found] = await tx.all<{ count: number }>(`SELECT count(*) AS count FROM ${name}`);
      if ((found?.count ?? 0) > 0)
        throw new UserError(
          `got ${found?.count} rows in ${name}, expected an empty database; --replace throws away what is there`,
          409,
        );
    }
    const known = await readKnown(tx);
    for (const { name } of [...LEFT_OUT.map((left) => ({ name: left })), ...[...tables].reverse()])
      if (name !== "audit") await tx.all(`DELETE FROM ${name}`);

    const insert = ({ name, columns }: (typeof tables)[number], row: Row): Promise<object[]> =>
      tx.all(
        `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})${name === "audit" ? " ON CONFLICT DO NOTHING" : ""} RETURNING 1 AS done`,
        columns.map((column) => row[column] ?? null),
      );
    let past = 0;
    let unknown = 0;
    for (const { table, row } of lines) {
      if (table.name !== "audit") continue;
      past++;
      unknown += (await insert(table, row)).length;
    }
    const away = await readTakenAway(tx);

    const emails = new Map<unknown, string>();
    const leftOut = new Set<unknown>();
    const report = {
      stayRevoked: [] as string[],
      stayRemoved: [] as { email: string; team_id?: string }[],
      stayDemoted: [] as { email: string; team_id: string }[],
      keptPasswords: [] as string[],
    };
    const inForce = { users: 0, keys: 0 };
    const admins = new Map<string, number>();
    for (const { table, row } of lines) {
      let kept = row;
      if (table.name === "audit") continue;
      if (table.name === "users") {
        const email = String(row["email"]);
        const password = known.passwords.get(email);
        if (password === undefined && away.users.has(email)) {
          report.stayRemoved.push({ email });
          leftOut.add(row["id"]);
          continue;
        }
        emails.set(row["id"], email);
        inForce.users++;
        if (password !== undefined && password !== row["password"]) {
          report.keptPasswords.push(email);
          kept = { ...row, password };
        }
      } else if (table.name === "members") {
        const team_id = String(row["team_id"]);
        const isAdmin = row["role"] === "admin";
        if (isAdmin) admins.set(team_id, admins.get(team_id) ?? 0);
        if (leftOut.has(row["user_id"])) continue;
        const email = emails.get(row["user_id"]) ?? "";
        const key = memberKey(team_id, email);
        const role = known.roles.get(key);
        if (role === undefined && away.members.has(key)) {
          report.stayRemoved.push({ email, team_id });
          continue;
        }
        if (isAdmin && role === "member") {
          report.stayDemoted.push({ email, team_id });
          kept = { ...row, role };
        } else if (isAdmin) admins.set(team_id, admins.get(team_id)! + 1);
      } else if (table.name === "api_keys") {
        const id = String(row["id"]);
        const revoked_at = row["revoked_at"] ?? known.revoked.get(id) ?? away.keys.get(id) ?? null;
        if (revoked_at === null) inForce.keys++;
        else if (row["revoked_at"] === null) report.stayRevoked.push(id);
        kept = { ...row, revoked_at };
      }
      await insert(table, kept);
    }
    await audit(
      tx,
      now,
      "operator",
      "backup.restored",
      null,
      `${lines.length} rows of ${new Date(taken).toISOString()}`,
    );
    const teamsWithoutAdmin = [...admins].filter(([, count]) => count === 0).map(([id]) => id);
    return { rows: lines.length, taken, knowsSince: past > 0 && unknown === 0, inForce, ...report, teamsWithoutAdmin };
  });
}
