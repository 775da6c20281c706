/**
 * Queues the messages of webhooks in the database. Each row names a webhook and a frame. The transaction that stores
 * the frame also writes the row, so that every acknowledged frame has its messages. A cursor over stored frames would
 * miss some: hosts that share a database do not commit frames in the order of `stored_at`, and the cursor would pass
 * the late ones.
 */
import type { Database, Queries } from "boxwright-service/database";
import type { StoredFrame } from "./frames.ts";

/** Position of a message in its webhook's queue. */
export interface QueuePlace {
  readonly stored_at: number;
  readonly source: string;
  readonly id: string;
}

/** Position before the first message of any queue. */
export const QUEUE_START: QueuePlace = { stored_at: -1, source: "", id: "" };

export interface QueuedMessage {
  readonly place: QueuePlace;
  /** The frame; null if it was deleted meanwhile. */
  readonly frame: StoredFrame | null;
}

/** Adds messages about frames, in the transaction that stores them. */
export async function queueMessages(tx: Queries, hook: string, frames: readonly StoredFrame[]): Promise<void> {
  for (const { stored_at, source, id } of frames)
    await tx.all("INSERT INTO webhook_queue (hook, stored_at, source, id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", [
      ...[hook, stored_at, source, id],
    ]);
}

/** Returns the next messages of a webhook after a position. */
export async function queuedMessages(
  db: Queries,
  hook: string,
  after: QueuePlace,
  most: number,
): Promise<QueuedMessage[]> {
  type Row = StoredFrame & { readonly at: number; readonly frame_source: string; readonly frame_id: string };
  const rows = await db.all<Row>(
    `SELECT q.stored_at AS at, q.source AS frame_source, q.id AS frame_id, f.* FROM webhook_queue AS q
      LEFT JOIN frames AS f ON f.source = q.source AND f.id = q.id
      WHERE q.hook = ? AND q.dropped_at IS NULL AND (q.stored_at, q.source, q.id) > (?, ?, ?)
      ORDER BY q.stored_at, q.source, q.id LIMIT ?`,
    [hook, after.stored_at, after.source, after.id, most],
  );
  return rows.map(({ at, frame_source, frame_id, ...frame }) => ({
    place: { stored_at: at, source: frame_source, id: frame_id },
    frame: (frame.source as string | null) === null ? null : frame,
  }));
}

export async function removeMessages(db: Database, hook: string, places: readonly QueuePlace[]): Promise<void> {
  await db.write(async (tx) => {
    for (const { stored_at, source, id } of places)
      await tx.all("DELETE FROM webhook_queue WHERE hook = ? AND stored_at = ? AND source = ? AND id = ?", [
        ...[hook, stored_at, source, id],
      ]);
  });
}

/** A dropped message, which stays in the queue but is not tried again. */
export interface DroppedMessage {
  readonly hook: string;
  readonly stored_at: number;
  readonly source: string;
  readonly id: string;
  readonly dropped_at: number;
  readonly reason: string;
}

/** Marks a message as dropped. */
export async function markDropped(
  db: Database,
  hook: string,
  { stored_at, source, id }: QueuePlace,
  { at, reason }: { readonly at: number; readonly reason: string },
): Promise<void> {
  await db.write((tx) =>
    tx.all(
      "UPDATE webhook_queue SET dropped_at = ?, reason = ? WHERE hook = ? AND stored_at = ? AND source = ? AND id = ?",
      [at, reason, hook, stored_at, source, id],
    ),
  );
}

export const droppedMessages = (db: Queries, limit: number): Promise<DroppedMessage[]> =>
  db.all<DroppedMessage>(
    `SELECT hook, stored_at, source, id, dropped_at, reason FROM webhook_queue WHERE dropped_at IS NOT NULL
      ORDER BY dropped_at DESC, source, id LIMIT ?`,
    [limit],
  );

/** Queues all dropped messages again. Returns the number of these messages. */
export async function requeueDropped(db: Database): Promise<number> {
  const rows = await db.write((tx) =>
    tx.all(
      "UPDATE webhook_queue SET dropped_at = NULL, reason = NULL WHERE dropped_at IS NOT NULL RETURNING 1 AS done",
    ),
  );
  return rows.length;
}

export interface QueueCounts {
  readonly hook: string;
  readonly waiting: number;
  readonly dropped: number;
}

/** Counts the messages of each non-empty queue. */
export const queueCounts = (db: Queries): Promise<QueueCounts[]> =>
  db.all<QueueCounts>(
    "SELECT hook, count(*) - count(dropped_at) AS waiting, count(dropped_at) AS dropped FROM webhook_queue GROUP BY hook",
  );

/**
 * Removes messages about frames that were stored before the oldest remaining frame. Returns how many of these messages
 * were still waiting.
 */
export async function removeMessagesOfDeletedFrames(db: Database): Promise<number> {
  const rows = await db.write((tx) =>
    tx.all<{ dropped_at: number | null }>(
      "DELETE FROM webhook_queue WHERE stored_at < (SELECT coalesce(min(stored_at), ?) FROM frames) RETURNING dropped_at",
      [Number.MAX_SAFE_INTEGER],
    ),
  );
  return rows.filter(({ dropped_at }) => dropped_at === null).length;
}
