/**
 * The hub as a function from Node's request to its answer: the one file that knows the whole route.
 *
 *     request -> id, caller's address -> limit -> /graphql:  browser? POST? key? limit? body -> graphql.ts
 *                                              -> pages:     body -> pages/app.tsx
 *                                              -> /healthz, /readyz, /metrics, files
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "./core/config.ts";
import { isLoopback } from "./core/config.ts";
import type { Database } from "./database/database.ts";
import { databaseVersion, schemaVersion } from "./database/migrations.ts";
import { refusalBody, refusals, UnavailableError, type RefusalCode } from "./core/errors.ts";
import { createEndpoint, VALUES_A_REQUEST, type Context } from "./graphql/endpoint.ts";
import { sameText } from "./core/ids.ts";
import { hashKey, readKey, sameHash } from "./core/key.ts";
import type { Logger } from "./core/log.ts";
import { createMetrics, type Metrics } from "./core/metrics.ts";
import { LastUsed, lookUpKey, type KeyRow } from "./nouns/apikey.ts";
import { CONTENT_POLICY, createPages } from "./pages/app.tsx";
import { Passwords } from "./auth/password.ts";
import { callerOf, Quotas } from "./limits/bucket.ts";
import { readCredentials } from "./auth/teamkey.ts";

/** Of a GraphQL request; the longest query of 1000 tokens one would write is a tenth of it. */
export const MAX_BODY = 64 * 1024;
/** A body over the limit is read and thrown away up to here, so that its sender hears the answer; then the line is cut. */
const MAX_DISCARD = 1024 * 1024;
/** A failed key costs its address this much. */
const FAILED_KEY_COST = 3;
const FLUSH_MS = 60_000;
const READY_CACHE_MS = 1000;
const LINGER_MS = 1000;
const JSON_TYPE = /^application\/([\w.-]+\+)?json\b/i;

export interface HubOptions {
  readonly config: Config;
  readonly baseUrl: string;
  readonly db: Database;
  readonly log: Logger;
  readonly now?: () => number;
  readonly passwords?: Passwords;
}

export interface Hub {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** From now on /readyz answers 503 and connections are not kept. */
  drain(): void;
  flush(): Promise<void>;
  close(): Promise<void>;
  readonly metrics: Metrics;
  readonly passwords: Passwords;
  readonly endpoint: ReturnType<typeof createEndpoint>;
  readonly quotas: { readonly keys: Quotas; readonly addresses: Quotas };
}

type Body = { readonly kind: "ok"; readonly text: string } | { readonly kind: "refused"; readonly code: RefusalCode } | { readonly kind: "gone" };

const assets: ReadonlyMap<string, { readonly type: string; readonly body: Buffer }> = new Map(
  (
    [
      ["/app.css", "text/css; charset=utf-8"],
      ["/app.js", "text/javascript; charset=utf-8"],
    ] as const
  ).map(([path, type]) => [path as string, { type, body: readFileSync(new URL(`../public${path}`, import.meta.url)) }]),
);

