/** The JavaScript client beside a host, and beside servers that fail. */
import { readFileSync } from "node:fs";
import { type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  type CameraState,
  HostError,
  type HostState,
  type PictureState,
  createHostClient,
} from "../../client/index.ts";
import { readEvents } from "../../client/event-stream.ts";
import type { CameraView, PictureView } from "../../src/live/live.ts";
import type { FleetTotals } from "../../src/store/query.ts";
import { detectionPacket } from "../support/frames.ts";
import { type TestHost, testHost } from "../support/host.ts";

const TOKEN = "page-token-of-16-letters";

async function collect<T>(from: AsyncIterable<T>, most = Infinity): Promise<T[]> {
  const found: T[] = [];
  for await (const one of from) if (found.push(one) >= most) break;
  return found;
}

/** A server that gives each answer in turn, and the last one again and again. Returns what it was asked, too. */
async function serverThat(...answers: ((response: ServerResponse) => void)[]): Promise<{ url: string; asked: any[] }> {
  const asked: any[] = [];
  const server: Server = createServer((request, response) => {
    asked.push({ url: request.url, headers: request.headers });
    answers[Math.min(asked.length, answers.length) - 1]!(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const line = (n: number): string => `${JSON.stringify({ id: `f${n}`, cursor: `c${n}` })}\n`;

describe("the client of a host", () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await testHost({ pageToken: TOKEN });
    for (let n = 0; n < 25; n++) await host.post(detectionPacket(n, { subject: n % 2 ? "door" : "gate" }));
  });
  afterAll(() => host.end());

  test("reads all detections in pages, of one camera, behind a cursor", async () => {
    let requests = 0;
    const counting: typeof fetch = (...args) => (requests++, fetch(...args));
    const client = createHostClient({ baseUrl: `${host.url}/`, token: TOKEN, fetch: counting });
    const all = await collect(client.detections({ pageSize: 10 }));
    expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 25 }, (_, n) => `frame-${n}`));
    expect(requests).toBe(3);
    expect(all[3]!.detections[0]).toMatchObject({ class_id: expect.any(Number), x_min: expect.any(Number) });
    expect(all[3]!.frame).toMatchObject({ width: 1280, height: 720 });
    const doors = await collect(client.detections({ subject: "door", after: all[20]!.cursor, pageSize: 2 }));
    expect(doors.map(({ id }) => id)).toEqual(["frame-21", "frame-23"]);
    requests = 0;
    await collect(client.detections({ pageSize: 10 }), 10);
    expect(requests).toBe(1);
  });

  test("gets the state of all cameras, and goes on behind the last one after a cut", async () => {
    const bodies: ReadableStreamDefaultController[] = [];
    const ids: (string | null)[] = [];
    /** Passes the events on, until a test cuts them. */
    const cuttable: typeof fetch = async (url, init) => {
      ids.push(new Headers(init?.headers).get("last-event-id"));
      const response = await fetch(url, init);
      const reader = response.body!.getReader();
      const body = new ReadableStream({
        start: (controller) => void bodies.push(controller),
        pull: async (controller) => {
          const { value, done } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      });
      return new Response(body, response);
    };
    const client = createHostClient({ baseUrl: host.url, token: TOKEN, fetch: cuttable, retryMs: 1 });
    const seen: string[][] = [];
    for await (const { cameras, fleet } of client.events()) {
      if (cameras.length === 0) continue;
      expect(fleet.cameras).toBe(2);
      seen.push(cameras.map(({ subject }) => subject).sort());
      if (seen.length === 2) break;
      bodies[0]!.error(new TypeError("cut"));
      // Behind the cut the host sends what has changed since, and no camera besides.
      await host.post(detectionPacket(99, { subject: "door" }));
    }
    expect(seen).toEqual([["door", "gate"], ["door"]]);
    expect(ids[0]).toBeNull();
    expect(ids[1]).toMatch(/^[\da-f]{12}-\d+$/);
  });

  test("says at once that the token is wrong, and does not repeat it", async () => {
    const client = createHostClient({ baseUrl: host.url, token: "wrong-token-1234567", retryMs: 1 });
    const failure = await collect(client.detections()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(HostError);
    expect(failure).toMatchObject({ status: 401 });
    expect(String(failure)).not.toContain("wrong-token");
    await expect(collect(client.events())).rejects.toMatchObject({ status: 401 });
  });

  test("runs as docs/reading.md shows", async () => {
    const page = readFileSync(new URL("../../docs/reading.md", import.meta.url), "utf8");
    const [, code] = /```js\n([\s\S]*?)```/.exec(page)!;
    const body = code!.replace(/^import .*$/m, "");
    const printed: unknown[][] = [];
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the code is that of the page
    const run = new Function("createHostClient", "process", "console", `return (async () => {${body}})()`) as (
      ...given: unknown[]
    ) => Promise<void>;
    const client = (options: { baseUrl: string; token: string }): unknown =>
      createHostClient({ ...options, baseUrl: host.url });
    await run(client, { env: { BOXWRIGHT_PAGE_TOKEN: TOKEN } }, { log: (...words: unknown[]) => printed.push(words) });
    expect(printed.length).toBeGreaterThan(12);
    expect(printed.at(-1)).toEqual([expect.stringMatching(/door|gate/), expect.any(Number)]);
  });
});

