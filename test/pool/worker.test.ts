/** The file of the threads: one that does not decode is refused, and a thread that ends costs only its frames. */
import { afterEach, expect, test, vi } from "vitest";
import { type PoolError, createPool } from "../../src/entries/pool.ts";
import { createDecoderSync, toPacket } from "../../src/entries/index.ts";
import { about, smallNetwork } from "../packet/support.ts";

const right = new URL("../../dist/pool-worker.mjs", import.meta.url);
const networks = [{ config: smallNetwork().config }];

/** Returns the URL of a program. */
const program = (text: string): URL => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

/** Decodes as the right file does, and ends at a tensor with the name "exit". */
const ending = program(`
  import { parentPort } from "node:worker_threads";
  const on = parentPort.on.bind(parentPort);
  const isEnd = ({ work }) => work?.tensors[0].name === "exit";
  parentPort.on = (event, run) => on(event, (message) => (isEnd(message) ? process.exit(7) : run(message)));
  await import(${JSON.stringify(right.href)});`);

afterEach(() => void vi.useRealTimers());

test.each([
  ["is missing", new URL("none.mjs", import.meta.url), "Cannot find module"],
  ["ends at once", program("1"), "it ended with exit code 0"],
  ["throws", program("throw new Error('no thread')"), "no thread"],
  [
    "answers in words of its own",
    program(
      'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => parentPort.postMessage("pong"))',
    ),
    'it sent "pong"',
  ],
])("a file that %s is refused, and so is every thread", async (_, worker, cause) => {
  const error = (await createPool({ networks, threads: 3, worker }).catch((e: unknown) => e)) as Error;
  expect(error).toBeInstanceOf(RangeError);
  expect(error.message).toMatch(/^worker: got "(file|data):.*, whose thread did not begin to decode: /);
  expect(error.message).toContain(cause);
  expect(error.message).toContain(
    "expected the file of boxwright/pool-worker. Add it to the bundle as an entry",
  );
});

test("a file that listens and is silent is refused after half a minute", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const worker = program(
    'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {})',
  );
  const pool = createPool({ networks, threads: 2, worker }).catch((e: unknown) => e);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await pool).toMatchObject({
    name: "RangeError",
    message: expect.stringContaining("it was silent for 30 s") as string,
  });
});

test("a thread that serves is left alone by the clock", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const pool = await createPool({ networks, threads: 1, worker: right });
  expect(vi.getTimerCount()).toBe(0);
  await pool.close();
});

test("threads without the memory to begin say so", async () => {
  // A limit of a megabyte would end the process: Node 22 and later need more before the program begins.
  const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };
  const worker = program("const all = []; for (;;) all.push(Array.from({ length: 1e5 }, Math.random));");
  const pool = createPool({ networks, threads: 1, worker, resourceLimits });
  await expect(pool).rejects.toThrow(
    "it ran out of memory, and the option resourceLimits sets how much it has",
  );
});

test("process.exit() in a thread rejects all that it had, and the pool goes on", async () => {
  const pool = await createPool({ networks, threads: 1, worker: ending });
  const frames = ["output0", "exit", "output0", "output0"].map((name) => {
    const { output0 } = smallNetwork().outputs;
    return pool.decode("a", { [name]: output0 });
  });
  const results = await Promise.allSettled(frames);
  expect(
    results.map((r) => (r.status === "fulfilled" ? r.value?.detections.length : r.reason.message)),
  ).toEqual([
    1,
    "the thread died: it ended with exit code 7. " +
      "Its frames and their memory are lost, its networks are not added; the pool goes on with a new thread.",
    expect.toBeOneOf([1, expect.stringContaining("exit code 7")]),
    1,
  ]);
  expect(pool.stats).toMatchObject({ in: 4, waiting: 0, running: 0, restarts: 1 });
  await pool.close();
});

test("threads that die again and again end the pool: every frame and every call of room gets an answer", async () => {
  const pool = await createPool({ networks, threads: 1, queue: 10, worker: ending });
  const frames = Array.from({ length: 12 }, () => pool.decode("a", { exit: smallNetwork().outputs.output0 }));
  const rooms = [1, 2, 3].map(() => pool.room("a"));
  const kinds = (await Promise.allSettled(frames)).map(
    (r) => (r as PromiseRejectedResult & { reason: PoolError }).reason.kind,
  );
  // A thread holds two frames.
  expect(kinds).toEqual([...Array<string>(8).fill("crashed"), ...Array<string>(4).fill("closed")]);
  expect(pool.stats).toMatchObject({ in: 12, failed: 12, waiting: 0, running: 0, restarts: 3 });
  await Promise.all(rooms);
  await expect(pool.decode("a", smallNetwork().outputs)).rejects.toMatchObject({
    kind: "closed",
    message:
      "the thread died: it ended with exit code 7. So did the 3 before, without a result: the pool is closed. " +
      "Make another with createPool.",
  });
  await pool.close();
});

test("a network keeps its index when another is refused or its thread dies", async () => {
  const pool = await createPool({ networks, threads: 2, worker: ending });
  const labelled = (label: string): { config: object } => ({
    config: { ...smallNetwork().config, labels: [label] },
  });
  await expect(pool.add({ config: { family: "none" } })).rejects.toThrow("family");
  const lost = pool.decode("a", { exit: smallNetwork().outputs.output0 }).catch((e: unknown) => e);
  // One of two threads dies while it is asked.
  const asked = await pool.add(labelled("lost")).catch((e: unknown) => e);
  expect(asked).toMatchObject({ kind: "crashed" });
  expect(await lost).toMatchObject({ kind: "crashed" });
  await pool.add(labelled("cup"));
  const found = await Promise.all(
    Array.from({ length: 8 }, () => pool.decode("a", smallNetwork().outputs, { network: 1 })),
  );
  expect(found.map((r) => r?.detections.at(0)?.label)).toEqual(Array<string>(8).fill("cup"));
  await pool.close();
});

test("a network that one thread refused is forgotten by the others", async () => {
  // Every other thread finds no family in the network with labels.
  const choosy = program(`
    import { parentPort, threadId } from "node:worker_threads";
    const on = parentPort.on.bind(parentPort);
    parentPort.on = (event, run) =>
      on(event, (message) => {
        if (threadId % 2 && message.network?.config.labels) message.network.config.family = "none";
        run(message);
      });
    await import(${JSON.stringify(right.href)});`);
  const { config, outputs } = smallNetwork();
  const labelled = { ...config, labels: ["cup"] };
  const bytes = toPacket(createDecoderSync(labelled), outputs, null, about);
  const pool = await createPool({ networks, threads: 2, worker: choosy });
  await expect(pool.add({ config: labelled })).rejects.toThrow(/family: got "none"/);
  const results = await Promise.allSettled([1, 2, 3, 4].map(() => pool.decode("a", bytes.slice())));
  expect(results.map((r) => r.status === "rejected" && r.reason.kind)).toEqual(Array(4).fill("other config"));
  await pool.close();
});
