/** Senders that are slow, or try tokens: others are served meanwhile. */
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { createServer, request } from "node:http";
import { expect, test } from "vitest";
import { readBytes } from "boxwright-service/http/body";
import { Exchange } from "boxwright-service/http/exchange";
import { refusalOf } from "../../src/intake/intake.ts";
import { detectionPacket } from "../support/frames.ts";
import { testHost } from "../support/host.ts";
import { Room } from "boxwright-service/room";
import { until } from "boxwright-service/testing/wait";

const agentToken = "agent-token-0123456789";
const pageToken = "page-token-0123456789";

/** Sends a packet from an address of this machine. */
function postFrom(localAddress: string, port: number, body: Uint8Array, token = agentToken): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-length": body.length };
    const sent = request({ host: "127.0.0.1", port, path: "/v1/packets", method: "POST", localAddress, headers });
    sent.on("response", (answer) => resolve(answer.resume().statusCode!)).on("error", reject);
    sent.end(body);
  });
}

test("slow bodies of one address stop nobody, there and elsewhere", async () => {
  // The room of one packet: slow ones share half of it.
  const limits = { maxRequests: 1, maxPacketBytes: 100_000, minBodyRate: 0 };
  const host = await testHost({ agentToken, pageToken, address: "127.0.0.1", ...limits });
  const head = `POST /v1/packets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${agentToken}\r\n`;
  let refused = 0;
  const slow = Array.from({ length: 64 }, () => {
    const socket = connect(host.port, "127.0.0.1", () => socket.write(`${head}Content-Length: 100000\r\n\r\n{`));
    socket.on("data", (bytes) => (refused += Number(bytes.toString().startsWith("HTTP/1.1 408"))));
    return socket.on("error", () => undefined);
  });
  for (let n = 0; n < 10; n++) {
    expect(await postFrom("127.0.0.1", host.port, detectionPacket(n))).toBe(204);
    expect(await postFrom("127.0.0.2", host.port, detectionPacket(n))).toBe(204);
  }
  // They go on, together beyond their half: some are refused, and the others still stop nobody.
  const trickle = setInterval(() => slow.forEach((socket) => socket.writable && socket.write("x".repeat(200))), 50);
  await until(() => refused > 0);
  expect(await postFrom("127.0.0.1", host.port, detectionPacket(99))).toBe(204);
  clearInterval(trickle);
  for (const socket of slow) socket.destroy();
  await host.end();
});

test("a body has a longest time in all, whatever its pace", async () => {
  const host = await testHost({ agentToken, pageToken, address: "127.0.0.1", minBodyRate: 0, maxBodySeconds: 1 });
  const head = `POST /v1/previews HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${agentToken}\r\n`;
  const socket = connect(host.port, "127.0.0.1", () => socket.write(`${head}Content-Length: 100000\r\n\r\n`));
  // A machine that is busy elsewhere may connect late: nothing goes before the head.
  await once(socket, "connect");
  const steady = setInterval(() => socket.write("x".repeat(100)), 20);
  const answer = await new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(bytes.toString())));
  clearInterval(steady);
  expect(answer).toMatch(/^HTTP\/1.1 408/);
  socket.destroy();
  await host.end();
});

test.each(["Content-Length: 1000", "Transfer-Encoding: chunked"])("a body that trickles ends: %s", async (length) => {
  const told: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const visit = new Room({ size: 10_000, ofSender: 1, slowAfter: 1000 }).enter();
    readBytes(new Exchange(incoming, outgoing), { most: 10_000, pace: { rate: 1000, window: 200 }, visit }).then(
      (body) => outgoing.end(`${body.length}`),
      (error: unknown) => {
        const { message, status } = refusalOf(error);
        told.push(message);
        outgoing.writeHead(status).end();
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1", () => socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`));
  await once(socket, "connect");
  const trickle = setInterval(() => socket.write(length.startsWith("C") ? "x" : "1\r\nx\r\n"), 50);
  const answer = await new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(bytes.toString())));
  clearInterval(trickle);
  expect(answer).toMatch(/^HTTP\/1.1 408/);
  expect(told[0]).toMatch(/^body: got \d+ bytes in 0.2 s, expected at least 200$/);
  socket.destroy();
  server.close();
});

test("wrong tokens of an address are limited and logged, and others are not slowed", async () => {
  let time = Date.UTC(2026, 0, 1);
  const host = await testHost({ agentToken, pageToken, address: "127.0.0.1" }, () => time);
  const packet = detectionPacket(1);
  const guess = (): Promise<number> => postFrom("127.0.0.3", host.port, packet, "wrong-token-0123456789");
  for (let i = 0; i < 20; i++) expect(await guess()).toBe(401);
  expect(await guess()).toBe(429);
  // The right one too: a guess that is right must not be told from one that is wrong.
  expect(await postFrom("127.0.0.3", host.port, packet)).toBe(429);
  expect(await postFrom("127.0.0.1", host.port, packet)).toBe(204);
  const lines = host
    .logs()
    .split("\n")
    .filter((line) => line.includes("wrong token"));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: "warn", address: "127.0.0.3", path: "/v1/packets" });
  expect(lines[0]).not.toContain("wrong-token");
  time += 60_000;
  expect(await postFrom("127.0.0.3", host.port, packet)).toBe(204);
  expect(await guess()).toBe(401);
  expect(host.logs()).toContain('"count":20');
  await host.end();
});

test("behind a proxy, senders are told apart by X-Forwarded-For", async () => {
  const time = Date.UTC(2026, 0, 1);
  const host = await testHost({ agentToken, pageToken, address: "127.0.0.1", proxyHops: 1 }, () => time);
  const ask = (token: string, from: string): Promise<Response> =>
    fetch(`${host.url}/v1/cameras`, { headers: { authorization: `Bearer ${token}`, "x-forwarded-for": from } });
  for (let i = 0; i < 20; i++) expect((await ask("wrong-token-0123456789", "203.0.113.7")).status).toBe(401);
  expect((await ask(pageToken, "203.0.113.7")).status).toBe(429);
  expect((await ask(pageToken, "203.0.113.8")).status).toBe(200);
  await host.end();
});

test("headers of 16 kB are refused", async () => {
  const host = await testHost();
  const answer = await fetch(`${host.url}/v1/cameras`, { headers: { "x-long": "x".repeat(16_000) } });
  expect(answer.status).toBe(431);
  await host.end();
});
