import { appendFileSync, existsSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createDecoderSync, fromPacket, toPacket } from "boxwright";
import { Backoff } from "boxwright-service/retry";
import { drawRandom } from "boxwright-service/testing/random";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigStore } from "../../src/sinks/configs.ts";
import { Delivery } from "../../src/sinks/delivery.ts";
import { HttpSink } from "../../src/sinks/http.ts";
import { fixedBearer } from "../../src/sinks/sink.ts";
import { NdjsonSink } from "../../src/sinks/ndjson.ts";
import { RefusedFolder } from "../../src/sinks/refused.ts";
import type { Outcome, Sink } from "../../src/sinks/sink.ts";
import { Spool } from "../../src/spool/spool.ts";
import { temporaryFolder } from "../support/folder.ts";
import { FakeHost } from "../support/host.ts";
import { until } from "boxwright-service/testing/wait";

const LOG = pino({ level: "silent" });
const NEVER = new AbortController().signal;
const DECODER = createDecoderSync({});
const random = drawRandom();

/** Something that a test holds back until it opens the gate. */
function newGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/** A raw packet. Ids are as a hostile device would choose them. */
const rawPacket = (id: string): Uint8Array =>
  toPacket(DECODER, { o: { data: new Float32Array(12), dims: [1, 6, 2] } }, null, {
    id,
    source: "/devices/../../etc",
    subject: "../door",
    time: new Date(1),
    sequence: 7,
  });

describe("an NDJSON file", () => {
  it("has one event a line; tensors stand in base64", async () => {
    const path = join(temporaryFolder(), "out.ndjson");
    const sink = new NdjsonSink({ kind: "ndjson", name: "a", path });
    for (const id of ["../a", "b"]) expect(await sink.send(rawPacket(id))).toEqual({ kind: "stored" });
    await sink.close();
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    const event = JSON.parse(lines[0]!);
    expect(event).toMatchObject({ specversion: "1.0", type: "boxwright.raw.v1", id: "../a", subject: "../door" });
    expect(event).toMatchObject({ time: "1970-01-01T00:00:00.001Z", sequence: "0000000000000007" });
    const packet = fromPacket(Uint8Array.from(Buffer.from(event.data_base64, "base64")));
    expect(packet.tensors[0]!.dims).toEqual([1, 6, 2]);
  });

  it("loses a half-written last line at the next start, and nothing else", async () => {
    const path = join(temporaryFolder(), "out.ndjson");
    for (const rest of ['{"half', "x".repeat(3 * 2 ** 20)]) {
      writeFileSync(path, '{"a":1}\n{"b":2}\n');
      appendFileSync(path, rest);
      const sink = new NdjsonSink({ kind: "ndjson", name: "a", path });
      await sink.send(rawPacket("c"));
      await sink.close();
      const lines = readFileSync(path, "utf8").split("\n");
      expect(lines.slice(0, 2)).toEqual(['{"a":1}', '{"b":2}']);
      expect(JSON.parse(lines[2]!).id).toBe("c");
      expect(lines[3]).toBe("");
    }
  });

  it("on a full disk keeps packets for later", async () => {
    const sink = new NdjsonSink({ kind: "ndjson", name: "a", path: "/dev/full" });
    const outcome = await sink.send(rawPacket("a"));
    expect(outcome.kind).toBe("later");
    await sink.close();
  });

  it("refuses bytes that are no packet", async () => {
    const sink = new NdjsonSink({ kind: "ndjson", name: "a", path: join(temporaryFolder(), "x") });
    expect(await sink.send(Buffer.from("nonsense"))).toMatchObject({ kind: "refused" });
  });
});