describe("beside a host in trouble, the client", () => {
  test("tries again while the host is busy or cuts an answer off, and loses no frame", async () => {
    const { url, asked } = await serverThat(
      (response) => response.writeHead(503).end('{"error":"busy"}'),
      (response) => response.end(line(1) + line(2)),
      (response) => response.end(`${line(3)}{"id":"f4"`),
      (response) => {
        response.write(line(3));
        response.socket!.destroy();
      },
      (response) => response.end(line(3)),
    );
    const client = createHostClient({ baseUrl: url, retryMs: 1 });
    expect((await collect(client.detections({ pageSize: 2 }))).map(({ id }) => id)).toEqual(["f1", "f2", "f3"]);
    expect(asked.map(({ url: path }) => new URL(path as string, url).searchParams.get("after"))).toEqual([
      ...[null, null, "c2", "c2", "c2"],
    ]);
  });

  test("gives up after its tries, with the last reason", async () => {
    const { url, asked } = await serverThat((response) => response.writeHead(429).end('{"error":"too fast"}'));
    const client = createHostClient({ baseUrl: url, retries: 2, retryMs: 1 });
    await expect(collect(client.detections())).rejects.toThrow("the host answered 429: too fast");
    expect(asked).toHaveLength(3);
    const away = createHostClient({ baseUrl: "http://127.0.0.1:1", retries: 0 });
    await expect(collect(away.detections())).rejects.toThrow(/the host is away: .*(ECONNREFUSED|bad port)/);
  });

  test("gives up a connection that is silent, and takes the events of the next one", async () => {
    const { url, asked } = await serverThat(
      (response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n"),
      (response) => response.write('id: a-7\nevent: state\ndata: {"cameras":[]}\n\n'),
    );
    const client = createHostClient({ baseUrl: url, patienceMs: 2000, retryMs: 1 });
    expect(await collect(client.events(), 2)).toEqual([{ cameras: [] }, { cameras: [] }]);
    expect(asked.map(({ headers }) => (headers as Record<string, string>)["last-event-id"])).toEqual([
      ...[undefined, undefined, "a-7"],
    ]);
  });

  test("ends when its caller says so", async () => {
    const { url } = await serverThat(() => undefined);
    const end = new AbortController();
    const states = collect(createHostClient({ baseUrl: url }).events({ signal: end.signal }));
    end.abort();
    await expect(states).rejects.toMatchObject({ name: "AbortError" });
  });

  test("refuses an address that is none", () => {
    expect(() => createHostClient({ baseUrl: "localhost:8790" })).toThrow("expected an address like http://");
  });
});

test.each([1, 2, 3, 7, 1000])("reads events from pieces of %i bytes, whatever their line ends", async (size) => {
  const text = 'id: 1\r\nevent: state\r\ndata: {"a":\r\ndata: "é"}\r\n\r\n: beat\n\ndata:x\rdata\r\rid: 2\ndata: cut';
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  expect(await collect(readEvents(body))).toEqual([
    { event: "state", data: '{"a":\n"é"}', id: "1" },
    { event: "message", data: "x\n", id: "1" },
  ]);
});

// The client states the types of the host again, since it stands alone. They have to stay the same.
type Same<A, B> = [A, B] extends [B, A] ? true : false;
export const areSame: [
  ...[Same<CameraState, CameraView>, Same<PictureState, PictureView>, Same<HostState["fleet"], FleetTotals>],
] = [true, true, true];
