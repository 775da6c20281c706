/**
 * A hub that is told to end, or is killed, in the middle of an upload of a model or a picture of a snap. A sender that
 * goes on is heard to its end; what one that was cut off sent is no file, and it goes on or begins again.
 */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { until } from "boxwright-service/testing/wait";
import { openDatabase } from "../../src/database/open.ts";
import { createAdoptKey } from "../../src/nouns/adoptkey.ts";
import { ENROL } from "../support/agent.ts";
import { temporaryFolder } from "../support/hub.ts";
import { png, sha256Of } from "../support/pictures.ts";
import { HubProcess, makeKey, run, useLinkAt, type Environment } from "../support/process.ts";
import { snapOf } from "../support/snaps.ts";

afterAll(() => Child.killAll());

async function setUp(): Promise<{ env: Environment; team: string; adopt: string; hub: HubProcess; key: string }> {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db"), HUB_FILES: join(folder.path, "files") };
  const init = await run(["init", "--email", "root@example.org"], env);
  const team = init.json.team.id as string;
  const db = await openDatabase(
    { databaseUrl: undefined, databaseFile: env.HUB_DATABASE_FILE, databasePool: 1 },
    { create: false },
  );
  const wanted = { name: "all", days: 7, devices: 10, groupIds: [] };
  const made = await createAdoptKey(
    db,
    { now: Date.now(), actor: "test", teamId: team },
    randomBytes(16).toString("hex"),
    wanted,
  );
  await db.close();
  const hub = await HubProcess.start(env);
  const key = await makeKey(await useLinkAt(hub.url, init.json.link as string), team);
  return { env, team, adopt: made!.key, hub, key };
}

/** A PUT whose last bytes are still to come. */
interface Half {
  readonly socket: Socket;
  /** Status of the answer; 0: the connection was cut. */
  readonly status: Promise<number>;
}

/** Sends the head of a PUT, and the first half of its body once the hub asks for it. */
async function putHalf(hub: HubProcess, path: string, token: string, body: Buffer, head = ""): Promise<Half> {
  const socket = connect(hub.port, "127.0.0.1");
  let text = "";
  const status = new Promise<number>((resolve) => {
    socket.on("error", () => undefined).on("close", () => resolve(0));
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const found = /^HTTP\/1\.1 (?!100)(\d+)/m.exec(text);
      if (found) resolve(Number(found[1]));
    });
  });
  socket.write(
    `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nExpect: 100-continue\r\n${head}Content-Length: ${body.length}\r\n\r\n`,
  );
  await until(() => text.startsWith("HTTP/1.1 100"), "the hub, which asks for the body");
  socket.write(body.subarray(0, body.length / 2));
  return { socket, status };
}

const MODEL = randomBytes(100_000);
const SHA = sha256Of(MODEL);

/** Returns the status and the offset of a model's upload. */
async function headOf(hub: HubProcess, key: string): Promise<[number, number, string | null]> {
  const { status, headers } = await fetch(`${hub.url}/models/${SHA}`, {
    ...{ method: "HEAD", headers: { authorization: `Bearer ${key}` } },
  });
  return [status, Number(headers.get("upload-offset")), headers.get("upload-complete")];
}

it("SIGTERM in the middle of a model: a sender that goes on is heard, and the file is whole", async () => {
  const { env, hub, key } = await setUp();
  const half = await putHalf(hub, `/models/${SHA}`, key, MODEL);
  hub.kill("SIGTERM");
  await hub.says(/"msg":"draining"/);
  half.socket.write(MODEL.subarray(MODEL.length / 2));
  expect(await half.status).toBe(201);
  expect((await hub.ended).code).toBe(0);
  const again = await HubProcess.start(env);
  expect(await headOf(again, key)).toEqual([200, MODEL.length, "?1"]);
  expect(await again.stop()).toBe(0);
});

it.each(["SIGTERM", "SIGKILL"] as const)(
  "%s, and the sender is cut off: it goes on where the hub is",
  async (signal) => {
    const { env, hub, key } = await setUp();
    const half = await putHalf(hub, `/models/${SHA}`, key, MODEL);
    await until(async () => (await headOf(hub, key))[1] > 0, "bytes of the part");
    hub.kill(signal);
    if (signal === "SIGTERM") await hub.says(/"msg":"draining"/);
    half.socket.destroy();
    expect((await hub.ended).code).toBe(signal === "SIGTERM" ? 0 : null);
    const again = await HubProcess.start(env);
    const [status, offset, isComplete] = await headOf(again, key);
    expect([status, isComplete]).toEqual([200, "?0"]);
    expect(offset).toBeGreaterThan(0);
    expect(offset).toBeLessThanOrEqual(MODEL.length / 2);
    const put = (from: number): Promise<Response> =>
      fetch(`${again.url}/models/${SHA}`, {
        method: "PUT",
        headers: {
          ...{ authorization: `Bearer ${key}`, "upload-offset": String(from) },
          "upload-length": String(MODEL.length),
        },
        body: new Uint8Array(MODEL.subarray(from)),
      });
    // A sender that remembers another offset is told the right one.
    expect((await put(MODEL.length - 10)).status).toBe(409);
    expect((await put(offset)).status).toBe(201);
    expect(await headOf(again, key)).toEqual([200, MODEL.length, "?1"]);
    expect(await again.stop()).toBe(0);
  },
);

it.each(["SIGTERM", "SIGKILL"] as const)(
  "%s in the middle of a picture: the snap is seen once it is whole",
  async (signal) => {
    const { env, hub, key, adopt } = await setUp();
    const json = async (at: HubProcess, path: string, token: string, body: object): Promise<any> =>
      (
        await fetch(at.url + path, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
          body: JSON.stringify(body),
        })
      ).json();
    const snapsOf = async (at: HubProcess): Promise<unknown[]> =>
      (await json(at, "/graphql", key, { query: "{ team { snaps { nodes { id files { sha256 } } } } }" })).data.team
        .snaps.nodes;
    const { credential } = await json(hub, "/device/enrol", "", { adopt_key: adopt, ...ENROL });
    const picture = png(64, 64, [1, 2, 3]);
    const snap = snapOf([picture]);
    const { snap_id } = await json(hub, "/device/snaps", credential, snap);
    const path = `/device/snaps/${snap_id}/files/${sha256Of(picture)}`;
    const half = await putHalf(hub, path, credential, picture);
    hub.kill(signal);
    if (signal === "SIGTERM") await hub.says(/"msg":"draining"/);
    half.socket.destroy();
    await hub.ended;
    const again = await HubProcess.start(env);
    expect(await snapsOf(again)).toEqual([]);
    // The agent begins again, and is told what is missing.
    expect(await json(again, "/device/snaps", credential, snap)).toEqual({ snap_id, missing: [sha256Of(picture)] });
    const { status } = await fetch(again.url + path, {
      method: "PUT",
      headers: { authorization: `Bearer ${credential}` },
      body: new Uint8Array(picture),
    });
    expect(status).toBe(204);
    expect(await snapsOf(again)).toEqual([{ id: snap_id, files: [{ sha256: sha256Of(picture) }] }]);
    expect(await again.stop()).toBe(0);
  },
);