describe("HTTP", () => {
  const open = async (): Promise<{ host: FakeHost; sink: HttpSink }> => {
    const host = await new FakeHost().start();
    onTestFinished(() => host.stop());
    return {
      host,
      sink: new HttpSink(
        { kind: "http", name: "h", url: host.url, token: null, inFlight: 4 },
        () => null,
        fixedBearer(null),
      ),
    };
  };

  it("tells what became of a packet", async () => {
    const { host, sink } = await open();
    const answers: [object, Outcome | object][] = [
      [{ status: 204 }, { kind: "stored", isDuplicate: false }],
      [
        { status: 204, headers: { "x-boxwright-duplicate": "1" } },
        { kind: "stored", isDuplicate: true },
      ],
      [
        { status: 400, body: "foreign" },
        { kind: "refused", reason: "400 foreign" },
      ],
      [{ status: 413 }, { kind: "refused", reason: "413" }],
      [{ status: 401 }, { kind: "later", reason: "401" }],
      [{ status: 403 }, { kind: "later", reason: "403" }],
      [{ status: 404 }, { kind: "later", reason: "404" }],
      [{ status: 500 }, { kind: "later", reason: "500" }],
      [
        { status: 503, headers: { "retry-after": "2" } },
        { kind: "later", reason: "503", milliseconds: 2000 },
      ],
      [
        { status: 429, headers: { "retry-after": "nonsense" } },
        { kind: "later", reason: "429" },
      ],
      [{ status: 503, headers: { "retry-after": "999999" } }, { milliseconds: 3_600_000 }],
    ];
    for (const [answer, outcome] of answers) {
      host.answer = () => answer as never;
      expect(await sink.send(rawPacket("a"), NEVER)).toMatchObject(outcome);
    }
  });

  it("takes a date as Retry-After", async () => {
    const { host, sink } = await open();
    const date = new Date(Date.now() + 3_000_000).toUTCString();
    host.answer = () => ({ status: 503, headers: { "retry-after": date } });
    const { milliseconds } = (await sink.send(rawPacket("a"), NEVER)) as { milliseconds: number };
    // As many as are left when the answer comes.
    expect(milliseconds).toBeGreaterThan(2_000_000);
    expect(milliseconds).toBeLessThanOrEqual(3_000_000);
  });

  it("gives up a host that hangs, also while memory is collected", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void (server.closeAllConnections(), server.close()));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = { kind: "http", name: "h", url, token: null, inFlight: 4 } as const;
    const sink = new HttpSink(settings, () => null, fixedBearer(null), 500);
    const outcomes: Outcome[] = [];
    for (let n = 0; n < 20; n++)
      void sink.send(rawPacket(String(n)), new AbortController().signal).then((outcome) => outcomes.push(outcome));
    const timer = setInterval(collect, 50);
    onTestFinished(() => clearInterval(timer));
    await until(() => outcomes.length === 20, "an end of all requests");
    expect(outcomes[0]).toEqual({ kind: "later", reason: "no answer within 0.5 s" });
  });

  it("does not follow a host that sends it elsewhere", async () => {
    const { host, sink } = await open();
    host.answer = () => ({ status: 307, headers: { location: "/v1/previews" } });
    expect((await sink.send(rawPacket("a"), NEVER)).kind).toBe("later");
    expect(host.previews).toEqual([]);
  });

  it("refuses a packet whose config nobody has", async () => {
    const { host, sink } = await open();
    host.answer = () => ({ status: 409, body: '{"config":"../../secret"}' });
    expect(await sink.send(rawPacket("a"), NEVER)).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining("does not know config"),
    });
  });

  it("says why a host cannot be reached", async () => {
    const { host, sink } = await open();
    await host.stop();
    expect(await sink.send(rawPacket("a"), NEVER)).toMatchObject({
      kind: "later",
      reason: expect.stringContaining("ECONNREFUSED"),
    });
  });
});

describe("configs", () => {
  it("outlive a restart, and names that are none are not looked for", () => {
    const state = temporaryFolder();
    new ConfigStore(state).store({ hash: "0123456789abcdef", json: "{}" });
    const again = new ConfigStore(state);
    expect(again.find("0123456789abcdef")).toEqual({ hash: "0123456789abcdef", json: "{}" });
    writeFileSync(join(state, "secret.json"), "{}");
    for (const hash of ["../secret", "0123456789abcde", "ffffffffffffffff"]) expect(again.find(hash)).toBeNull();
  });

  it("are at most 64: those asked for last stay", () => {
    const state = temporaryFolder();
    const store = new ConfigStore(state);
    for (let n = 0; n < 70; n++) {
      const hash = n.toString(16).padStart(16, "0");
      store.store({ hash, json: "{}" });
      utimesSync(join(state, "configs", `${hash}.json`), n, n);
    }
    expect(readdirSync(join(state, "configs"))).toHaveLength(64);
    expect(store.find((69).toString(16).padStart(16, "0"))).not.toBeNull();
    expect(store.find("0".repeat(16))).toBeNull();
  });
});

