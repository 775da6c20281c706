/** Records packets of a broker that the host refuses for good. Nothing else remembers them. */
import { createHash } from "node:crypto";
import type { Way } from "../core/metrics.ts";
import type { Database, Queries } from "boxwright-service/database";

const MOST_ROWS = 10_000;

export interface RefusedPacket {
  readonly way: Way;
  /** Where the broker had it: a subject and the sequence in the stream, or a topic. */
  readonly place: string;
  readonly bytes: Uint8Array;
  readonly source: string | null;
  readonly id: string | null;
  readonly reason: string;
  readonly message: string;
}

/** Records a refused packet, once. Deletes the oldest records above MOST_ROWS. */
export async function recordRefused(db: Database, packet: RefusedPacket, now: number): Promise<void> {
  const { way, place, bytes, source, id, reason, message } = packet;
  const hash = createHash("sha256").update(place).update("\n").update(bytes).digest("hex");
  await db.write(async (tx) => {
    await tx.all(
      "INSERT INTO refused (hash, at, way, place, bytes, source, id, reason, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
      [hash, now, way, place, bytes.length, source, id, reason, sanitise(message)],
    );
    await tx.all(
      "DELETE FROM refused WHERE at < (SELECT min(at) FROM (SELECT at FROM refused ORDER BY at DESC LIMIT ?) AS newest)",
      [MOST_ROWS],
    );
  });
}

/** A refused packet as it was recorded. */
export interface RefusedRow extends Omit<RefusedPacket, "bytes"> {
  readonly at: number;
  /** Length of the packet. */
  readonly bytes: number;
}

/** Returns the packets that were refused last. */
export const refusedPackets = (db: Queries, limit: number): Promise<RefusedRow[]> =>
  db.all<RefusedRow>(
    "SELECT at, way, place, bytes, source, id, reason, message FROM refused ORDER BY at DESC, hash LIMIT ?",
    [limit],
  );

/** Cuts a text from outside to 300 characters, and replaces control characters. */
const sanitise = (text: string): string => text.slice(0, 300).replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
