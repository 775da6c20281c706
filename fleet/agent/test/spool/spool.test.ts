import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { until } from "boxwright-service/testing/wait";
import type { SpoolSettings } from "../../src/settings/schema.ts";
import { type Disk, realDisk } from "../../src/spool/disk.ts";
import { LockError, lockFolder } from "../../src/spool/lock.ts";
import type { Reader } from "../../src/spool/reader.ts";
import { HEADER_BYTES } from "../../src/spool/record.ts";
import { Spool } from "../../src/spool/spool.ts";
import { temporaryFolder } from "../support/folder.ts";

const SETTINGS: SpoolSettings = { maxBytes: 2 ** 20, policy: "block", fsync: "never", refusedBytes: 0 };

function openSpool(folder: string, settings: Partial<SpoolSettings> = {}, sinks = ["a"], disk?: Disk): Spool {
  const spool = new Spool(folder, sinks, { ...SETTINGS, ...settings }, disk);
  onTestFinished(() => {
    try {
      spool.close();
    } catch {
      // The test closed it.
    }
  });
  return spool;
}

const packet = (n: number, size = 100): Uint8Array => {
  const bytes = new Uint8Array(size).fill(n % 251);
  new DataView(bytes.buffer).setUint32(0, n);
  return bytes;
};
const numberOf = (bytes: Uint8Array): number => new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);

/** Reads what is there, without waiting for more. */
async function readAll(reader: Reader, isAcknowledged = true): Promise<number[]> {
  const found: number[] = [];
  for (;;) {
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(), 30);
    const next = await reader.next(end.signal);
    clearTimeout(timer);
    if (!next) return found;
    found.push(numberOf(next.bytes));
    if (isAcknowledged) reader.acknowledge(next.index);
  }
}

const segments = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".seg"))
    .sort();
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

describe("a spool", () => {
  it("gives packets back in order, and the same after a restart until they are acknowledged", async () => {
    const folder = temporaryFolder();
    const first = openSpool(folder);
    for (let n = 0; n < 50; n++) expect(await first.append(packet(n))).toBe(true);
    expect(await readAll(first.reader("a"), false)).toEqual(range(0, 50));
    first.close();
    const second = openSpool(folder);
    expect(second.waiting).toBe(50);
    const { reader } = { reader: second.reader("a") };
    const end = new AbortController();
    for (let n = 0; n < 20; n++) reader.acknowledge((await reader.next(end.signal))!.index);
    second.close();
    const third = openSpool(folder);
    expect(await readAll(third.reader("a"))).toEqual(range(20, 50));
    expect(third.waiting).toBe(0);
  });

  it("removes files that every sink is past, and no others", async () => {
    const folder = temporaryFolder();
    const spool = openSpool(folder, { maxBytes: 2 ** 16 }, ["a", "b"]);
    for (let n = 0; n < 100; n++) await spool.append(packet(n, 400));
    const before = segments(folder).length;
    expect(before).toBeGreaterThan(5);
    await readAll(spool.reader("a"));
    expect(segments(folder).length).toBe(before);
    expect(await readAll(spool.reader("b"))).toEqual(range(0, 100));
    expect(segments(folder).length).toBe(1);
  });

  it("moves the cursor past packets without a gap only", async () => {
    const folder = temporaryFolder();
    const spool = openSpool(folder);
    for (let n = 0; n < 4; n++) await spool.append(packet(n));
    await readAll(spool.reader("a"), false);
    for (const index of [3, 1]) spool.reader("a").acknowledge(index);
    spool.close();
    const again = openSpool(folder);
    expect(await readAll(again.reader("a"), false)).toEqual([0, 1, 2, 3]);
    again.reader("a").acknowledge(0);
    again.reader("a").acknowledge(1);
    again.close();
    expect(await readAll(openSpool(folder).reader("a"))).toEqual([2, 3]);
  });

  it("cuts off a half-written record at every length, and goes on after the whole ones", async () => {
    const size = HEADER_BYTES + 100;
    for (const cut of [1, 7, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 1, size - 1]) {
      const folder = temporaryFolder();
      const spool = openSpool(folder);
      for (let n = 0; n < 3; n++) await spool.append(packet(n));
      spool.close();
      truncateSync(join(folder, segments(folder)[0]!), 2 * size + cut);
      const again = openSpool(folder);
      expect(again.stats.damaged).toBe(1);
      await again.append(packet(9));
      expect(await readAll(again.reader("a")), `cut at ${cut}`).toEqual([0, 1, 9]);
    }
  });

  it("leaves out a record whose bytes have changed, and counts it", async () => {
    const folder = temporaryFolder();
    const spool = openSpool(folder, { maxBytes: 2 ** 16 });
    for (let n = 0; n < 100; n++) await spool.append(packet(n, 400));
    spool.close();
    const file = openSync(join(folder, segments(folder)[0]!), "r+");
    writeSync(file, Buffer.from([1, 2, 3]), 0, 3, HEADER_BYTES + 50);
    closeSync(file);
    const again = openSpool(folder, { maxBytes: 2 ** 16 });
    expect(await readAll(again.reader("a"))).toEqual(range(1, 100));
    expect(again.stats.damaged).toBe(1);
    expect(again.waiting).toBe(0);
  });

  it("leaves out the rest of a file whose header has changed, and goes on with the next file", async () => {
    const folder = temporaryFolder();
    const spool = openSpool(folder, { maxBytes: 2 ** 16 });
    for (let n = 0; n < 100; n++) await spool.append(packet(n, 400));
    spool.close();
    const [first, second] = segments(folder);
    const file = openSync(join(folder, first!), "r+");
    writeSync(file, Buffer.from([0]), 0, 1, 2 * (HEADER_BYTES + 400));
    closeSync(file);
    const again = openSpool(folder, { maxBytes: 2 ** 16 });
    expect(await readAll(again.reader("a"))).toEqual([0, 1, ...range(Number(second!.slice(0, 16)), 100)]);
    expect(again.waiting).toBe(0);
  });

  it("begins anew if a cursor was damaged: packets are sent twice rather than lost", async () => {
    const folder = temporaryFolder();
    const spool = openSpool(folder);
    for (let n = 0; n < 3; n++) await spool.append(packet(n));
    spool.reader("a").acknowledge(0);
    spool.close();
    const cursor = readdirSync(folder).find((name) => name.endsWith(".cursor"))!;
    writeFileSync(join(folder, cursor), "nonsense");
    expect(await readAll(openSpool(folder).reader("a"))).toEqual([0, 1, 2]);
  });
});

