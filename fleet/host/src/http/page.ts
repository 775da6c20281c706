/** Routes of the live page: files, events and pictures. */
import { randomBytes } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Readable } from "node:stream";
import type { Handler, Router } from "boxwright-service/http/router";
import type { PoolStats } from "boxwright/pool";
import { UserError } from "boxwright-service/errors";
import { Refusal } from "../core/errors.ts";
import type { Metrics } from "../core/metrics.ts";
import type { Live } from "../live/live.ts";
import type { Previews } from "../live/previews.ts";
import type { Guards } from "./guards.ts";

export interface PageRoutes {
  readonly live: Live;
  readonly previews: Previews;
  readonly metrics: Metrics;
  readonly guards: Guards;
  readonly decoding: () => PoolStats | null;
}

const MOST_VIEWERS = 32;
/** Identifies this run of the host in event ids, since each run counts its events anew. */
const START = randomBytes(6).toString("hex");
/** Largest number of milliseconds between two events, by which proxies and the page see that the host is running. */
const BEAT_MS = 2000;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Reads the files of the built page into memory, so that no path of a request is opened as a file. */
function readPage(): ReadonlyMap<string, { readonly type: string; readonly bytes: Buffer<ArrayBuffer> }> {
  const folder = fileURLToPath(new URL("../../dist/page", import.meta.url));
  try {
    const names = readdirSync(folder, { recursive: true }).map(String);
    const files = names.filter((name) => TYPES[extname(name)] !== undefined);
    return new Map(
      files.map((name) => [
        name === "index.html" ? "/" : `/${name.replaceAll("\\", "/")}`,
        { type: TYPES[extname(name)]!, bytes: readFileSync(join(folder, name)) },
      ]),
    );
  } catch (error) {
    throw new UserError(`page: got no built page in ${folder}, expected one. Run npm run build`, { cause: error });
  }
}

export function addPageRoutes(router: Router, { live, previews, metrics, guards, decoding }: PageRoutes): void {
  for (const [path, { type, bytes }] of readPage())
    router.get(
      path,
      guards.readers((exchange) => exchange.send(200, type, bytes, { "cache-control": "no-cache" })),
    );

  const picture: Handler = (exchange, { key = "" }) => {
    const kept = previews.get(key);
    if (kept.length === 0) return exchange.sendJson(404, { error: "no picture" });
    const number = exchange.query("number");
    const preview = number === undefined ? kept[0] : kept.find((one) => String(one.number) === number);
    // Refuse an outdated number: otherwise, the page would draw one frame's boxes on another frame's picture.
    if (!preview) return exchange.sendJson(404, { error: "a newer picture is there" });
    exchange.send(200, preview.mime, new Uint8Array(preview.bytes), { "cache-control": "private, max-age=60" });
  };

  const events: Handler = (exchange) => {
    if (live.viewers >= MOST_VIEWERS)
      throw new Refusal("unavailable", `${MOST_VIEWERS} pages watch already`, { retryAfter: 10 });
    exchange.afterAnswer(live.watch());
    const states = async function* (): AsyncGenerator<string> {
      for (let since = versionIn(exchange.header("last-event-id")); ;) {
        const { version, cameras } = await live.changes(since, BEAT_MS);
        since = version;
        const own = { ...metrics.totals, ...decodingTotals(decoding()) };
        const data = JSON.stringify({ fleet: live.totals, totals: own, cameras });
        yield `event: state\ndata: ${data}\nid: ${START}-${version}\n\n`;
      }
    };
    exchange.sendStream(200, "text/event-stream", undefined, Readable.from(states(), { highWaterMark: 1 }));
  };
  router.get("/pictures/:key", guards.readers(picture));
  router.get("/events", guards.readers(events));
}

/** Returns the version after which the reader continues; 0 if the id is missing or comes from an earlier run. */
function versionIn(lastEventId: string | undefined): number {
  const [start, version] = lastEventId?.split("-") ?? [];
  return start === START && /^\d{1,15}$/.test(version ?? "") ? Number(version) : 0;
}

function decodingTotals(stats: PoolStats | null): object {
  if (!stats) return { decoded: 0, dropped: 0, waiting: 0, decodeP50: null, decodeP99: null };
  const { out, dropped, failed, waiting, running, decode } = stats;
  return {
    decoded: out,
    dropped: dropped + failed,
    waiting: waiting + running,
    decodeP50: decode.p50,
    decodeP99: decode.p99,
  };
}
