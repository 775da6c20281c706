/** Routes of readers: stored detections as NDJSON, and cameras with their counts. */
import { Readable } from "node:stream";
import type { Handler, Router } from "boxwright-service/http/router";
import { Refusal } from "../core/errors.ts";
import type { Database, Queries } from "boxwright-service/database";
import { CLOCK_SLACK_MS } from "../store/frames.ts";
import type { RefusedRequests } from "../store/refused-requests.ts";
import { refusedPackets } from "../store/refused.ts";
import { type Cursor, cameras, frameLine, framesInOrder, missingOf, readCursor } from "../store/query.ts";
import type { Guards } from "./guards.ts";

const MOST_FRAMES = 10_000;
const MOST_CAMERAS = 10_000;

export function addQueryRoutes(router: Router, db: Database, guards: Guards, now: () => number): void {
  const detections: Handler = async (exchange) => {
    const query = new URLSearchParams(exchange.search);
    const [source, subject, label, future, most] = ["source", "subject", "label", "future", "limit"].map(
      (name) => query.get(name) ?? undefined,
    );
    const limit = readLimit(most, 1000, MOST_FRAMES);
    const [after, before] = (["after", "before"] as const).map((name) => readPlace(query, name));
    if (after && before)
      throw new Refusal("foreign", "after, before: got both, expected one of them: each states an order of frames");
    if (label !== undefined && (source === undefined || subject === undefined))
      throw new Refusal("foreign", "label: got no source or subject, expected both: frames are looked up by camera");
    const filter = { source, subject, label, after, before, now: now(), isFuture: future === "1" };
    const frames = framesInOrder(db, filter, limit);
    // Request the first frame before the answer starts: a database error can then still become an HTTP status.
    const first = await frames.next();
    const lines = async function* (): AsyncGenerator<string> {
      if (first.done) return;
      yield frameLine(first.value);
      for await (const frame of frames) yield frameLine(frame);
    };
    exchange.sendStream(200, "application/x-ndjson", undefined, Readable.from(lines()));
  };

  const listCameras: Handler = async (exchange) => {
    const rows = await cameras(db, readLimit(exchange.query("limit"), 1000, MOST_CAMERAS));
    exchange.sendJson(200, {
      cameras: rows.map((row) => ({
        source: row.source,
        name: row.name,
        subject: row.subject === "" ? null : row.subject,
        frames: row.frames,
        detections: row.detections,
        missing: missingOf(row),
        lastTime: row.last_time,
        lastSequence: row.last_sequence,
        latencyMs: row.latency < -CLOCK_SLACK_MS ? null : row.latency,
        clockAheadMs: row.latency < -CLOCK_SLACK_MS ? -row.latency : null,
        storedAt: new Date(row.stored_at).toISOString(),
      })),
    });
  };
  router.get("/v1/detections", guards.readers(detections));
  router.get("/v1/cameras", guards.readers(listCameras));
}

/** Reads the cursor or time of a parameter. */
function readPlace(query: URLSearchParams, name: "after" | "before"): Cursor | undefined {
  const text = query.get(name);
  const cursor = text === null ? undefined : readCursor(text, name);
  if (text !== null && cursor === undefined)
    throw new Refusal(
      "foreign",
      `${name}: got ${JSON.stringify(text.slice(0, 60))}, expected a cursor of a line, or a time in RFC 3339`,
    );
  return cursor;
}

/** Adds the route that lists permanently refused packets. For a broker's packet, this list is the only trace. */
export function addRefusedRoute(router: Router, db: Queries, refused: RefusedRequests, guards: Guards): void {
  const list: Handler = async (exchange) => {
    const limit = readLimit(exchange.query("limit"), 100, MOST_FRAMES);
    await refused.write();
    const rows = await refusedPackets(db, limit);
    exchange.sendJson(200, { refused: rows.map(({ at, ...row }) => ({ at: new Date(at).toISOString(), ...row })) });
  };
  router.get("/v1/refused", guards.readers(list));
}

export function readLimit(text: string | undefined, fallback: number, most: number): number {
  if (text === undefined) return fallback;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > most)
    throw new Refusal("foreign", `limit: got ${JSON.stringify(text.slice(0, 40))}, expected 1 to ${most}`);
  return limit;
}
