/** The pool: detections as of one decoder, order per stream, bounded queues, memory that moves, threads that die. */
import { describe, expect, test } from "vitest";
import {
  ConfigError,
  PacketError,
  TensorError,
  type TensorInput,
  createDecoderSync,
  toPacket,
} from "../../src/entries/index.ts";
import { type DecoderPool, type PoolOptions, PoolError, createPool } from "../../src/entries/pool.ts";
import { about, cases, decoderOf, frame, outputsOf, smallNetwork, withFormat } from "../packet/support.ts";

// Threads are built files: `npm test` builds first.
const worker = new URL("../../dist/pool-worker.mjs", import.meta.url);
const { config, outputs } = smallNetwork();
const decoder = createDecoderSync(config);

/** Runs with a pool, which is closed afterwards. */
async function withPool(
  options: Partial<PoolOptions>,
  run: (pool: DecoderPool) => Promise<void>,
): Promise<void> {
  const pool = await createPool({ networks: [{ config }], threads: 2, worker, ...options });
  try {
    await run(pool);
    const { in: all, out, dropped, failed, waiting, running } = pool.stats;
    expect(out + dropped + failed + waiting + running).toBe(all);
  } finally {
    await pool.close();
  }
}

/** Returns a packet with one box whose score is `score`. */
function packetOf(score: number, into?: Uint8Array): Uint8Array {
  const data = (outputs.output0.data as Float32Array).slice();
  data[4 * 84] = score;
  return toPacket(decoder, { output0: { data, dims: [1, 5, 84] } }, frame, about, into);
}

/** Scores that f32 holds exactly, all above the threshold. */
const scoreOf = (i: number): number => 0.5 + (i % 100) / 256;

test("every conformance case comes out as of one decoder, raw and decoded", async () => {
  const networks = cases.map((c) => ({ config: c.config, options: c.options }));
  await withPool({ networks }, async (pool) => {
    for (const c of cases) {
      const local = decoderOf(c);
      const expected = local.decode(outputsOf(c)).copy();
      for (const kind of ["raw", "detection"] as const) {
        const bytes = toPacket(withFormat(local, kind), outputsOf(c), null, about);
        const result = await pool.decode(c.name, bytes);
        expect(result?.detections.toArray(), c.name).toEqual(expected.toArray());
        expect(result?.detections.sources).toEqual(expected.sources);
        expect(result?.detections.constructor).toBe(expected.constructor);
      }
    }
    expect(pool.stats).toMatchObject({ in: 2 * cases.length, out: 2 * cases.length, failed: 0, dropped: 0 });
  });
});

test("tensors go to the network that is named, with their frame", async () => {
  const networks = [{ config }, { config: { ...config, labels: ["cup"] } }];
  await withPool({ networks }, async (pool) => {
    const expected = decoder.decode(outputs, frame).toArray();
    const data = (outputs.output0.data as Float32Array).slice();
    // A runtime's tensor: fields on a prototype, and methods.
    const tensor = Object.create({ data, dims: [1, 5, 84], dispose: () => undefined }) as TensorInput;
    const first = await pool.decode("a", { output0: tensor }, { frame });
    expect(first?.detections.toArray()).toEqual(expected);
    expect(data.length).toBe(0); // transferred
    const back = first?.tensors ?? [];
    expect(back[0].data).toEqual(outputs.output0.data);
    const second = await pool.decode("a", back, { frame, network: 1 });
    expect(second?.detections.at(0)?.label).toBe("cup");
    expect(second?.bytes).toBeNull();
    await expect(pool.decode("a", back, { network: 2 })).rejects.toThrow(
      /network: got 2, expected an index below 2/,
    );
  });
});