export function createHub(options: HubOptions): Hub {
  const { config, db, log } = options;
  const now = options.now ?? Date.now;
  const metrics = createMetrics();
  const endpoint = createEndpoint();
  const lastUsed = new LastUsed();
  const passwords = options.passwords ?? new Passwords();
  const keyQuota = new Quotas({ rate: config.keyRate, burst: config.keyBurst });
  const addressQuota = new Quotas({ rate: config.addressRate, burst: config.addressBurst });
  const pages = createPages({ config, baseUrl: options.baseUrl, db, now, passwords, metrics, log });
  let draining = false;
  let ready: { readonly at: number; readonly answer: Promise<string | undefined> } | undefined;

  async function flush(): Promise<void> {
    try {
      await lastUsed.flush(db);
    } catch (error) {
      log.error({ err: error }, "times of last use could not be written; they are kept for the next time");
    }
  }
  const flusher = setInterval(() => void flush(), FLUSH_MS);
  flusher.unref();

  /** The address that limits count by. Each declared proxy adds one entry at the right end; what is left of those anyone can write. */
  function addressOf(request: IncomingMessage): string {
    const own = request.socket.remoteAddress ?? "unknown";
    if (config.proxyHops === 0) return callerOf(own);
    const forwarded = request.headers["x-forwarded-for"];
    const entries = typeof forwarded === "string" ? forwarded.split(",") : [];
    return callerOf(entries.at(-config.proxyHops)?.trim() || own);
  }

  /**
   * All headers in one flat array and the body in one piece: what Node writes without collecting anything first.
   */
  function send(response: ServerResponse, note: Note, status: number, type: string, body: string | Buffer, headers?: Readonly<Record<string, string>>): void {
    if (response.headersSent || response.destroyed) return;
    const flat = ["X-Request-Id", note.id, "X-Content-Type-Options", "nosniff", "Content-Type", type, "Content-Length", String(Buffer.byteLength(body))];
    if (headers?.["cache-control"] === undefined) flat.push("Cache-Control", "no-store");
    if (headers !== undefined) for (const name of Object.keys(headers)) if (name !== "content-type") flat.push(name, headers[name]!);
    if (draining) flat.push("Connection", "close");
    response.writeHead(status, flat);
    response.end(body);
  }

  function refuse(response: ServerResponse, note: Note, code: RefusalCode, headers?: Record<string, string>, detail = ""): void {
    send(response, note, refusals[code][0], "application/json; charset=utf-8", refusalBody(code, detail), headers);
  }

  function wrongMethod(request: IncomingMessage, response: ServerResponse, note: Note, allow: string): void {
    refuse(response, note, "method_not_allowed", { allow }, `: got ${request.method ?? "none"}, expected ${allow.replaceAll(",", " or")}`);
  }

  function limited(response: ServerResponse, note: Note, limit: string, seconds: number): void {
    metrics.limited.inc({ limit });
    refuse(response, note, "too_many_requests", { "retry-after": String(seconds) });
  }

  /** Reads at most `max` bytes, whether their number was declared or not. */
  function readBody(request: IncomingMessage, max: number): Promise<Body> {
    return new Promise((resolve) => {
      const encoding = request.headers["content-encoding"];
      if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
        resolve({ kind: "refused", code: "unsupported_encoding" });
        return;
      }
      if (Number(request.headers["content-length"] ?? 0) > MAX_DISCARD) {
        resolve({ kind: "refused", code: "body_too_large" });
        return;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      request.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size <= max) chunks.push(chunk);
        else {
          chunks.length = 0;
          if (size > MAX_DISCARD) resolve({ kind: "refused", code: "body_too_large" });
        }
      });
      request.on("end", () => {
        if (size > max) resolve({ kind: "refused", code: "body_too_large" });
        else {
          const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
          const text = bytes.toString("utf8");
          // The decoder puts U+FFFD for what is no UTF-8: then, and only then, encoding back gives other bytes.
          if (text.includes("\ufffd") && !Buffer.from(text).equals(bytes)) resolve({ kind: "refused", code: "invalid_encoding" });
          else resolve({ kind: "ok", text });
        }
      });
      request.on("error", () => resolve({ kind: "gone" }));
      request.on("close", () => resolve({ kind: "gone" }));
    });
  }

  /** `no_key`: the database was not asked. */
  async function judgeKey(
    token: string,
  ): Promise<{ readonly result: "no_key" | "unknown" | "revoked" } | { readonly result: "ok"; readonly id: string; readonly row: KeyRow }> {
    const id = readKey(token);
    if (id === undefined) return { result: "no_key" };
    const hash = hashKey(token);
    const row = await lookUpKey(db, id);
    // Compared in any case, so that an unknown id answers as slowly as a wrong secret.
    const same = sameHash(hash, row?.hash ?? "0".repeat(64));
    if (row === undefined || !same) return { result: "unknown" };
    return row.revoked_at === null ? { result: "ok", id, row } : { result: "revoked" };
  }

  async function graphql(request: IncomingMessage, response: ServerResponse, note: Note): Promise<void> {
    const { headers } = request;
    if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined) {
      refuse(response, note, "browser_request");
      return;
    }
    if (request.method !== "POST") {
      wrongMethod(request, response, note, "POST");
      return;
    }
    const credentials = readCredentials(authorizationOf(request));
    if (credentials.kind !== "bearer") {
      metrics.keyChecks.inc({ result: credentials.kind });
      if (credentials.kind === "none") refuse(response, note, "no_credentials", { "www-authenticate": 'Bearer realm="hub"' });
      else refuse(response, note, "invalid_request", { "www-authenticate": 'Bearer realm="hub", error="invalid_request"' }, `, got ${credentials.why}`);
      return;
    }
    const judged = await judgeKey(credentials.token);
    metrics.keyChecks.inc({ result: judged.result });
    if (judged.result !== "ok") {
      addressQuota.charge(note.address, now(), FAILED_KEY_COST);
      refuse(response, note, "invalid_token", { "www-authenticate": 'Bearer realm="hub", error="invalid_token"' });
      return;
    }
    const { id, row } = judged;
    note.key = id;
    note.team = row.team_id;
    const time = now();
    const wait = keyQuota.take(id, time);
    if (wait > 0) {
      limited(response, note, "key", wait);
      return;
    }
    lastUsed.note(id, time);
    const type = headers["content-type"];
    if (type === undefined || !/^application\/json\s*(;\s*charset="?utf-?8"?\s*)?;?$/i.test(type)) {
      refuse(response, note, "unsupported_type", undefined, `, got ${JSON.stringify(type?.slice(0, 80) ?? "none")}`);
      return;
    }
    const body = await readBody(request, MAX_BODY);
    if (body.kind === "gone") return;
    if (body.kind === "refused") {
      refuse(response, note, body.code);
      return;
    }
    const operation: Context = {
      db,
      team: { id: row.team_id, name: row.team_name },
      requestId: note.id,
      onInternalError: (error) => internal(note, error),
      cost: 0,
      fields: 0,
      values: 0,
      pages: new Map(),
      turn: Promise.resolve(),
    };
    // graphql-http judges the type again, and only knows it without spaces and quotes.
    const plain = { accept: headers.accept, "content-type": "application/json" };
    const [answer, init] = await endpoint.handle({ method: "POST", url: "/graphql", headers: plain, body: body.text, raw: undefined, context: { operation } });
    if (init.status === 406) {
      refuse(response, note, "not_acceptable");
      return;
    }
    const cost = operation.cost + Math.floor(operation.values / VALUES_A_REQUEST);
    if (cost > 0) {
      // The address pays too: a team may have any number of keys.
      keyQuota.charge(id, time, cost);
      addressQuota.charge(note.address, time, cost);
    }
    const contentType = init.headers?.["content-type"] ?? "application/json; charset=utf-8";
    send(response, note, init.status, contentType, answer ?? "", init.headers);
  }

  function internal(note: Note, error: unknown): void {
    metrics.internalErrors.inc();
    log.error({ request: note.id, route: note.route, err: error }, error instanceof UnavailableError ? "the database is away" : "internal error");
  }

  async function readiness(): Promise<string | undefined> {
    const version = await databaseVersion(db);
    return version === schemaVersion ? undefined : `got a database of schema version ${version}, expected ${schemaVersion}`;
  }

  async function readyz(response: ServerResponse, note: Note): Promise<void> {
    if (draining) {
      send(response, note, 503, "text/plain; charset=utf-8", "shutting down\n");
      return;
    }
    const time = now();
    // Anyone may ask, so the database is asked at most once a second.
    if (ready === undefined || Math.abs(time - ready.at) >= READY_CACHE_MS) {
      ready = {
        at: time,
        answer: readiness().catch((error: unknown) => {
          log.warn({ err: error }, "not ready");
          return "the database cannot be reached";
        }),
      };
    }
    const problem = await ready.answer;
    send(response, note, problem === undefined ? 200 : 503, "text/plain; charset=utf-8", `${problem ?? "ready"}\n`);
  }

  async function showMetrics(request: IncomingMessage, response: ServerResponse, note: Note): Promise<void> {
    const credentials = readCredentials(authorizationOf(request));
    const allowed =
      config.metricsToken === undefined
        ? config.proxyHops === 0 && isLoopback(callerOf(request.socket.remoteAddress ?? ""))
        : credentials.kind === "bearer" && sameText(credentials.token, config.metricsToken);
    if (!allowed) refuse(response, note, "not_found");
    else send(response, note, 200, metrics.registry.contentType, await metrics.registry.metrics());
  }

  async function page(request: IncomingMessage, response: ServerResponse, url: string, path: string, note: Note): Promise<void> {
    const method = request.method ?? "GET";
    if (method !== "GET" && method !== "HEAD" && method !== "POST") {
      wrongMethod(request, response, note, "GET, HEAD, POST");
      return;
    }
    if (method === "POST" && path === "/sign-in") {
      const refusal = pages.earlyRefusal(note.address);
      if (refusal !== undefined) {
        note.route = path;
        send(response, note, refusal.status, "text/html; charset=utf-8", refusal.html, {
          "retry-after": String(refusal.wait),
          "content-security-policy": CONTENT_POLICY,
        });
        return;
      }
    }
    const body = method === "POST" ? await readBody(request, MAX_BODY) : undefined;
    if (body?.kind === "gone") return;
    if (body?.kind === "refused") {
      refuse(response, note, body.code);
      return;
    }
    const headers = new Headers();
    for (const name of ["cookie", "origin", "sec-fetch-site", "content-type"]) {
      const value = request.headers[name];
      if (typeof value === "string") headers.set(name, value);
    }
    const answer = await pages.fetch(new Request(options.baseUrl + url, { method, headers, ...(body === undefined ? {} : { body: body.text }) }), {
      address: note.address,
      requestId: note.id,
      onInternalError: (error: unknown) => internal(note, error),
      afterAnswer: (work) => {
        const start = (): void => void work().catch((error: unknown) => internal(note, error));
        // Whoever hangs up before the answer does not get away with it.
        if (response.closed || response.destroyed) start();
        else response.once("close", start);
      },
    });
    note.route = answer.headers.get("x-route") ?? "page";
    answer.headers.delete("x-route");
    response.statusCode = answer.status;
    response.setHeader("x-request-id", note.id);
    response.setHeader("x-content-type-options", "nosniff");
    // Set-Cookie is the one header that may come twice.
    for (const [name, value] of answer.headers) if (name !== "set-cookie") response.setHeader(name, value);
    const cookies = answer.headers.getSetCookie();
    if (cookies.length > 0) response.setHeader("set-cookie", cookies);
    if (draining) response.setHeader("connection", "close");
    response.end(method === "HEAD" ? undefined : Buffer.from(await answer.arrayBuffer()));
  }

  async function route(request: IncomingMessage, response: ServerResponse, note: Note): Promise<void> {
    const target = request.url ?? "/";
    // An absolute address as the target is for proxies; the pages would resolve it against the wrong base.
    if (!target.startsWith("/") || target.startsWith("//")) {
      note.route = "other";
      refuse(response, note, "not_found");
      return;
    }
    const mark = target.indexOf("?");
    const path = mark < 0 ? target : target.slice(0, mark);
    if (path === "/healthz") {
      note.route = path;
      send(response, note, 200, "text/plain; charset=utf-8", "alive\n");
      return;
    }
    note.route = path === "/graphql" || path === "/readyz" || path === "/metrics" || assets.has(path) ? path : "page";
    const wait = addressQuota.take(note.address, now());
    if (wait > 0) {
      limited(response, note, "address", wait);
      return;
    }
    if (path === "/graphql") return graphql(request, response, note);
    if (path === "/readyz") return readyz(response, note);
    if (path === "/metrics") return showMetrics(request, response, note);
    // A client that has the address a little wrong: it wants JSON and no page about forms.
    if (request.method === "POST" && JSON_TYPE.test(request.headers["content-type"] ?? "")) {
      refuse(response, note, "not_found", undefined, ", expected /graphql");
      return;
    }
    const asset = assets.get(path);
    if (asset !== undefined) {
      if (request.method === "GET" || request.method === "HEAD") send(response, note, 200, asset.type, asset.body, { "cache-control": "public, max-age=300" });
      else wrongMethod(request, response, note, "GET, HEAD");
      return;
    }
    return page(request, response, target, path, note);
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const start = performance.now();
    const note: Note = { id: randomUUID(), address: addressOf(request), route: "other", key: undefined, team: undefined };
    response.on("close", () => {
      const seconds = (performance.now() - start) / 1000;
      const status = response.writableFinished ? response.statusCode : 499;
      metrics.requests.inc({ route: note.route, status });
      metrics.seconds.observe({ route: note.route }, seconds);
      // The route and never the address that was asked for: addresses carry one-time links, and whatever people paste.
      log.info({
        request: note.id,
        method: request.method,
        route: note.route,
        status,
        ms: Math.round(seconds * 1e5) / 100,
        address: note.address,
        key: note.key,
        team: note.team,
      });
      // A body that is still coming after the answer is read and thrown away for a moment, so that the sender hears the
      // answer; one that goes on is cut off.
      if (!request.complete) setTimeout(() => request.complete || request.destroy(), LINGER_MS).unref();
    });
    route(request, response, note).catch((error: unknown) => {
      internal(note, error);
      if (error instanceof UnavailableError) refuse(response, note, "unavailable", { "retry-after": "1" }, ` (request ${note.id})`);
      else refuse(response, note, "internal", undefined, ` (request ${note.id})`);
    });
  }

  return {
    handle,
    drain: () => void (draining = true),
    flush,
    close: async () => {
      clearInterval(flusher);
      await flush();
    },
    metrics,
    passwords,
    endpoint,
    quotas: { keys: keyQuota, addresses: addressQuota },
  };
}

/** Every Authorization header that was sent. (Node can tell too, but sorts all headers for it.) */
function authorizationOf({ rawHeaders }: IncomingMessage): string[] {
  const found: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 13 && name.toLowerCase() === "authorization") found.push(rawHeaders[i + 1]!);
  }
  return found;
}

/** What the log line of a request will say. */
interface Note {
  readonly id: string;
  readonly address: string;
  route: string;
  key: string | undefined;
  team: string | undefined;
}
