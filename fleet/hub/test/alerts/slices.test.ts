/** Statements about alerts, as SQLite runs them: each looks at a slice of a team's devices or alerts. */
import type { Database, Queries, Value } from "boxwright-service/database";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Teller } from "../../src/alerts/tell.ts";
import { deleteOldAlerts, watchRule } from "../../src/alerts/watch.ts";
import { openTestDatabase, type TestDatabase } from "../support/hub.ts";
import { MINUTE, watchedTeam } from "../support/watched-team.ts";

let storage: TestDatabase;
beforeEach(async () => void (storage = await openTestDatabase("sqlite")));
afterEach(() => storage.remove());

/** A database that keeps the statements that it runs. */
function keepStatements(db: Database): { readonly kept: Database; readonly statements: [string, readonly Value[]][] } {
  const statements: [string, readonly Value[]][] = [];
  const keep = (queries: Queries): Queries => ({
    all: (sql, params = []) => {
      statements.push([sql, params]);
      return queries.all(sql, params);
    },
  });
  const kept = Object.assign(Object.create(db) as Database, {
    ...keep(db),
    write: <T>(work: (tx: Queries) => Promise<T>) => db.write((tx) => work(keep(tx))),
  });
  return { kept, statements };
}

it("no statement looks at all devices of a team, or at all alerts of a rule", async () => {
  const site = await watchedTeam(storage);
  const ids = Array.from({ length: 3 }, (_, i) => `d${i}`);
  await site.devices(ids);
  await site.channel({ webhook: "http://127.0.0.1:9/" });
  const { id: groupId } = await site.group("north", ids);
  const { kept, statements } = keepStatements(storage.db);
  const teller = new Teller();
  const pass = async (rule: Awaited<ReturnType<typeof site.rule>>, minutes: number): Promise<void> => {
    const now = site.now() + minutes * MINUTE;
    await watchRule(kept, rule, now, 100 * MINUTE, 30);
    await teller.tell({ db: kept, baseUrl: "http://hub" }, rule, now);
    await deleteOldAlerts(kept, now - 1);
  };
  for (const given of [
    { kind: "device_offline", threshold: 5 },
    { kind: "device_offline", groupId, threshold: 6 },
  ]) {
    const rule = await site.rule(given);
    for (const minutes of [10, 11]) await pass(rule, minutes);
    await site.set(ids, { last_contact_at: site.now() + 12 * MINUTE });
    for (const minutes of [12, 14, 15]) await pass(rule, minutes);
    await site.set(ids, { last_contact_at: site.now() });
  }
  const messages = (await site.queued()).map(({ data }) => data.title);
  expect(messages.filter((title) => /^(Over: )?3 devices/.test(title))).toHaveLength(4);

  const wide: string[] = [];
  for (const [sql, params] of new Map(statements))
    for (const { detail } of await storage.db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params))
      // A bound of an id, or one value of it, keeps a search within the slice.
      if (
        /^(SCAN|SEARCH) (a|d|s|m|o|p|alerts|devices|device_\w+)\b/.test(detail) &&
        !/\b(id|device_id|subject|rowid|ended_at)(=\?|>\? AND|<\?|>\?)/.test(detail)
      )
        wide.push(`${detail}: ${sql}`);
  expect(wide).toEqual([]);
});
