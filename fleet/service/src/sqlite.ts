/**
 * SQLite: one file and a write-ahead log. An acknowledged transaction survives a power cut: it commits without a sync
 * (synchronous NORMAL), and is acknowledged after a sync of the log that began after the commit. Several transactions
 * share a sync, and other requests continue meanwhile.
 *
 * libsql answers synchronously, so waiting for a lock would stop every request of the process. Hence three rules:
 *  - The busy timeout is 0. Only BEGIN IMMEDIATE can meet a lock, and is repeated with pauses that do not block.
 *  - Every write is in a BEGIN IMMEDIATE transaction. If a statement outside of one meets a lock, libsql 0.5 leaves the
 *    statement unfinished. SQLite then holds back the next commit, which would be acknowledged but lost.
 *  - All writes share one connection and queue for it. Reads use another one, and so never see half a transaction.
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
import { GroupSync } from "./group-sync.ts";
import { SqliteWatch } from "./sqlite-watch.ts";

const LOCK_PATIENCE_MS = 10_000;
/** Milliseconds between two checks that the open file still has its name. */
const WATCH_MS = 1000;
/** Largest number of milliseconds that an answer waits for the check of a database that another process has written. */
const CHECK_PATIENCE_MS = 5000;
/**
 * Milliseconds after which a write raises the mark, a number in the table service_state. So an older copy of the
 * database has a smaller mark.
 */
const MARK_MS = 5000;
const RAISE_MARK = `INSERT INTO service_state (name, value) VALUES ('mark', 1)
  ON CONFLICT (name) DO UPDATE SET value = service_state.value + 1 RETURNING value`;
/** Free bytes below which `problem` tries to write, since the log may grow by this much at once. */
const LOW_SPACE = 4 * 2 ** 20;
/** Free bytes below which an error of SQLite counts as a full disk. The shared memory of a log starts with 32 KiB. */
const MIN_SPACE = 64 * 1024;

class Connection implements Queries {
  readonly #db: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement<unknown[]>>();

  constructor(file: string, readOnly: boolean) {
    this.#db = new Libsql(file, { timeout: 0 });
    // Set a busy timeout for the next statements. The first start writes the journal mode into the file, which needs
    // exclusive access. Two first starts at the same time may compete for the access.
    this.#db.exec("PRAGMA busy_timeout = 5000");
    // Allow a later PRAGMA incremental_vacuum, which shrinks the file after rows were deleted. It affects new files
    // only.
    this.#db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    this.#db.exec("PRAGMA journal_mode = WAL");
    this.#db.exec("PRAGMA busy_timeout = 0");
    this.#db.exec("PRAGMA synchronous = NORMAL");
    this.#db.exec("PRAGMA foreign_keys = ON");
    if (readOnly) this.#db.exec("PRAGMA query_only = ON");
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the interface is asynchronous, libsql is not
  async all<T extends object>(sql: string, params: readonly Value[] = []): Promise<T[]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    // Call `all`, not `get`: `get` adds a field to the row and leaves the statement open.
    return statement.all(params) as T[];
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** Moves the content of the log into the database. Returns true if all of it was moved. */
  checkpoint(): boolean {
    const [row] = this.#db.prepare("PRAGMA wal_checkpoint(FULL)").all() as Record<string, number>[];
    return row?.["busy"] === 0 && row["log"] === row["checkpointed"];
  }

  /** Forgets prepared statements. Call this after the schema changed. */
  forget(): void {
    this.#statements.clear();
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }
}

/**
 * Throws if the folder is missing. Does not create it: a folder made by root would not be writable for the service's
 * own user.
 */
function checkFolder(folder: string, service: string): void {
  if (existsSync(folder)) return;
  throw new UserError(
    `database file: got a path in the folder ${folder}, which does not exist; ` +
      `make it for the user that runs the ${service}, or name another file`,
  );
}

/** Returns the free bytes for this process on the file's disk. */
function freeSpace(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file));
  return bavail * bsize;
}

