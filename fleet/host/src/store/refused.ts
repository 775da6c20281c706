/** Records packets that the host refuses permanently. For a broker's packet, this record is the only trace. */
import { createHash } from "node:crypto";
import type { Transport } from "../core/metrics.ts";
import type { Database, Queries } from "boxwright-service/database";

/**
 * Largest number of rows about packets of brokers, and also the largest number of rows about HTTP requests: 20,000 rows
 * in total. A row takes at most 6 kB.
 */
const MOST_ROWS = 10_000;
const MOST_NAME = 512;

/** A refused packet as it is recorded. */
export interface RefusedRow {
  readonly at: number;
  readonly way: Transport;
  /**
   * Origin of the packet: a subject with the stream's sequence, a topic, or the sender of a request (`device:ID` or an
   * address).
   */
  readonly place: string;
  /** Length of the packet in bytes. */
  readonly bytes: number;
  readonly source: string | null;
  readonly id: string | null;
  readonly reason: string;
  readonly message: string;
  /** Number of refusals in this row. The other fields belong to the last refusal. */
  readonly count: number;
}

export interface RefusedPacket extends Omit<RefusedRow, "at" | "count"> {
  /** Bytes of the packet. Empty if they were transferred to a thread. */
  readonly content: Uint8Array;
}

/** Records a refused packet of a broker, once. Deletes the oldest such records above MOST_ROWS. */
export async function recordRefused(db: Database, { content, ...packet }: RefusedPacket, now: number): Promise<void> {
  const hash = hashOf([packet.place, packet.source, packet.id], content);
  await db.write(async (tx) => {
    await insert(tx, hash, { ...packet, at: now, count: 1 }, "NOTHING");
    await deleteOldest(tx, "way <> 'http'", [], MOST_ROWS);
  });
}

/** Adds rows of refused requests, by their hashes. Keeps only the newest `mostOfPlace` rows of each sender. */
export async function addRefused(
  db: Database,
  rows: ReadonlyMap<string, RefusedRow>,
  mostOfPlace: number,
): Promise<void> {
  const newer = ["at", "bytes", "source", "id", "message"].map((name) => `${name} = excluded.${name}`).join(", ");
  await db.write(async (tx) => {
    for (const [hash, row] of rows)
      await insert(tx, hash, row, `UPDATE SET ${newer}, count = refused.count + excluded.count`);
    for (const place of new Set([...rows.values()].map((row) => row.place)))
      await deleteOldest(tx, "way = 'http' AND place = ?", [place], mostOfPlace);
    await deleteOldest(tx, "way = 'http'", [], MOST_ROWS);
  });
}

/** Returns the last refused packets. */
export const refusedPackets = (db: Queries, limit: number): Promise<RefusedRow[]> =>
  db.all<RefusedRow>(
    "SELECT at, way, place, bytes, source, id, reason, message, count FROM refused ORDER BY at DESC, hash LIMIT ?",
    [limit],
  );

/** Returns the key of a row: rows with equal parts and bytes have equal keys. */
export const hashOf = (parts: readonly unknown[], bytes?: Uint8Array): string =>
  createHash("sha256")
    .update(JSON.stringify(parts))
    .update("\n")
    .update(bytes ?? "")
    .digest("hex");

async function insert(tx: Queries, hash: string, row: RefusedRow, onConflict: string): Promise<void> {
  const { at, way, place, bytes, source, id, reason, message, count } = row;
  const name = (text: string | null): string | null => (text === null ? null : sanitise(text, MOST_NAME));
  await tx.all(
    `INSERT INTO refused (hash, at, way, place, bytes, source, id, reason, message, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO ${onConflict}`,
    [hash, at, way, sanitise(place, MOST_NAME), bytes, name(source), name(id), reason, sanitise(message, 300), count],
  );
}

async function deleteOldest(tx: Queries, where: string, params: readonly string[], most: number): Promise<void> {
  await tx.all(
    `DELETE FROM refused WHERE hash IN (SELECT hash FROM refused WHERE ${where} ORDER BY at DESC, hash LIMIT ? OFFSET ?)`,
    [...params, MOST_ROWS, most],
  );
}

/** Shortens a text from outside, and replaces control characters. PostgreSQL refuses NUL. */
const sanitise = (text: string, most: number): string =>
  text.slice(0, most).replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