test("results of a stream come in order, whatever threads do", async () => {
  await withPool({ threads: 3, queue: 1000 }, async (pool) => {
    const order: Record<string, number[]> = { a: [], b: [], c: [] };
    const all = Array.from({ length: 300 }, (_, i) => {
      const stream = "abc"[i % 3];
      return pool.decode(stream, packetOf(scoreOf(i))).then((result) => {
        order[stream].push(i);
        expect(result?.detections.scores[0]).toBe(scoreOf(i));
      });
    });
    // A frame that fails keeps its turn too.
    all.push(
      pool.decode("a", new Uint8Array(3)).then(
        () => expect.unreachable(),
        () => void order.a.push(1000),
      ),
    );
    all.push(pool.decode("a", packetOf(0.75)).then(() => void order.a.push(1001)));
    await Promise.all(all);
    for (const numbers of Object.values(order)) expect(numbers).toEqual([...numbers].sort((x, y) => x - y));
    expect(order.a).toHaveLength(102);
    expect(pool.stats).toMatchObject({ in: 302, out: 301, failed: 1 });
  });
});

describe("memory", () => {
  test("is transferred to the thread and back", async () => {
    await withPool({}, async (pool) => {
      const bytes = packetOf(0.75);
      const copy = bytes.slice();
      const promise = pool.decode("a", bytes);
      expect(bytes.byteLength).toBe(0);
      const result = await promise;
      expect(result?.bytes).toEqual(copy);
      const again = packetOf(0.875, result?.bytes ?? undefined);
      expect(again.buffer).toBe(result?.bytes?.buffer);
      expect((await pool.decode("a", again))?.detections.scores[0]).toBe(0.875);
      expect(pool.stats.copied).toBe(0);
    });
  });
  test("is shared if it is shared memory", async () => {
    await withPool({}, async (pool) => {
      const bytes = packetOf(0.75, new Uint8Array(new SharedArrayBuffer(4096)));
      expect(bytes.byteLength).toBeLessThan(4096);
      const result = await pool.decode("a", bytes);
      expect(result?.detections.scores[0]).toBe(0.75);
      expect(result?.bytes?.buffer).toBeInstanceOf(SharedArrayBuffer);
      expect([bytes.byteLength, pool.stats.copied]).toEqual([result?.bytes?.byteLength, 0]);
    });
  });
  test("a part of larger memory is copied and counted", async () => {
    await withPool({}, async (pool) => {
      const packet = packetOf(0.75);
      const large = Buffer.alloc(packet.length + 16);
      large.set(packet, 8);
      const result = await pool.decode("a", large.subarray(8, 8 + packet.length));
      expect(result?.detections.length).toBe(1);
      expect([large.length, pool.stats.copied]).toEqual([packet.length + 16, 1]);
    });
  });
  test("that cannot be transferred fails, and the pool goes on", async () => {
    await withPool({}, async (pool) => {
      const { buffer } = new WebAssembly.Memory({ initial: 1 });
      // Node 20 clones such memory, later ones refuse it.
      await expect(pool.decode("a", new Uint8Array(buffer))).rejects.toThrow(
        /packet is foreign|got what no thread can take .*copy what lies in a WebAssembly memory/,
      );
      expect((await pool.decode("a", packetOf(0.75)))?.detections.length).toBe(1);
      expect(pool.stats).toMatchObject({ in: 2, failed: 1, out: 1 });
    });
  });
  test("that was transferred before is refused by name, at once or while it waits", async () => {
    const lost = /got an array whose memory was transferred before, expected memory that is the caller's/;
    await withPool({ threads: 1, queue: 10 }, async (pool) => {
      const bytes = packetOf(0.75);
      const first = pool.decode("a", bytes);
      const again = await pool.decode("a", bytes).catch((e: unknown) => e as Error);
      expect(again).toBeInstanceOf(TensorError);
      expect((again as Error).message).toMatch(/^packet: /);
      expect((again as Error).message).toMatch(lost);
      expect((await first)?.detections.length).toBe(1);
      const { output0 } = smallNetwork().outputs;
      await pool.decode("a", { output0 });
      await expect(pool.decode("a", { ids: { data: [1], dims: [1] }, output0 })).rejects.toThrow(
        /^tensor "output0": got an array whose memory/,
      );
      expect(pool.stats).toMatchObject({ in: 2, out: 2, failed: 0 });

      // Two frames of one memory wait in the queue: the first takes it along.
      const busy = [packetOf(0.75), packetOf(0.75)].map((packet) => pool.decode("a", packet));
      const twice = packetOf(0.875);
      const waiting = await Promise.allSettled([pool.decode("a", twice), pool.decode("a", twice)]);
      expect(waiting.map((r) => r.status)).toEqual(["fulfilled", "rejected"]);
      expect((waiting[1] as PromiseRejectedResult).reason).toMatchObject({
        name: "TensorError",
        message: expect.stringMatching(lost) as string,
      });
      await Promise.all(busy);
      expect(pool.stats).toMatchObject({ in: 6, out: 5, failed: 1 });
    });
  });
});

