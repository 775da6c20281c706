import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createMetrics } from "../../src/core/metrics.ts";
import { createLogger } from "boxwright-service/log";
import { sortableNow, sortableTime } from "../../src/core/time.ts";
import type { Database } from "boxwright-service/database";
import type { NewFrame, StoredFrame } from "../../src/store/frames.ts";
import { openDatabase } from "../../src/store/open.ts";
import { type Cursor, cameras, cursorText, framesInOrder, missingOf, readCursor } from "../../src/store/query.ts";
import { RefusedRequests } from "../../src/store/refused-requests.ts";
import { addRefused, recordRefused, refusedPackets } from "../../src/store/refused.ts";
import { Retention, sizeOf } from "../../src/store/retention.ts";
import { Writer } from "../../src/store/writer.ts";
import { emptyDatabase, kinds, temporaryFolder } from "../support/host.ts";

const frame = (n: number, given: Partial<StoredFrame> = {}): NewFrame => ({
  source: "/devices/1",
  id: `frame-${n}`,
  subject: "door",
  time: sortableTime(new Date(1e12 + n).toISOString())!,
  sequence: n,
  config: "0123456789abcdef",
  kind: "raw",
  frame: null,
  count: 2,
  detections: "[]",
  stored_at: 1e12 + n + 40,
  labels: "[]",
  ...given,
});

