/** Writes a backup. */
import { randomBytes } from "node:crypto";
import { open, rename, rm, writeFile, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { UserError } from "../core/errors.ts";
import type { Database, Queries, Value } from "boxwright-service/database";
import { schemaVersion } from "../database/migrations.ts";
import { FORMAT, NOT_IN_BACKUP, tables, type Row, type Table } from "./format.ts";

/** Number of rows per query. */
const PAGE = 1000;

/** Writes the complete backup or nothing: writes to a temporary name, syncs, then renames. */
export async function backup(
  db: Database,
  now: number,
  file: string,
): Promise<{ rows: number; leftOut: readonly string[] }> {
  // Use a new name: an existing file may be readable by others, or be a link to another place.
  const draft = `${file}.${randomBytes(6).toString("hex")}.part`;
  try {
    // Open the file before querying the database, so that a missing folder is not reported as a fault of the database.
    const handle = await open(draft, "wx", 0o600);
    const rows = await writeRows(db, now, handle).finally(() => handle.close());
    await rename(draft, file);
    // Sync the folder too, since it holds the new name.
    const folder = await open(dirname(file), "r");
    await folder.sync().finally(() => folder.close());
    return { rows, leftOut: NOT_IN_BACKUP };
  } catch (error) {
    await rm(draft, { force: true });
    throw fileProblem(file, error);
  }
}

/** Writes all rows as lines, from one snapshot of the database, and syncs the file. Returns the number of rows. */
async function writeRows(db: Database, now: number, handle: FileHandle): Promise<number> {
  let rows = 0;
  await db.snapshot(async (tx) => {
    async function* lines(): AsyncGenerator<string> {
      yield JSON.stringify({ format: FORMAT, schema: schemaVersion, at: now }) + "\n";
      for (const table of tables) {
        for await (const row of rowsOf(tx, table)) {
          rows++;
          yield JSON.stringify({ table: table.name, row }) + "\n";
        }
      }
      yield JSON.stringify({ end: true, rows }) + "\n";
    }
    // A failed write aborts the earlier steps, and `pipeline` reports only the abort. Keep the first error, which is
    // the cause.
    let cause: unknown;
    const write = (packed: AsyncIterable<Buffer>): Promise<void> =>
      writeFile(handle, packed).catch((error: unknown) => Promise.reject((cause ??= error) as Error));
    await pipeline(Readable.from(lines()), createGzip(), write).catch((error: unknown) => {
      throw cause ?? error;
    });
  });
  await handle.sync();
  return rows;
}

async function* rowsOf(tx: Queries, table: Table): AsyncGenerator<Row> {
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

/** Returns a sentence for the operator if the file system failed, otherwise the unchanged error. */
function fileProblem(file: string, error: unknown): unknown {
  return error instanceof Error && "syscall" in error ? new UserError(`backup ${file}: ${error.message}`) : error;
}
