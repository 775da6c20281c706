/**
 * SIGKILL while versions are saved, devices enrol and snaps arrive. After each restart everything that was acknowledged
 * is there, files with the right bytes. At the end the store has no file that no row names, and no part.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { PostgresServer } from "boxwright-service/testing/postgres";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/database/open.ts";
import { readConfig } from "../../src/core/config.ts";
import { openFiles } from "../../src/files/store.ts";
import { createAdoptKey } from "../../src/nouns/adoptkey.ts";
import { deleteOrphans } from "../../src/nouns/snap-deletion.ts";
import { startBucket } from "../support/bucket.ts";
import { kinds, temporaryFolder } from "../support/hub.ts";
import { png, sha256Of } from "../support/pictures.ts";
import { HubProcess, makeKey, run, useLinkAt, type Environment } from "../support/process.ts";
import { snapOf } from "../support/snaps.ts";

const stores = [
  ...kinds.map((kind) => ({ ...kind, place: "folder" })),
  { kind: "sqlite", skip: false, place: "bucket" },
];

for (const { kind, skip, place } of stores) {
  describe.skipIf(skip)(`kill -9 with files in flight, on ${kind} with a ${place}`, () => {
    it(
      `loses no version, device or snap that was acknowledged, ${KILLS} times`,
      { timeout: KILLS_TIMEOUT },
      async () => {
        const folder = temporaryFolder();
        const server = kind === "postgres" ? await PostgresServer.create() : undefined;
        const bucket = place === "bucket" ? await startBucket() : undefined;
        const env: Environment = {
          ...(server === undefined
            ? { HUB_DATABASE_FILE: join(folder.path, "hub.db") }
            : { DATABASE_URL: await server.newDatabase() }),
          ...bucket?.env,
          ...{
            HUB_FILES: join(folder.path, "files"),
            HUB_MAX_DEVICES: "20000",
            HUB_LOG_LEVEL: "warn",
            HUB_SNAPS_PER_HOUR: "100000",
          },
          ...{ HUB_ADDRESS_RATE: "100000", HUB_ADDRESS_BURST: "100000" },
        };
        const files = openFiles(readConfig(env));
        const open = () =>
          openDatabase(
            { databaseUrl: env["DATABASE_URL"], databaseFile: env["HUB_DATABASE_FILE"] ?? "", databasePool: 1 },
            { create: false },
          );
        const init = await run(["init", "--email", "root@example.org"], env);
        const team = init.json.team.id as string;
        let hub = await HubProcess.start(env);
        const key = await makeKey(await useLinkAt(hub.url, init.json.link as string), team);
        const db = await open();
        const wanted = { name: "all", days: 7, devices: 10_000, groupIds: [] };
        const adopt = (await createAdoptKey(
          db,
          { now: Date.now(), actor: "test", teamId: team },
          randomBytes(16).toString("hex"),
          wanted,
        ))!.key;
        await db.close();

        const acknowledged = {
          versions: new Set<number>(),
          devices: new Set<string>(),
          snaps: new Map<string, string>(),
        };
        let cutOff = 0;
        let serial = 0;
        const unexpected: string[] = [];
        const ask = async (path: string, method: string, token: string, body: unknown): Promise<any> => {
          const isBytes = Buffer.isBuffer(body);
          const answer = await fetch(hub.url + path, {
            method,
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
            body: isBytes ? new Uint8Array(body) : JSON.stringify(body),
          });
          const text = await answer.text();
          // PostgreSQL may be killed a moment before the hub, which then says 500 or 503.
          if (answer.status >= 500 && server !== undefined) throw new Error("cut off");
          if (answer.status >= 300) unexpected.push(`${path} ${answer.status} ${text.slice(0, 200)}`);
          return text === "" ? {} : JSON.parse(text);
        };
        const graphql = async (query: string, variables: object = {}): Promise<any> =>
          (await ask("/graphql", "POST", key, { query, variables })).data.team;
        const made = await graphql(`
          mutation {
            team {
              createApp(name: "gate") {
                app {
                  id
                }
              }
            }
          }
        `);
        const app = made.createApp.app.id as string;

        const saveVersion = async (): Promise<void> => {
          const config = { family: "yolov8", classes: 2, inputSize: [320, 320], maxDetections: ++serial };
          const mutation =
            "mutation($app: ID!, $config: JSON) { team { saveAppVersion(appId: $app, config: $config) { version { number } } } }";
          const { saveAppVersion } = await graphql(mutation, { app, config });
          acknowledged.versions.add(saveAppVersion.version.number as number);
        };
        const enrolAndSnap = async (): Promise<void> => {
          const about = { name: `d${++serial}`, model: "m", architecture: "a", version: "1" };
          const device = await ask("/device/enrol", "POST", "", { adopt_key: adopt, ...about });
          acknowledged.devices.add(device.device_id as string);
          for (let i = 0; i < 5; i++) {
            const bytes = png(64, 64, [++serial % 256, (serial >> 8) % 256, 3]);
            const snap = { ...snapOf([bytes]), id: `s${serial}` };
            const { snap_id, missing } = await ask("/device/snaps", "POST", device.credential as string, snap);
            if (missing.length > 0)
              await ask(`/device/snaps/${snap_id}/files/${missing[0]}`, "PUT", device.credential as string, bytes);
            acknowledged.snaps.set(snap_id as string, sha256Of(bytes));
          }
        };

        for (let round = 0; round < KILLS; round++) {
          let over = false;
          const writers = [saveVersion, enrolAndSnap, enrolAndSnap].map(async (write) => {
            while (!over)
              try {
                await write();
              } catch {
                cutOff++;
                return;
              }
          });
          const enough = [acknowledged.versions.size + 1, acknowledged.snaps.size + 1] as const;
          while (
            (acknowledged.versions.size < enough[0] || acknowledged.snaps.size < enough[1]) &&
            unexpected.length === 0
          )
            await sleep(1);
          await sleep((round % 10) * 15);
          await Promise.all([server?.kill(), hub.end("SIGKILL")]);
          over = true;
          await Promise.all(writers);
          expect(unexpected).toEqual([]);
          await server?.start();
          hub = await HubProcess.start(env);

          const numbers: number[] = [];
          for (let after: string | null = null, more = true; more;) {
            const page = await graphql(
              "query($app: ID!, $after: String) { team { app(appId: $app) { versions(first: 200, after: $after) { nodes { number } pageInfo { hasNextPage endCursor } } } } }",
              { app, after },
            );
            const { nodes, pageInfo } = page.app.versions;
            numbers.push(...nodes.map((version: { number: number }) => version.number));
            [after, more] = [pageInfo.endCursor as string, pageInfo.hasNextPage as boolean];
          }
          expect([...acknowledged.versions].filter((number) => !numbers.includes(number))).toEqual([]);
          const { devices } = await graphql("query { team { devices { nodes { id } } } }");
          const ids = new Set(devices.nodes.map(({ id }: { id: string }) => id));
          expect([...acknowledged.devices].filter((id) => !ids.has(id))).toEqual([]);
          // The last 30 snaps, of this round and of earlier ones: the hub has each, and its file has the right bytes.
          for (const [id, sha256] of [...acknowledged.snaps].slice(-30)) {
            const { snap } = await graphql("query($id: ID!) { team { snap(snapId: $id) { files { sha256 } } } }", {
              id,
            });
            expect([id, snap?.files]).toEqual([id, [{ sha256 }]]);
            const bytes = await buffer(await files.read({ team, kind: "snaps", sha256 }));
            expect(sha256Of(bytes)).toBe(sha256);
          }
        }
        await hub.stop();

        const after = await open();
        await deleteOrphans(after, files, Date.now() + 1000, 0);
        const named = await after.all<{ sha256: string }>("SELECT DISTINCT sha256 FROM snap_files");
        const names = new Set(named.map(({ sha256 }) => sha256));
        const left = new Set<string>();
        for await (const { place: at, isPart } of files.list()) {
          if (!isPart) left.add(at.sha256);
          expect(names).toContain(at.sha256);
        }
        expect([...acknowledged.snaps.values()].filter((sha256) => !left.has(sha256))).toEqual([]);
        await after.close();
        expect(cutOff).toBeGreaterThan(0);
        console.log(
          `${kind}, ${place}: ${KILLS} kills, ${acknowledged.versions.size} versions, ${acknowledged.devices.size} devices and ${acknowledged.snaps.size} snaps all there, ${cutOff} writes cut off`,
        );
        await server?.remove();
        await bucket?.close();
        folder.remove();
      },
    );
  });
}
