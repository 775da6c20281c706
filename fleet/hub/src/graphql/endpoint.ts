/**
 * POST /graphql. Checks the sender (no browser), method, key, limits, content type and body in the order of
 * docs/endpoint.md, then runs the query.
 */
import type { IncomingHttpHeaders } from "node:http";
import { judgeKey, readCredentials } from "../auth/teamkey.ts";
import { readText } from "boxwright-service/http/body";
import { authorizationOf } from "boxwright-service/http/caller";
import type { Exchange, Sender } from "boxwright-service/http/exchange";
import { refuse, refuseLimited, refuseMethod } from "../http/refusals.ts";
import type { Handler, Params } from "boxwright-service/http/router";
import { reportError, type Services } from "../http/services.ts";
import { Buckets } from "boxwright-service/bucket";
import { LastUsed, type KeyRow } from "../nouns/apikey.ts";
import { readStates } from "../nouns/device-query.ts";
import { tagsOfMany } from "../nouns/device-tag.ts";
import { groupsOfMany } from "../nouns/group.ts";
import { mayChange, mayRead, parseScopes, type Area } from "../nouns/key-scope.ts";
import { Batch } from "./batch.ts";
import { DevicePages } from "./device.ts";
import type { Documents } from "./documents.ts";
import { Values } from "./values.ts";
import { createProtocol, type Operation } from "./protocol.ts";

/** Largest number of bytes in a request. The longest sensible query, of 1,000 tokens, takes a tenth of these bytes. */
export const MAX_BODY = 64 * 1024;
/** A request with a wrong key counts as this many more requests of the sender's address. */
const FAILED_KEY_COST = 3;
/** An answer counts as one more request per this many values, which take as long to read as ten ordinary requests. */
const VALUES_A_REQUEST = 1000;
const JSON_IN_UTF8 = /^application\/json\s*(;\s*charset="?utf-?8"?\s*)?;?$/i;

/** Team of an API key, and the key's name in the audit. */
export interface KeyHolder {
  readonly teamId: string;
  readonly actor: string;
}

export type KeyHandler = (exchange: Exchange, params: Params, holder: KeyHolder) => Promise<void> | void;

export interface Endpoint {
  /**
   * Returns a handler for a path beside /graphql that requires an API key. Methods other than GET and HEAD need a key
   * that may change the area.
   */
  readonly forKey: (area: Area, handler: KeyHandler) => Handler;
  readonly handle: (exchange: Exchange) => Promise<void>;
  readonly documents: Documents;
  /** Counts the requests of each key. */
  readonly keys: Buckets;
  readonly lastUsed: LastUsed;
}

/** A valid API key and its team. */
interface Caller {
  readonly id: string;
  readonly row: KeyRow;
}

export function createEndpoint(services: Services): Endpoint {
  const { config, db, now, addresses } = services;
  const protocol = createProtocol();
  const keys = new Buckets({ rate: config.keyRate, burst: config.keyBurst });
  const lastUsed = new LastUsed();
  const admit = createGate(services, keys, lastUsed);

  const forKey: Endpoint["forKey"] = (area, handler) => {
    return async (exchange, params) => {
      if (isBrowser(exchange.request.headers)) return refuse(exchange, "browser_request");
      const caller = await admit(exchange);
      if (caller === undefined) return;
      const may = ["GET", "HEAD"].includes(exchange.method) ? mayRead : mayChange;
      if (!may(parseScopes(caller.row.scopes), area)) return refuse(exchange, "missing_scope", `, expected ${area}`);
      await handler(exchange, params, { teamId: caller.row.team_id, actor: `key ${caller.id}` });
    };
  };

  async function handle(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    if (isBrowser(request.headers)) return refuse(exchange, "browser_request");
    if (exchange.method !== "POST") return refuseMethod(exchange, "POST");
    const caller = await admit(exchange);
    if (caller === undefined) return;
    const type = request.headers["content-type"];
    if (type === undefined || !JSON_IN_UTF8.test(type))
      return refuse(exchange, "unsupported_type", `, got ${JSON.stringify(type?.slice(0, 80) ?? "none")}`);
    await execute(exchange, caller, now(), await readText(exchange, { most: MAX_BODY }));
  }

  async function execute(exchange: Exchange, { id, row }: Caller, time: number, body: string): Promise<void> {
    const values = new Values();
    const team = { id: row.team_id, name: row.team_name };
    const actor = `key ${id}`;
    const operation: Operation = {
      ...services,
      team,
      actor,
      change: () => ({ now: now(), actor, teamId: team.id }),
      scopes: parseScopes(row.scopes),
      values,
      devices: new DevicePages({ ...services, team, values }),
      states: new Batch((ids) => readStates(db, team.id, ids)),
      desiredVersions: new Batch((ids) => services.desired.latest(team.id, ids)),
      tags: new Batch((ids) => tagsOfMany(db, team.id, ids)),
      groups: new Batch((ids) => groupsOfMany(db, team.id, ids)),
      requestId: exchange.id,
      onInternalError: (error) => reportError(services, exchange, error),
      cost: 0,
    };
    const reply = await protocol.handle(body, exchange.request.headers.accept, operation);
    if (reply === undefined) return refuse(exchange, "not_acceptable");
    const cost = operation.cost + Math.floor(values.total / VALUES_A_REQUEST);
    if (cost > 0) {
      // Charge the address too, since a team may have many keys.
      keys.charge(id, time, cost);
      addresses.charge(exchange.address, time, cost);
    }
    exchange.send(reply.status, reply.type, reply.body, reply.headers);
  }

  return { handle, forKey, documents: protocol.documents, keys, lastUsed };
}

