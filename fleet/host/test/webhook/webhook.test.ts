/** Webhooks: their signature, what a receiver gets, and receivers in trouble. */
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLogger } from "boxwright-service/log";
import { freePort } from "boxwright-service/testing/free-port";
import { until } from "boxwright-service/testing/wait";
import { headersOfMessage } from "boxwright-service/webhook";
import { createMetrics } from "../../src/core/metrics.ts";
import { readConfig } from "../../src/core/config.ts";
import { webhook } from "../../src/core/webhooks.ts";
import type { NewFrame } from "../../src/store/frames.ts";
import { openDatabase } from "../../src/store/open.ts";
import { deleteOldest } from "../../src/store/retention.ts";
import { queueCounts } from "../../src/store/webhook-queue.ts";
import { Writer } from "../../src/store/writer.ts";
import { messageOfFrame } from "../../src/webhook/message.ts";
import type { SenderLimits } from "../../src/webhook/sender.ts";
import { Senders } from "../../src/webhook/senders.ts";
import { detectionPacket } from "../support/frames.ts";
import { emptyDatabase, kinds, temporaryFolder, testHost } from "../support/host.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that answers as `answer` says: a status, or null for never. */
async function receiver(
  answer: (count: number, response: ServerResponse, body: string) => number | null = () => 204,
): Promise<{ url: string; got: Got[] }> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      got.push({ headers: request.headers, body });
      const status = answer(got.length, response, body);
      if (status !== null) response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=hidden`, got };
}

const frame = (n: number, given: Partial<NewFrame> = {}): NewFrame => ({
  ...{ source: "/devices/1", id: `f${n}`, subject: "door", time: "2026-01-01T00:00:00.000000000Z", sequence: n },
  ...{ config: null, kind: "detection", frame: null, count: 2, stored_at: 0 },
  detections: '[{"label":"cat","confidence":0.9},{"label":"dog","confidence":0.4}]',
  labels: "[]",
  ...given,
});

/** A database, and a sender to a receiver whose pauses are short. */
async function senderTo(given: object, limits: Partial<SenderLimits> = {}, database?: string) {
  const db = await openDatabase({ database: database ?? join(temporaryFolder().path, "host.db"), databasePool: 2 });
  const metrics = createMetrics();
  let logs = "";
  const log = createLogger("info", { destination: { write: (line) => void (logs += line) } });
  const short = { retryMs: 1, longestMs: 5, lookMs: 5, ...limits };
  const webhooks = new Senders([webhook({ secret: SECRET, ...given })], {
    db,
    metrics,
    log,
    now: Date.now,
    limits: short,
  });
  const writer = new Writer(db, metrics, {
    onInsert: (tx, frames) => webhooks.queue(tx, frames),
    onDurable: () => webhooks.wake(),
  });
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await webhooks.stop();
    await db.close();
  };
  onTestFinished(stop);
  return {
    ...{ db, webhooks, stop, logs: () => logs },
    store: (...frames: readonly NewFrame[]) => Promise.all(frames.map((one) => writer.store(one))),
    count: async (outcome: string): Promise<number> =>
      (await metrics.webhooks.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0,
    queued: async (): Promise<number> => (await queueCounts(db)).reduce((sum: number, { waiting }) => sum + waiting, 0),
  };
}

const idsIn = (got: readonly Got[]): string[] => got.map(({ body }) => JSON.parse(body).data.id as string);

test("the signature is that of the example of Standard Webhooks", () => {
  const hook = webhook({ url: "https://example.org", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" });
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: '{"test": 2432232314}' };
  expect(headersOfMessage(hook, message, 1_614_265_330_999)).toMatchObject({
    "webhook-id": message.id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test.each([
  [{}, ["cat", "dog"]],
  [{ labels: ["dog"] }, ["dog"]],
  [{ minConfidence: 0.5 }, ["cat"]],
  [{ labels: ["dog"], minConfidence: 0.5 }, null],
  [{ subject: "door", source: "/devices/1" }, ["cat", "dog"]],
  [{ subject: "gate" }, null],
  [{ source: "/devices/2" }, null],
])("%j tells of %j", (rule, labels) => {
  const message = messageOfFrame(webhook({ url: "https://example.org", secret: SECRET, ...rule }), frame(1));
  const told = message && (JSON.parse(message.body).data.detections as { label: string }[]).map(({ label }) => label);
  expect(told).toEqual(labels);
});

describe("a host with webhooks", () => {
  test("tells each stored frame once, signed, and keeps taking frames while a receiver hangs", async () => {
    const [good, hanging] = [await receiver(), await receiver(() => null)];
    const host = await testHost({
      webhooks: [good, hanging].map(({ url }) => ({ url, secret: SECRET, minConfidence: 0.1 })),
    });
    onTestFinished(() => host.end());
    for (let n = 0; n < 20; n++) expect((await host.post(detectionPacket(n))).status).toBe(204);
    await host.post(detectionPacket(3));
    await until(() => good.got.length === 20, "20 messages");
    const { headers, body } = good.got[0]!;
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
    const digest = createHmac("sha256", Buffer.alloc(32, 7)).update(signed).digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${digest}`);
    expect(JSON.parse(body)).toMatchObject({
      type: "frame.detected",
      data: { source: "/devices/1", subject: "door", detections: [expect.objectContaining({ class_id: 0 }), {}, {}] },
    });
    expect(new Set(good.got.map((one) => one.headers["webhook-id"])).size).toBe(20);
    expect(hanging.got.length).toBeLessThanOrEqual(4);
    expect((await host.lines()).length).toBe(20);
    // The host counts a message once it has the answer.
    await until(async () => (await host.metric('boxwright_host_webhooks_total{outcome="sent"}')) === 20, "20 answers");
  });
});

