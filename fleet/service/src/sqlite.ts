/**
 * SQLite: one file, write-ahead log, synchronous FULL. What is acknowledged survives a power cut.
 *
 * libsql answers synchronously, so waiting for a lock would stop every request of the process. Hence three rules:
 *  - The busy timeout is 0. Only BEGIN IMMEDIATE can meet a lock, and is repeated with pauses that do not block.
 *  - Every write stands in such a transaction. libsql 0.5 leaves a single statement unfinished if it meets a lock
 *    outside of one. SQLite then holds back the next commit, which would look acknowledged and be lost.
 *  - Writes have a connection of their own and queue for it. A read never sees half a transaction.
 */
import { chmodSync, closeSync, existsSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Libsql from "libsql";
import {
  DISK_FULL,
  tryWrite,
  type Database,
  type Owner,
  type Queries,
  type Schema,
  type Value,
  type WriteOptions,
} from "./database.ts";
import { codeOf, messageOf, UnavailableError, UserError } from "./errors.ts";

const LOCK_PATIENCE_MS = 10_000;
/** The service looks this often whether its file is still the one it opened. */
const WATCH_MS = 1000;
/** With less space than this, readiness tries a write: the log may grow by so much at once. */
const LOW_SPACE = 4 * 2 ** 20;
/** The shared memory of a log begins with 32 KiB. */
const MIN_SPACE = 64 * 1024;

class Connection implements Queries {
  readonly #db: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement<unknown[]>>();

  constructor(file: string, readOnly: boolean) {
    this.#db = new Libsql(file, { timeout: 0 });
    // The file keeps the journal mode. Turning it on needs a moment alone, and two first starts may meet here. PRAGMA
    // honours the busy timeout, which is set for this statement only.
    this.#db.exec("PRAGMA busy_timeout = 5000");
    // Takes effect in a new file only: pages of deleted rows can be given back.
    this.#db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    this.#db.exec("PRAGMA journal_mode = WAL");
    this.#db.exec("PRAGMA busy_timeout = 0");
    this.#db.exec("PRAGMA synchronous = FULL");
    this.#db.exec("PRAGMA foreign_keys = ON");
    if (readOnly) this.#db.exec("PRAGMA query_only = ON");
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the interface is asynchronous, libsql is not
  async all<T extends object>(sql: string, params: readonly Value[] = []): Promise<T[]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    // Call `all`, never `get`: `get` adds a field of its own to the row and leaves the statement open.
    return statement.all(params) as T[];
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** Forgets prepared statements. Call it after the schema changed. */
  forget(): void {
    this.#statements.clear();
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }
}

/** Returns device and inode of the file that has this name, or an empty text. */
function identityOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.dev} ${stat.ino}`;
}

/** Throws if the folder is missing. A service that runs as root once would make one that its own user cannot write. */
function checkFolder(folder: string, service: string): void {
  if (existsSync(folder)) return;
  throw new UserError(
    `database file: got a path in the folder ${folder}, which does not exist; ` +
      `make it for the user that runs the ${service}, or name another file`,
  );
}

/** Returns the bytes that this process may still write on the disk of this file. */
function freeSpace(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file));
  return bavail * bsize;
}

/** Returns the error, as UnavailableError if the disk is at fault. */
function explainDisk(file: string, error: unknown): unknown {
  const code = codeOf(error);
  const isTrouble = /^SQLITE_(IOERR|CANTOPEN)/.test(code);
  // Without room for its shared memory or log, SQLite reports errors of input and output, or that it cannot open.
  if (code.startsWith("SQLITE_FULL") || (isTrouble && freeSpace(file) < MIN_SPACE))
    return new UnavailableError(`${DISK_FULL}: database file ${file}`, { cause: error });
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) return notDatabase(file, error);
  if (!isTrouble) return error;
  return new UnavailableError(`the disk of the database fails: database file ${file} (${messageOf(error)})`, {
    cause: error,
  });
}

/** SQLite says "file is not a database" without its name. */
const notDatabase = (file: string, error: unknown): UserError =>
  new UserError(`database file ${file}: ${messageOf(error)}; expected a SQLite file, or a place for one`, {
    cause: error,
  });

export class Sqlite implements Database {
  readonly kind = "sqlite";
  readonly #reader: Connection;
  readonly #writer: Connection;
  readonly #file: string;
  readonly #service: string;
  readonly #watch: NodeJS.Timeout;
  /** Device and inode of the open file. */
  readonly #identity: string;
  /** True while another file, or none, has the name of the open one. */
  #gone = false;
  /** True from an error "disk full" to the next write that succeeds. */
  #full = false;
  #queue: Promise<unknown> = Promise.resolve();

  /** @throws UnavailableError if the disk is full; UserError if the file cannot be a database */
  constructor(file: string, { service }: Owner) {
    this.#file = resolve(file);
    this.#service = service;
    try {
      checkFolder(dirname(this.#file), service);
      if (statSync(this.#file, { throwIfNoEntry: false })?.isDirectory())
        throw new UserError(`database file ${this.#file}: is a folder; expected a SQLite file, or a place for one`);
      // The file may hold hashes of passwords, or who was where. Make it for its owner only before its first byte.
      if (!existsSync(this.#file)) closeSync(openSync(this.#file, "a", 0o600));
      chmodSync(this.#file, 0o600);
      this.#writer = new Connection(this.#file, false);
      this.#reader = new Connection(this.#file, true);
    } catch (caught) {
      const error = explainDisk(this.#file, caught);
      throw error instanceof UnavailableError || error instanceof UserError ? error : notDatabase(this.#file, error);
    }
    this.#identity = identityOf(this.#file);
    this.#watch = setInterval(() => this.#look(), WATCH_MS).unref();
  }

  all<T extends object>(sql: string, params?: readonly Value[]): Promise<T[]> {
    // A deleted file still answers. The operator revokes keys in another one, so refuse.
    if (this.#gone) return Promise.reject(this.#goneError());
    return this.#reader.all<T>(sql, params).catch((error: unknown) => {
      throw explainDisk(this.#file, error);
    });
  }

  async write<T>(work: (tx: Queries) => Promise<T>, { durable = true }: WriteOptions = {}): Promise<T> {
    const turn = this.#queue.then(async () => {
      // Look before each write: nobody can acknowledge rows of a file without a name.
      this.#look();
      if (this.#gone) throw this.#goneError();
      try {
        const result = await this.#write(work, durable);
        this.#full = false;
        return result;
      } catch (error) {
        const told = explainDisk(this.#file, error);
        this.#full ||= told instanceof UnavailableError && told.message.startsWith(DISK_FULL);
        throw told;
      }
    });
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #write<T>(work: (tx: Queries) => Promise<T>, durable: boolean): Promise<T> {
    if (durable) return this.#transaction("BEGIN IMMEDIATE", this.#writer, work);
    // NORMAL leaves the log for the next durable commit, or the next checkpoint, to bring to the disk. libsql waits for
    // the disk on this thread, and with it every request.
    this.#writer.exec("PRAGMA synchronous = NORMAL");
    try {
      return await this.#transaction("BEGIN IMMEDIATE", this.#writer, work);
    } finally {
      this.#writer.exec("PRAGMA synchronous = FULL");
    }
  }

  async problem(): Promise<string | undefined> {
    this.#look();
    if (this.#gone) return this.#goneError().message;
    if (this.#full || freeSpace(this.#file) < LOW_SPACE) await tryWrite(this).catch(() => undefined);
    return this.#full ? DISK_FULL : undefined;
  }

  #look(): void {
    this.#gone = identityOf(this.#file) !== this.#identity;
  }

  #goneError(): UnavailableError {
    const name = this.#service;
    return new UnavailableError(
      `the database file was deleted or replaced under the running ${name}; restart the ${name} (${this.#file})`,
    );
  }

  async snapshot<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    const connection = new Connection(this.#file, true);
    try {
      return await this.#transaction("BEGIN", connection, work);
    } finally {
      connection.close();
    }
  }

  async migrate(work: (tx: Schema) => Promise<void>): Promise<void> {
    const writer = this.#writer;
    await this.write(() =>
      work({
        all: (sql, params) => writer.all(sql, params),
        script: async (sql) => {
          writer.exec(sql);
          return Promise.resolve();
        },
      }),
    );
    writer.forget();
    this.#reader.forget();
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    await this.#queue;
    this.#reader.close();
    // Whoever copies the file of a stopped service shall have everything, also without the write-ahead log. SQLite does
    // this at its last close, but libsql leaves statements open until they are collected. Another process may be at
    // work: then the log stays, and belongs to it.
    try {
      this.#writer.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      if (!codeOf(error).startsWith("SQLITE_")) throw error;
    }
    this.#writer.close();
  }

  async #transaction<T>(begin: string, connection: Connection, work: (tx: Queries) => Promise<T>): Promise<T> {
    const deadline = performance.now() + LOCK_PATIENCE_MS;
    for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
      try {
        connection.exec(begin);
        break;
      } catch (error) {
        if (!codeOf(error).startsWith("SQLITE_BUSY")) throw error;
        if (performance.now() > deadline)
          throw new UnavailableError("the database file stayed locked by another process", { cause: error });
        await sleep(pause);
      }
    }
    try {
      const result = await work(connection);
      connection.exec("COMMIT");
      return result;
    } catch (error) {
      try {
        connection.exec("ROLLBACK");
      } catch {
        // On a full disk SQLite rolls back by itself. Keep the first error: it says why.
      }
      throw error;
    }
  }
}
