/** A hub in this process, on a free port, with a database of its own. */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, describe, inject } from "vitest";
import { readConfig, type Config } from "../../src/core/config.ts";
import type { Database, Queries, Value, WriteOptions } from "boxwright-service/database";
import { temporaryFolder } from "boxwright-service/testing/folder";
import { newDatabase } from "boxwright-service/testing/postgres";
import { migrate } from "boxwright-service/migrate";
import { Postgres } from "boxwright-service/postgres";
import { Sqlite } from "boxwright-service/sqlite";
import { migrations } from "../../src/database/migrations.ts";
import { createLogger } from "../../src/core/log.ts";
import { createKey } from "../../src/nouns/apikey.ts";
import { addDevices } from "../../src/nouns/device.ts";
import type { Role } from "../../src/nouns/role.ts";
import { addTeam, type Team } from "../../src/nouns/team.ts";
import { invite, useLink, type User } from "../../src/nouns/user.ts";
import { Passwords } from "../../src/auth/derive.ts";
export { temporaryFolder } from "boxwright-service/testing/folder";
export { keyOn, password, Person, placeOf } from "./person.ts";
import { serve, type Running, type Timeouts } from "../../src/server.ts";
import { password } from "./person.ts";

export type Kind = "sqlite" | "postgres";

/** Both databases. Without PostgreSQL its half is skipped, and support/setup.ts says so. */
export const kinds: readonly { readonly kind: Kind; readonly skip: boolean }[] = [
  { kind: "sqlite", skip: false },
  { kind: "postgres", skip: inject("postgres") === undefined },
];

export interface TestDatabase {
  readonly kind: Kind;
  readonly db: Database;
  /** Configuration that opens the database once more. */
  readonly config: { databaseUrl: string | undefined; databaseFile: string };
  readonly filesFolder: string;
  /** Opens another connection to the same data. */
  again(): Database;
  remove(): Promise<void>;
}

export async function openTestDatabase(kind: Kind, options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const folder = temporaryFolder();
  const databaseFile = join(folder.path, "hub.db");
  let databaseUrl: string | undefined;
  if (kind === "postgres") {
    const admin = inject("postgres");
    if (admin === undefined) throw new Error("got no PostgreSQL, expected this test to be skipped");
    databaseUrl = await newDatabase(admin);
  }
  const opened: Database[] = [];
  const open = (): Database => {
    const db =
      databaseUrl === undefined
        ? new Sqlite(databaseFile, { service: "hub" })
        : new Postgres(databaseUrl, { service: "hub", poolSize: 5, onError: () => undefined });
    opened.push(db);
    return db;
  };
  const db = open();
  if (options.migrated !== false) await migrate(db, { service: "hub", steps: migrations });
  return {
    kind,
    db,
    config: { databaseUrl, databaseFile },
    filesFolder: join(folder.path, "files"),
    again: open,
    remove: async () => {
      for (const each of opened) await each.close().catch(() => undefined);
      folder.remove();
    },
  };
}

/** Describes tests on both databases. */
export function onDatabases(name: string, tests: (kind: Kind) => void): void {
  for (const { kind, skip } of kinds) describe.skipIf(skip)(`${name} on ${kind}`, () => tests(kind));
}

/** Describes tests on both databases. Each test gets an empty one, with the hub's tables. */
export function onEmptyDatabases(name: string, tests: (db: () => Database, storage: () => TestDatabase) => void): void {
  onDatabases(name, (kind) => {
    let storage: TestDatabase;
    beforeEach(async () => void (storage = await openTestDatabase(kind)));
    afterEach(() => storage.remove());
    tests(
      () => storage.db,
      () => storage,
    );
  });
}

/** Count of the queries that one request to the hub has made. */
export interface Asked {
  queries: number;
}

/** The request under way. None while the hub works for itself: it looks for changes, and writes heartbeats. */
const underWay = new AsyncLocalStorage<Asked>();