/** Converts an error of the disk to UnavailableError. Returns other errors unchanged. */
function explainDisk(file: string, error: unknown): unknown {
  const code = codeOf(error);
  const isTrouble = /^(SQLITE_(IOERR|CANTOPEN)|EIO$|EROFS$|SQLITE_READONLY)/.test(code);
  // Without space for its shared memory or log, SQLite reports I/O errors, or that the file cannot be opened.
  if (code === "ENOSPC" || code.startsWith("SQLITE_FULL") || (isTrouble && freeSpace(file) < MIN_SPACE))
    return new UnavailableError(`${DISK_FULL}: database file ${file}`, { cause: error });
  if (isDamage(error)) return notDatabase(file, error);
  if (!isTrouble) return error;
  return new UnavailableError(`the disk of the database fails: database file ${file} (${messageOf(error)})`, {
    cause: error,
  });
}

const isDamage = (error: unknown): boolean => /^SQLITE_(NOTADB|CORRUPT)/.test(codeOf(error));

/** Adds the file's name to SQLite's "file is not a database". */
const notDatabase = (file: string, error: unknown): UserError =>
  new UserError(`database file ${file}: ${messageOf(error)}; expected a SQLite file, or a place for one`, {
    cause: error,
  });

export interface SqliteOptions extends Owner {
  /** Called when damage of the database is found. */
  readonly onError?: (error: Error) => void;
}

export class Sqlite implements Database {
  readonly kind = "sqlite";
  readonly #reader: Connection;
  readonly #writer: Connection;
  readonly #file: string;
  readonly #service: string;
  readonly #timer: NodeJS.Timeout;
  readonly #watch: SqliteWatch;
  readonly #syncs: GroupSync;
  /** Names of deleted or replaced files; null if there are none. */
  #gone: string | null = null;
  /** True after the content of a deleted log was moved into the database. */
  #isRescued = false;
  /** True from a "disk full" error until the next successful write. */
  #full = false;
  /** True from a failed sync until a successful checkpoint, since the system reports lost bytes only once. */
  #isUnsafe = false;
  /** True if there were writes since the mark last grew. */
  #isMarkOld = false;
  #markedAt = performance.now();
  #queue: Promise<unknown> = Promise.resolve();

