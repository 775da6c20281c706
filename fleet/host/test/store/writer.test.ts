/** Batches of the writer: who shares a transaction, and so a sync of the disk. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Queries } from "boxwright-service/database";
import { expect, test } from "vitest";
import { createMetrics } from "../../src/core/metrics.ts";
import type { NewFrame } from "../../src/store/frames.ts";
import { Writer } from "../../src/store/writer.ts";

const frame = (source: string, n: number): NewFrame => ({
  ...{ source, id: String(n), subject: "door", time: "2026-11-25T23:05:00.000Z", sequence: n, config: null },
  ...{ kind: "detection", frame: null, count: 0, detections: "[]", stored_at: 0 },
  labels: "[]",
});

/** Returns a database whose transactions take so many milliseconds, and the count of transactions. */
function slowDatabase(milliseconds: number) {
  const counted = { transactions: 0 };
  const tx: Queries = { all: () => Promise.resolve([]) };
  const write: Database["write"] = async (work) => {
    counted.transactions++;
    const result = await work(tx);
    await sleep(milliseconds);
    return result;
  };
  return { db: { write } as Database, counted };
}

test("senders that answer one after another share a sync, round by round", async () => {
  const { db, counted } = slowDatabase(80);
  const writer = new Writer(db, createMetrics());
  const rounds = 6;
  await Promise.all(
    Array.from({ length: 16 }, async (_, sender) => {
      for (let n = 0; n < rounds; n++) {
        // The network and the sender take their time, each its own.
        await sleep(1 + (sender % 5));
        await writer.store(frame(`device:${sender}`, n));
      }
    }),
  );
  // The first frame of all goes alone, since nobody knows yet how many come. One batch may be torn by a slow timer.
  expect(counted.transactions).toBeLessThanOrEqual(rounds + 3);
});

test("a lone sender waits for nobody", async () => {
  const { db } = slowDatabase(20);
  const writer = new Writer(db, createMetrics());
  let waits = 0;
  const real = globalThis.setTimeout;
  globalThis.setTimeout = Object.assign((...args: Parameters<typeof real>) => (waits++, real(...args)), real);
  try {
    for (let n = 0; n < 5; n++) await writer.store(frame("device:1", n));
  } finally {
    globalThis.setTimeout = real;
  }
  expect(waits).toBe(0);
});
