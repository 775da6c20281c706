/** Webhooks: their signature, what a receiver gets, and receivers in trouble. */
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLogger } from "boxwright-service/log";
import { until } from "boxwright-service/testing/wait";
import { createMetrics } from "../../src/core/metrics.ts";
import { readConfig } from "../../src/core/config.ts";
import { webhook } from "../../src/core/webhooks.ts";
import type { StoredFrame } from "../../src/store/frames.ts";
import { headersOfMessage, messageOfFrame } from "../../src/webhook/message.ts";
import { Sender, type SenderLimits } from "../../src/webhook/sender.ts";
import { detectionPacket } from "../support/frames.ts";
import { temporaryFolder, testHost } from "../support/host.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that answers as `answer` says: a status, or null for never. */
async function receiver(
  answer: (count: number, response: ServerResponse) => number | null = () => 204,
): Promise<{ url: string; got: Got[]; stop: () => void }> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      got.push({ headers: request.headers, body });
      const status = answer(got.length, response);
      if (status !== null) response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=hidden`, got, stop };
}

const frame = (n: number, given: Partial<StoredFrame> = {}): StoredFrame => ({
  ...{ source: "/devices/1", id: `f${n}`, subject: "door", time: "2026-01-01T00:00:00.000000000Z", sequence: n },
  ...{ config: null, kind: "detection", frame: null, count: 2, stored_at: 0 },
  detections: '[{"label":"cat","confidence":0.9},{"label":"dog","confidence":0.4}]',
  ...given,
});

/** A sender whose pauses are short. */
function senderTo(given: object, limits: Partial<SenderLimits> = {}) {
  const metrics = createMetrics();
  let logs = "";
  const log = createLogger("info", { destination: { write: (line) => void (logs += line) } });
  const short = { retryMs: 1, longestMs: 5, ...limits };
  const sender = new Sender(webhook({ secret: SECRET, ...given }), { metrics, log, now: Date.now, limits: short });
  onTestFinished(() => sender.stop());
  const count = async (outcome: string): Promise<number> =>
    (await metrics.webhooks.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;
  return { sender, count, logs: () => logs };
}

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
    expect(await host.metric('boxwright_host_webhooks_total{outcome="sent"}')).toBe(20);
  });
});

describe("a receiver", () => {
  test("that fails gets a message again under its id, with a new time, until it takes it", async () => {
    const { url, got } = await receiver((count) => (count < 4 ? [500, 429, 301][count - 1]! : 200));
    const { sender, count, logs } = senderTo({ url });
    sender.take(frame(1));
    await until(async () => (await count("sent")) === 1, "the message");
    expect(got).toHaveLength(4);
    expect(new Set(got.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(await count("failed")).toBe(3);
    expect(logs()).toContain("status 500");
    expect(logs()).toContain("takes messages again");
    // The path of the address may hold a key.
    expect(logs()).not.toContain("hidden");
    expect(sender.problem).toBeNull();
  });

  test("that hangs is given up, and tried again", async () => {
    const { url, got } = await receiver((count) => (count === 1 ? null : 204));
    const { sender, count, logs } = senderTo({ url }, { patienceMs: 200 });
    sender.take(frame(1));
    await until(async () => (await count("sent")) === 1, "the message");
    expect(got).toHaveLength(2);
    expect(logs()).toContain("no answer within 0.2 s");
  });

  test("that never takes a message loses it after all attempts, and the log says so", async () => {
    const { url, got } = await receiver(() => 503);
    const { sender, count, logs } = senderTo({ url }, { attempts: 3 });
    sender.take(frame(1));
    await until(async () => (await count("dropped")) === 1, "the loss");
    expect(got).toHaveLength(3);
    expect(logs()).toContain("3 attempts failed, the last: status 503");
    expect(sender.problem).toBe("status 503");
  });

  test("that answers 410 gets nothing more", async () => {
    const { url, got } = await receiver(() => 410);
    const { sender, count, logs } = senderTo({ url }, { inFlight: 1 });
    for (let n = 0; n < 5; n++) sender.take(frame(n));
    await until(async () => (await count("dropped")) === 5, "the end");
    sender.take(frame(9));
    expect(got).toHaveLength(1);
    expect(logs().split("the webhook is gone (410)")).toHaveLength(2);
    expect(sender.problem).toContain("410");
  });

  test("that is away costs the oldest messages above the limit, counted and logged once", async () => {
    const { url, got, stop } = await receiver();
    stop();
    const { sender, count, logs } = senderTo(
      { url },
      { messages: 10, inFlight: 1, retryMs: 60_000, longestMs: 60_000 },
    );
    for (let n = 0; n < 50; n++) sender.take(frame(n));
    // One is under way, ten wait.
    expect(await count("dropped")).toBe(39);
    expect(logs().split("messages of a webhook are lost")).toHaveLength(2);
    await until(() => sender.problem !== null, "the problem");
    await sender.stop();
    expect(await count("dropped")).toBe(50);
    expect(got).toHaveLength(0);
  });

  test("gets one message of a camera in so many seconds", async () => {
    const { url, got } = await receiver();
    const { sender } = senderTo({ url, every: 3600 });
    for (let n = 0; n < 5; n++) sender.take(frame(n));
    sender.take(frame(5, { count: 0, detections: "[]", subject: "gate" }));
    sender.take(frame(6, { subject: "gate" }));
    await until(() => got.length === 2, "a message of each camera");
    expect(got.map(({ body }) => JSON.parse(body).data.id as string).sort()).toEqual(["f0", "f6"]);
  });
});

test("settings tell every problem, and repeat neither key nor address", () => {
  const folder = temporaryFolder();
  const file = join(folder.path, "secret");
  writeFileSync(file, `${SECRET}\n`);
  expect(readConfig({ webhooks: [{ url: "https://a.org/x", secretFile: file }] }).webhooks[0]!.key).toHaveLength(32);
  const problemOf = (given: object): string => {
    try {
      readConfig({ webhooks: [given] });
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
});