describe("queues", () => {
  test("drop-oldest drops the frames that have waited longest", async () => {
    await withPool({ threads: 1, queue: 3, policy: "drop-oldest" }, async (pool) => {
      // Two frames are in the thread's hands, three wait, and all before these are dropped.
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          pool.decode("a", packetOf(scoreOf(i))).then((r) => [i, r] as const),
        ),
      );
      const kept = results.filter(([, r]) => r !== null).map(([i]) => i);
      expect(kept).toEqual([0, 1, 17, 18, 19]);
      expect(pool.stats).toMatchObject({ in: 20, out: 5, dropped: 15 });
    });
  });
  test("a full stream leaves the others alone", async () => {
    await withPool({ threads: 1, queue: 2, policy: "drop-oldest" }, async (pool) => {
      const flood = Array.from({ length: 50 }, () => pool.decode("flood", packetOf(0.75)));
      const calm = await pool.decode("calm", packetOf(0.875));
      expect(calm?.detections.scores[0]).toBe(0.875);
      await Promise.all(flood);
      expect(pool.stats.dropped).toBe(46);
    });
  });
  test("block refuses, and room says when to go on", async () => {
    await withPool({ threads: 1, queue: 2 }, async (pool) => {
      const first = Array.from({ length: 4 }, () => pool.decode("a", packetOf(0.75)));
      const refused = await pool.decode("a", packetOf(0.75)).catch((e: unknown) => e);
      expect(refused).toBeInstanceOf(PoolError);
      expect(refused).toMatchObject({
        kind: "full",
        message: expect.stringContaining("2 that may wait") as string,
      });
      let most = 0;
      const rest: Promise<unknown>[] = [];
      for (let i = 0; i < 50; i++) {
        await pool.room("a");
        rest.push(pool.decode("a", packetOf(scoreOf(i))));
        most = Math.max(most, pool.stats.waiting);
      }
      await Promise.all([...first, ...rest]);
      expect(most).toBeLessThanOrEqual(2);
      expect(pool.stats).toMatchObject({ in: 54, out: 54, dropped: 0 });
      await pool.room("never seen");
    });
  });
});

test("lists of numbers decode as in this thread, with and without a type", async () => {
  const normalised = { ...config, coordinates: "normalised" };
  const numbers = Array.from({ length: 5 * 84 }, (_, i) =>
    i % 84 === 0 ? [64, 40, 20, 16, 120][i / 84] : 0,
  );
  const floats = numbers.map((x) => x / 128);
  await withPool({ networks: [{ config: normalised }] }, async (pool) => {
    for (const list of [
      { data: numbers, dims: [1, 5, 84], type: "int8", scale: 1 / 128 },
      { data: floats, dims: [1, 5, 84] },
    ] as const) {
      const expected = createDecoderSync(normalised).decode({ output0: list }, frame).copy();
      expect(expected.length).toBe(1);
      const result = await pool.decode("a", { output0: list }, { frame });
      expect(result?.detections.toArray()).toEqual(expected.toArray());
    }
    const text = { output0: { data: floats.map(String), dims: [1, 5, 84] } };
    await expect(pool.decode("a", text)).rejects.toThrow(/Array of strings, expected a typed array/);
    const half = { output0: { data: numbers, dims: [1, 5, 84], type: "f16" } } as const;
    await expect(pool.decode("a", half)).rejects.toThrow(/for its type "f16"/);
    expect(pool.stats).toMatchObject({ in: 4, out: 2, failed: 2 });
  });
});

