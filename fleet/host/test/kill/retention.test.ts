/** A host is killed while it deletes old frames: no young one goes, every old one does, and no new one is lost. */
import { afterAll, expect, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { sleep, until } from "boxwright-service/testing/wait";
import { openDatabase } from "../../src/store/open.ts";
import { detectionPacket } from "../support/frames.ts";
import { emptyDatabase, kinds, temporaryFolder } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";

afterAll(() => Child.killAll());

const DAY_MS = 86_400_000;
/** A sweep deletes at most 60,000 frames, 1,000 in a transaction. */
const OLD = 60_000;
const YOUNG = 1000;

test.each(kinds.filter(({ skip }) => !skip))(
  `a host is killed ${KILLS} times while it deletes old frames, on $kind`,
  async ({ kind }) => {
    const database = await emptyDatabase(kind, temporaryFolder().path);
    const db = await openDatabase({ database, databasePool: 1 });
    const now = Date.now();
    const numbers = (count: number): string =>
      kind === "postgres"
        ? `generate_series(0, ${count - 1}) AS numbers (n)`
        : `(WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1}) SELECT n FROM numbers) AS numbers`;
    const insert = (name: string, count: number, at: number): string => `
      INSERT INTO frames (source, id, subject, time, sequence, kind, count, detections, stored_at)
        SELECT '/devices/9', '${name}-' || n, 'door', '2026', n, 'raw', 0, '[]', ${at} + n FROM ${numbers(count)};`;
    const insertOld = (): Promise<void> => db.migrate((tx) => tx.script(insert("old", OLD, now - 5 * DAY_MS)));
    await insertOld();
    await db.migrate((tx) => tx.script(insert("young", YOUNG, now - DAY_MS / 2)));
    const count = async (name: string): Promise<number> => {
      const [row] = await db.all<{ n: number }>("SELECT count(*) AS n FROM frames WHERE id LIKE ?", [`${name}-%`]);
      return Number(row!.n);
    };
    const options = { database, "keep-days": 2 };
    const acknowledged: string[] = [];
    let halfway = 0;
    let next = 0;
    // A quick host may be done before its kill. Kill one halfway at least.
    for (let kill = 0; kill < KILLS || halfway === 0; kill++) {
      if ((await count("old")) === 0) await insertOld();
      const before = await count("old");
      // The sweep begins a moment after the host listens.
      const host = await HostProcess.start(options);
      const send = (async () => {
        for (;;) {
          const n = next++;
          const body = detectionPacket(n) as Uint8Array<ArrayBuffer>;
          const answer = await fetch(`${host.url}/v1/packets`, { method: "POST", body }).catch(() => null);
          if (answer === null) return;
          if (answer.status === 204) acknowledged.push(`frame-${n}`);
        }
      })();
      const sent = acknowledged.length;
      const hasDeleted = async (): Promise<boolean> => (await count("old")) < before;
      await until(async () => acknowledged.length > sent + 3 && (await hasDeleted()), "a deletion and some frames");
      await sleep((kill % 5) * 7);
      await host.end("SIGKILL");
      await send;
      const left = await count("old");
      if (left > 0 && left < before) halfway++;
      expect(left % 1000, "whole transactions").toBe(0);
      expect(await count("young")).toBe(YOUNG);
    }
    const host = await HostProcess.start(options);
    await until(async () => (await count("old")) === 0, "the end of the deletion");
    expect(await count("young")).toBe(YOUNG);
    const stored = await db.all<{ id: string }>("SELECT id FROM frames WHERE source = '/devices/1'");
    const ids = new Set(stored.map(({ id }) => id));
    const lost = acknowledged.filter((id) => !ids.has(id)).length;
    console.log(
      `host killed ${KILLS} times while deleting (${kind}), ${halfway} times halfway: ${acknowledged.length} acknowledged, ${lost} lost, ${stored.length - ids.size} twice, 0 of ${YOUNG} young ones deleted`,
    );
    expect(lost).toBe(0);
    expect(await host.end("SIGTERM")).toBe(0);
    await db.close();
  },
  KILLS_TIMEOUT,
);
