/** Packets that the host refused for good can be read. */
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createDecoderSync, toPacket } from "boxwright";
import { UnavailableError } from "boxwright-service/errors";
import { until } from "boxwright-service/testing/wait";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openDatabase } from "../../src/store/open.ts";
import { type RefusedRow, recordRefused, refusedPackets } from "../../src/store/refused.ts";
import { about, config, configBody, frameSize, hash, rawPacket } from "../support/frames.ts";
import { type TestHost, temporaryFolder, testHost } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";

test("refused packets are listed, the last one first, for readers alone", async () => {
  const pageToken = "page-token-0123456789";
  const host = await testHost({ agentToken: "agent-token-0123456789", pageToken, address: "127.0.0.1" });
  for (const n of [1, 2])
    await recordRefused(
      host.db,
      {
        ...{ way: "nats", place: `frames.0 ${n}`, content: new Uint8Array(n), bytes: n },
        ...{ source: "/devices/1", id: `frame-${n}`, reason: "foreign", message: "no packet" },
      },
      Date.UTC(2026, 0, n),
    );
  expect((await fetch(`${host.url}/v1/refused`)).status).toBe(401);
  const headers = { authorization: `Bearer ${pageToken}` };
  const ask = async (query = ""): Promise<any> => (await fetch(`${host.url}/v1/refused${query}`, { headers })).json();
  const [last, first] = (await ask()).refused;
  expect(last).toEqual({
    ...{ at: "2026-01-02T00:00:00.000Z", way: "nats", place: "frames.0 2", bytes: 2, count: 1 },
    ...{ source: "/devices/1", id: "frame-2", reason: "foreign", message: "no packet" },
  });
  expect(first.id).toBe("frame-1");
  expect((await ask("?limit=1")).refused).toHaveLength(1);
  await host.end();
});

describe("over HTTP", () => {
  let host: TestHost;
  beforeEach(async () => {
    host = await testHost({ maxPacketBytes: 100_000 });
  });
  afterEach(() => host.end());

  const listed = async (): Promise<RefusedRow[]> => {
    const { refused } = (await (await fetch(`${host.url}/v1/refused?limit=1000`)).json()) as { refused: RefusedRow[] };
    return refused;
  };

  test("packets and configs that are refused for good are listed, with the names of their headers", async () => {
    const names = { "ce-source": "/devices/1", "ce-id": "frame%201" };
    for (let n = 0; n < 2; n++) expect((await host.post(Buffer.from("no packet"), names)).status).toBe(400);
    await host.putConfig(hash, configBody);
    // A thread has the bytes of this one when it is refused.
    const other = createDecoderSync({ ...config, classes: 3, labels: ["a", "b", "c"] });
    const outputs = { output0: { data: new Float32Array(7 * 84), dims: [1, 7, 84] } };
    const packet = toPacket(other, outputs, frameSize, about(1)).slice();
    const text = Buffer.from(packet).toString("latin1").replaceAll(other.configHash!, hash);
    const forged = Buffer.from(text, "latin1");
    expect((await host.post(forged)).status).toBe(400);
    expect((await host.post(new Uint8Array(100_001))).status).toBe(413);
    expect((await host.putConfig("0".repeat(16), configBody)).status).toBe(400);
    const at = { at: expect.stringMatching(/^20.*Z$/) };
    const here = { ...at, way: "http", place: "127.0.0.1", count: 1, source: null, id: null };
    const rows = await listed();
    expect(rows.sort((a, b) => a.bytes - b.bytes)).toEqual([
      {
        ...here,
        bytes: 9,
        count: 2,
        source: "/devices/1",
        id: "frame 1",
        reason: "foreign",
        message: expect.any(String),
      },
      { ...here, bytes: configBody.length, reason: "config", message: expect.any(String) },
      { ...here, bytes: forged.length, reason: expect.any(String), message: expect.any(String) },
      { ...here, bytes: 100_001, reason: "too large", message: "body: got 100001 bytes, expected at most 100000" },
    ]);
  });

  test("what is refused for now, and what is no packet, is not listed", async () => {
    expect((await host.post(rawPacket(1))).status).toBe(409);
    expect((await fetch(`${host.url}/v1/previews`, { method: "POST", body: "x" })).status).toBe(400);
    expect((await fetch(`${host.url}/v1/detections?limit=x`)).status).toBe(400);
    const socket = connect(host.port, "127.0.0.1");
    const head = "POST /v1/packets HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n";
    socket.write(head);
    // The host waits for the body now.
    await once(socket, "data");
    socket.destroy();
    await until(async () => (await host.metric('boxwright_host_refused_total{reason="cut off"')) > 0, "the end of it");
    expect(await listed()).toEqual([]);
  });

  test("a refusal is answered once its row is durable, and else with 503; many at once share a transaction", async () => {
    const write = vi.spyOn(host.db, "write");
    const bad = (n: number): Promise<Response> => host.post(Buffer.from("no packet"), { "ce-id": `f${n}` });
    write.mockRejectedValueOnce(new UnavailableError("the database is away"));
    expect((await bad(0)).status).toBe(503);
    expect(await listed()).toEqual([]);
    write.mockClear();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => bad(n)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
    expect(write.mock.calls.length).toBeLessThan(30);
    expect(await listed()).toHaveLength(30);
  });

  test("refusals beyond those of a sender share a row, which is written when the host stops at the latest", async () => {
    const database = join(temporaryFolder().path, "host.db");
    const other = await testHost({ database });
    const bad = (n: number): Promise<Response> => other.post(Buffer.from("no packet"), { "ce-id": `f${n}` });
    await Promise.all(Array.from({ length: 120 }, (_, n) => bad(n % 40).then(() => bad(n))));
    await other.end();
    const db = await openDatabase({ database, databasePool: 1 });
    const rows = await refusedPackets(db, 1000);
    await db.close();
    expect(rows.length).toBeLessThanOrEqual(101);
    expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(240);
  });
});

test("a host that is killed has the refusals that it has answered", async () => {
  const database = join(temporaryFolder().path, "host.db");
  const answered: string[] = [];
  for (let kill = 0; kill < 3; kill++) {
    const host = await HostProcess.start({ database });
    const send = async (id: string): Promise<void> => {
      const init = { method: "POST", body: "no packet", headers: { "ce-id": id } };
      const answer = await fetch(`${host.url}/v1/packets`, init).catch(() => null);
      if (answer?.status === 400) answered.push(id);
    };
    const sending = Promise.all(Array.from({ length: 30 }, (_, n) => send(`${kill}-${n}`)));
    await until(() => answered.some((id) => id.startsWith(`${kill}-`)), "the first answers");
    await host.end("SIGKILL");
    await sending;
  }
  const host = await HostProcess.start({ database });
  const { refused } = (await (await fetch(`${host.url}/v1/refused?limit=1000`)).json()) as { refused: RefusedRow[] };
  const listed = new Set(refused.map(({ id }) => id));
  expect(answered.filter((id) => !listed.has(id))).toEqual([]);
  await host.end("SIGTERM");
});