/** A database that counts what requests ask it, and fails when told to. */
export class Watched implements Database {
  readonly kind: Kind;
  readonly #inner: Database;
  /** Queries that belong to no request. */
  ownQueries = 0;
  /** Thrown instead of an answer. */
  failure: Error | undefined;
  /** Fails only statements that match. */
  failing = /./;

  constructor(inner: Database) {
    this.#inner = inner;
    this.kind = inner.kind;
  }

  #count(): void {
    const asked = underWay.getStore();
    if (asked) asked.queries++;
    else this.ownQueries++;
  }

  all<T extends object>(sql: string, params?: readonly Value[]): Promise<T[]> {
    this.#count();
    if (this.failure !== undefined && this.failing.test(sql)) return Promise.reject(this.failure);
    return this.#inner.all<T>(sql, params);
  }
  #wrap(tx: Queries): Queries {
    return {
      all: (sql, params) => {
        this.#count();
        if (this.failure !== undefined && this.failing.test(sql)) return Promise.reject(this.failure);
        return tx.all(sql, params);
      },
    };
  }
  write<T>(work: (tx: Queries) => Promise<T>, options?: WriteOptions): Promise<T> {
    return this.#inner.write((tx) => work(this.#wrap(tx)), options);
  }
  snapshot<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    return this.#inner.snapshot((tx) => work(this.#wrap(tx)));
  }
  migrate: Database["migrate"] = (work) => this.#inner.migrate(work);
  problem: Database["problem"] = () => this.#inner.problem();
  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** Passwords that cost little: scrypt as it is deployed takes a third of a second. */
const cheapPasswords = (): Passwords => new Passwords(undefined, 2 ** 8);
/** Hash the password of tests once. */
let hashed: Promise<string> | undefined;

/** The hub's clock: the one of this machine and the offset, or the time at which it stands still and the offset. */
export interface Clock {
  offset: number;
  readonly stoppedAt: number | undefined;
}

export interface TestHub {
  readonly running: Running;
  readonly url: string;
  readonly db: Watched;
  readonly config: Config;
  readonly storage: TestDatabase;
  readonly logs: () => string;
  readonly team: Team;
  readonly admin: User;
  /** An API key of the team, made past the pages. */
  readonly key: string;
  readonly keyId: string;
  clock: Clock;
  /** All requests so far, in the order in which they came. */
  readonly requests: readonly Asked[];
  makeTeam(
    name: string,
    deviceNames: readonly string[],
  ): Promise<{ team: Team; key: string; keyId: string; admin: User }>;
  makeUser(email: string, teamId: string, role: Role): Promise<User>;
  query(
    query: string,
    key?: string,
    init?: RequestInit,
  ): Promise<{ status: number; headers: Headers; text: string; json: any }>;
  /** Counts the queries of the requests that come while `work` runs. Queries of the hub's own tasks do not count. */
  queriesOf(work: () => unknown): Promise<number>;
  stop(): Promise<void>;
}

/** The time of tests that count in a clock of their own, in milliseconds. */
export const NOW = 1_800_000_000_000;

/** Makes an account by way of an invitation into the team. */
export async function joinTeam(db: Database, teamId: string, email: string, role: Role = "admin"): Promise<User> {
  const user = await useLink(db, NOW, await invite(db, { now: NOW, actor: "test", teamId }, email, role), "hash");
  if (user === undefined) throw new Error("got no user, expected the link to be used");
  return user;
}

export const LIST = "query { team { devices { nodes { id name } } } }";

/** Sends the query LIST with a key. Returns the status of the answer. */
export async function ask(url: string, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ query: LIST });
  return (await fetch(`${url}/graphql`, { method: "POST", headers, body })).status;
}

export interface TestHubOptions {
  readonly kind?: Kind;
  readonly env?: Record<string, string>;
  readonly timeouts?: Timeouts;
  readonly devices?: readonly string[];
  readonly storage?: TestDatabase;
  readonly passwords?: Passwords;
  /** True: time passes by `clock.offset` alone. Limits of requests then depend on no machine. */
  readonly isClockStopped?: boolean;
}

