/** Statements about alerts, as SQLite runs them: each looks at a slice of a team's devices or alerts. */
import type { Database } from "boxwright-service/database";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Teller } from "../../src/alerts/tell.ts";
import { deleteOldAlerts, watchRule } from "../../src/alerts/watch.ts";
import { openTestDatabase, type TestDatabase } from "../support/hub.ts";
import { findWideSteps } from "../support/plans.ts";
import { MINUTE, watchedTeam } from "../support/watched-team.ts";

let storage: TestDatabase;
beforeEach(async () => void (storage = await openTestDatabase("sqlite")));
afterEach(() => storage.remove());

it("no statement looks at all devices of a team, or at all alerts of a rule", async () => {
  const site = await watchedTeam(storage);
  const ids = Array.from({ length: 3 }, (_, i) => `d${i}`);
  await site.devices(ids);
  await site.channel({ webhook: "http://127.0.0.1:9/" });
  const { id: groupId } = await site.group("north", ids);
  const teller = new Teller();
  type Rule = Awaited<ReturnType<typeof site.rule>>;
  const pass = async (db: Database, rule: Rule, minutes: number): Promise<void> => {
    const now = site.now() + minutes * MINUTE;
    await watchRule(db, rule, now, 100 * MINUTE, 30);
    await teller.tell({ db, baseUrl: "http://hub" }, rule, now);
    await deleteOldAlerts(db, now - 1);
  };
  const tables = ["a", "d", "s", "m", "o", "p", "alerts", "devices", "device_\\w+"];
  const wide = await findWideSteps(storage, tables, async (db) => {
    for (const given of [
      { kind: "device_offline", threshold: 5 },
      { kind: "device_offline", groupId, threshold: 6 },
    ]) {
      const rule = await site.rule(given);
      for (const minutes of [10, 11]) await pass(db, rule, minutes);
      await site.set(ids, { last_contact_at: site.now() + 12 * MINUTE });
      for (const minutes of [12, 14, 15]) await pass(db, rule, minutes);
      await site.set(ids, { last_contact_at: site.now() });
    }
  });
  expect(wide).toEqual([]);
  const messages = (await site.queued()).map(({ data }) => data.title);
  expect(messages.filter((title) => /^(Over: )?3 devices/.test(title))).toHaveLength(4);
});