describe("the cap", () => {
  it.each(["block", "drop-oldest"] as const)(
    "%s: a folder that is deleted takes no packet, and gives those that wait",
    async (policy) => {
      const folder = join(temporaryFolder(), "spool");
      const spool = openSpool(folder, { policy });
      const told: (string | null)[] = [];
      spool.onDisk = (problem) => told.push(problem);
      for (let n = 0; n < 3; n++) await spool.append(packet(n));
      renameSync(folder, `${folder}.away`);
      mkdirSync(folder);
      const end = new AbortController();
      const append = spool.append(packet(3), end.signal);
      await until(() => told.length > 0, "the problem");
      end.abort();
      expect(await append).toBe(false);
      expect(told[0]).toBe(`the folder ${folder} was deleted or replaced under the running agent; restart the agent`);
      expect(await readAll(spool.reader("a"))).toEqual([0, 1, 2]);
      // The same folder under its name again.
      rmdirSync(folder);
      renameSync(`${folder}.away`, folder);
      expect(await spool.append(packet(4))).toBe(true);
      expect(spool.diskProblem).toBe(null);
    },
  );

  it("drop-oldest: the oldest go, each is counted, and the files never pass the cap", async () => {
    const folder = temporaryFolder();
    const spool = openSpool(folder, { maxBytes: 2 ** 16, policy: "drop-oldest" });
    for (let n = 0; n < 1000; n++) {
      expect(await spool.append(packet(n, 500))).toBe(true);
      expect(spool.bytes).toBeLessThanOrEqual(2 ** 16);
    }
    const onDisk = segments(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(onDisk).toBe(spool.bytes);
    const left = await readAll(spool.reader("a"));
    expect(left).toEqual(range(1000 - left.length, 1000));
    expect(spool.stats.dropped.cap).toBe(1000 - left.length);
    expect(left.length).toBeGreaterThan(100);
  });

  it("drop-oldest: a sink that was in the middle goes on with the oldest that is left", async () => {
    const folder = temporaryFolder();
    const spool = openSpool(folder, { maxBytes: 2 ** 16, policy: "drop-oldest" });
    const reader = spool.reader("a");
    for (let n = 0; n < 5; n++) await spool.append(packet(n, 500));
    const held = (await reader.next(new AbortController().signal))!;
    for (let n = 5; n < 500; n++) await spool.append(packet(n, 500));
    reader.acknowledge(held.index);
    const left = await readAll(reader);
    expect(left).toEqual(range(500 - left.length, 500));
    expect(spool.waiting).toBe(0);
  });

  it("block: a packet waits until there is room, and nothing is dropped", async () => {
    const spool = openSpool(temporaryFolder(), { maxBytes: 2 ** 16 });
    const found: number[] = [];
    let written = 0;
    const writing = (async () => {
      for (let n = 0; n < 400; n++, written++) await spool.append(packet(n, 500));
    })();
    await until(() => spool.isBlocked, "a full spool");
    expect(written).toBeLessThan(130);
    while (found.length < 400) found.push(...(await readAll(spool.reader("a"))));
    await writing;
    expect(found).toEqual(range(0, 400));
    expect(spool.stats.dropped).toEqual({ cap: 0, disk: 0, "too large": 0 });
    expect(spool.isBlocked).toBe(false);
  });

  it("block: the signal ends the wait", async () => {
    const spool = openSpool(temporaryFolder(), { maxBytes: 2 ** 16 });
    const end = new AbortController();
    const writing = (async () => {
      for (let n = 0; ; n++) if (!(await spool.append(packet(n, 500), end.signal))) return n;
    })();
    await until(() => spool.isBlocked, "a full spool");
    end.abort();
    expect(await writing).toBeGreaterThan(100);
  });

  it("counts a packet that is larger than the cap, and goes on", async () => {
    const spool = openSpool(temporaryFolder(), { maxBytes: 2 ** 16 });
    expect(await spool.append(packet(0, 2 ** 16))).toBe(false);
    expect(await spool.append(packet(1))).toBe(true);
    expect(spool.stats.dropped["too large"]).toBe(1);
  });

  it("takes a packet of nearly the cap once what is there was acknowledged", async () => {
    const spool = openSpool(temporaryFolder(), { maxBytes: 2 ** 16 });
    for (let n = 0; n < 5; n++) {
      expect(await spool.append(packet(n, 2 ** 16 - 100))).toBe(true);
      expect(await readAll(spool.reader("a"))).toEqual([n]);
    }
  });
});

describe("a disk that is full", () => {
  /** A disk that takes so many bytes. A write that does not fit writes a part, as real ones do. */
  const smallDisk = (): Disk & { room: number } => {
    const disk = {
      ...realDisk,
      room: Infinity,
      write(file: number, bytes: Uint8Array, position: number) {
        if (bytes.length > 40 || disk.room <= 0) {
          const part = Math.min(bytes.length, disk.room);
          realDisk.write(file, bytes.subarray(0, part), position);
          disk.room -= part;
          if (part < bytes.length) throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
        } else realDisk.write(file, bytes, position);
      },
    };
    return disk;
  };

  it("drop-oldest: frees the oldest, counts them, says so, and recovers", async () => {
    const disk = smallDisk();
    const folder = temporaryFolder();
    const spool = openSpool(folder, { policy: "drop-oldest", maxBytes: 2 ** 17 }, ["a"], disk);
    for (let n = 0; n < 100; n++) await spool.append(packet(n, 500));
    disk.room = 250;
    expect(await spool.append(packet(100, 500))).toBe(false);
    expect(spool.diskProblem).toContain("ENOSPC");
    expect(spool.stats.dropped.disk).toBeGreaterThan(0);
    disk.room = Infinity;
    expect(await spool.append(packet(101, 500))).toBe(true);
    expect(spool.diskProblem).toBeNull();
    const left = await readAll(spool.reader("a"));
    expect(left.at(-1)).toBe(101);
    expect(left.length + spool.stats.dropped.disk).toBe(102);
  });

  it("block: waits, loses nothing, and leaves no half-written record", async () => {
    const disk = smallDisk();
    const folder = temporaryFolder();
    const spool = openSpool(folder, {}, ["a"], disk);
    const told: (string | null)[] = [];
    spool.onDisk = (problem) => told.push(problem);
    await spool.append(packet(0));
    disk.room = 60;
    const writing = spool.append(packet(1));
    await until(() => spool.isBlocked, "a full disk");
    expect(spool.diskProblem).toContain("ENOSPC");
    expect(readFileSync(join(folder, segments(folder)[0]!)).length).toBe(HEADER_BYTES + 100);
    disk.room = Infinity;
    expect(await writing).toBe(true);
    // Once for each turn, however often it tried.
    expect(told).toEqual(["ENOSPC: no space left", null]);
    expect(await readAll(spool.reader("a"))).toEqual([0, 1]);
  });
});

describe("a flush", () => {
  /** A disk that knows which files have bytes that a power cut would lose. */
  const forgetfulDisk = (): Disk & { readonly unflushed: Set<string> } => {
    const paths = new Map<number, string>();
    const unflushed = new Set<string>();
    return {
      ...realDisk,
      unflushed,
      create(path) {
        const file = realDisk.create(path);
        paths.set(file, path);
        return file;
      },
      write(file, bytes, position) {
        realDisk.write(file, bytes, position);
        unflushed.add(paths.get(file)!);
      },
      sync(file) {
        realDisk.sync(file);
        unflushed.delete(paths.get(file)!);
      },
    };
  };
  const unflushedSegments = ({ unflushed }: { readonly unflushed: Set<string> }): string[] =>
    [...unflushed].filter((path) => path.endsWith(".seg"));

  it("of each second reaches the segments that were ended in that second", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const disk = forgetfulDisk();
    const folder = temporaryFolder();
    const spool = openSpool(folder, { maxBytes: 2 ** 16, fsync: "second" }, ["a"], disk);
    for (let n = 0; n < 30; n++) await spool.append(packet(n, 400));
    expect(segments(folder).length).toBeGreaterThan(2);
    expect(unflushedSegments(disk)).toHaveLength(segments(folder).length);
    vi.advanceTimersByTime(1000);
    expect(unflushedSegments(disk)).toEqual([]);
  });

  it("leaves out segments that were removed in that second", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const spool = openSpool(temporaryFolder(), { maxBytes: 2 ** 16, fsync: "second", policy: "drop-oldest" });
    for (let n = 0; n < 500; n++) await spool.append(packet(n, 400));
    vi.advanceTimersByTime(1000);
    expect(spool.diskProblem).toBeNull();
  });

  it("that failed is tried again", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const disk = forgetfulDisk();
    let isBroken = true;
    const sync = (file: number): void => {
      if (isBroken) throw new Error("EIO");
      disk.sync(file);
    };
    const spool = openSpool(temporaryFolder(), { fsync: "second" }, ["a"], { ...disk, sync });
    await spool.append(packet(0));
    vi.advanceTimersByTime(1000);
    expect(spool.diskProblem).toBe("EIO");
    isBroken = false;
    vi.advanceTimersByTime(1000);
    expect(unflushedSegments(disk)).toEqual([]);
  });

  it("of each packet reaches a segment before the packet counts as written", async () => {
    const disk = forgetfulDisk();
    const spool = openSpool(temporaryFolder(), { maxBytes: 2 ** 16, fsync: "each" }, ["a"], disk);
    for (let n = 0; n < 30; n++) {
      await spool.append(packet(n, 400));
      expect(unflushedSegments(disk)).toEqual([]);
    }
  });
});

describe("the lock", () => {
  it("refuses a second process, and takes over that of a dead one", () => {
    const folder = temporaryFolder();
    // Process 1 lives, and is not this one.
    const [, rest = ""] = /\) (.*)$/s.exec(readFileSync("/proc/1/stat", "utf8")) ?? [];
    writeFileSync(join(folder, "lock"), `1 ${rest.split(" ")[19]}`);
    expect(() => lockFolder(folder)).toThrow(LockError);
    writeFileSync(join(folder, "lock"), "1 12345678901234");
    const unlock = lockFolder(folder);
    unlock();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("takes over a lock that was half-written", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "lock"), "");
    expect(() => lockFolder(folder)).not.toThrow();
  });
});
