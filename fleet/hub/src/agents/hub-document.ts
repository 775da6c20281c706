/**
 * GET /.well-known/boxwright-hub.json: the public keys for checking tokens, and the devices whose tokens are void.
 * Hosts read this document every 30 s. The document is public, since a device's id gives no access.
 */
import type { HubDocument } from "boxwright-service/schema/protocol";
import { sha256 } from "../core/ids.ts";
import { refuseMethod } from "../http/refusals.ts";
import type { Handler } from "boxwright-service/http/router";
import type { Services } from "../http/services.ts";
import { listRevocations } from "../nouns/credential.ts";
import { loadSigner } from "../nouns/signing.ts";

/**
 * Smallest number of milliseconds between two database queries, since anybody may request the document. Below a second,
 * so that hosts refuse a revoked device within their `hubSeconds`.
 */
const CACHE_MS = 500;

interface Page {
  readonly at: number;
  readonly text: string;
  readonly etag: string;
}

export function createHubDocument({ db, now, baseUrl }: Services): Handler {
  let last: Promise<Page> | undefined;
  let lastAt = -Infinity;

  async function read(at: number): Promise<Page> {
    const { publicKeys } = await loadSigner(db, at);
    const document = { issuer: baseUrl, keys: publicKeys, revoked: await listRevocations(db) };
    const text = JSON.stringify(document satisfies HubDocument);
    return { at, text, etag: `"${sha256(text).slice(0, 32)}"` };
  }

  return async (exchange) => {
    if (exchange.method !== "GET" && exchange.method !== "HEAD") return refuseMethod(exchange, "GET, HEAD");
    const at = now();
    // Query again also if the clock was set back.
    if (last === undefined || Math.abs(at - lastAt) >= CACHE_MS) {
      lastAt = at;
      last = read(at);
      // Query again after a failure: do not cache the error.
      last.catch(() => (last = undefined));
    }
    const { text, etag } = await last;
    const headers = { etag, "cache-control": "no-cache" };
    if (exchange.header("if-none-match") === etag) exchange.send(304, "application/json", "", headers);
    else exchange.send(200, "application/json; charset=utf-8", text, headers);
  };
}
