/**
 * Watches the files of a SQLite database: the database, its write-ahead log (`-wal`) and its shared memory (`-shm`).
 * SQLite never checks these files again once they are open.
 *
 * - A deleted or replaced file still works, but everything written to it disappears with the process.
 * - If another program overwrites the database in place, SQLite may mix old and new pages. This class records the
 * modification time after each own write. A later change of the time shows another writer, and starts a check of the
 * content. Writes by another process of the same service pass this check.
 */
import { closeSync, fdatasync, fsyncSync, openSync, statSync, type BigIntStats } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import { promisify } from "node:util";

/**
 * Duration of the pause after a check, as a multiple of the check's duration. Without a pause, processes that share the
 * file would cause checks all the time.
 */
const REST = 20;
const PARTS = ["", "-wal", "-shm"] as const;
/** Parts that have the content: the database and its log. */
const WRITTEN = PARTS.slice(0, 2);

/** Code of a thread that checks a database. An older copy or another database has a smaller mark, or none. */
const CHECK = `
  const { parentPort, workerData: { libsql, file, mark } } = require("node:worker_threads");
  const Database = require(libsql);
  let found;
  try {
    const db = new Database(file, { timeout: 1000 });
    db.exec("PRAGMA query_only = ON");
    const rows = db.prepare("SELECT value FROM service_state WHERE name = 'mark'").all();
    if (!(rows.length === 1 && rows[0].value >= mark)) found = "its content is older, or of another database";
    else {
      const [row] = db.prepare("PRAGMA quick_check(1)").all();
      if (row.quick_check !== "ok") found = row.quick_check.replace(/\\s+/g, " ");
    }
    db.close();
  } catch (error) {
    if (!/^SQLITE_(BUSY|LOCKED)/.test(error.code ?? "")) found = error.message;
  }
  parentPort.postMessage(found);
`;

const syncData = promisify(fdatasync);

/** State of a file; undefined if the file is missing. */
type Stats = BigIntStats | undefined;
const identityOf = (stat: Stats): string => (stat === undefined ? "" : `${stat.dev} ${stat.ino}`);
const databaseState = ([database]: readonly Stats[]): string =>
  database === undefined ? "" : `${database.mtimeNs} ${database.size}`;
const logSize = ([, log]: readonly Stats[]): bigint => log?.size ?? 0n;

export class SqliteWatch {
  readonly #file: string;
  /** Device and inode of each file that exists. */
  #identities: readonly string[] = [];
  /**
   * Descriptor of the log. The other two files have none: closing any descriptor of them would make the process lose
   * its locks on them.
   */
  #log: number | null = null;
  /** Time and size of the database and size of the log, after this process' last write. */
  #seen = "";
  #logSize = 0n;
  #check: Promise<void> | null = null;
  #checkAt = -Infinity;
  #isForeign = false;
  #damage: string | undefined;
  /** Called once, when a check or a query finds damage. */
  readonly #onDamage: (damage: string) => void;
  /**
   * Smallest mark that the database must contain by now. A mark is a number in the database that grows with time. 0 if
   * there is no mark yet; then nothing is checked.
   */
  mark = 0;

  constructor(file: string, onDamage: (damage: string) => void) {
    this.#file = file;
    this.#onDamage = onDamage;
  }

  /** Records the files that this process has open. Call this after a first transaction, which creates the files. */
  open(): void {
    this.#identities = this.#stats().map(identityOf);
    this.#log = openSync(`${this.#file}-wal`, "r+");
    // Sync the folder, which makes the name of a new log durable. SQLite does this only with its first sync.
    const folder = openSync(dirname(this.#file), "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
    this.noteOwnWrite();
  }

  close(): void {
    if (this.#log !== null) closeSync(this.#log);
    this.#log = null;
  }

  /** Syncs the log to the disk. */
  async sync(): Promise<void> {
    if (this.#log !== null) await syncData(this.#log);
  }

  /** Records a write by this process. Call this after each write. */
  noteOwnWrite(): void {
    this.#note(this.#stats(WRITTEN));
  }

  /** Returns the known damage of the content, or undefined. */
  get damage(): string | undefined {
    return this.#damage;
  }

  /** Records damage that a query has found. */
  noteDamage(damage: string): void {
    if (this.#damage === undefined) this.#onDamage(damage);
    this.#damage ??= damage;
  }

  /** Checks if another process has written the database since this process' last write. */
  lookForOthers(): void {
    this.#compare(this.#stats(WRITTEN));
  }

  /**
   * Returns the suffixes of deleted or replaced files, such as "-wal". If there are none, but another process has
   * written the files, begins a check of the content.
   */
  look(): string[] {
    if (this.#log === null) return [];
    // Read the state of each file once, since this runs twice for each write: a state takes 5 µs.
    const stats = this.#stats();
    const missing = PARTS.filter((_, i) => identityOf(stats[i]) !== this.#identities[i]);
    if (missing.length === 0 && this.mark > 0) {
      this.#compare(stats);
      this.#note(stats);
      this.#checkForeign();
    }
    return missing;
  }

  #checkForeign(): void {
    if (!this.#isForeign || this.#check !== null || performance.now() < this.#checkAt) return;
    this.#isForeign = false;
    const begin = performance.now();
    this.#check = this.#run().finally(() => {
      this.#check = null;
      this.#checkAt = performance.now() + REST * (performance.now() - begin);
    });
  }

  /** Resolves when the running check ends, or after `patience` milliseconds. */
  async checked(patience: number): Promise<void> {
    if (this.#check === null) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, patience)));
    await Promise.race([this.#check, late]).finally(() => clearTimeout(timer));
  }

  #run(): Promise<void> {
    const libsql = createRequire(import.meta.url).resolve("libsql");
    const worker = new Worker(CHECK, { eval: true, workerData: { libsql, file: this.#file, mark: this.mark } });
    worker.unref();
    return new Promise((resolve) => {
      worker.once("message", (damage: string | undefined) => {
        if (damage !== undefined) this.noteDamage(damage);
        resolve();
      });
      // Ignore a thread that cannot start, since its failure proves nothing about the database.
      worker.once("error", () => resolve()).once("exit", () => resolve());
    });
  }

  #stats(parts: readonly string[] = PARTS): Stats[] {
    return parts.map((part) => statSync(this.#file + part, { bigint: true, throwIfNoEntry: false }));
  }

  #compare(stats: readonly Stats[]): void {
    if (databaseState(stats) !== this.#seen || logSize(stats) < this.#logSize) this.#isForeign = true;
  }

  #note(stats: readonly Stats[]): void {
    this.#seen = databaseState(stats);
    this.#logSize = logSize(stats);
  }
}
