/** The live page: its files, its events, and the pictures it shows. */
import { randomBytes } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import type { PoolStats } from "boxwright/pool";
import { UserError } from "boxwright-service/errors";
import { Refusal } from "../core/errors.ts";
import type { Metrics } from "../core/metrics.ts";
import type { Live } from "../live/live.ts";
import type { Previews } from "../live/previews.ts";
import type { Env, Guards } from "./guards.ts";

export interface PageRoutes {
  readonly live: Live;
  readonly previews: Previews;
  readonly metrics: Metrics;
  readonly guards: Guards;
  readonly decoding: () => PoolStats | null;
}

const MOST_VIEWERS = 32;
/** Names this start of the host in the ids of events: another start counts anew. */
const START = randomBytes(6).toString("hex");
/** Longest time between two events: proxies and the page see by them that the host is there. */
const BEAT_MS = 2000;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Reads the files of the built page into memory, so that no request ever becomes a path. */
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

export function addPageRoutes(app: Hono<Env>, { live, previews, metrics, guards, decoding }: PageRoutes): void {
  for (const [path, { type, bytes }] of readPage())
    app.get(path, guards.readers, (c) => c.body(bytes, 200, { "Content-Type": type, "Cache-Control": "no-cache" }));

  app.get("/pictures/:key", guards.readers, (c) => {
    const kept = previews.get(c.req.param("key"));
    if (kept.length === 0) return c.json({ error: "no picture" }, 404);
    const number = c.req.query("number");
    const preview = number === undefined ? kept[0] : kept.find((one) => String(one.number) === number);
    // Refuse an outdated number: the page would draw boxes of one frame on the picture of another.
    if (!preview) return c.json({ error: "a newer picture is there" }, 404);
    const bytes = new Uint8Array(preview.bytes);
    return c.body(bytes, 200, { "Content-Type": preview.mime, "Cache-Control": "private, max-age=60" });
  });

  app.get("/events", guards.readers, (c) => {
    if (live.viewers >= MOST_VIEWERS)
      throw new Refusal("unavailable", `${MOST_VIEWERS} pages watch already`, { retryAfter: 10 });
    const end = live.watch();
    const first = versionIn(c.req.header("Last-Event-ID"));
    return streamSSE(c, async (out) => {
      out.onAbort(end);
      for (let since = first; !out.aborted;) {
        const { version, cameras } = await live.changes(since, BEAT_MS);
        if (out.aborted) break;
        since = version;
        const own = { ...metrics.totals, ...decodingTotals(decoding()) };
        const data = JSON.stringify({ fleet: live.totals, totals: own, cameras });
        await out.writeSSE({ event: "state", data, id: `${START}-${version}` });
      }
    });
  });
}

/** Returns the version after which a reader continues; 0 if the id is missing or of an earlier start. */
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
