/** Database interface for PostgreSQL, which several processes of a service can share. */
import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
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
import { pauseAfter } from "./retry.ts";

/**
 * Milliseconds for which a conflicting transaction is retried. A number of retries would take a different time on each
 * machine.
 */
const PATIENCE_MS = 10_000;
/** Milliseconds of the pauses, with random variation, so that transactions that collided once do not collide again. */
const PAUSES = { first: 3, most: 50, share: 1 } as const;
const DISK_FULL_CODE = "53100";
/**
 * Error codes that mean a wrong address: unknown database, unknown role, wrong password. The operator must change the
 * address.
 */
const WRONG = /^(3D000|28000|28P01)$/;

interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** Statements with numbered placeholders (`?` becomes `$1`) and a name. Each connection prepares a name once. */
const prepared = new Map<string, Prepared>();
function prepare(sql: string): Prepared {
  let found = prepared.get(sql);
  if (found === undefined) {
    const [start = "", ...rest] = sql.split("?");
    const text = rest.reduce((all, part, i) => `${all}$${i + 1}${part}`, start);
    found = { name: `s${prepared.size}`, text };
    prepared.set(sql, found);
  }
  return found;
}

/** Type id of BIGINT. Times are milliseconds of this type, exact as a number until the year 287396. */
const BIGINT = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === BIGINT ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
};

/** True if the server is unreachable, false if the query is at fault. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // 08: connection. 53: out of resources. 57P: server stopping or starting. The other codes come from the socket, and
  // the messages from the pool.
  return (
    /^(08|53|57P)/.test(codeOf(error)) ||
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENOENT|EAI_AGAIN)/.test(codeOf(error)) ||
    /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|client has encountered a connection error/i.test(
      error.message,
    )
  );
}

function translate(error: unknown): unknown {
  if (codeOf(error) === DISK_FULL_CODE) return new UnavailableError(DISK_FULL, { cause: error });
  if (isAway(error)) return new UnavailableError("the database cannot be reached", { cause: error });
  return WRONG.test(codeOf(error)) ? new UserError(`database: ${messageOf(error)}`, { cause: error }) : error;
}

async function run<T extends object>(
  client: pg.ClientBase | pg.Pool,
  sql: string,
  params: readonly Value[],
): Promise<T[]> {
  const { name, text } = prepare(sql);
  return (await client.query<T & pg.QueryResultRow>({ name, text, values: params as Value[] })).rows;
}

export interface PostgresOptions extends Owner {
  readonly poolSize: number;
  readonly onError: (error: Error) => void;
  /** Isolation level of transactions that write. */
  readonly isolation?: "SERIALIZABLE" | "READ COMMITTED";
  /** Largest number of milliseconds of a query. */
  readonly patience?: number;
}

export class Postgres implements Database {
  readonly kind = "postgres";
  readonly #pool: pg.Pool;
  /** True from a "disk full" error until the next successful write. */
  #full = false;

  readonly #begin: string;
  readonly #lock: number;
  /** Running writes. */
  readonly #writes = new Set<Promise<unknown>>();

  constructor(
    url: string,
    { service, poolSize, onError, isolation = "SERIALIZABLE", patience = 10_000 }: PostgresOptions,
  ) {
    this.#begin = `BEGIN ISOLATION LEVEL ${isolation}`;
    // Key of the advisory lock for schema changes: the first letters of the service's name in ASCII.
    this.#lock = Buffer.from(service).readUIntBE(0, Math.min(service.length, 6));
    this.#pool = new pg.Pool({
      connectionString: url,
      max: poolSize,
      connectionTimeoutMillis: 3000,
      query_timeout: patience,
      statement_timeout: patience,
      idle_in_transaction_session_timeout: 10_000,
      keepAlive: true,
      application_name: `boxwright-${service}`,
      types,
    });
    // Listen from the start: a connection may break at any time, and an error without a listener would end the process.
    // The pool removes its own listener before it hands a connection out.
    this.#pool.on("connect", (client) => client.on("error", onError));
    // Ignore the pool's copy of this error, which the listener above has reported.
    this.#pool.on("error", () => undefined);
  }

  async all<T extends object>(sql: string, params: readonly Value[] = []): Promise<T[]> {
    try {
      return await run<T>(this.#pool, sql, params);
    } catch (error) {
      throw translate(error);
    }
  }

  write<T>(work: (tx: Queries) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    const writing = this.#write(work, options);
    const ended: Promise<unknown> = writing.then(
      () => this.#writes.delete(ended),
      () => this.#writes.delete(ended),
    );
    this.#writes.add(ended);
    return writing;
  }

  async #write<T>(work: (tx: Queries) => Promise<T>, { durable = true }: WriteOptions): Promise<T> {
    const begin = durable ? this.#begin : `${this.#begin}; SET LOCAL synchronous_commit = off`;
    const deadline = performance.now() + PATIENCE_MS;
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await this.#transaction(begin, work);
        this.#full = false;
        return result;
      } catch (error) {
        if (codeOf(error) === DISK_FULL_CODE) this.#full = true;
        // 40001: serialization conflict. 40P01: deadlock. Both were rolled back completely.
        const isConflict = /^40(001|P01)$/.test(codeOf(error));
        if (!isConflict || performance.now() > deadline) throw translate(error);
        await sleep(pauseAfter(attempt, PAUSES));
      }
    }
  }

  snapshot<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    return this.#transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work).catch((error: unknown) => {
      throw translate(error);
    });
  }

  async migrate(work: (tx: Schema) => Promise<void>): Promise<void> {
    await this.#transaction("BEGIN", async (tx, client) => {
      // The lock lasts until the transaction ends.
      await client.query(`SELECT pg_advisory_xact_lock(${this.#lock})`);
      await work({
        all: (sql, params) => tx.all(sql, params),
        script: async (sql) => {
          await client.query(sql);
        },
      });
    }).catch((error: unknown) => {
      throw translate(error);
    });
  }

  async problem(): Promise<string | undefined> {
    if (this.#full) await tryWrite(this).catch(() => undefined);
    return this.#full ? DISK_FULL : undefined;
  }

  async close(): Promise<void> {
    // Wait for running writes first: an ending pool hands out no more connections, not even to waiting writes.
    await Promise.all(this.#writes);
    await this.#pool.end();
  }

  async #transaction<T>(begin: string, work: (tx: Queries, client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query(begin);
      const result = await work({ all: (sql, params = []) => run(client, sql, params) }, client);
      await client.query("COMMIT");
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch((failure: Error) => void (broken = failure));
      throw error;
    } finally {
      // Report to the pool an open connection that could not roll back. The pool notices closed connections itself.
      client.release(broken);
    }
  }
}
