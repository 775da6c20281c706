/**
 * Backups: gzipped JSON lines, one row a line, read in one snapshot while the hub runs. One format for both databases,
 * so a backup of SQLite restores into PostgreSQL and the other way round: that is also how one moves.
 *
 *     {"format":"boxwright-hub-backup","schema":1,"at":...}
 *     {"table":"teams","row":{...}}
 *     ...
 *     {"end":true,"rows":123}
 *
 * Sessions and one-time links are left out: restored, they would open doors that were closed since.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { Database, Queries, Value } from "./database/database.ts";
import { schemaVersion } from "./database/migrations.ts";
import { UserError } from "./errors.ts";
import { audit } from "./nouns/audit.ts";

const FORMAT = "boxwright-hub-backup";
/** In the order of their references. `key`: what pages through the table. */
const tables = [
  { name: "teams", columns: ["id", "name", "created_at"], key: ["id"] },
  { name: "users", columns: ["id", "email", "password", "created_at"], key: ["id"] },
  { name: "members", columns: ["team_id", "user_id", "role", "created_at"], key: ["team_id", "user_id"] },
  { name: "devices", columns: ["team_id", "id", "name", "created_at"], key: ["team_id", "id"] },
  { name: "api_keys", columns: ["id", "team_id", "hash", "form", "created_by", "created_at", "last_used_at", "revoked_at"], key: ["id"] },
  { name: "audit", columns: ["id", "at", "actor", "action", "team_id", "subject"], key: ["id"] },
] as const;
const LEFT_OUT = ["sessions", "links"] as const;
const PAGE = 1000;

type Row = Record<string, Value>;

async function* rowsOf(tx: Queries, table: (typeof tables)[number]): AsyncGenerator<Row> {
  const key = table.key.join(", ");
  const marks = table.key.map(() => "?").join(", ");
  for (let last: Value[] = table.key.map(() => ""); ;) {
    const rows = await tx.all<Row>(`SELECT ${table.columns.join(", ")} FROM ${table.name} WHERE (${key}) > (${marks}) ORDER BY ${key} LIMIT ${PAGE}`, last);
    yield* rows;
    const end = rows.at(-1);
    if (rows.length < PAGE || end === undefined) return;
    last = table.key.map((column) => end[column] ?? "");
  }
}

/** Writes the file whole or not at all: under another name, synced, then renamed. */
export async function backup(db: Database, now: number, file: string): Promise<{ rows: number }> {
  const draft = `${file}.part`;
  let count = 0;
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
      await pipeline(Readable.from(lines()), createGzip(), createWriteStream(draft, { mode: 0o600 }));
    });
    const handle = await open(draft, "r");
    await handle.sync();
    await handle.close();
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return { rows: count };
}

/**
 * Fills an empty database from a backup, in one transaction. With `replace`, what is there goes first; but a key that
 * was revoked since the backup stays revoked, for whoever revoked it had a reason.
 */
export async function restore(db: Database, now: number, file: string, replace: boolean): Promise<{ rows: number; keptRevoked: number }> {
  // Read and checked whole before the first write.
  const rows: { table: (typeof tables)[number]; row: Row }[] = [];
  let head: { format?: unknown; schema?: unknown } | undefined;
  let end: { rows?: unknown } | undefined;
  let lineNumber = 0;
  const source = createReadStream(file);
  const unzipped = source.pipe(createGunzip());
  source.on("error", (error) => unzipped.destroy(error));
  try {
    for await (const line of createInterface({ input: unzipped, crlfDelay: Infinity })) {
      lineNumber++;
      const value = JSON.parse(line) as { table?: string; row?: Row; end?: boolean; rows?: number; format?: string; schema?: number };
      if (head === undefined) {
        head = value;
        if (value.format !== FORMAT) throw new Error(`got format ${JSON.stringify(value.format)}, expected ${FORMAT}`);
        if (value.schema !== schemaVersion)
          throw new Error(
            `got schema version ${JSON.stringify(value.schema)}, expected ${schemaVersion}: restore with the hub that made it, then start this one`,
          );
      } else if (value.end === true) end = value;
      else {
        const table = tables.find((candidate) => candidate.name === value.table);
        if (table === undefined || value.row === undefined)
          throw new Error(`line ${lineNumber}: got table ${JSON.stringify(value.table)}, expected one of ${tables.map((t) => t.name).join(", ")}`);
        rows.push({ table, row: value.row });
      }
    }
    if (end?.rows !== rows.length)
      throw new Error(`got ${rows.length} rows and ${end === undefined ? "no last line" : `a last line for ${String(end.rows)}`}, expected a complete file`);
  } catch (error) {
    throw new UserError(`backup ${file}: ${(error as Error).message}`);
  }
  let keptRevoked = 0;
  await db.write(async (tx) => {
    keptRevoked = 0;
    const revoked = await tx.all<{ id: string; revoked_at: number }>("SELECT id, revoked_at FROM api_keys WHERE revoked_at IS NOT NULL");
    for (const { name } of tables) {
      if (replace) continue;
      const [found] = await tx.all<{ count: number }>(`SELECT count(*) AS count FROM ${name}`);
      if ((found?.count ?? 0) > 0)
        throw new UserError(`got ${found?.count} rows in ${name}, expected an empty database; --replace throws away what is there`, 409);
    }
    for (const name of [...LEFT_OUT, ...tables.map((table) => table.name).reverse()]) await tx.all(`DELETE FROM ${name}`);
    for (const { table, row } of rows) {
      await tx.all(
        `INSERT INTO ${table.name} (${table.columns.join(", ")}) VALUES (${table.columns.map(() => "?").join(", ")})`,
        table.columns.map((column) => row[column] ?? null),
      );
    }
    for (const { id, revoked_at } of revoked) {
      keptRevoked += (await tx.all("UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING id", [revoked_at, id])).length;
    }
    await audit(tx, now, "operator", "backup.restored", null, `${rows.length} rows`);
  });
  return { rows: rows.length, keptRevoked };
}