  /**
   * @param sync brings the log to the disk; replaced in tests
   * @throws UnavailableError if the disk is full; UserError if the file cannot be a database
   */
  constructor(file: string, { service, onError = () => undefined }: SqliteOptions, sync?: () => Promise<void>) {
    this.#file = resolve(file);
    this.#service = service;
    this.#watch = new SqliteWatch(this.#file, () => onError(this.#problem()!));
    this.#syncs = new GroupSync(sync ?? (() => this.#watch.sync()));
    try {
      checkFolder(dirname(this.#file), service);
      if (statSync(this.#file, { throwIfNoEntry: false })?.isDirectory())
        throw new UserError(`database file ${this.#file}: is a folder; expected a SQLite file, or a place for one`);
      // Let only the owner read the file, from its first byte: it may contain password hashes and movements of people.
      if (!existsSync(this.#file)) closeSync(openSync(this.#file, "a", 0o600));
      chmodSync(this.#file, 0o600);
      this.#writer = new Connection(this.#file, false);
      this.#reader = new Connection(this.#file, true);
      // Run a first transaction, which creates the log and the shared memory.
      this.#reader.exec("SELECT 1 FROM sqlite_master");
      this.#watch.open();
    } catch (caught) {
      const error = explainDisk(this.#file, caught);
      throw error instanceof UnavailableError || error instanceof UserError ? error : notDatabase(this.#file, error);
    }
    this.#timer = setInterval(() => this.#look(), WATCH_MS).unref();
  }

  all<T extends object>(sql: string, params?: readonly Value[]): Promise<T[]> {
    // Refuse to use a deleted file, which would still answer: the operator may have revoked keys in the new file.
    const problem = this.#problem();
    if (problem !== undefined) return Promise.reject(problem);
    return this.#reader.all<T>(sql, params).catch((error: unknown) => {
      throw this.#explain(error);
    });
  }

  async write<T>(work: (tx: Queries) => Promise<T>, { durable = true }: WriteOptions = {}): Promise<T> {
    const turn = this.#queue.then(async () => {
      this.#lookOrThrow();
      try {
        const result = await this.#transaction("BEGIN IMMEDIATE", this.#writer, work);
        this.#isMarkOld = true;
        this.#repairSync();
        this.#full = false;
        return result;
      } catch (error) {
        throw this.#explain(error);
      }
    });
    this.#queue = turn.catch(() => undefined);
    const result = await turn;
    if (durable) await this.#makeSafe();
    return result;
  }

  /** Resolves when all transactions committed so far are on disk, in files that still have their names. */
  async #makeSafe(): Promise<void> {
    try {
      await this.#syncs.wait();
    } catch (error) {
      this.#isUnsafe = true;
      throw this.#explain(error);
    }
    // Check again after the sync, so that rows in a deleted file are never acknowledged.
    this.#lookOrThrow();
    await this.#watch.checked(CHECK_PATIENCE_MS);
    const problem = this.#problem();
    if (problem !== undefined) throw problem;
  }

  /** Moves the log into the database after a failed sync: readable bytes may still not be on the disk. */
  #repairSync(): void {
    if (!this.#isUnsafe) return;
    if (!this.#writer.checkpoint()) throw new UnavailableError("the disk of the database fails: it took no sync");
    this.#isUnsafe = false;
  }

  async problem(): Promise<string | undefined> {
    this.#look();
    await this.#watch.checked(CHECK_PATIENCE_MS);
    const problem = this.#problem();
    if (problem !== undefined) return problem.message;
    if (this.#full || freeSpace(this.#file) < LOW_SPACE) await tryWrite(this).catch(() => undefined);
    return this.#full ? DISK_FULL : undefined;
  }

  #look(): void {
    const missing = this.#watch.look();
    this.#gone = missing.length === 0 ? null : missing.map((part) => this.#file + part).join(", ");
    // Move the content of the log into the database while the log is open: a deleted log vanishes when it is closed.
    if (missing.length > 0 && !missing.includes("") && !this.#isRescued) this.#rescue();
    if (missing.length > 0) return;
    this.#isRescued = false;
    if (this.#isMarkOld && performance.now() - this.#markedAt > MARK_MS) void this.#raiseMark().catch(() => undefined);
  }

  #rescue(): void {
    try {
      this.#isRescued = this.#writer.checkpoint();
    } catch {
      // Ignore the error: a transaction is open, and the next check tries again.
    }
  }

  async #raiseMark(): Promise<void> {
    this.#markedAt = performance.now();
    const [row] = await this.write((tx) => tx.all<{ value: number }>(RAISE_MARK), { durable: false });
    this.#isMarkOld = false;
    this.#watch.mark = row!.value;
  }

  #lookOrThrow(): void {
    this.#look();
    const problem = this.#problem();
    if (problem !== undefined) throw problem;
  }

  /** Returns why the files can no longer be used, or undefined. */
  #problem(): UnavailableError | undefined {
    const name = this.#service;
    const { damage } = this.#watch;
    if (this.#gone !== null)
      return new UnavailableError(
        `the database file was deleted or replaced under the running ${name}; restart the ${name} (${this.#gone})`,
      );
    if (damage === undefined) return undefined;
    return new UnavailableError(
      `the database is damaged, or was overwritten under the running ${name}: ${damage}; stop the ${name}, then repair or restore ${this.#file}`,
    );
  }

  /** Returns the error for callers. Records the state of disk and database that the error shows. */
  #explain(error: unknown): unknown {
    if (isDamage(error)) this.#watch.noteDamage(messageOf(error));
    const explained = isDamage(error) ? this.#problem()! : explainDisk(this.#file, error);
    this.#full ||= explained instanceof UnavailableError && explained.message.startsWith(DISK_FULL);
    return explained;
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
    await this.#raiseMark();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#queue;
    await this.#syncs.wait().catch(() => undefined);
    this.#reader.close();
    // Checkpoint now, so that a copy of a stopped service's file is complete without the log. SQLite checkpoints when
    // its last connection closes, but libsql leaves statements open until they are garbage-collected. If another
    // process uses the database, the log stays.
    try {
      this.#writer.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      if (!codeOf(error).startsWith("SQLITE_")) throw error;
    }
    this.#writer.close();
    this.#watch.close();
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
      // Check for foreign writes before the commit: the commit may move the log into the database, which would look
      // like a foreign write.
      this.#watch.lookForOthers();
      connection.exec("COMMIT");
      this.#watch.noteOwnWrite();
      return result;
    } catch (error) {
      try {
        connection.exec("ROLLBACK");
      } catch {
        // Ignore the error of the rollback, since SQLite rolls back itself on a full disk. The first error has the
        // cause.
      }
      throw error;
    }
  }
}
