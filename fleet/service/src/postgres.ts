/** PostgreSQL: several processes of a service can share it. */
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

/** A transaction that others came before is tried again for so long. A count of tries would depend on the machine. */
const PATIENCE_MS = 10_000;
/** A pause is anything from 0 to 100 ms: transactions that met once would otherwise meet again. */
const PAUSES = { first: 3, most: 50, share: 1 } as const;
const DISK_FULL_CODE = "53100";
/** Codes of an address that the operator has to change: no such database, no such role, a wrong password. */
const WRONG = /^(3D000|28000|28P01)$/;

interface Prepared {
  readonly name: string;
  readonly text: string;
}

/** Numbers the placeholders (`?` becomes `$1`) and names the text. Each connection prepares a name once. */
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

/** The number of BIGINT. Times are milliseconds in one: exact as a number until the year 287396. */
const BIGINT = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === BIGINT ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
};

/** True if the server is away. False if the query is at fault. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // 08: connection. 53: out of resources. 57P: shutting down or starting. The others are codes of the socket and
  // messages of the pool.
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
  /** How transactions that write see each other. */
  readonly isolation?: "SERIALIZABLE" | "READ COMMITTED";
  /** Milliseconds that a query may take. */
  readonly patience?: number;
}

export class Postgres implements Database {
  readonly kind = "postgres";
  readonly #pool: pg.Pool;
  /** True from an error "disk full" to the next write that succeeds. */
  #full = false;

  readonly #begin: string;
  readonly #lock: number;
  /** Writes that have not ended. */
  readonly #writes = new Set<Promise<unknown>>();

  constructor(
    url: string,
    { service, poolSize, onError, isolation = "SERIALIZABLE", patience = 10_000 }: PostgresOptions,
  ) {
    this.#begin = `BEGIN ISOLATION LEVEL ${isolation}`;
    // Advisory lock under which the schema changes: the name of the service in ASCII.
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
    // A connection may break at any time, and an error that nobody listens to ends the process. Listen from the moment
    // it is made: the pool takes its own listener away before it hands a connection out.
    this.#pool.on("connect", (client) => client.on("error", onError));
    // The pool repeats the error of an idle connection, which was reported above.
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
        // 40001: two transactions could not be put in an order. 40P01: deadlock. Both were rolled back whole.
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
      // The lock is held until the transaction ends, however it ends.
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
    // The pool gives no connection any more once it ends, also to those that wait for one.
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
      // The pool forgets a connection that was closed. Tell it about one that is open but could not roll back.
      client.release(broken);
    }
  }
}