describe("errors", () => {
  test("of what is no frame say what was got", async () => {
    await withPool({}, async (pool) => {
      for (const [wrong, message] of [
        [null, /got null, expected the outputs/],
        [undefined, /got undefined, expected the outputs/],
        ["packet", /got "packet", expected the outputs/],
        [Promise.resolve(outputs), /got a promise, expected what it resolves to/],
        [new Float32Array(2), /frame: got Float32Array \[0,0\], expected a Uint8Array with a packet/],
        [{ output0: null }, /tensor "output0": got null, expected/],
        [[undefined], /tensor "": got undefined, expected/],
        [{ output0: {} }, /tensor "output0"/],
        [{ output0: { data: null, dims: [1] } }, /tensor "output0": got data null/],
        [{ output0: { data: new Float32Array(1), dims: () => 1 } }, /got what no thread can take/],
      ] as const) {
        const error = await pool.decode("a", wrong as never).catch((e: unknown) => e);
        expect(error).toBeInstanceOf(TensorError);
        expect((error as Error).message).toMatch(message);
      }
      const { outputs: own } = smallNetwork();
      expect((await pool.decode("a", own, null as never))?.detections.length).toBe(1);
      await expect(pool.decode("a", own, { network: "length" as never })).rejects.toThrow(
        /network: got "length"/,
      );
    });
  });
  test("of a frame have their class and fields, and cost only that frame", async () => {
    await withPool({}, async (pool) => {
      const foreign = await pool.decode("a", new TextEncoder().encode("{}")).catch((e: unknown) => e);
      expect(foreign).toBeInstanceOf(PacketError);
      expect(foreign).toMatchObject({
        kind: "foreign",
        message: "packet is foreign: JSON: got {}, expected an event or outputs",
      });
      const host = createDecoderSync({ ...config, iouThreshold: 0.6 });
      const other = await pool.decode("a", toPacket(host, outputs, null, about)).catch((e: unknown) => e);
      expect(other).toMatchObject({ name: "PacketError", kind: "other config" });
      const none = await pool
        .decode("a", { x: { data: new Float32Array(21), dims: [3, 7] } })
        .catch((e: unknown) => e);
      expect(none).toBeInstanceOf(TensorError);
      const bad = { ...frame, width: 0 };
      await expect(pool.decode("a", smallNetwork().outputs, { frame: bad })).rejects.toThrow(RangeError);
      expect((await pool.decode("a", packetOf(0.75)))?.detections.length).toBe(1);
      expect(pool.stats).toMatchObject({ in: 5, failed: 4, out: 1, restarts: 0 });
    });
  });
  test("of unknown names, of a bare frame and of networks without {config}", async () => {
    await withPool({}, async (pool) => {
      for (const [wrong, message] of [
        [frame, "about: got a bare frame, expected {frame}: pool.decode(stream, outputs, { frame })"],
        [
          { Frame: frame },
          "about.Frame: got an unknown name, expected one of frame, network; did you mean frame?",
        ],
        [{ frame, index: 1 }, "about.index: got an unknown name, expected one of frame, network"],
        [1, "about: got 1, expected {frame, network}"],
        [
          { frame: [frame] },
          "about.frame: got a list, expected one frame: each image has a call of pool.decode",
        ],
      ] as const)
        await expect(pool.decode("a", smallNetwork().outputs, wrong as never)).rejects.toThrow(
          new RangeError(message),
        );
      await expect(pool.decode(smallNetwork().outputs as never, {})).rejects.toThrow(
        'stream: got an object, expected a name such as "front door"',
      );
      await expect(pool.room(undefined as never)).rejects.toThrow(
        'stream: got undefined, expected a name such as "front door"',
      );
      for (const [wrong, message] of [
        [null, "network: got null, expected {config, options}"],
        [config, "network.family: got an unknown name, "],
        [{ options: {} }, "network: got no config, expected {config, options}"],
        [{ config, options: { onNote: () => undefined } }, "network.options.onNote: got a function"],
        [{ config: { ...config, labels: () => [] } }, "network: got what no thread can take"],
      ] as const)
        await expect(pool.add(wrong as never)).rejects.toThrow(message);
      expect((await pool.decode("a", smallNetwork().outputs, { frame, network: 0 }))?.detections.length).toBe(
        1,
      );
      expect(pool.stats).toMatchObject({ in: 1, out: 1, restarts: 0 });
    });
    await expect(createPool({ networks: [config as never], worker })).rejects.toThrow(
      /networks\[0\]\.family: got an unknown name, expected one of config, options/,
    );
    const networks = [{ config }];
    await expect(createPool({ networks, thread: 4, polcy: "block" } as never)).rejects.toThrow(
      "thread: got an unknown name, expected one of networks, threads, ",
    );
    await expect(createPool(null as never)).rejects.toThrow("options: got null");
    await expect(createPool({ networks, threads: 257 })).rejects.toThrow(
      "threads: got 257, expected a whole number of 1 to 256",
    );
  });
  test("of settings and configs", async () => {
    const wrong = createPool({ networks: [{ config: { family: "yolov99" } }], worker });
    await expect(wrong).rejects.toBeInstanceOf(ConfigError);
    await expect(createPool({ networks: [] })).rejects.toThrow(/networks: got \[\]/);
    await expect(createPool({} as never)).rejects.toThrow("networks: got undefined, expected a list of");
    const networks = [{ config }];
    await expect(createPool({ networks, threads: 0 })).rejects.toThrow(/threads: got 0/);
    await expect(createPool({ networks, queue: 0.5 })).rejects.toThrow(/queue: got 0.5/);
    await expect(createPool({ networks, policy: "drop" as never })).rejects.toThrow(/policy: got "drop"/);
    for (const [resourceLimits, message] of [
      [5, "resourceLimits: got 5, expected an object with some of maxOldGenerationSizeMb, "],
      [[], "resourceLimits: got [], expected an object"],
      [
        { maxOldGenerationSizeMb: "64" },
        'resourceLimits.maxOldGenerationSizeMb: got "64", expected a number above 0',
      ],
      [
        { maxOldGenerationSizeMb: 0 },
        "resourceLimits.maxOldGenerationSizeMb: got 0, expected a number above 0",
      ],
      [
        { maxOldGenerationSize: 64 },
        "resourceLimits.maxOldGenerationSize: got an unknown name, expected one of",
      ],
    ] as const)
      await expect(createPool({ networks, resourceLimits: resourceLimits as never, worker })).rejects.toThrow(
        message,
      );
    for (const wrong of [
      5,
      "pool-worker.mjs",
      "/dist/pool-worker.mjs",
      {},
      new URL("https://a.b/pool-worker.mjs"),
    ])
      await expect(createPool({ networks, worker: wrong as never })).rejects.toThrow(
        /^worker: got .*, expected the URL of a file: new URL\("\.\/pool-worker\.mjs", import\.meta\.url\)/,
      );
  });
});

