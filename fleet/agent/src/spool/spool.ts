/**
 * The spool keeps packets on disk until every sink has acknowledged them. A packet is written before a sink sends it.
 * Segment files hold the packets in order. A segment is deleted when the cursor of each sink is past it.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "boxwright-service/errors";
import { sha256 } from "../core/ids.ts";
import { Bell, wait } from "../core/wait.ts";
import type { SpoolSettings } from "../settings/schema.ts";
import { Cursor } from "./cursor.ts";
import { makeFolder, syncFolder } from "../core/files.ts";
import { type Disk, realDisk } from "./disk.ts";
import { Reader } from "./reader.ts";
import { HEADER_BYTES } from "./record.ts";
import { Segment } from "./segment.ts";

/** Number of segments in a full spool. The policy `drop-oldest` drops one segment at a time. */
const SEGMENTS = 16;
const MOST_SEGMENT_BYTES = 2 ** 24;
/** Milliseconds between two attempts to write to a full disk. */
const RETRY = 1000;

/** Why packets were lost: the size limit, a full or broken disk, or a packet larger than the limit. */
export type DropReason = "cap" | "disk" | "too large";

/** Counts of a spool. The spool updates the object in place. */
export interface SpoolStats {
  /** Packets written. */
  written: number;
  /** Packets lost, by reason. */
  readonly dropped: Record<DropReason, number>;
  /** Number of damaged records: packets or ends of segments with wrong checksums. */
  damaged: number;
}

