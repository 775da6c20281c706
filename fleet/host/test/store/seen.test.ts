/** Tests what is kept of what was seen: counts of minutes, their timeline, events, and frames with a label. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMetrics } from "../../src/core/metrics.ts";
import { sortableTime } from "../../src/core/time.ts";
import type { Database, Queries } from "boxwright-service/database";
import { createLogger } from "boxwright-service/log";
import { untilPasses } from "boxwright-service/testing/wait";
import { UnavailableError } from "boxwright-service/errors";
import { Settler, labelCounts, settle } from "../../src/store/count-seen.ts";
import type { NewFrame } from "../../src/store/frames.ts";
import { openDatabase } from "../../src/store/open.ts";
import { type Cursor, framesInOrder, readCursor } from "../../src/store/query.ts";
import { Retention } from "../../src/store/retention.ts";
import { type SeenEvent, findEvents, labelsSeen, timeline } from "../../src/store/seen.ts";
import { Writer } from "../../src/store/writer.ts";
import { emptyDatabase, kinds, temporaryFolder } from "../support/host.ts";

const START = Date.UTC(2026, 0, 1, 10);
const place = { source: "/devices/1", subject: "door" };

/** Returns a frame some seconds after START with these labels. Null: a detection without a label. */
function frame(second: number, labels: readonly (string | null)[], given: Partial<NewFrame> = {}): NewFrame {
  const detections = labels.map((label, i) => ({ class_id: i, label, confidence: 0.5 + second / 1e5 }));
  return {
    ...place,
    ...{ id: `frame-${second}`, time: sortableTime(new Date(START + second * 1000).toISOString())! },
    ...{ sequence: second, config: null, kind: "detection", frame: null, count: labels.length },
    ...{ detections: JSON.stringify(detections), stored_at: START + second * 1000 },
    labels: labelCounts(detections),
    ...given,
  };
}

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

  const store = (...frames: NewFrame[]): Promise<boolean[]> => Promise.all(frames.map((one) => writer.store(one)));
  const idsOf = async (filter: object, limit = 100): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { id } of framesInOrder(db, { now: START + 1e9, ...filter }, limit)) ids.push(id);
    return ids;
  };

  test("each frame counts once, in its minute and for each of its labels", async () => {
    const frames = [frame(0, ["dog", "dog"]), frame(30, []), frame(70, ["dog", "cat"]), frame(3600, ["dog"])];
    await store(...frames, frames[0]!);
    await store(...frames);
    const spans = await timeline(db, place, "hour");
    expect(spans.map(({ start, label, frames: n, detections }) => [start, label, n, detections])).toEqual([
      ["2026-01-01T10", "", 3, 4],
      ["2026-01-01T10", "cat", 1, 1],
      ["2026-01-01T10", "dog", 2, 3],
      ["2026-01-01T11", "", 1, 1],
      ["2026-01-01T11", "dog", 1, 1],
    ]);
    const filter = { ...place, from: frames[2]!.time, to: frames[3]!.time, label: "dog" };
    const [only, ...others] = await timeline(db, filter, "minute");
    expect([only!.start, others]).toEqual(["2026-01-01T10:01", []]);
    expect(only!.best).toBeCloseTo(0.5007, 5);
    expect(await labelsSeen(db, {})).toEqual(["cat", "dog"]);
  });

  test("a pause of more than two minutes ends an event, and each camera and label has its own", async () => {
    const second = [0, 60, 180, 420, 421];
    await store(...second.map((at) => frame(at, ["dog"])), frame(65, [null], { subject: "yard" }));
    const { events, isWhole } = await findEvents(db, {}, 10);
    expect(events.map(({ subject, label, first, last, frames }) => [subject, label, first, last, frames])).toEqual([
      ["door", "dog", "2026-01-01T10:07", "2026-01-01T10:07", 2],
      ["door", "dog", "2026-01-01T10:00", "2026-01-01T10:03", 3],
      ["yard", "class 0", "2026-01-01T10:01", "2026-01-01T10:01", 1],
    ]);
    expect(isWhole).toBe(true);
    expect(await findEvents(db, { label: "dog" }, 1)).toMatchObject({ events: [{ frames: 2 }], isWhole: false });
  });

  test("a search reads as many rows as its events need", async () => {
    const minutes = Array.from({ length: 40 }, (_, n) => frame(n * 60, n % 5 < 2 ? ["dog", "cat"] : ["cat"]));
    await store(...minutes);
    const label = ({ label: one, frames }: SeenEvent): string => `${one} ${frames}`;
    for (const limit of [1, 3, 100])
      for (const first of [2, 10, 30]) {
        const { events, isWhole } = await findEvents(db, {}, limit, first);
        expect(events.map(label)).toEqual(["cat 40", ...Array<string>(8).fill("dog 2")].slice(0, limit));
        expect(isWhole).toBe(limit === 100);
        const dogs = await findEvents(db, { label: "dog" }, limit, first);
        expect(dogs.events.map(label)).toEqual(Array<string>(8).fill("dog 2").slice(0, limit));
      }
  });

  test("frames are read backwards, and by label without reading those between", async () => {
    const quiet = Array.from({ length: 200 }, (_, n) => frame(1000 + n, []));
    await store(frame(0, ["dog"]), frame(10, ["cat"]), frame(20, ["dog"]), ...quiet, frame(5000, ["dog"]));
    const at = (second: number, name: "after" | "before"): Cursor =>
      readCursor(new Date(START + second * 1000).toISOString(), name)!;
    expect(await idsOf({ before: at(20, "before") })).toEqual(["frame-10", "frame-0"]);
    expect(await idsOf({ ...place, label: "dog", after: at(0, "after") })).toEqual(["frame-20", "frame-5000"]);
    expect(await idsOf({ ...place, label: "dog", before: at(5000, "before") }, 1)).toEqual(["frame-20"]);
    expect(await idsOf({ ...place, label: "dog" })).toEqual(["frame-0", "frame-20", "frame-5000"]);
    expect(await idsOf({ ...place, label: "cow" })).toEqual([]);
  });

  const countsOf = async (from: Database): Promise<unknown[]> =>
    (await timeline(from, place, "day")).map(({ label, frames, detections }) => [label, frames, detections]);
  /** Adds a waiting row about one frame. */
  const wait = (id: string, labels: readonly string[]): Promise<unknown> => {
    const frame = [place.source, place.subject, "2026-01-01T10:00", labels.length, labels.map((one) => [one, 1, 0.5])];
    return db.write((tx) =>
      tx.all("INSERT INTO seen_waiting (id, counts) VALUES (?, ?)", [id, JSON.stringify([frame])]),
    );
  };
  const waiting = async (): Promise<number> => (await db.all("SELECT id FROM seen_waiting")).length;

  test("counts that wait when a host ends are counted once by the next hosts, which settle them together", async () => {
    for (let n = 0; n < 300; n++) await store(frame(n, n % 2 ? ["dog", "cat", "dog"] : ["dog"]));
    expect(await waiting()).toBe(300);
    const hosts = await Promise.all([0, 1].map(async () => openDatabase({ database, databasePool: 4 })));
    await Promise.all(hosts.map(settle));
    expect(await waiting()).toBe(0);
    for (const host of hosts) {
      expect(await countsOf(host)).toEqual([
        ["", 300, 600],
        ["cat", 150, 150],
        ["dog", 300, 450],
      ]);
      await host.close();
    }
  });

  test("counts whose transaction fails wait on, and a reader without a disk gets the settled ones", async () => {
    await store(frame(0, ["dog"]));
    expect(await countsOf(db)).toEqual(expect.arrayContaining([["dog", 1, 1]]));
    await store(frame(1, ["dog"]));
    const failing = (error: Error): Database =>
      Object.assign(Object.create(db) as Database, {
        all: db.all.bind(db),
        write: (work: (tx: Queries) => Promise<unknown>) =>
          db.write(async (tx) => {
            await work(tx);
            throw error;
          }),
      });
    const broken = failing(new Error("broken"));
    await expect(settle(broken)).rejects.toThrow("broken");
    await expect(countsOf(broken)).rejects.toThrow("broken");
    expect(await countsOf(failing(new UnavailableError("full")))).toEqual(expect.arrayContaining([["dog", 1, 1]]));
    expect(await countsOf(db)).toEqual(expect.arrayContaining([["dog", 2, 2]]));
  });

  test("a settler settles after some frames, and what is left at the end", async () => {
    const errors: unknown[] = [];
    let reads = 0;
    const all: Database["all"] = (...of) => (reads++, db.all(...of));
    const watched = Object.assign(Object.create(db) as Database, { all, write: db.write.bind(db) });
    const settler = new Settler(watched, (error) => errors.push(error));
    await store(...Array.from({ length: 256 }, (_, n) => frame(n, ["dog"])));
    settler.note(256);
    await store(frame(256, ["dog"]));
    settler.note(256);
    await new Promise(setImmediate);
    expect(reads).toBeGreaterThan(0);
    await untilPasses(async () => expect(await waiting()).toBe(0));
    await store(frame(300, ["dog"]));
    await settler.stop();
    expect([await waiting(), errors]).toEqual([0, []]);
  });

  test("large rows are settled in transactions of their own, so that other writes hardly wait", async () => {
    const large = Array<string>(12_000).fill("dog");
    for (const [n, labels] of [["cat"], large, large, ["cat"], ["cat"]].entries()) await wait(`row-${n}`, labels);
    let writes = 0;
    const write: Database["write"] = (...of) => (writes++, db.write(...of));
    await settle(Object.assign(Object.create(db) as Database, { all: db.all.bind(db), write }));
    expect([writes, await waiting()]).toEqual([2, 0]);
  });

  test("a label with a zero byte, which PostgreSQL takes in no text, stops no counts", async () => {
    await store(frame(0, ["d\0g", "cat"]));
    expect((await timeline(db, place, "day")).map(({ label }) => label).sort()).toEqual(["", "cat", "d\ufffdg"]);
    expect(await idsOf({ ...place, label: "d\ufffdg" })).toEqual(["frame-0"]);
  });

  test("labels with half of a surrogate pair, or that the limit cuts in a pair, stop no counts", async () => {
    const long = "x".repeat(199);
    await store(frame(0, ["\ud800", "\udc00", `${long}\u{1f431}`, "\u{1f431}"]));
    // An earlier version stored such labels as they were.
    await wait("earlier", ["\ud801", "\udc01"]);
    const counts = (await timeline(db, place, "day")).map(({ label, detections }) => [label, detections]);
    expect(Object.fromEntries(counts)).toEqual({ "": 6, "\ufffd": 4, [`${long}\ufffd`]: 1, "\u{1f431}": 1 });
  });

  test("the counts of deleted frames are deleted", async () => {
    await store(frame(0, ["dog"]), frame(86_400 * 2, ["cat"]));
    const now = (): number => START + 86_400_000 * 2.5;
    const retention = new Retention({ ...{ db, now, keepDays: 1, keepBytes: 0 }, log: createLogger("silent") });
    await retention.open();
    expect(await retention.sweep()).toBe(1);
    expect((await findEvents(db, {}, 10)).events.map(({ label }) => label)).toEqual(["cat"]);
  });
});