/** Checks and rate-limits requests by their key. */
function createGate(services: Services, keys: Buckets, lastUsed: LastUsed) {
  const { now, metrics } = services;
  /** Returns the caller, or answers with a refusal. */
  return async (exchange: Exchange): Promise<Caller | undefined> => {
    const caller = await authenticate(services, exchange);
    if (caller === undefined) return undefined;
    const time = now();
    const wait = keys.take(caller.id, time);
    if (wait > 0) {
      refuseLimited(exchange, metrics, "key", wait);
      return undefined;
    }
    lastUsed.note(caller.id, time);
    return caller;
  };
}

/** Returns the caller that the key belongs to, or answers with a refusal. */
async function authenticate(
  { db, now, addresses, metrics }: Services,
  exchange: Exchange,
): Promise<Caller | undefined> {
  const credentials = readCredentials(authorizationOf(exchange.request));
  if (credentials.kind !== "bearer") {
    metrics.keyChecks.inc({ result: credentials.kind });
    if (credentials.kind === "none") refuse(exchange, "no_credentials", misplaced(exchange), challenge());
    else refuse(exchange, "invalid_request", `, got ${credentials.why}`, challenge("invalid_request"));
    return undefined;
  }
  if (/^bw[ad]_/.test(credentials.token)) {
    metrics.keyChecks.inc({ result: "device" });
    addresses.charge(exchange.address, now(), FAILED_KEY_COST);
    refuse(exchange, "device_credential");
    return undefined;
  }
  const judged = await judgeKey(db, credentials.token, now());
  metrics.keyChecks.inc({ result: judged.result });
  if (judged.result !== "ok") {
    addresses.charge(exchange.address, now(), FAILED_KEY_COST);
    refuse(exchange, "invalid_token", "", challenge("invalid_token"));
    return undefined;
  }
  Object.assign(exchange.sender, { key: judged.id, team: judged.row.team_id } satisfies Sender);
  return judged;
}

/** True if a web page sent the request. Ignores Sec-Fetch-Mode, which Node's own fetch sends too. */
function isBrowser(headers: IncomingHttpHeaders): boolean {
  return headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
}

/** Headers in which clients of other services send their keys. */
const OTHER_HEADERS = ["x-api-key", "api-key", "apikey", "x-auth-token", "x-access-token", "x-hub-api-key"];

/** Returns a hint that names the header with the misplaced key, or an empty text. */
function misplaced({ request }: Exchange): string {
  const name = OTHER_HEADERS.find((header) => request.headers[header] !== undefined);
  return name === undefined ? "" : `; the hub does not read ${name}`;
}

function challenge(error?: "invalid_request" | "invalid_token"): { "www-authenticate": string } {
  return { "www-authenticate": `Bearer realm="hub"${error === undefined ? "" : `, error="${error}"`}` };
}
