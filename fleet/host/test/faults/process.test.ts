/**
 * A host that is frozen, that the system or V8 ends for its memory, that is told to end in the middle of a body, whose
 * log nobody reads any more, whose disk is read-only, and whose database is an old copy. What was acknowledged stays,
 * but for the last: what an old copy lacks is shown as missing, and new frames come in.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { NAMESPACE } from "boxwright-service/testing/mount";
import { until } from "boxwright-service/testing/wait";
import { AGENT } from "../fleet/agent.ts";
import { detectionPacket } from "../support/frames.ts";
import { temporaryFolder } from "../support/host.ts";
import { colourPng } from "../support/pixels.ts";
import { COMMAND, HostProcess } from "../support/process.ts";
import { readAll } from "../support/published.ts";

afterAll(() => Child.killAll());

/** Sends a packet, and returns the status; 0: no answer in time. */
const post = (url: string, n: number, patience = 60_000): Promise<number> =>
  fetch(`${url}/v1/packets`, {
    ...{ method: "POST", signal: AbortSignal.timeout(patience) },
    body: detectionPacket(n) as Uint8Array<ArrayBuffer>,
  }).then(
    ({ status }) => status,
    () => 0,
  );

const idsOf = async (url: string): Promise<string[]> => (await readAll(url)).map(({ id }) => id);

test("a frozen host: senders that give up and send again have each frame once", async () => {
  const host = await HostProcess.start({ database: join(temporaryFolder().path, "host.db") });
  expect(await post(host.url, 0)).toBe(204);
  host.kill("SIGSTOP");
  expect(await Promise.all([1, 2, 3].map((n) => post(host.url, n, 500)))).toEqual([0, 0, 0]);
  host.kill("SIGCONT");
  // The host finds the requests of before in its queue, too.
  for (const n of [1, 2, 3, 4]) expect(await post(host.url, n)).toBe(204);
  expect((await idsOf(host.url)).sort()).toEqual([0, 1, 2, 3, 4].map((n) => `frame-${n}`));
  expect(await host.end("SIGTERM")).toBe(0);
});