test("a network that is added later decodes its packets; its hash is the decoder's", async () => {
  await withPool({}, async (pool) => {
    const later = createDecoderSync({ ...config, labels: ["cup"] });
    const bytes = toPacket(later, outputs, null, about);
    await expect(pool.decode("a", bytes)).rejects.toThrow(/other config/);
    expect(await pool.add({ config: { ...config, labels: ["cup"] } })).toBe(later.configHash);
    const result = await pool.decode("a", toPacket(later, outputs, null, about));
    expect(result?.detections.at(0)?.label).toBe("cup");
    const unlabelled = await pool.decode("a", packetOf(0.75));
    expect(unlabelled?.detections.at(0)?.label).toBe("0");
  });
});

test("close finishes what is queued and refuses what comes later", async () => {
  const pool = await createPool({ networks: [{ config }], threads: 2, queue: 100, worker });
  let done = 0;
  const all = Array.from({ length: 100 }, () => pool.decode("a", packetOf(0.75)).then(() => done++));
  await pool.close();
  await Promise.all(all);
  expect([done, pool.stats.out]).toEqual([100, 100]);
  const late = await pool.decode("a", packetOf(0.75)).catch((e: unknown) => e);
  expect(late).toMatchObject({ name: "PoolError", kind: "closed" });
  await expect(pool.add({ config })).rejects.toThrow(/closed/);
  await pool.close();
});

