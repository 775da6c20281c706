/** SQLite: one file with a write-ahead log, synced at each commit. What is acknowledged survives a power cut. */
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Libsql from "libsql";
import { UserError, messageOf } from "../core/errors.ts";
import { type Database, DatabaseAway, type Queries, type Value, codeOf } from "./database.ts";

/** Milliseconds to wait for another process that writes to the file. */
const PATIENCE_MS = 10_000;

/** One connection. Its timeout is 0: libsql is synchronous, and waiting for a lock would block the event loop. */
class Connection implements Queries {
  readonly #db: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement<unknown[]>>();

  constructor(file: string) {
    this.#db = new Libsql(file, { timeout: 0 });
    // Wait only here: the file keeps its journal mode, so later starts need no lock.
    this.#db.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 0");
    this.#db.exec("PRAGMA synchronous = FULL");
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the interface is asynchronous, libsql is not
  async all<T extends object>(sql: string, params: readonly Value[] = []): Promise<T[]> {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    // Call `all`, which finishes the statement: `get` would leave it open.
    return statement.all(params) as T[];
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }
}

export class Sqlite implements Database {
  readonly kind = "sqlite";
  /** Connection of transactions. Reads use another one, so that they never see half of a transaction. */
  readonly #writer: Connection;
  readonly #reader: Connection;
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    const path = resolve(file);
    try {
      mkdirSync(dirname(path), { recursive: true });
      // Let only the owner read the file: detections may say who was where.
      if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
      this.#writer = new Connection(path);
      this.#reader = new Connection(path);
    } catch (error) {
      const known = explain(error);
      if (known instanceof DatabaseAway) throw known;
      const expected = "expected a SQLite file, or a place for one";
      throw new UserError(`database: got ${path}, ${expected} (${messageOf(error)})`, { cause: error });
    }
  }

  async all<T extends object>(sql: string, params?: readonly Value[]): Promise<T[]> {
    try {
      return await this.#reader.all<T>(sql, params);
    } catch (error) {
      throw explain(error);
    }
  }

  write<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#transaction(work));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    await this.#last;
    this.#reader.close();
    this.#writer.close();
  }

  async #transaction<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    await this.#begin();
    try {
      const result = await work(this.#writer);
      this.#writer.exec("COMMIT");
      return result;
    } catch (error) {
      try {
        this.#writer.exec("ROLLBACK");
      } catch {
        // On a full disk SQLite has rolled back by itself. The first error says why.
      }
      throw explain(error);
    }
  }

  /** Begins a transaction as a writer. Only this statement can meet the lock of another process. */
  async #begin(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let pause = 1; ; pause = Math.min(2 * pause, 50)) {
      try {
        return this.#writer.exec("BEGIN IMMEDIATE");
      } catch (error) {
        if (!codeOf(error).startsWith("SQLITE_BUSY") || performance.now() > deadline) throw explain(error);
        await sleep(pause);
      }
    }
  }
}

const AWAY: Readonly<Record<string, string>> = {
  SQLITE_FULL: "the disk of the database is full",
  SQLITE_IOERR: "the disk of the database fails, or is full",
  SQLITE_CANTOPEN: "the database file cannot be opened, or its disk is full",
  SQLITE_BUSY: "another process holds the database file",
};

/** Returns the error, as DatabaseAway if the disk or another process is at fault. */
function explain(error: unknown): unknown {
  const code = Object.keys(AWAY).find((name) => codeOf(error).startsWith(name));
  return code === undefined ? error : new DatabaseAway(AWAY[code], { cause: error });
}
