/** Breaking connections, which only the PostgreSQL driver meets. */
import pg from "pg";
import { afterEach, describe, expect, inject, it, vi } from "vitest";
import { untilPasses } from "../../src/testing/wait.ts";
import { Postgres } from "../../src/postgres.ts";

const url = inject("postgres");

describe.skipIf(url === undefined)("a PostgreSQL connection", () => {
  afterEach(() => vi.restoreAllMocks());

  it("may break between the moment the pool hands it out and its first query", async () => {
    const errors: string[] = [];
    const db = new Postgres(url!, { service: "hub", poolSize: 1, onError: (error) => errors.push(error.message) });
    const connect = pg.Pool.prototype.connect as unknown as () => Promise<pg.PoolClient>;
    vi.spyOn(pg.Pool.prototype, "connect").mockImplementation(async function (this: pg.Pool) {
      const client = await connect.call(this);
      // Without a listener this throws, as it would in the process.
      client.emit("error", new Error("broken between"));
      return client;
    } as never);
    expect(await db.write((tx) => tx.all("SELECT 1 AS one"))).toEqual([{ one: 1 }]);
    expect(errors).toEqual(["broken between"]);
    await db.close();
  });

  it("that the server ends while idle is reported once, and the next query gets another", async () => {
    const errors: string[] = [];
    const db = new Postgres(url!, { service: "hub", poolSize: 1, onError: (error) => errors.push(error.message) });
    const other = new Postgres(url!, { service: "hub", poolSize: 1, onError: () => undefined });
    const [{ pid }] = (await db.all<{ pid: number }>("SELECT pg_backend_pid() AS pid")) as [{ pid: number }];
    await other.all("SELECT pg_terminate_backend(?)", [pid]);
    await untilPasses(() => expect(errors).toHaveLength(1));
    const [again] = await db.all<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    expect(again!.pid).not.toBe(pid);
    expect(errors).toHaveLength(1);
    await Promise.all([db.close(), other.close()]);
  });

  it("that the server ends inside a transaction fails the transaction, and the next one gets another", async () => {
    const errors: string[] = [];
    const db = new Postgres(url!, { service: "hub", poolSize: 1, onError: (error) => errors.push(error.message) });
    const other = new Postgres(url!, { service: "hub", poolSize: 1, onError: () => undefined });
    const failed = db.write(async (tx) => {
      const [row] = await tx.all<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      await other.all("SELECT pg_terminate_backend(?)", [row!.pid]);
      await untilPasses(() => expect(errors.length).toBeGreaterThan(0));
      return tx.all("SELECT 1 AS one");
    });
    await expect(failed).rejects.toThrow("the database cannot be reached");
    expect(await db.write((tx) => tx.all("SELECT 1 AS one"))).toEqual([{ one: 1 }]);
    await Promise.all([db.close(), other.close()]);
  });
});
