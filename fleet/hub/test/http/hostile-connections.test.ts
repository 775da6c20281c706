/**
 * Hostile bodies and connections, with a good client beside them. Tests assert the bound behind each refusal, and not
 * its time.
 */
import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { untilPasses } from "boxwright-service/testing/wait";
import { MAX_BODY } from "../../src/graphql/endpoint.ts";
import { addDevices } from "../../src/nouns/device.ts";
import { LIST, startHub, type TestHub } from "../support/hub.ts";
import { beside } from "../support/beside.ts";

let hub: TestHub;
beforeAll(async () => void (hub = await startHub()));
afterAll(() => hub.stop());

/**
 * Writes bytes, and collects the answer until the other side ends. `afterAnswer` is sent when the first bytes have come
 * back.
 */
function talk(
  parts: readonly (string | Buffer)[],
  options: { pauseMs?: number; closeAfter?: boolean; afterAnswer?: string; to?: TestHub } = {},
): Promise<{ text: string; sent: number; socket: Socket }> {
  return new Promise((resolve) => {
    const socket = connect((options.to ?? hub).running.port, "127.0.0.1");
    let text = "";
    let sent = 0;
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      if (text === "" && options.afterAnswer !== undefined) socket.write(options.afterAnswer);
      text += chunk;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve({ text, sent, socket }));
    void (async () => {
      for (const part of parts) {
        if (socket.destroyed || !socket.writable) break;
        socket.write(part);
        sent += part.length;
        if (options.pauseMs !== undefined) await new Promise((done) => setTimeout(done, options.pauseMs));
        else if (socket.writableNeedDrain)
          await new Promise<void>((done) => (socket.once("drain", done), socket.once("close", done)));
      }
      if (options.closeAfter === true) socket.end();
    })();
  });
}

const head = (extra: string, key = hub.key): string =>
  `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${extra}\r\n`;

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);

