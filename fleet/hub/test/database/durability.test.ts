/**
 * SIGKILL in the middle of writes. On SQLite the hub is the database, so killing it kills both; on PostgreSQL the hub
 * and every process of the server are killed in the same moment. After each restart: what was acknowledged is there,
 * and a key that was revoked stays revoked.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { LIST, temporaryFolder, onDatabases } from "../support/hub.ts";
import { PostgresServer } from "boxwright-service/testing/postgres";
import { HubProcess, makeKey, run, useLinkAt, type Environment } from "../support/process.ts";
import { openDatabase } from "../../src/database/open.ts";
import type { Database } from "boxwright-service/database";
import { createAdoptKey } from "../../src/nouns/adoptkey.ts";
import { revokeKey } from "../../src/nouns/apikey.ts";

async function useDatabase<T>(
  place: { databaseUrl: string | undefined; databaseFile: string },
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const db = await openDatabase({ ...place, databasePool: 1 }, { create: false });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

const ROUNDS = 3 * KILLS;

onDatabases("kill -9", (kind) => {
  it(
    `loses nothing that was acknowledged, ${ROUNDS} times`,
    async () => {
      const folder = temporaryFolder();
      const server = kind === "postgres" ? await PostgresServer.create() : undefined;
      const env: Environment = {
        ...(server === undefined
          ? { HUB_DATABASE_FILE: join(folder.path, "hub.db") }
          : { DATABASE_URL: await server.newDatabase() }),
        HUB_MAX_DEVICES: "20000",
        HUB_ADDRESS_RATE: "100000",
        HUB_ADDRESS_BURST: "100000",
        HUB_LOG_LEVEL: "warn",
      };
      const init = await run(["init", "--email", "root@example.org"], env);
      const team = init.json.team.id as string;
      let hub = await HubProcess.start(env);
      const person = await useLinkAt(hub.url, init.json.link as string);
      const reader = await makeKey(person, team);
      const acknowledged = new Set<string>();
      const revoked: string[] = [];
      const made: string[] = [];
      /**
       * Answers that a write must not get. PostgreSQL may be killed a moment before the hub, which then says 500 or
       * 503. SQLite dies with the hub.
       */
      const unexpected: number[] = [];
      const allowed = server === undefined ? [303] : [303, 500, 503];
      let cutOff = 0;
      let serial = 0;
      const post = (path: string, form: Record<string, string>) =>
        fetch(hub.url + path, {
          method: "POST",
          redirect: "manual",
          body: new URLSearchParams(form),
          headers: { origin: hub.url, cookie: person.cookie! },
        });
      const list = async (key: string) =>
        fetch(`${hub.url}/graphql`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ query: LIST }),
        });

      // The operator's command, without the start of a process: the kill shall meet it.
      const revoke = async (key: string): Promise<void> => {
        const db = await openDatabase(
          { databaseUrl: env["DATABASE_URL"], databaseFile: env["HUB_DATABASE_FILE"] ?? "", databasePool: 1 },
          { create: false },
        );
        try {
          await revokeKey(db, { now: Date.now(), actor: "operator", teamId: team }, key.slice(4, 16));
          revoked.push(key);
        } finally {
          await db.close();
        }
      };
      // One revocation that no kill cuts off: every round looks for it.
      made.push(await makeKey(person, team));
      await revoke(made[0]!);

      const database = { databaseUrl: env["DATABASE_URL"], databaseFile: env["HUB_DATABASE_FILE"] ?? "" };
      const adopt = await useDatabase(database, (db) =>
        createAdoptKey(db, { now: Date.now(), actor: "operator", teamId: team }, "kills", {
          ...{ name: "kills", days: 1, devices: 20_000, groupIds: [] },
        }),
      );
      /** Credentials of devices whose enrolment was acknowledged. */
      const credentials: string[] = [];
      const enrol = () =>
        fetch(`${hub.url}/device/enrol`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            adopt_key: adopt!.key,
            ...{ name: "enrolled", model: "m", architecture: "x", version: "1" },
          }),
        });
      const tokenOf = (credential: string) =>
        fetch(`${hub.url}/device/token`, { method: "POST", headers: { authorization: `Bearer ${credential}` } });

      for (let round = 0; round < ROUNDS; round++) {
        // The session survives restarts, and its form tokens with it.
        const path = `/teams/${team}/devices`;
        const page = await (
          await fetch(`${hub.url}/teams/${team}/settings`, { headers: { cookie: person.cookie! } })
        ).text();
        const csrf = /name="csrf" value="([^"]*)"/.exec(page)![1]!;
        const nonce = /name="nonce" value="([^"]*)"/.exec(page)![1]!;
        let over = false;
        const writers = Array.from({ length: 4 }, async () => {
          while (!over) {
            const name = `device ${serial++}`;
            // Only what `fetch` throws is the kill.
            const answer = await post(path, { csrf, name }).catch(() => undefined);
            if (answer === undefined) {
              cutOff++;
              return;
            }
            if (answer.status === 303) acknowledged.add(name);
            else if (!allowed.includes(answer.status)) unexpected.push(answer.status);
          }
        });
        const enroller = (async () => {
          while (!over) {
            const answer = await enrol().catch(() => undefined);
            if (answer === undefined) return;
            const json = (await answer.json().catch(() => ({}))) as { credential?: string };
            if (answer.status === 201 && json.credential !== undefined) credentials.push(json.credential);
            else if (![500, 503].includes(answer.status) && answer.status !== 201) unexpected.push(answer.status);
          }
        })();
        const keeper = (async () => {
          const key = /hub_\w{12}_\w{38}/.exec(
            await (await post(`/teams/${team}/keys`, { csrf, nonce, access: "full" })).text(),
          )?.[0];
          if (key === undefined) return;
          made.push(key);
          const doomed = made.findIndex((candidate, i) => i % 2 === 0 && !revoked.includes(candidate));
          if (doomed >= 0) await revoke(made[doomed]!);
        })().catch(() => undefined);
        // Each round has something to lose; then the kill falls anywhere.
        const [enough, enrolledBefore] = [acknowledged.size + 2, credentials.length];
        const isReady = (): boolean => acknowledged.size >= enough && credentials.length > enrolledBefore;
        while (!isReady() && unexpected.length === 0) await sleep(1);
        await sleep(60 + (round % 10) * 20);
        await Promise.all([server?.kill(), hub.end("SIGKILL")]);
        over = true;
        await Promise.all([...writers, enroller, keeper]);
        expect(unexpected).toEqual([]);
        await server?.start();
        hub = await HubProcess.start(env);

        const answer = await list(reader);
        expect(answer.status).toBe(200);
        const names = new Set(
          (
            (await answer.json()) as { data: { team: { devices: { nodes: { name: string }[] } } } }
          ).data.team.devices.nodes.map((node) => node.name),
        );
        const lost = [...acknowledged].filter((name) => !names.has(name));
        expect(lost).toEqual([]);
        for (const credential of credentials.slice(-20)) expect((await tokenOf(credential)).status).toBe(200);
        for (const key of [revoked[0]!, ...revoked.slice(-5)]) expect((await list(key)).status).toBe(401);
      }
      for (const key of revoked) expect((await list(key)).status).toBe(401);
      for (const key of made.filter((candidate) => !revoked.includes(candidate))) {
        // Made and shown, so it is there; the last may have been revoked without our hearing of it.
        if (made.indexOf(key) % 2 === 1) expect((await list(key)).status).toBe(200);
      }
      // Each enrolment is there whole or not at all: device, state, credential, and the count of its key.
      const [whole] = await useDatabase(database, (db) =>
        db.all<Record<string, number>>(
          "SELECT (SELECT used FROM adopt_keys) AS used, (SELECT count(*) FROM device_states) AS states, (SELECT count(*) FROM devices WHERE name = 'enrolled') AS devices, (SELECT count(DISTINCT device_id) FROM device_credentials) AS credentials",
        ),
      );
      expect(new Set(Object.values(whole!)).size).toBe(1);
      expect(whole!["used"]).toBeGreaterThanOrEqual(credentials.length);
      expect(credentials.length).toBeGreaterThan(0);
      expect(acknowledged.size).toBeGreaterThan(ROUNDS);
      expect(revoked.length).toBeGreaterThan(0);
      expect(cutOff).toBeGreaterThan(0);
      console.log(
        `${kind}: ${ROUNDS} kills, ${acknowledged.size} acknowledged devices all there, ${credentials.length} enrolments, ${made.length} keys made, ${revoked.length} revoked and refused, ${cutOff} writes cut off`,
      );
      await hub.stop();
      await server?.remove();
      folder.remove();
    },
    KILLS_TIMEOUT,
  );
});
