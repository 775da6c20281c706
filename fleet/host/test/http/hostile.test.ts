import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestHost, testHost } from "../support/host.ts";
import { configBody, decoder, detectionPacket, frameSize, hash, outputsOf, rawPacket } from "../support/frames.ts";
import { packetHeaders, toPacket } from "boxwright";
import { until } from "boxwright-service/testing/wait";

const agentToken = "agent-token-0123456789";
const pageToken = "page-token-0123456789";

/** Sends bytes as they are, and returns the first line of the answer. */
function sendBytes(port: number, bytes: string | Uint8Array, patience = 20_000): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const done = (): void => {
      socket.destroy();
      resolve(answer.split("\r\n")[0]!);
    };
    socket.on("data", (chunk) => {
      answer += chunk.toString();
      if (answer.includes("\r\n")) done();
    });
    socket.on("error", done).on("close", done);
    setTimeout(done, patience).unref();
  });
}

describe("with tokens", () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await testHost({ agentToken, pageToken, address: "127.0.0.1", maxPacketBytes: 100_000 });
    await host.putConfig(hash, configBody);
  });
  afterAll(() => host.end());

  const ask = (path: string, authorization?: string, method = "GET"): Promise<Response> =>
    fetch(host.url + path, { method, headers: authorization === undefined ? {} : { authorization } });

  test("without the right token nothing is read or written", async () => {
    const wrong = ["Bearer wrong-token-0123456789", `Bearer ${pageToken}`, "Bearer", "Basic !!!", "", undefined];
    for (const authorization of wrong) {
      expect((await ask("/v1/packets", authorization, "POST")).status).toBe(401);
      expect((await ask(`/v1/configs/${hash}`, authorization, "PUT")).status).toBe(401);
      expect((await ask("/v1/previews", authorization, "POST")).status).toBe(401);
    }
    for (const path of ["/", "/events", "/pictures/x", "/v1/detections", "/v1/cameras", "/metrics"]) {
      for (const authorization of [undefined, `Bearer ${agentToken}`, `Basic ${btoa(`x:${agentToken}`)}`])
        expect((await ask(path, authorization)).status, path).toBe(401);
      if (path !== "/events") expect([200, 404]).toContain((await ask(path, `Bearer ${pageToken}`)).status);
    }
    const answer = await ask("/", undefined);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Basic /);
    expect((await ask("/", `Basic ${btoa(`anybody:${pageToken}`)}`)).status).toBe(200);
    expect((await ask("/healthz")).status).toBe(200);
    expect(await host.metric('boxwright_host_denied_total{what="token"}')).toBeGreaterThan(20);
  });

  test("a body above the limit is refused before it is read", async () => {
    const head = `POST /v1/packets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${agentToken}\r\n`;
    // Only the head is sent: the answer does not wait for the body.
    expect(await sendBytes(host.port, `${head}Content-Length: 100001\r\n\r\n`)).toBe("HTTP/1.1 413 Payload Too Large");
    const chunk = `8000\r\n${"x".repeat(0x8000)}\r\n`;
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(4)}`;
    expect(await sendBytes(host.port, chunked)).toBe("HTTP/1.1 413 Payload Too Large");
    // A sender that asks first is told no, or to go on.
    expect(await sendBytes(host.port, `${head}Expect: 100-continue\r\nContent-Length: 100001\r\n\r\n`)).toBe(
      "HTTP/1.1 413 Payload Too Large",
    );
    expect(await sendBytes(host.port, `${head}Expect: 100-continue\r\nContent-Length: 10\r\n\r\n`)).toBe(
      "HTTP/1.1 100 Continue",
    );
    // A sender that does not look hears the answer all the same.
    const answer = await host.post(new Uint8Array(4_000_000));
    expect([answer.status, await answer.json()]).toMatchObject([413, { reason: "too large" }]);
    expect(await host.metric('boxwright_host_refused_total{reason="too large",way="http"}')).toBeGreaterThan(0);
  });

  test("bytes that are no packet are refused, and the reason is told", async () => {
    const raw = rawPacket(1);
    const cases: [Uint8Array, string][] = [
      [new Uint8Array(0), "cut off"],
      [new Uint8Array(100), "foreign"],
      [new TextEncoder().encode("{}"), "foreign"],
      [raw.subarray(0, raw.length - 4), "cut off"],
      [raw.subarray(0, 40), "cut off"],
    ];
    for (const [bytes, reason] of cases) {
      const answer = await host.post(bytes);
      expect([answer.status, (await answer.json()).reason]).toEqual([400, reason]);
    }
    const zipped = await host.post(raw, { "content-encoding": "gzip" });
    expect(zipped.status).toBe(400);
  });

  test("names with slashes, dots and quotes are stored as they are; long ones are refused", async () => {
    const names = [
      "../../etc/passwd",
      "/a//b",
      "'; DROP TABLE frames; --",
      "<script>alert(1)</script>",
      "%2e%2e%2f",
      "é中🐈",
      "__proto__",
    ];
    for (const [n, id] of names.entries()) {
      const answer = await host.post(detectionPacket(n, { id, source: `/x/${id}`, subject: id }));
      expect(answer.status, id).toBe(204);
      const [found] = await host.lines(`source=${encodeURIComponent(`/x/${id}`)}&subject=${encodeURIComponent(id)}`);
      expect(found).toMatchObject({ id, source: `/x/${id}`, subject: id });
    }
    expect((await host.post(detectionPacket(0, { id: "é".repeat(300) }))).status).toBe(400);
    expect((await host.post(detectionPacket(0, { id: "x".repeat(512) }))).status).toBe(204);
    // 10 kB, which no writer of packets makes.
    const long = Buffer.from(
      Buffer.from(detectionPacket(0))
        .toString()
        .replace('"frame-0"', `"${"x".repeat(10_000)}"`),
    );
    expect((await host.post(long)).status).toBe(400);
    for (const path of [
      "/assets/../../package.json",
      "/assets/%2e%2e/%2e%2e/package.json",
      "/pictures/..%2f..%2fetc",
      "/.env",
    ])
      expect((await ask(path, `Bearer ${pageToken}`)).status, path).toBe(404);
  });

  test("hostile configs are refused, and the host decodes on", async () => {
    const bodies = [
      "",
      "null",
      "[]",
      "{}",
      '{"config":1}',
      '{"config":{}}',
      '{"config":{"family":"yolov99"}}',
      '{"config":{"family":"yolov8"},"options":3}',
      JSON.stringify({ config: { family: "yolov8", classes: 1e9, inputSize: [64, 64] } }),
      JSON.stringify({
        config: { family: "yolov8", classes: 80, inputSize: [1e9, 1e9] },
        outputs: [{ name: "o", dims: [1, 84, 4e9] }],
      }),
      `{"config":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`,
    ];
    for (const body of bodies) {
      const answer = await host.putConfig("0123456789abcdef", body);
      expect(answer.status, body.slice(0, 60)).toBe(400);
    }
    for (const name of ["x", "..%2f..%2fa", "0123456789ABCDEF", "a".repeat(5000)])
      expect((await host.putConfig(name, configBody)).status).toBe(400);
    // A config under the name of another.
    expect((await host.putConfig("0123456789abcdef", configBody)).status).toBe(400);
    expect((await host.post(rawPacket(77))).status).toBe(204);
  });

  test("wrong queries are refused", async () => {
    for (const query of ["limit=0", "limit=10001", "limit=x", "after=yesterday"]) {
      const answer = await ask(`/v1/detections?${query}`, `Bearer ${pageToken}`);
      expect(answer.status, query).toBe(400);
      expect((await answer.json()).error).toContain("expected");
    }
  });
});

describe("without tokens", () => {
  let host: TestHost;
  beforeAll(async () => void (host = await testHost({ maxConfigs: 1 })));
  afterAll(() => host.end());

  const askAs = (name: string, path: string, headers = {}, method = "GET"): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = request(
        { port: host.port, host: "127.0.0.1", path, method, headers: { Host: name, ...headers } },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode!);
        },
      );
      asked.on("error", reject).end();
    });

  test("a name of the internet that leads here gets nothing", async () => {
    for (const name of ["evil.example", "evil.example:8790", "localhost.evil.example", "127.0.0.1.evil.example"]) {
      expect(await askAs(name, "/")).toBe(403);
      expect(await askAs(name, "/v1/packets", {}, "POST")).toBe(403);
    }
    for (const name of ["localhost", "localhost:8790", "127.0.0.1:8790", "[::1]:8790"])
      expect(await askAs(name, "/")).toBe(200);
  });

  test("a page of another place cannot send", async () => {
    expect(await askAs("localhost", "/v1/packets", { Origin: "https://evil.example" }, "POST")).toBe(403);
  });

  test("more configs than allowed are refused for now", async () => {
    expect((await host.putConfig(hash, configBody)).status).toBe(204);
    const { createDecoderSync } = await import("boxwright");
    const other = { family: "yolov8", classes: 3, inputSize: [64, 64] } as const;
    const answer = await host.putConfig(createDecoderSync(other).configHash!, JSON.stringify({ config: other }));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "60"]);
  });
});

test("a full queue refuses with 429 and a time to come again, and nothing is lost", async () => {
  const host = await testHost({ queue: 1 });
  await host.putConfig(hash, configBody);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => host.post(rawPacket(n))));
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([204, 429]));
  for (const { status, headers } of answers) if (status === 429) expect(headers.get("retry-after")).toBe("1");
  expect(await host.lines()).toHaveLength(statuses.filter((status) => status === 204).length);
  await host.end();
});

test("bodies beyond the room are refused with 503", async () => {
  const host = await testHost({ maxRequests: 2, maxPacketBytes: 100_000, minBodyRate: 0 });
  const head = "POST /v1/packets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n";
  const sockets = [1, 2].map(() => connect(host.port, "127.0.0.1").on("error", () => undefined));
  // A quarter of a body takes the room of the whole one.
  for (const socket of sockets) socket.write(head + "x".repeat(25_000));
  await until(async () => {
    const answer = await host.post(detectionPacket(1));
    return answer.status === 503 && answer.headers.get("retry-after") === "1";
  });
  // They hang up: their room is free again.
  for (const socket of sockets) socket.destroy();
  await until(async () => (await host.post(detectionPacket(1))).status === 204);
  expect(await host.metric("boxwright_host_body_bytes")).toBe(0);
  await host.end();
});

test("a database that is away is 503, and so is its health", async () => {
  const host = await testHost();
  const packet = toPacket(decoder, decoder.decode(outputsOf(1), frameSize), frameSize, { id: "1", source: "s" });
  const headers = packetHeaders(packet);
  await host.db.close();
  const answer = await host.post(packet, headers);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  expect((await fetch(`${host.url}/healthz`)).status).toBe(503);
  await host.end().catch(() => undefined);
});

test("bytes that are no HTTP, and heads that are too large", async () => {
  const host = await testHost();
  expect(await sendBytes(host.port, "nonsense\r\n\r\n")).toBe("HTTP/1.1 400 Bad Request");
  expect(await sendBytes(host.port, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(40_000)}\r\n\r\n`)).toMatch(
    /431/,
  );
  expect((await fetch(`${host.url}/healthz`)).status).toBe(200);
  await host.end();
});