describe("bodies and connections (8)", () => {
  it("takes a body of exactly the limit and refuses one byte more, declared and chunked", async () => {
    const fill = (size: number): string => {
      const start = JSON.stringify({ query: LIST }).slice(0, -1) + ',"x":"';
      return start + "y".repeat(size - start.length - 2) + '"}';
    };
    await beside(hub, async () => {
      expect((await hub.query("", hub.key, { body: fill(MAX_BODY) })).status).toBe(200);
      const over = await hub.query("", hub.key, { body: fill(MAX_BODY + 1) });
      expect([over.status, over.json.errors[0].extensions.code]).toEqual([413, "body_too_large"]);
      const chunked = (size: number) =>
        `${head("Transfer-Encoding: chunked\r\nConnection: close\r\n")}${size.toString(16)}\r\n${fill(size)}\r\n0\r\n\r\n`;
      expect(statusOf((await talk([chunked(MAX_BODY)])).text)).toBe(200);
      expect(statusOf((await talk([chunked(MAX_BODY + 1)])).text)).toBe(413);
    });
  });

  it("stops reading a body that never ends", async () => {
    await beside(hub, async () => {
      const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65536, 120), Buffer.from("\r\n")]);
      const start = head("Transfer-Encoding: chunked\r\n");
      // The answer comes after a little more than 1 MiB, though the body does not end.
      const early = await talk([start, ...new Array<Buffer>(17).fill(chunk)]);
      expect(statusOf(early.text)).toBe(413);
      // A sender that goes on is cut off after a second, however many bytes came until then.
      const { text, sent } = await talk([start, ...new Array<Buffer>(4000).fill(chunk)], { pauseMs: 2 });
      expect(statusOf(text)).toBe(413);
      expect(sent).toBeLessThan(4000 * chunk.length);
    });
  });

  it("does not read a body that says it is huge", async () => {
    await beside(hub, async () => {
      const { text } = await talk([head("Content-Length: 1000000000\r\n"), "{"]);
      expect(statusOf(text)).toBe(413);
    });
  });

  it("does not unpack compressed bodies", async () => {
    await beside(hub, async () => {
      const bomb = gzipSync(Buffer.alloc(20_000_000, 32));
      expect((await hub.query("", hub.key, { body: bomb, headers: { "content-encoding": "gzip" } })).status).toBe(415);
      expect((await hub.query("", hub.key, { body: bomb })).status).toBe(400);
    });
  });

  it("cuts off headers and bodies that drip", async () => {
    // Limits that a good client keeps on a busy machine too, and that the drips exceed many times.
    const hasty = await startHub({ timeouts: { headers: 2000, request: 4000 } });
    await beside(hasty, async () => {
      const drip = (text: string) => [...text].map((c) => c);
      const start = head("Content-Length: 2000\r\n", hasty.key);
      const [headers, body] = await Promise.all([
        talk(drip(head("X: ".padEnd(2000, "a"), hasty.key)), { pauseMs: 20, to: hasty }),
        talk([start, ...drip(" ".repeat(2000))], { pauseMs: 20, to: hasty }),
      ]);
      expect([statusOf(headers.text), headers.sent < 2000]).toEqual([408, true]);
      // Cut either by the limit of the whole request, with its answer, or while the body is read.
      expect([statusOf(body.text), body.sent < start.length + 2000]).toEqual([408, true]);
    });
    await hasty.stop();
  });

  it("lets a model file take longer than a request may, while its bytes keep coming", async () => {
    const hasty = await startHub({ timeouts: { headers: 10_000, request: 500 } });
    const [bytes, half] = ["model".repeat(1000), 2500];
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const start = `PUT /models/${sha256} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${hasty.key}\r\nConnection: close\r\n`;
    const pieces = [`${start}Content-Length: ${bytes.length}\r\n\r\n${bytes.slice(0, half)}`, bytes.slice(half)];
    const { text } = await talk(pieces, { pauseMs: 2000, to: hasty });
    expect(statusOf(text)).toBe(201);
    await hasty.stop();
  });

  it("lets go of an answer that nobody reads, and waits for one that is read slowly", async () => {
    const own = await startHub({ timeouts: { headers: 5000, request: 10_000, standstill: 5000 } });
    const { key, team } = await own.makeTeam("Large", []);
    // 3 bytes a character make an answer of 25 MB. Read at 64 KB in 15 ms, it lasts longer than a standstill may. The
    // window of the connection, of some MB, opens again well within one, on a machine that is busy elsewhere too.
    const name = "\u4e00".repeat(100);
    await addDevices(
      own.storage.db,
      Date.now(),
      team.id,
      5000,
      Array.from({ length: 5000 }, () => ({ name })),
    );
    const body = JSON.stringify({
      query: `{ team { devices { nodes { ${Array.from({ length: 17 }, (_, i) => `a${i}: name`).join(" ")} } } } }`,
    });
    const request = `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    const ended = (): unknown[] =>
      [...own.logs().matchAll(/"route":"\/graphql","status":(\d+)/g)].map((match) => Number(match[1]));

    // Three answers are more than the buffers on the way hold.
    const idle = connect(own.running.port, "127.0.0.1", () => idle.write(`${request}\r\n${body}`.repeat(3)));
    idle.on("error", () => undefined).pause();
    await untilPasses(() => expect(ended()).toContain(499));
    idle.destroy();
    const before = ended().length;
    let size = 0;
    const slow = connect(own.running.port, "127.0.0.1", () => slow.write(`${request}Connection: close\r\n\r\n${body}`));
    slow.on("data", (chunk: Buffer) => {
      size += chunk.length;
      slow.pause();
      setTimeout(() => slow.resume(), 15);
    });
    await new Promise((done) => slow.once("close", done));
    expect(size).toBeGreaterThan(5000 * 17 * Buffer.byteLength(name));
    expect(ended().slice(before)).toEqual([200]);
    await own.stop();
  });

  it("answers garbage, header floods and smuggling attempts with 4xx and goes on", async () => {
    await beside(hub, async () => {
      const cases: [string, (string | Buffer)[], RegExp][] = [
        ["noise", [Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 0xff])], /^HTTP\/1\.1 400/],
        ["a header too long", [head(`X: ${"a".repeat(20_000)}\r\n`)], /^HTTP\/1\.1 431/],
        [
          "many headers",
          [head(Array.from({ length: 3000 }, (_, i) => `X${i}: a`).join("\r\n") + "\r\n")],
          /^HTTP\/1\.1 431/,
        ],
        ["two lengths", [head("Content-Length: 5\r\nContent-Length: 6\r\n") + "hello"], /^HTTP\/1\.1 400/],
        [
          "length and chunked",
          [head("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n"],
          /^HTTP\/1\.1 400/,
        ],
        ["no host", ["GET / HTTP/1.1\r\n\r\n"], /^HTTP\/1\.1 400/],
        [
          "absolute target",
          ["GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"],
          /^HTTP\/1\.1 404/,
        ],
        [
          "double slash",
          ["GET //evil.example/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"],
          /^HTTP\/1\.1 404/,
        ],
      ];
      for (const [name, parts, expected] of cases) {
        const { text } = await talk(parts);
        expect([name, text.slice(0, 40)]).toEqual([name, expect.stringMatching(expected)]);
        expect(text).not.toMatch(/\.js:|at [A-Z]/);
      }
      // A good request, then garbage on the same connection: the good one is answered, the rest ends it.
      const body = JSON.stringify({ query: LIST });
      const good = `${head(`Content-Length: ${body.length}\r\n`)}${body}`;
      const garbage = "\u0000\u0001garbage\r\n\r\n";
      const statuses = (text: string): number[] =>
        [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]));
      expect(statuses((await talk([good], { afterAnswer: garbage })).text)).toEqual([200, 400]);
      // In one piece, the garbage is met before the good one has its answer. That answer may be lost; the end is the
      // same.
      expect(statuses((await talk([good + garbage])).text).at(-1)).toBe(400);
    });
  });
});
