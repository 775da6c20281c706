/** PostgreSQL: one database that several hosts share. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type Database, DatabaseAway, type Queries, type Value, codeOf } from "./database.ts";

const MOST_TRIES = 10;
/** Object id of the type BIGINT, which pg returns as text. Counts and milliseconds are exact as doubles. */
const BIGINT = 20;

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === BIGINT ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
};

/** By SQL text with `?`: the text with $1, $2, ..., and the name of its prepared statement. */
const statements = new Map<string, { readonly name: string; readonly text: string }>();

function prepared(sql: string): { readonly name: string; readonly text: string } {
  let found = statements.get(sql);
  if (!found) {
    let count = 0;
    found = { name: `host${statements.size}`, text: sql.replace(/\?/g, () => `$${++count}`) };
    statements.set(sql, found);
  }
  return found;
}

const queriesOf = (client: pg.Pool | pg.ClientBase): Queries => ({
  all: async <T extends object>(sql: string, params: readonly Value[] = []) => {
    const { rows } = await client.query<T & pg.QueryResultRow>({ ...prepared(sql), values: [...params] });
    return rows;
  },
});

export class Postgres implements Database {
  readonly kind = "postgres";
  readonly #pool: pg.Pool;
  readonly #queries: Queries;

  constructor(url: string, size: number, onError: (error: Error) => void) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: size,
      connectionTimeoutMillis: 3000,
      query_timeout: 30_000,
      statement_timeout: 30_000,
      keepAlive: true,
      application_name: "boxwright-host",
      types,
    });
    // Listen to errors: an idle connection may break at any time, and an error without a listener ends the process.
    this.#pool.on("connect", (client) => client.on("error", onError));
    this.#pool.on("error", () => undefined);
    this.#queries = queriesOf(this.#pool);
  }

  async all<T extends object>(sql: string, params?: readonly Value[]): Promise<T[]> {
    try {
      return await this.#queries.all<T>(sql, params);
    } catch (error) {
      throw explain(error);
    }
  }

  async write<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#transaction(work);
      } catch (error) {
        // 40P01: deadlock. 40001: serialization failure. In either case this transaction was rolled back.
        if (attempt >= MOST_TRIES || !/^40(001|P01)$/.test(codeOf(error))) throw explain(error);
        await sleep(Math.random() * 5 * attempt);
      }
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #transaction<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query("BEGIN");
      const result = await work(queriesOf(client));
      await client.query("COMMIT");
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch((failure: Error) => void (broken = failure));
      throw error;
    } finally {
      client.release(broken);
    }
  }
}

/** Returns the error, as DatabaseAway if the server is at fault and not the query. */
function explain(error: unknown): unknown {
  const code = codeOf(error);
  // 08: connection. 53: out of resources. 57P: shutting down or starting.
  if (/^53100/.test(code)) return new DatabaseAway("the disk of the database is full", { cause: error });
  const isAway =
    /^(08|53|57P|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN)/.test(code) ||
    (error instanceof Error &&
      /connection terminated|timeout exceeded|read timeout|not queryable|connection error/i.test(error.message));
  return isAway ? new DatabaseAway("the database cannot be reached", { cause: error }) : error;
}