describe.each(kinds.filter(({ skip }) => !skip))("on $kind", ({ kind }) => {
  const folder = temporaryFolder();
  let database: string;
  let db: Database;
  let writer: Writer;

  beforeEach(async () => {
    database = await emptyDatabase(kind, temporaryFolder().path);
    db = await openDatabase({ database, databasePool: 4 });
    writer = new Writer(db, createMetrics());
  });
  afterEach(async () => {
    await writer.idle();
    await db.close();
    folder.remove();
  });

  const store = (frames: NewFrame[]): Promise<boolean[]> => Promise.all(frames.map((one) => writer.store(one)));
  const read = async (filter = {}, limit = 10_000): Promise<StoredFrame[]> => {
    const found: StoredFrame[] = [];
    for await (const one of framesInOrder(db, { now: Date.UTC(2100, 0, 1), ...filter }, limit)) found.push(one);
    return found;
  };

  test("a frame is stored once, within a batch and across batches", async () => {
    const frames = Array.from({ length: 150 }, (_, n) => frame(n));
    const answers = await store([...frames, ...frames.slice(0, 20)]);
    expect(answers.filter(Boolean)).toHaveLength(150);
    expect(await store(frames)).toEqual(frames.map(() => false));
    // The same id of another device is another frame.
    expect(await store([frame(0, { source: "/devices/2" })])).toEqual([true]);
    expect(await read()).toHaveLength(151);
  });

  test("the first packet of a frame counts", async () => {
    await store([frame(0, { detections: "[1]" })]);
    await store([frame(0, { detections: "[2]" })]);
    expect((await read())[0]!.detections).toBe("[1]");
  });

  test("frames come in order of time, sequence and id, by bytes, and pages meet", async () => {
    const time = sortableTime("2026-01-01T00:00:00Z")!;
    const frames = [
      ...Array.from({ length: 1100 }, (_, n) => frame((n * 7919) % 1100)),
      ...["b", "B", "a", "ä", "Z"].map((id) => frame(1, { id, time, sequence: -1 })),
    ];
    await store(frames);
    const found = await read();
    const key = ({ time, sequence, id }: StoredFrame): string =>
      `${time} ${String(sequence + 1).padStart(20, "0")} ${id}`;
    expect(found.map(key)).toEqual(frames.map(key).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
    const again: StoredFrame[] = [];
    for (let after: Cursor | undefined; ;) {
      const part = await read({ after }, 333);
      again.push(...part);
      if (part.length < 333) break;
      after = readCursor(cursorText(part.at(-1)!));
      expect(after).toBeDefined();
    }
    expect(again).toEqual(found);
  });

  test("filters: source, subject, after a time", async () => {
    await store([frame(1), frame(2, { subject: "yard" }), frame(3, { source: "/devices/2" })]);
    expect((await read({ source: "/devices/1" })).map(({ id }) => id)).toEqual(["frame-1", "frame-2"]);
    expect((await read({ subject: "door" })).map(({ id }) => id)).toEqual(["frame-1", "frame-3"]);
    expect((await read({ source: "/devices/1", subject: "yard" })).map(({ id }) => id)).toEqual(["frame-2"]);
    expect((await read({ after: readCursor(new Date(1e12 + 1).toISOString()) })).map(({ id }) => id)).toEqual([
      "frame-2",
      "frame-3",
    ]);
    expect(readCursor("nonsense")).toBeUndefined();
    expect(readCursor(Buffer.from('["a",1.5,"b","c"]').toString("base64url"))).toBeUndefined();
  });

  test("cameras count frames, detections and gaps, each frame once", async () => {
    await store([frame(5), frame(9), frame(6), frame(9)]);
    await store([frame(5), frame(8)]);
    const [camera] = await cameras(db, 10);
    expect(camera).toMatchObject({
      frames: 4,
      detections: 8,
      first_sequence: 5,
      last_sequence: 9,
      last_id: "frame-9",
      latency: 40,
    });
    expect(missingOf(camera!)).toBe(1);
    await store([frame(10, { sequence: -1 })]);
    expect(missingOf((await cameras(db, 10))[0]!)).toBeNull();
  });

  test("missing frames are counted within each start of an agent", async () => {
    const missing = async (): Promise<number | null> => missingOf((await cameras(db, 10))[0]!);
    const second = 2 ** 32;
    // An agent gives each start 2^32 sequences.
    await store([frame(0), frame(1), frame(3), frame(4, { sequence: second }), frame(5, { sequence: second + 1 })]);
    expect(await missing()).toBe(1);
    await store([frame(6, { sequence: second + 4 }), frame(7, { sequence: 20 * second })]);
    expect(await missing()).toBe(3);
    // Late ones fill the gaps, over batches too.
    await store([frame(2), frame(8, { sequence: second + 2 })]);
    expect(await missing()).toBe(1);
    // Frames that were dropped before the first of a start arrived are missing too.
    await store([frame(10, { sequence: 30 * second + 7 })]);
    expect(await missing()).toBe(8);
    // An agent that lost its state counts from the start again.
    await store([frame(9, { sequence: 1 })]);
    expect(await missing()).toBeNull();
  });

  test("two hosts that store the same frames store each once", async () => {
    const other = await openDatabase({ database, databasePool: 4 });
    const writers = [writer, new Writer(other, createMetrics())];
    const frames = Array.from({ length: 400 }, (_, n) => frame(n, { subject: `camera ${n % 7}` }));
    const answers = await Promise.all(
      writers.flatMap((one, i) => (i ? [...frames].reverse() : frames).map((row) => one.store(row))),
    );
    expect(answers.filter(Boolean)).toHaveLength(400);
    const all = await cameras(db, 100);
    expect(all.reduce((sum, { frames }) => sum + frames, 0)).toBe(400);
    await other.close();
  });

  test("a frame that the database does not take costs no other", async () => {
    const broken = frame(1, { id: null as unknown as string });
    const answers = await Promise.allSettled([frame(0), broken, frame(2)].map((one) => writer.store(one)));
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  const DAY = 86_400_000;
  /** Opens a retention whose clock and running time the test moves. */
  const openRetention = async (
    limits: { keepDays?: number; keepBytes?: number },
    time: { clock: number; ran: number },
  ): Promise<Retention> => {
    const clocks = { now: () => time.clock, elapsed: () => time.ran };
    const retention = new Retention({
      db,
      log: createLogger("silent"),
      keepDays: 0,
      keepBytes: 0,
      ...limits,
      ...clocks,
    });
    await retention.open();
    return retention;
  };

  test("old frames are deleted by time of storing, whatever a device's clock says", async () => {
    const at = (n: number, days: number): NewFrame => frame(n, { stored_at: 1e12 + days * DAY });
    await store([at(0, 0), at(1, 2), frame(2, { stored_at: 1e12 + 2 * DAY, time: sortableNow(0) })]);
    const retention = await openRetention({ keepDays: 1 }, { clock: 1e12 + 2.5 * DAY, ran: 0 });
    expect(await retention.sweep()).toBe(1);
    expect((await read()).map(({ id }) => id).sort()).toEqual(["frame-1", "frame-2"]);
  });

  test("a clock that jumps ahead deletes nothing", async () => {
    await store([frame(0), frame(1)]);
    const time = { clock: 1e12 + 1000, ran: 0 };
    const retention = await openRetention({ keepDays: 1 }, time);
    time.clock += 4000 * DAY;
    time.ran += 60_000;
    expect(await retention.sweep()).toBe(0);
    // The same jump while the host was off.
    const later = await openRetention({ keepDays: 2 }, time);
    expect(await later.sweep()).toBe(0);
    time.ran += 2 * DAY;
    expect(await retention.sweep()).toBe(2);
  });

  test("a limit of bytes deletes those that were stored first", async () => {
    await store(Array.from({ length: 100 }, (_, n) => frame(n, { detections: JSON.stringify("x".repeat(1000)) })));
    const { bytes } = await sizeOf(db, 1e12);
    expect(bytes / 100).toBeGreaterThan(1200);
    const retention = await openRetention({ keepBytes: bytes / 4 }, { clock: 1e12, ran: 0 });
    expect(await retention.sweep()).toBe(75);
    const left = (await read()).map(({ id }) => Number(id.slice(6)));
    expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, n) => 75 + n));
  });

  test("refused packets are recorded once", async () => {
    const packet = {
      way: "nats",
      place: "a 1",
      content: new Uint8Array(9),
      bytes: 9,
      source: "\0x",
      id: null,
      reason: "foreign",
      message: "\0x",
    } as const;
    for (let i = 0; i < 2; i++) await recordRefused(db, packet, i);
    expect(await db.all("SELECT at, bytes, source, message FROM refused")).toEqual([
      { at: 0, bytes: 9, source: "?x", message: "?x" },
    ]);
  });

  describe("refused requests", () => {
    const request = { place: "10.0.0.1", bytes: 9, source: null, reason: "foreign", message: "no packet" } as const;
    const counts = async (): Promise<object[]> =>
      db.all(
        "SELECT place, count(*) AS rows_of, CAST(sum(count) AS BIGINT) AS refusals FROM refused WHERE way = 'http' GROUP BY place ORDER BY place",
      );

    test("of a sender that floods the host share a row, and those of others do not", async () => {
      let clock = 1e12;
      const log = createLogger("silent");
      const refused = new RefusedRequests({ db, log, now: () => clock++ });
      for (let n = 0; n < 5000; n++) void refused.take({ ...request, id: `frame-${n}` });
      void refused.take({ ...request, place: "10.0.0.2", id: "frame-0" });
      await refused.write();
      expect(await counts()).toEqual([
        { place: "10.0.0.1", rows_of: 101, refusals: 5000 },
        { place: "10.0.0.2", rows_of: 1, refusals: 1 },
      ]);
      expect(await refusedPackets(db, 2)).toMatchObject([
        { place: "10.0.0.2", id: "frame-0", count: 1 },
        { place: "10.0.0.1", id: "frame-4999", count: 4900 },
      ]);
      // A day later there are rows again. The oldest go.
      for (let n = 5000; n < 5400; n++) {
        clock += 900_000;
        void refused.take({ ...request, id: `frame-${n}` });
      }
      await refused.write();
      expect(await counts()).toMatchObject([{ rows_of: 200 }, { rows_of: 1 }]);
      expect(await refusedPackets(db, 1)).toMatchObject([{ id: "frame-5399", count: 1 }]);
    });

    test("tell a database that takes none; shared rows wait for it", async () => {
      const refused = new RefusedRequests({ db, log: createLogger("silent"), now: () => 1e12 });
      const write = vi.spyOn(db, "write").mockRejectedValueOnce(new Error("disk full"));
      await expect(refused.take({ ...request, id: "frame-1" })).rejects.toThrow("disk full");
      expect(await counts()).toEqual([]);
      await Promise.all(Array.from({ length: 99 }, (_, n) => refused.take({ ...request, id: `frame-${n}` })));
      write.mockClear().mockRejectedValueOnce(new Error("disk full"));
      await refused.take({ ...request, id: "frame-1" });
      const writing = refused.write();
      await refused.take({ ...request, id: "frame-2" });
      await writing;
      expect(await counts()).toEqual([{ place: "10.0.0.1", rows_of: 99, refusals: 99 }]);
      await refused.write();
      expect(write).toHaveBeenCalledTimes(2);
      expect(await counts()).toEqual([{ place: "10.0.0.1", rows_of: 100, refusals: 101 }]);
    });

    test("push out none of a broker", async () => {
      const packet = { ...request, way: "mqtt", id: "frame-1", content: new Uint8Array(0) } as const;
      await recordRefused(db, packet, 0);
      const row = { ...request, at: 1e12, way: "http", count: 1, id: null } as const;
      const seed =
        "INSERT INTO refused (hash, at, way, place, bytes, reason, message) " +
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 12000) " +
        "SELECT 'row ' || n, n, 'http', 'sender ' || n, 9, 'foreign', 'no packet' FROM numbers";
      await db.write((tx) => tx.all(seed));
      for (let n = 0; n < 2; n++) await addRefused(db, new Map([[`last ${n}`, row]]), 200);
      expect(await db.all("SELECT way, count(*) AS rows_of FROM refused GROUP BY way ORDER BY way")).toEqual([
        { way: "http", rows_of: 10_000 },
        { way: "mqtt", rows_of: 1 },
      ]);
    });
  });
});