describe("refused packets", () => {
  it("are kept up to the cap, under names that come from no id", () => {
    const state = temporaryFolder();
    const folder = new RefusedFolder(state, 4000);
    for (let n = 0; n < 20; n++) {
      folder.store(rawPacket(`../../${n}`), "../sink", "400");
      const files = readdirSync(join(state, "refused"));
      expect(files.every((name) => /^[\da-f]{64}\.(packet|json)$/.test(name))).toBe(true);
      const bytes = files.reduce((sum, name) => sum + statSync(join(state, "refused", name)).size, 0);
      expect(bytes).toBeLessThanOrEqual(4000);
    }
    expect(readdirSync(join(state, "refused")).length).toBeGreaterThan(2);
    expect(existsSync(join(state, "..", "sink"))).toBe(false);
  });

  it("keep their reasons until they go, and nothing stays of those that went", () => {
    const state = temporaryFolder();
    const folder = new RefusedFolder(state, 4000);
    const path = (name: string): string => join(state, "refused", name);
    // A power failure has left a reason alone.
    writeFileSync(path(`${"0".repeat(64)}.json`), "{}");
    for (let n = 0; n < 20; n++) {
      // The reason is stored before the packet: all reasons are older than all packets.
      for (const name of readdirSync(path(""))) utimesSync(path(name), n, name.endsWith(".json") ? n : n + 100);
      folder.store(rawPacket(String(n)), "sink", `reason ${n}`);
      for (const { reason } of folder.list()) expect(reason).toMatch(/^reason/);
    }
    expect(folder.list().length).toBeGreaterThan(1);
    expect(readdirSync(path(""))).toHaveLength(2 * folder.list().length);
  });
});