/** Returns device and inode of a file or folder as text, or an empty text if it is missing. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.dev} ${stat.ino}`;
}

export class Spool {
  readonly stats: SpoolStats = { written: 0, dropped: { cap: 0, disk: 0, "too large": 0 }, damaged: 0 };
  /** Error message of the last failed write, flush or new segment. Null after a successful write. */
  diskProblem: string | null = null;
  /** True while packets wait for free space. */
  isBlocked = false;
  /** Called with the reason when the disk fails, and with null when it works again. */
  onDisk: (problem: string | null) => void = () => undefined;
  /** Called after packets were dropped. */
  onDrop: (reason: DropReason, count: number) => void = () => undefined;
  readonly #folder: string;
  readonly #settings: SpoolSettings;
  readonly #disk: Disk;
  readonly #segments: Segment[] = [];
  readonly #readers = new Map<string, Reader>();
  /** Rings when a packet has been written. */
  readonly #written = new Bell();
  /** Rings when a packet has been acknowledged, or a segment deleted. */
  readonly #freed = new Bell();
  readonly #timer: NodeJS.Timeout;
  /** Segments with bytes that are not flushed yet. */
  readonly #unflushed = new Set<Segment>();
  /** Device and inode of the folder. */
  readonly #identity: string;
  /** True if a segment was created after the folder's list of files was last flushed. */
  #isFolderUnflushed = false;

  /**
   * Opens a spool. Creates its folder if it is missing.
   * @param sinks names of the sinks, each of which has a cursor
   */
  constructor(folder: string, sinks: readonly string[], settings: SpoolSettings, disk: Disk = realDisk) {
    this.#folder = folder;
    this.#settings = settings;
    this.#disk = disk;
    makeFolder(folder);
    this.#identity = identityOf(folder);
    this.#openSegments();
    for (const name of sinks) {
      const cursor = new Cursor(join(folder, `${sha256(name).slice(0, 16)}.cursor`), disk);
      const { first } = this.#segments[0]!;
      const { next } = this.#segments.at(-1)!;
      // Start a new sink at the oldest packet. Move back a cursor that is ahead of the packets, since a power failure
      // can lose unflushed packets but keep the cursor.
      if (cursor.index < first || cursor.index > next) {
        cursor.move(cursor.index > next ? next : first);
        // Flush the move back: after another power failure, the old cursor would skip the next packets.
        cursor.sync();
      }
      this.#readers.set(name, new Reader(cursor, this.#segments, this.#written, this.stats, () => this.#collect()));
    }
    this.#collect();
    this.#timer = setInterval(() => {
      this.look();
      if (settings.fsync === "second") this.#tryFlush();
    }, 1000).unref();
  }

  /**
   * Checks that the path still leads to the opened folder. Otherwise, packets would be written to deleted files, which
   * vanish with the process.
   */
  look(): void {
    const isThere = identityOf(this.#folder) === this.#identity && identityOf(this.#segments.at(-1)!.path) !== "";
    if (!isThere) this.#noteDisk(this.#goneProblem);
    else if (this.diskProblem === this.#goneProblem) this.#noteDisk(null);
  }

  get #goneProblem(): string {
    return `the folder ${this.#folder} was deleted or replaced under the running agent; restart the agent`;
  }

  /** Number of bytes of all segments. */
  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Number of packets that at least one sink has not acknowledged. */
  get waiting(): number {
    return this.#segments.at(-1)!.next - this.#firstNeeded();
  }

  /** Returns the reader of one sink. */
  reader(sink: string): Reader {
    return this.#readers.get(sink)!;
  }

  /**
   * Writes a packet. With the policy "block", waits while the spool or the disk is full.
   * @returns true if the packet is on disk; false if it was dropped and counted, or the signal ended the wait
   */
  async append(packet: Uint8Array, signal?: AbortSignal): Promise<boolean> {
    const size = packet.length + HEADER_BYTES;
    if (size > this.#settings.maxBytes) {
      this.#countDrop("too large", 1);
      return false;
    }
    try {
      while (!signal?.aborted) {
        if (!this.#makeRoom(size)) {
          this.isBlocked = true;
          await this.#freed.heard(signal, RETRY);
        } else if (this.#tryWrite(packet)) {
          return true;
        } else if (this.#settings.policy === "drop-oldest") {
          // Do not drop packets if the folder is gone: dropping would free no space, and waiting packets can still be
          // sent.
          if (this.diskProblem !== this.#goneProblem && this.#dropOldest("disk")) continue;
          this.#countDrop("disk", 1);
          return false;
        } else {
          this.isBlocked = true;
          await wait(RETRY, signal);
          // Close and delete the growing segment too if all of its packets are acknowledged, since its space may be
          // enough.
          this.#collect(true);
        }
      }
      return false;
    } finally {
      this.isBlocked = false;
    }
  }

  /** Waits until each sink has acknowledged every packet. */
  async drained(signal?: AbortSignal): Promise<void> {
    while (this.waiting > 0 && !signal?.aborted) await this.#freed.heard(signal, RETRY);
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#settings.fsync !== "never") this.#tryFlush();
    for (const reader of this.#readers.values()) reader.cursor.close();
    for (const segment of this.#segments) segment.close();
  }

  #openSegments(): void {
    const firsts = readdirSync(this.#folder)
      .filter((name) => /^\d{16}\.seg$/.test(name))
      .map((name) => Number(name.slice(0, 16)))
      .sort((a, b) => a - b);
    firsts.forEach((first, i) => {
      const { segment, rest } = Segment.open(this.#folder, first, i === firsts.length - 1, this.#disk);
      if (rest > 0) this.stats.damaged++;
      // Include packets with damaged headers. Their number follows from the next segment's name, which is its first
      // index.
      segment.next = firsts[i + 1] ?? segment.next;
      this.#segments.push(segment);
    });
    if (this.#segments.length === 0) this.#createSegment(0);
  }

  /** Makes space for `size` bytes below the limit. Returns false if the policy or the disk does not allow that. */
  #makeRoom(size: number): boolean {
    if (this.bytes + size > this.#settings.maxBytes) this.#collect(true);
    while (this.bytes + size > this.#settings.maxBytes)
      if (this.#settings.policy === "block" || !this.#dropOldest("cap")) return false;
    return true;
  }

  /** Writes a packet. Returns false if the disk fails. */
  #tryWrite(packet: Uint8Array): boolean {
    this.look();
    if (this.diskProblem === this.#goneProblem) return false;
    try {
      let last = this.#segments.at(-1)!;
      const most = Math.min(this.#settings.maxBytes / SEGMENTS, MOST_SEGMENT_BYTES);
      if (last.bytes > 0 && last.bytes + packet.length > most) last = this.#createSegment(last.next);
      last.append(packet);
      this.#unflushed.add(last);
      if (this.#settings.fsync === "each") this.#flush();
    } catch (error) {
      this.#noteDisk(messageOf(error));
      return false;
    }
    this.#noteDisk(null);
    this.stats.written++;
    this.#written.ring();
    return true;
  }

  #noteDisk(problem: string | null): void {
    const isNew = (problem === null) !== (this.diskProblem === null);
    this.diskProblem = problem;
    if (isNew) this.onDisk(problem);
  }

  /** Creates the next growing segment. */
  #createSegment(first: number): Segment {
    const segment = Segment.create(this.#folder, first, this.#disk);
    this.#segments.push(segment);
    this.#isFolderUnflushed = true;
    return segment;
  }

  /** Ends the growing segment and creates the next one. Returns false if the disk fails. */
  #tryEndSegment(): boolean {
    try {
      this.#createSegment(this.#segments.at(-1)!.next);
      return true;
    } catch (error) {
      this.#noteDisk(messageOf(error));
      return false;
    }
  }

  /** Index of the first packet that some sink has not acknowledged. */
  #firstNeeded(): number {
    const { next } = this.#segments.at(-1)!;
    return Math.min(next, ...[...this.#readers.values()].map(({ cursor }) => cursor.index));
  }

  /**
   * Deletes the segments that all cursors have passed.
   * @param isLastToo true: closes and deletes the growing segment too, if all of its packets are acknowledged
   */
  #collect(isLastToo = false): void {
    const needed = this.#firstNeeded();
    const last = this.#segments.at(-1)!;
    if (isLastToo && last.bytes > 0 && last.next <= needed) this.#tryEndSegment();
    while (this.#segments.length > 1 && this.#segments[0]!.next <= needed) this.#removeFirst();
    this.#freed.ring();
  }

  /**
   * Drops the oldest segment, even if sinks still need it. Returns false if there is no packet to drop, or if the disk
   * fails.
   */
  #dropOldest(reason: "cap" | "disk"): boolean {
    const oldest = this.#segments[0]!;
    if (this.#segments.length === 1) {
      if (oldest.bytes === 0 || !this.#tryEndSegment()) return false;
    }
    const needed = Math.max(oldest.first, Math.min(oldest.next, this.#firstNeeded()));
    this.#countDrop(reason, oldest.next - needed);
    for (const reader of this.#readers.values()) reader.skipTo(oldest.next);
    this.#removeFirst();
    this.#freed.ring();
    return true;
  }

  #countDrop(reason: DropReason, count: number): void {
    if (count === 0) return;
    this.stats.dropped[reason] += count;
    this.onDrop(reason, count);
  }

  #removeFirst(): void {
    const segment = this.#segments.shift()!;
    this.#unflushed.delete(segment);
    segment.remove();
  }

  /**
   * Flushes all segments written since the last flush, and the folder if there is a new segment.
   * @throws the error of the disk; the next flush then tries again
   */
  #flush(): void {
    for (const segment of this.#unflushed) {
      segment.sync();
      this.#unflushed.delete(segment);
    }
    if (!this.#isFolderUnflushed) return;
    syncFolder(this.#folder);
    this.#isFolderUnflushed = false;
  }

  /** Flushes packets and cursors if a packet was written. An error of the disk is recorded and not thrown. */
  #tryFlush(): void {
    if (this.#unflushed.size === 0) return;
    try {
      this.#flush();
      for (const { cursor } of this.#readers.values()) cursor.sync();
    } catch (error) {
      this.#noteDisk(messageOf(error));
    }
  }
}