export async function startHub(options: TestHubOptions = {}): Promise<TestHub> {
  const storage = options.storage ?? (await openTestDatabase(options.kind ?? "sqlite"));
  const db = new Watched(storage.db);
  const lines: string[] = [];
  // Ordinary tests never meet these limits. Tests of limits set their own.
  const config = readConfig({
    HUB_PORT: "0",
    HUB_LOG_LEVEL: "debug",
    HUB_KEY_RATE: "100000",
    HUB_KEY_BURST: "100000",
    HUB_ADDRESS_RATE: "100000",
    HUB_ADDRESS_BURST: "100000",
    HUB_SIGN_INS_PER_MINUTE: "100000",
    HUB_SIGN_IN_BURST: "1000",
    HUB_FILES: storage.filesFolder,
    ...options.env,
  });
  const log = createLogger(config.logLevel, { write: (line: string) => void lines.push(line) });
  const clock: Clock = { offset: 0, stoppedAt: options.isClockStopped === true ? Date.now() : undefined };
  const now = (): number => (clock.stoppedAt ?? Date.now()) + clock.offset;
  const running = await serve({
    config,
    db,
    log,
    now,
    ...(options.timeouts ? { timeouts: options.timeouts } : {}),
    passwords: options.passwords ?? cheapPasswords(),
  });
  const requests: Asked[] = [];
  const { handle } = running.app;
  Object.assign(running.app, {
    handle: (...given: Parameters<typeof handle>) => {
      const asked = { queries: 0 };
      requests.push(asked);
      underWay.run(asked, () => handle(...given));
    },
  });
  hashed ??= cheapPasswords().hash(password);
  const hash = await hashed;

  async function makeUser(email: string, teamId: string, role: Role): Promise<User> {
    const user = await useLink(
      storage.db,
      now(),
      await invite(storage.db, { now: now(), actor: "test", teamId }, email, role),
      hash,
    );
    if (user === undefined) throw new Error("got no user, expected the link to be used");
    return user;
  }
  async function makeTeam(name: string, deviceNames: readonly string[]) {
    const team = await addTeam(storage.db, now(), "test", name);
    const admin = await makeUser(`admin-${randomBytes(4).toString("hex")}@example.org`, team.id, "admin");
    if (deviceNames.length > 0)
      await addDevices(
        storage.db,
        now(),
        team.id,
        100_000,
        deviceNames.map((device) => ({ name: device })),
      );
    const made = await createKey(storage.db, now(), admin, team.id, randomBytes(16).toString("hex"));
    if (made === undefined) throw new Error("got no key, expected one");
    return { team, admin, key: made.key, keyId: made.id };
  }
  const first =
    options.storage === undefined
      ? await makeTeam("Crew", options.devices ?? ["north", "south"])
      : { team: { id: "", name: "" }, admin: { id: "", email: "" }, key: "", keyId: "" };
  return {
    running,
    url: running.baseUrl,
    db,
    config,
    storage,
    clock,
    requests,
    ...first,
    logs: () => lines.join(""),
    makeTeam,
    makeUser,
    async query(query, key = first.key, init = {}) {
      const response = await fetch(`${running.baseUrl}/graphql`, {
        method: "POST",
        body: JSON.stringify({ query }),
        ...init,
        headers: {
          "content-type": "application/json",
          ...(key === "" ? {} : { authorization: `Bearer ${key}` }),
          ...(init.headers as Record<string, string> | undefined),
        },
      });
      const text = await response.text();
      let json: unknown;
      try {
        json = JSON.parse(text);
      } catch {
        json = undefined;
      }
      return { status: response.status, headers: response.headers, text, json };
    },
    async queriesOf(work) {
      const first = requests.length;
      await work();
      return requests.slice(first).reduce((sum, { queries }) => sum + queries, 0);
    },
    stop: async () => {
      await running.stop();
      await storage.remove();
    },
  };
}