describe("a delivery", () => {
  const setUp = async (
    sink: Sink,
    grace?: number,
  ): Promise<{ spool: Spool; delivery: Delivery; end: AbortController; running: Promise<void> }> => {
    const state = temporaryFolder();
    const settings = { maxBytes: 2 ** 20, policy: "block", fsync: "never", refusedBytes: 2 ** 20 } as const;
    const spool = new Spool(join(state, "spool"), [sink.name], settings);
    const backoff = new Backoff(1, 5);
    const refused = new RefusedFolder(state, 2 ** 20);
    const delivery = new Delivery(sink, spool.reader(sink.name), refused, LOG, backoff, grace);
    const end = new AbortController();
    const running = delivery.run(end.signal);
    onTestFinished(async () => {
      end.abort();
      await running;
      spool.close();
    });
    return { spool, delivery, end, running };
  };

  it("in order tries the first packet again before it sends the second", async () => {
    const sent: string[] = [];
    let failures = 3;
    const { spool, delivery } = await setUp({
      name: "s",
      inFlight: 1,
      send: async (bytes) => {
        sent.push(fromPacket(bytes).id!);
        return failures-- > 0 ? { kind: "later", reason: "away" } : { kind: "stored" };
      },
      close: async () => undefined,
    });
    for (const id of ["a", "b"]) await spool.append(rawPacket(id));
    await spool.drained();
    expect(sent).toEqual(["a", "a", "a", "a", "b"]);
    expect(delivery.stats).toEqual({ stored: 2, duplicate: 0, refused: 0, later: 3 });
    expect(delivery.waitsFor).toBeNull();
  });

  it("never has more packets on their way than allowed, and acknowledges without gaps", async () => {
    let underWay = 0;
    let most = 0;
    const gate = newGate();
    const { spool } = await setUp({
      name: "s",
      inFlight: 4,
      send: async () => {
        most = Math.max(most, ++underWay);
        await gate.opened;
        await new Promise((resolve) => setTimeout(resolve, random() * 5));
        underWay--;
        return { kind: "stored" };
      },
      close: async () => undefined,
    });
    for (let n = 0; n < 50; n++) await spool.append(rawPacket(String(n)));
    await until(() => underWay === 4, "four packets on their way");
    gate.open();
    await spool.drained();
    expect(most).toBe(4);
    expect(spool.reader("s").cursor.index).toBe(50);
  });

  it("tests a receiver that is away with one packet at a time, and sends side by side once it is back", async () => {
    let isAway = true;
    let underWay = 0;
    const counts: { isAway: boolean; underWay: number }[] = [];
    const gate = newGate();
    const { spool, delivery } = await setUp({
      name: "s",
      inFlight: 4,
      send: async () => {
        counts.push({ isAway, underWay: ++underWay });
        const outcome: Outcome = isAway ? { kind: "later", reason: "away" } : { kind: "stored" };
        await gate.opened;
        await new Promise((resolve) => setTimeout(resolve, 2));
        underWay--;
        return outcome;
      },
      close: async () => undefined,
    });
    for (let n = 0; n < 20; n++) await spool.append(rawPacket(String(n)));
    await until(() => underWay === 4, "the first four");
    gate.open();
    await until(() => delivery.stats.later >= 12, "attempts");
    isAway = false;
    await spool.drained();
    const whileAway = counts.filter((one) => one.isAway).map((one) => one.underWay);
    // The first four were sent before anybody knew.
    expect(whileAway.slice(0, 4)).toEqual([1, 2, 3, 4]);
    expect(Math.max(...whileAway.slice(4))).toBe(1);
    expect(Math.max(...counts.filter((one) => !one.isAway).map((one) => one.underWay))).toBe(4);
    expect(delivery.stats.stored).toBe(20);
  });

  it("goes on beside a packet that the receiver always wants later", async () => {
    const { spool, delivery } = await setUp({
      name: "s",
      inFlight: 4,
      send: async (bytes) =>
        fromPacket(bytes).id === "0" ? { kind: "later", reason: "too many configs" } : { kind: "stored" },
      close: async () => undefined,
    });
    for (let n = 0; n < 50; n++) await spool.append(rawPacket(String(n)));
    await until(() => delivery.stats.stored === 49, "the others");
    expect(spool.waiting).toBe(50);
  });

  it("that ends lets packets under way be acknowledged, and sends no further ones", async () => {
    const sent: string[] = [];
    const gate = newGate();
    const { spool, end, running } = await setUp({
      name: "s",
      inFlight: 2,
      send: async (bytes, signal) => {
        sent.push(fromPacket(bytes).id!);
        await gate.opened;
        return signal.aborted ? { kind: "later", reason: "aborted" } : { kind: "stored" };
      },
      close: async () => undefined,
    });
    for (const id of ["a", "b", "c"]) await spool.append(rawPacket(id));
    await until(() => sent.length === 2, "two packets");
    end.abort();
    gate.open();
    await running;
    expect(sent).toEqual(["a", "b"]);
    expect(spool.waiting).toBe(1);
  });

  it("that ends aborts a packet without an answer after a while", async () => {
    const { spool, end, running } = await setUp(
      {
        name: "s",
        inFlight: 1,
        send: (_, signal) =>
          new Promise((resolve) => signal.addEventListener("abort", () => resolve({ kind: "later", reason: "end" }))),
        close: async () => undefined,
      },
      50,
    );
    for (const id of ["a", "b"]) await spool.append(rawPacket(id));
    end.abort();
    await running;
    expect(spool.waiting).toBe(2);
  });

  it("waits as long as the receiver asks", async () => {
    let isAsked = false;
    const { spool, delivery } = await setUp({
      name: "s",
      inFlight: 1,
      send: async () => {
        if (isAsked) return { kind: "stored" };
        isAsked = true;
        return { kind: "later", reason: "busy", milliseconds: 300 };
      },
      close: async () => undefined,
    });
    const start = performance.now();
    await spool.append(rawPacket("a"));
    await until(() => delivery.stats.stored === 1, "the packet");
    expect(performance.now() - start).toBeGreaterThan(290);
  });

  it("of several sinks go at their own pace", async () => {
    const state = temporaryFolder();
    const settings = { maxBytes: 2 ** 20, policy: "block", fsync: "never", refusedBytes: 0 } as const;
    const spool = new Spool(join(state, "spool"), ["fast", "away"], settings);
    let isAway = true;
    const sink = (name: string, send: () => Outcome): Sink => ({
      name,
      inFlight: 2,
      send: async () => send(),
      close: async () => undefined,
    });
    const fast = sink("fast", () => ({ kind: "stored" }));
    const away = sink("away", () => (isAway ? { kind: "later", reason: "away" } : { kind: "stored" }));
    const end = new AbortController();
    const deliveries = [fast, away].map(
      (one) => new Delivery(one, spool.reader(one.name), new RefusedFolder(state, 0), LOG, new Backoff(1, 5)),
    );
    const running = deliveries.map((one) => one.run(end.signal));
    for (let n = 0; n < 10; n++) await spool.append(rawPacket(String(n)));
    await until(() => deliveries[0]!.stats.stored === 10, "the fast one");
    expect(spool.waiting).toBe(10);
    isAway = false;
    await spool.drained();
    expect(deliveries[1]!.stats.stored).toBe(10);
    end.abort();
    await Promise.all(running);
    spool.close();
  });
});