test("an operator sees queues in metrics and in a list, and has dropped messages sent again", async () => {
  const pageToken = "page-token-0123456789";
  const url = `http://127.0.0.1:${await freePort()}/hook?key=hidden`;
  const host = await testHost({ webhooks: [{ url, secret: SECRET }], pageToken });
  onTestFinished(() => host.end());
  for (let n = 0; n < 3; n++) expect((await host.post(detectionPacket(n))).status).toBe(204);
  await host.db.write((tx) => tx.all("UPDATE webhook_queue SET dropped_at = 1000, reason = 'no' WHERE id = 'frame-1'"));
  const webhook = new URL(url).origin;
  const metric = (state: string): Promise<number> =>
    host.metric(`boxwright_host_webhook_messages{webhook="${webhook}",state="${state}"}`);
  expect([await metric("waiting"), await metric("dropped")]).toEqual([2, 1]);
  const ask = (path: string, headers = {}, method = "GET"): Promise<Response> =>
    fetch(host.url + path, { method, headers: { Authorization: `Bearer ${pageToken}`, ...headers } });
  const droppedAt = "1970-01-01T00:00:01.000Z";
  const text = await (await ask("/v1/webhooks")).text();
  expect(JSON.parse(text)).toMatchObject({
    webhooks: [{ webhook, waiting: 2, dropped: 1 }],
    dropped: [{ webhook, source: "/devices/1", id: "frame-1", droppedAt, reason: "no" }],
  });
  expect(text).not.toContain("hidden");
  const resend = "/v1/webhooks/dropped/resend";
  expect((await ask(resend, { Authorization: "" }, "POST")).status).toBe(401);
  expect((await ask(resend, { Origin: "https://evil.example" }, "POST")).status).toBe(403);
  expect(await (await ask(resend, {}, "POST")).json()).toEqual({ resent: 1 });
  expect([await metric("waiting"), await metric("dropped")]).toEqual([3, 0]);
});

