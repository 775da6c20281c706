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

const identityOf = (stat: BigIntStats | undefined): string => (stat === undefined ? "" : `${stat.dev} ${stat.ino}`);
const statOf = (file: string): BigIntStats | undefined => statSync(file, { bigint: true, throwIfNoEntry: false });

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
    const stats = PARTS.map((part) => statOf(this.#file + part));
    this.#identities = stats.map(identityOf);
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
    if (this.#log !== null) await promisify(fdatasync)(this.#log);
  }

  /** Returns the suffixes of deleted or replaced files, such as "-wal". */
  missing(): string[] {
    if (this.#log === null) return [];
    return PARTS.filter((part, i) => identityOf(statOf(this.#file + part)) !== this.#identities[i]);
  }

  /** Records a write by this process. Call this after each write. */
  noteOwnWrite(): void {
    this.#seen = this.#databaseState();
    this.#logSize = statOf(`${this.#file}-wal`)?.size ?? 0n;
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
    const logSize = statOf(`${this.#file}-wal`)?.size ?? 0n;
    if (this.#databaseState() !== this.#seen || logSize < this.#logSize) this.#isForeign = true;
  }

  /** Checks if another process has written the files. If so, begins a check of the content. */
  look(): void {
    if (this.#log === null || this.mark === 0) return;
    this.lookForOthers();
    this.noteOwnWrite();
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

  #databaseState(): string {
    const stat = statOf(this.#file);
    return stat === undefined ? "" : `${stat.mtimeNs} ${stat.size}`;
  }
}