test("a thread without memory costs its frames and is started anew, with its networks", async () => {
  // More boxes than a heap of so few megabytes holds.
  const resourceLimits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 };
  const bomb = new TextEncoder().encode(
    `{"outputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[${"[1],".repeat(1.2e6)}1]}]}`,
  );
  await withPool({ threads: 1, resourceLimits }, async (pool) => {
    const lost = await pool.decode("a", bomb).catch((e: unknown) => e);
    expect(lost).toMatchObject({
      name: "PoolError",
      kind: "crashed",
      message:
        "the thread died: it ran out of memory, and the option resourceLimits sets how much it has. " +
        "Its frames and their memory are lost, its networks are not added; the pool goes on with a new thread.",
    });
    expect((await pool.decode("a", packetOf(0.75)))?.detections.length).toBe(1);
    expect(pool.stats).toMatchObject({ in: 2, failed: 1, out: 1, restarts: 1 });
  });
});

test("a batch is refused with what a caller of the pool can do", async () => {
  await withPool({}, async (pool) => {
    const batch = { output0: { data: new Float32Array(2 * 5 * 84), dims: [2, 5, 84] } };
    await expect(pool.decode("a", batch)).rejects.toThrow(
      "the outputs hold a batch of 2 images, and decode() returns the detections of one. " +
        "Pass one image a call, or call decodeBatch() of a decoder.",
    );
  });
});

test("close wakes every call of room, and refuses a network that is being added", async () => {
  const pool = await createPool({ networks: [{ config }], threads: 1, queue: 1, worker });
  const frames = [1, 2, 3].map(() => pool.decode("a", packetOf(0.75)));
  const rooms = [1, 2, 3].map(() => pool.room("a"));
  const closed = pool.close();
  await Promise.all([...rooms, ...frames, closed]);
  expect(pool.stats).toMatchObject({ in: 3, out: 3 });
  const other = await createPool({ networks: [{ config }], threads: 1, worker });
  const added = other.add({ config }).catch((e: unknown) => e);
  await other.close();
  expect(await added).toMatchObject({ name: "PoolError", kind: "closed" });
});

test("a call of room that sends no frame, or that another frame overtakes, leaves the next one its turn", async () => {
  await withPool({ threads: 1, queue: 1 }, async (pool) => {
    const frames = [1, 2, 3].map(() => pool.decode("a", packetOf(0.75)));
    const order: number[] = [];
    const rooms = [0, 1, 2].map((i) => pool.room("a").then(() => order.push(i)));
    // The first two calls send nothing.
    await Promise.all([...rooms, ...frames]);
    expect(order).toEqual([0, 1, 2]);
  });
});

test("percentiles are those of what was decoded", async () => {
  await withPool({}, async (pool) => {
    expect(pool.stats.decode).toEqual({ p50: 0, p90: 0, p99: 0, max: 0 });
    for (let i = 0; i < 20; i++) await pool.decode("a", packetOf(0.75));
    const { decode, latency } = pool.stats;
    for (const { p50, p90, p99, max } of [decode, latency])
      expect([p50, p90, p99, max].every((x, i, all) => x > 0 && x >= (all[i - 1] ?? 0))).toBe(true);
    expect(latency.p50).toBeGreaterThan(decode.p50);
  });
});
