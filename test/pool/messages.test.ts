/** Messages that cannot be read: no frame waits forever for an answer. */
import { EventEmitter } from "node:events";
import type { MessagePort, Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPool } from "../../src/entries/pool.ts";
import { serve } from "../../src/pool/thread.ts";
import { smallNetwork } from "../packet/support.ts";

/** Threads that a pool has started: Node tells of each. */
const started: Worker[] = [];
const add = (thread: Worker): void => void started.push(thread);
beforeAll(() => void process.on("worker", add));
afterAll(() => void process.off("worker", add));

const worker = new URL("../../dist/pool-worker.mjs", import.meta.url);
const { config } = smallNetwork();

test("an answer that cannot be read costs the frames of its thread, which is started anew", async () => {
  const pool = await createPool({ networks: [{ config }], threads: 1, worker });
  const lost = pool.decode("a", smallNetwork().outputs).catch((e: unknown) => e);
  started[0].emit("messageerror", new Error("cannot be read"));
  expect(await lost).toMatchObject({ name: "PoolError", kind: "crashed" });
  expect(((await lost) as Error).message).toContain("cannot be read");
  expect((await pool.decode("a", smallNetwork().outputs))?.detections.length).toBe(1);
  expect(pool.stats).toMatchObject({ in: 2, failed: 1, out: 1, restarts: 1 });
  expect(started).toHaveLength(2);
  await pool.close();
});

test("a thread ends at a request that it cannot read", () => {
  const port = Object.assign(new EventEmitter(), { postMessage: () => undefined });
  serve(port as unknown as MessagePort);
  expect(() => port.emit("messageerror", new Error("cannot be read"))).toThrow("cannot be read");
});
