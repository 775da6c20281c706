/** Records packets that the host refuses permanently. For a broker's packet this is the only trace. */
import { createHash } from "node:crypto";
import type { Transport } from "../core/metrics.ts";
import type { Database, Queries } from "boxwright-service/database";

/** Largest count of rows from brokers, and from HTTP. A row has at most 6 kB. */
const MOST_ROWS = 10_000;
const MOST_NAME = 512;

/** A refused packet as it is recorded. */
export interface RefusedRow {
  readonly at: number;
  readonly way: Transport;
  /** A subject and the sequence in the stream, a topic, or the sender of a request: `device:ID` or its address. */
  readonly place: string;
  /** Length of the packet. */
  readonly bytes: number;
  readonly source: string | null;
  readonly id: string | null;
  readonly reason: string;
  readonly message: string;
  /** Count of refusals in this row. The other fields are those of the last one. */
  readonly count: number;
}

export interface RefusedPacket extends Omit<RefusedRow, "at" | "count"> {
  /** The packet itself. Empty if a thread has it. */
  readonly content: Uint8Array;
}

/** Records a refused packet of a broker, once. Deletes the oldest records above MOST_ROWS. */
export async function recordRefused(db: Database, { content, ...packet }: RefusedPacket, now: number): Promise<void> {
  const hash = hashOf([packet.place, packet.source, packet.id], content);
  await db.write(async (tx) => {
    await insert(tx, hash, { ...packet, at: now, count: 1 }, "NOTHING");
    await deleteOldest(tx, "way <> 'http'", [], MOST_ROWS);
  });
}

/** Adds rows of refused requests, by their hashes. Keeps the newest `mostOfPlace` rows of each of their senders. */
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

/** Returns the packets that were refused last. */
export const refusedPackets = (db: Queries, limit: number): Promise<RefusedRow[]> =>
  db.all<RefusedRow>(
    "SELECT at, way, place, bytes, source, id, reason, message, count FROM refused ORDER BY at DESC, hash LIMIT ?",
    [limit],
  );

/** Returns the key of a row: of equal parts and bytes. */
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

/** Cuts outside text, and replaces control characters. PostgreSQL takes no NUL. */
const sanitise = (text: string, most: number): string =>
  text.slice(0, most).replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