describe("a receiver", () => {
  test("that fails gets a message again under its id, with a new time, until it takes it", async () => {
    const { url, got } = await receiver((count) => (count < 4 ? [500, 429, 301][count - 1]! : 200));
    const { store, webhooks, queued, count, logs } = await senderTo({ url });
    webhooks.start();
    await store(frame(1));
    await until(async () => (await queued()) === 0, "the message");
    expect(got).toHaveLength(4);
    expect(new Set(got.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect([await count("sent"), await count("failed"), await count("dropped")]).toEqual([1, 3, 0]);
    expect(logs()).toContain("status 500");
    expect(logs()).toContain("takes messages again");
    // The path of the address may hold a key.
    expect(logs()).not.toContain("hidden");
    expect(webhooks.states).toEqual(["ok"]);
  });

  test.each([301, 302, 303, 307, 308])("that redirects by %i is not followed, and tried again", async (status) => {
    const elsewhere = await receiver();
    let answered = 0;
    const { url, got } = await receiver((count, response) => {
      if (count > 1) return 204;
      answered = status;
      response.setHeader("location", elsewhere.url);
      return status;
    });
    const { store, webhooks, count, queued, logs } = await senderTo({ url });
    webhooks.start();
    await store(frame(1));
    await until(async () => (await count("sent")) === 1 && (await queued()) === 0);
    expect([answered, got.length, elsewhere.got.length]).toEqual([status, 2, 0]);
    expect(logs()).toContain(`status ${status}`);
  });

  test("that hangs is given up, and tried again", async () => {
    const { url, got } = await receiver((count) => (count === 1 ? null : 204));
    const { store, webhooks, queued, logs } = await senderTo({ url }, { patienceMs: 2000 });
    webhooks.start();
    await store(frame(1));
    await until(async () => (await queued()) === 0, "the message");
    expect(got.length).toBeGreaterThan(1);
    expect(logs()).toContain("no answer within 2 s");
  });

  test("that is away for long gets everything once it is back, and is tried with one message at a time", async () => {
    let isAway = true;
    const { url, got } = await receiver(() => (isAway ? 503 : 204));
    const { store, webhooks, queued, count } = await senderTo({ url }, { attempts: 2 });
    await store(...Array.from({ length: 200 }, (_, n) => frame(n)));
    webhooks.start();
    // More attempts than a message has: while nothing is taken, no message is at fault.
    await until(async () => (await count("failed")) > 20, "attempts");
    expect(webhooks.states).toEqual(["status 503"]);
    expect(await queued()).toBe(200);
    isAway = false;
    const before = got.length;
    await until(async () => (await queued()) === 0, "all messages");
    expect(new Set(idsIn(got.slice(before - 1))).size).toBe(200);
    expect([await count("sent"), await count("dropped")]).toEqual([200, 0]);
    expect(webhooks.states).toEqual(["ok"]);
  });

  test("that refuses one message and takes others: it is dropped after all attempts, kept, and sent again", async () => {
    let isMended = false;
    const { url, got } = await receiver((_count, _response, body) => (body.includes('"f7"') && !isMended ? 400 : 204));
    const { store, webhooks, queued, count, logs } = await senderTo({ url }, { attempts: 3 });
    webhooks.start();
    await store(...Array.from({ length: 20 }, (_, n) => frame(n)));
    await until(async () => (await queued()) <= 1, "the others");
    // Others come meanwhile: the receiver is not away.
    await store(frame(21));
    await until(async () => (await queued()) === 0, "the end");
    // Further attempts are those after which no other message was taken.
    expect(idsIn(got).filter((id) => id === "f7").length).toBeGreaterThanOrEqual(3);
    expect([await count("sent"), await count("dropped")]).toEqual([20, 1]);
    const reason = expect.stringMatching(/^\d+ attempts failed while others were taken, the last: status 400$/);
    expect(await webhooks.dropped(10)).toMatchObject([{ source: "/devices/1", id: "f7", reason }]);
    expect(logs()).toMatch(/"dropped":1,"reason":"\d+ attempts .*400","msg":"messages of a webhook were dropped/);
    expect(logs()).not.toContain("lost");
    isMended = true;
    expect(await webhooks.sendDropped()).toBe(1);
    await until(async () => (await queued()) === 0, "the dropped one");
    expect([idsIn(got).at(-1), await count("sent")]).toEqual(["f7", 21]);
    expect(await webhooks.dropped(10)).toEqual([]);
  });

  test("that moves gets what waits for its name; what waits for an address alone is told", async () => {
    const { url, got } = await receiver();
    const database = join(temporaryFolder().path, "host.db");
    const away = `http://127.0.0.1:${await freePort()}/`;
    for (const [n, given] of [{ url: away, name: "alarm" }, { url: away }].entries()) {
      const { store, stop } = await senderTo(given, {}, database);
      await store(frame(n));
      await stop();
    }
    const { webhooks, logs } = await senderTo({ url, name: "alarm" }, {}, database);
    webhooks.start();
    await until(async () => (await webhooks.queues())[0]!.waiting === 0, "what waits for the name");
    expect(idsIn(got)).toEqual(["f0"]);
    const state = "not in the config of this host";
    expect((await webhooks.queues())[1]).toEqual({ webhook: null, state, waiting: 1, dropped: 0 });
    await until(() => logs().includes('"waiting":1,"msg":"messages wait for webhooks that this config'), "the warning");
  });

  test("that answers 410 gets nothing more", async () => {
    const { url, got } = await receiver(() => 410);
    const { store, webhooks, queued, count, logs } = await senderTo({ url }, { inFlight: 1 });
    await store(...Array.from({ length: 5 }, (_, n) => frame(n)));
    webhooks.start();
    await until(async () => (await queued()) === 0, "the end");
    await store(frame(9));
    expect([await queued(), await count("dropped")]).toEqual([0, 5]);
    expect(got).toHaveLength(1);
    expect(logs().split("the webhook is gone (410)")).toHaveLength(2);
    expect(webhooks.states[0]).toContain("410");
  });

  test("that is away until frames are deleted loses their messages, counted and logged", async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    const { db, store, webhooks, queued, count, logs } = await senderTo({ url });
    await store(...Array.from({ length: 50 }, (_, n) => frame(n, { stored_at: n })));
    webhooks.start();
    await until(() => webhooks.states[0] !== "ok", "the problem");
    await deleteOldest(db, 30, 1000);
    await webhooks.countDeleted();
    expect([await queued(), await count("dropped")]).toEqual([20, 30]);
    expect(logs()).toMatch(/"lost":30.*frames were deleted before the receiver took them/);
  });

  test("gets one message of a camera in so many seconds", async () => {
    const { url, got } = await receiver();
    const { store, webhooks } = await senderTo({ url, every: 3600 });
    webhooks.start();
    const at = (n: number, seconds: number): NewFrame => frame(n, { stored_at: seconds * 1000 });
    await store(at(0, 0), at(1, 1), at(2, 3599));
    await store(at(3, 3599));
    await store(frame(5, { count: 0, detections: "[]", subject: "gate" }), frame(6, { subject: "gate" }));
    await store(at(4, 3600));
    await until(() => got.length === 3, "the messages");
    expect(idsIn(got).sort()).toEqual(["f0", "f4", "f6"]);
  });

  test("gets messages of a camera again after the host's clock was set back", async () => {
    const { url, got } = await receiver();
    const { store, webhooks } = await senderTo({ url, every: 60 });
    webhooks.start();
    const at = (n: number, seconds: number): NewFrame => frame(n, { stored_at: seconds * 1000 });
    await store(at(0, 10_000));
    await store(at(1, 9_970));
    await store(at(2, 9_000));
    await until(() => got.length === 2, "the messages");
    expect(idsIn(got)).toEqual(["f0", "f2"]);
  });
});

test.each(kinds.filter(({ skip }) => !skip))(
  "hosts that share a $kind database send each message once",
  async ({ kind }) => {
    const { url, got } = await receiver();
    const database = await emptyDatabase(kind, temporaryFolder().path);
    const limits = { leaseMs: 60_000 };
    const hosts = [await senderTo({ url }, limits, database), await senderTo({ url }, limits, database)];
    for (const { webhooks } of hosts) webhooks.start();
    const frames = Array.from({ length: 100 }, (_, n) => frame(n));
    await Promise.all(frames.map((one, n) => hosts[n % 2]!.store(one)));
    await until(async () => (await hosts[0]!.queued()) === 0, "all messages");
    expect(idsIn(got).sort()).toEqual(frames.map(({ id }) => id).sort());
    // The one that sends ends, and the other goes on at once.
    const sent = await Promise.all(hosts.map(({ count }) => count("sent")));
    const [first, other] = sent[0]! > 0 ? hosts : [hosts[1]!, hosts[0]!];
    await first!.stop();
    await other!.store(frame(100));
    await until(() => got.length === 101, "the last message");
  },
);

test("settings tell every problem, and repeat neither key nor address", () => {
  const folder = temporaryFolder();
  const file = join(folder.path, "secret");
  writeFileSync(file, `${SECRET}\n`);
  expect(readConfig({ webhooks: [{ url: "https://a.org/x", secretFile: file }] }).webhooks[0]!.key).toHaveLength(32);
  const problemOf = (...webhooks: object[]): string => {
    try {
      readConfig({ webhooks });
    } catch (error) {
      return String(error);
    }
    return "";
  };
  expect(problemOf({ url: "https://u:hidden@a.org", secret: "hidden", lables: [] })).toMatch(
    /lables: .*Did you mean labels.*url: expected an address.*secret: expected whsec_/,
  );
  expect(problemOf({ url: "https://u:hidden@a.org", secret: "hidden" })).not.toContain("hidden");
  expect(problemOf({ url: "https://a.org" })).toContain("got neither secret nor secretFile, expected one of them");
  expect(problemOf({ secret: SECRET })).toContain("url: got none");
  // Queues of one name would change places with the webhooks.
  const [one, other] = ["https://a.org/1", "https://a.org/2"].map((url) => ({ url, secret: SECRET }));
  expect(problemOf(one!, other!, other!)).toBe("");
  const sameNames = problemOf({ ...one, name: "alarm" }, { ...other, name: "alarm" });
  expect(sameNames).toContain('got two webhooks with the name "alarm", expected a name for each');
  expect(problemOf({ ...one, name: "https://a.org/2" }, other!)).toContain("expected a name for each");
});
