/** Reads the packets of a spool in order for one sink, and records which packets the sink has acknowledged. */
import type { Bell } from "../core/wait.ts";
import type { Cursor } from "./cursor.ts";
import type { Segment, Spooled } from "./segment.ts";

export class Reader {
  readonly cursor: Cursor;
  readonly #segments: readonly Segment[];
  readonly #written: Bell;
  readonly #stats: { damaged: number };
  readonly #collect: () => void;
  /** Index of the packet to read next. */
  #next: number;
  /** Segment and byte position of the packet `#next`; null if unknown. */
  #place: { readonly segment: Segment; readonly at: number } | null = null;
  /** Indices of acknowledged packets after an unacknowledged one. The cursor cannot pass them yet. */
  readonly #early = new Set<number>();

  constructor(
    cursor: Cursor,
    segments: readonly Segment[],
    written: Bell,
    stats: { damaged: number },
    collect: () => void,
  ) {
    this.cursor = cursor;
    this.#segments = segments;
    this.#written = written;
    this.#stats = stats;
    this.#collect = collect;
    this.#next = cursor.index;
  }

  /** Waits for the next packet. Resolves to null if the signal aborts. */
  async next(signal: AbortSignal): Promise<Spooled | null> {
    while (!signal.aborted) {
      const packet = this.#read();
      if (packet) return packet;
      await this.#written.heard(signal);
    }
    return null;
  }

  /** True if the cursor is past a packet, which was then acknowledged or dropped. */
  isPast(index: number): boolean {
    return index < this.cursor.index;
  }

  /** Records that the receiver has a packet. Moves the cursor to the first unacknowledged packet. */
  acknowledge(index: number): void {
    if (index < this.cursor.index) return;
    this.#early.add(index);
    let next = this.cursor.index;
    while (this.#early.delete(next)) next++;
    if (next === this.cursor.index) return;
    this.cursor.move(next);
    this.#collect();
  }

  /** Moves the cursor past packets that the spool has dropped. */
  skipTo(index: number): void {
    if (this.#next < index) {
      this.#next = index;
      this.#place = null;
    }
    if (this.cursor.index >= index) return;
    let next = index;
    while (this.#early.delete(next)) next++;
    for (const early of this.#early) if (early < next) this.#early.delete(early);
    this.cursor.move(next);
  }

  #read(): Spooled | null {
    for (;;) {
      const segment = this.#segments.find(({ next }) => this.#next < next);
      if (!segment) return null;
      const at = this.#place?.segment === segment ? this.#place.at : segment.positionOf(this.#next);
      const record = segment.read(at);
      this.#place = { segment, at: record.end };
      if (record.bytes) {
        this.#next = record.index + 1;
        return { index: record.index, bytes: record.bytes };
      }
      // Acknowledge the packets of a damaged record, so that the cursor can pass them.
      this.#stats.damaged++;
      for (const last = record.index; this.#next <= last;) this.acknowledge(this.#next++);
    }
  }
}