test.each(["SIGKILL", "SIGABRT"] as const)("memory runs out, %s: nothing acknowledged is lost", async (signal) => {
  // The system kills with SIGKILL, and V8 aborts.
  const options = { database: join(temporaryFolder().path, "host.db") };
  const host = await HostProcess.start(options);
  const acknowledged: number[] = [];
  const senders = [0, 1, 2, 3].map(async (first) => {
    for (let n = first; (await post(host.url, n)) === 204; n += 4) acknowledged.push(n);
  });
  await until(() => acknowledged.length > 50, "some frames");
  expect(await host.end(signal)).toBe(signal);
  await Promise.all(senders);
  const again = await HostProcess.start(options);
  const ids = await idsOf(again.url);
  expect(acknowledged.filter((n) => !ids.includes(`frame-${n}`))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(await again.end("SIGTERM")).toBe(0);
});

test("SIGTERM in the middle of a body: it is taken whole, and the host ends in order", async () => {
  const options = { database: join(temporaryFolder().path, "host.db") };
  const host = await HostProcess.start(options);
  const body = detectionPacket(7);
  const headers = { "content-length": body.length, expect: "100-continue" };
  const sent = request(`${host.url}/v1/packets`, { method: "POST", headers });
  const answer = new Promise<number>((resolve, reject) => {
    sent.on("response", (response) => resolve(response.resume().statusCode!)).on("error", reject);
  });
  sent.flushHeaders();
  // The host has the request, and waits for its body.
  await once(sent, "continue");
  sent.write(body.subarray(0, body.length / 2));
  host.kill("SIGTERM");
  // No new connection is taken, and the open one goes on.
  await until(async () => (await post(host.url, 8, 1000)) === 0, "a closed port");
  sent.end(body.subarray(body.length / 2));
  expect(await answer).toBe(204);
  expect((await host.ended).code).toBe(0);
  const again = await HostProcess.start(options);
  expect(await idsOf(again.url)).toContain("frame-7");
  expect(await again.end("SIGTERM")).toBe(0);
});

const TOKEN = "agent-token-0123456789";

test("a log that nobody reads any more: the host goes on", async () => {
  const database = join(temporaryFolder().path, "host.db");
  const args = [COMMAND, "--port", "0", "--threads", "1", "--database", database];
  const host = spawn(process.execPath, args, {
    ...{ stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, BOXWRIGHT_AGENT_TOKEN: TOKEN } },
  });
  onTestFinished(() => void host.kill("SIGKILL"));
  const ended = new Promise<number | null>((resolve) => host.once("exit", (code) => resolve(code)));
  let said = "";
  host.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  await until(() => /"port":(\d+),"page"/.test(said), "the port");
  const url = `http://127.0.0.1:${/"port":(\d+),"page"/.exec(said)![1]}`;
  host.stdout.destroy();
  host.stderr.destroy();
  const send = async (n: number, token: string): Promise<number> => {
    const body = detectionPacket(n) as Uint8Array<ArrayBuffer>;
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${url}/v1/packets`, { method: "POST", body, headers })).status;
  };
  // The first wrong token is a line for the log.
  expect(await send(0, "wrong-token-0123456789")).toBe(401);
  for (let n = 0; n < 5; n++) expect(await send(n, TOKEN)).toBe(204);
  host.kill("SIGTERM");
  expect(await ended).toBe(0);
});

test.skipIf(!inject("disk"))("a read-only disk is told in a sentence", async () => {
  const { path } = temporaryFolder();
  const script = 'mount -t tmpfs -o size=1m,ro none "$1" && shift && exec "$@"';
  const command = [process.execPath, COMMAND, "--port", "0", "--threads", "1", "--database", join(path, "host.db")];
  const host = new Child(["unshare", ...NAMESPACE, "sh", "-c", script, "sh", path, ...command]);
  await host.says(/host\.db/);
  expect(host.output).toMatch(/read-only|readonly|EROFS|unable to open/i);
  expect(host.output).not.toMatch(/\n\s+at .*\.js:/);
  await host.end("SIGTERM");
});

const MODEL = fileURLToPath(new URL("../../../../test/fixtures/detect/network.onnx", import.meta.url));

test.skipIf(!inject("agent"))(
  "a database restored from before what agents remember: configs are sent again, and the gap is shown",
  async () => {
    const folder = temporaryFolder().path;
    const [database, photos] = [join(folder, "host.db"), join(folder, "photos")];
    mkdirSync(photos);
    let host = await HostProcess.start({ database });
    const port = new URL(host.url).port;
    // A copy from before the agent came: it knows neither its config nor a frame.
    expect(await host.end("SIGTERM")).toBe(0);
    cpSync(database, join(folder, "old.db"));
    host = await HostProcess.start({ database, port });
    const settings = join(folder, "agent.json");
    writeFileSync(
      settings,
      JSON.stringify({
        ...{ device: "/devices/old", state: "state", log: "info" },
        network: { model: MODEL, output_format: "raw", threads: 1 },
        sources: [{ kind: "folder", camera: "door", path: photos, watch: true }],
        sinks: [{ kind: "http", url: host.url }],
      }),
    );
    const agent = new Child([process.execPath, AGENT, settings]);
    let photo = 0;
    const add = (count: number): void => {
      for (let n = 0; n < count; n++, photo++)
        writeFileSync(join(photos, `${photo}.png`), colourPng(32, 24, new Uint8Array(32 * 24 * 3).fill(photo)));
    };
    add(5);
    await until(async () => (await readAll(host.url)).length === 5, "the first frames");
    expect(await host.end("SIGTERM")).toBe(0);
    for (const end of ["", "-wal", "-shm"]) rmSync(database + end, { force: true });
    cpSync(join(folder, "old.db"), database);
    host = await HostProcess.start({ database, port });
    add(3);
    await until(async () => (await readAll(host.url)).length === 3, "the frames after the copy");
    const { cameras } = (await (await fetch(`${host.url}/v1/cameras`)).json()) as { cameras: object[] };
    expect(cameras).toMatchObject([{ frames: 3, missing: 5 }]);
    expect(await agent.end("SIGTERM")).toBe(0);
    expect(await host.end("SIGTERM")).toBe(0);
  },
);
