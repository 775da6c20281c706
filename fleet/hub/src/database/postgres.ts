/** PostgreSQL: several hub processes behind a balancer can share it. */
import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { UnavailableError } from "../core/errors.ts";
import { DISK_FULL, tryWrite, type Database, type Queries, type Value } from "./database.ts";

/** Advisory lock under which schemas change: "hub" in ASCII. */
const MIGRATION_LOCK = 0x687562;
const MAX_TRIES = 20;
const DISK_FULL_CODE = "53100";

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
    found = { name: `hub_${prepared.size}`, text };
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

const code = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");

/** True if the server is away. False if the query is at fault. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // 08: connection. 53: out of resources. 57P: shutting down or starting. The others are codes of the socket and
  // messages of the pool.
  return (
    /^(08|53|57P)/.test(code(error)) ||
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENOENT|EAI_AGAIN)/.test(code(error)) ||
    /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|client has encountered a connection error/i.test(
      error.message,
    )
  );
}

function translate(error: unknown): unknown {
  if (code(error) === DISK_FULL_CODE) return new UnavailableError(DISK_FULL, { cause: error });
  return isAway(error) ? new UnavailableError("the database cannot be reached", { cause: error }) : error;
}

async function run<T extends object>(
  client: pg.ClientBase | pg.Pool,
  sql: string,
  params: readonly Value[],
): Promise<T[]> {
  const { name, text } = prepare(sql);
  return (await client.query<T & pg.QueryResultRow>({ name, text, values: params as Value[] })).rows;
}

export class Postgres implements Database {
  readonly kind = "postgres";
  readonly #pool: pg.Pool;
  /** True from an error "disk full" to the next write that succeeds. */
  #full = false;

  constructor(url: string, options: { poolSize: number; onError: (error: Error) => void }) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: options.poolSize,
      connectionTimeoutMillis: 3000,
      query_timeout: 10_000,
      statement_timeout: 10_000,
      idle_in_transaction_session_timeout: 10_000,
      keepAlive: true,
      application_name: "boxwright-hub",
      types,
    });
    // A connection may break at any time, and an error that nobody listens to ends the process. Listen from the moment
    // it is made: the pool takes its own listener away before it hands a connection out.
    this.#pool.on("connect", (client) => client.on("error", options.onError));
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

  async write<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await this.#transaction("BEGIN ISOLATION LEVEL SERIALIZABLE", work);
        this.#full = false;
        return result;
      } catch (error) {
        if (code(error) === DISK_FULL_CODE) this.#full = true;
        // 40001: two transactions could not be put in an order. 40P01: deadlock. Both were rolled back whole.
        if (attempt >= MAX_TRIES || !/^40(001|P01)$/.test(code(error))) throw translate(error);
        await sleep(Math.random() * 5 * attempt);
      }
    }
  }

  snapshot<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    return this.#transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work).catch((error: unknown) => {
      throw translate(error);
    });
  }

  async migrate(work: (tx: Queries & { script(sql: string): Promise<void> }) => Promise<void>): Promise<void> {
    await this.#transaction("BEGIN", async (tx, client) => {
      // The lock is held until the transaction ends, however it ends.
      await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      await work({
        all: tx.all,
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
