/**
 * Checks who sends a request: agents and readers need tokens. Without configured tokens, only requests from this
 * machine are allowed.
 */
import { Buckets } from "boxwright-service/bucket";
import type { Logger } from "boxwright-service/log";
import type { AnswerHeaders, Exchange } from "boxwright-service/http/exchange";
import type { Handler } from "boxwright-service/http/router";
import { isLoopback } from "boxwright-service/schema/options";
import { tokenCheck } from "boxwright-service/tokens";
import { type DeviceTokens, isDeviceToken } from "../access/device-tokens.ts";
import type { Config } from "../core/config.ts";
import type { Metrics } from "../core/metrics.ts";
import { tokenOf } from "../core/token.ts";

/** Wraps a handler, so that only allowed requests reach it. The guard answers all others. */
export type Guard = (handler: Handler) => Handler;

export interface Guards {
  /** Guard of the routes for devices. */
  readonly agents: Guard;
  /** Guard of the routes for people and programs that read. */
  readonly readers: Guard;
}

type Deny = (
  exchange: Exchange,
  what: string,
  status: 401 | 403 | 429 | 503,
  message: string,
  headers?: AnswerHeaders,
) => void;

/** Wrong tokens allowed per address: 20 at once, then one every five seconds. */
const GUESSES = { rate: 0.2, burst: 20 } as const;
/** Smallest number of milliseconds between two log lines about wrong tokens, over all addresses. */
const LOG_EVERY_MS = 60_000;

/** Limits and logs the wrong tokens of each address. */
class Guesses {
  readonly #buckets = new Buckets(GUESSES);
  readonly #log: Logger;
  readonly #now: () => number;
  #unlogged = 0;
  #loggedAt = -Infinity;

  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /** Returns the seconds until the next token from this address is checked; 0 if it is checked at once. */
  wait(address: string): number {
    return this.#buckets.wait(address, this.#now());
  }

  count(address: string, path: string): void {
    const now = this.#now();
    this.#buckets.take(address, now);
    this.#unlogged++;
    if (now - this.#loggedAt < LOG_EVERY_MS) return;
    this.#log.warn({ address, path: path.slice(0, 60), count: this.#unlogged }, "requests came with a wrong token");
    this.#loggedAt = now;
    this.#unlogged = 0;
  }
}

export function createGuards(
  { agentToken, pageToken }: Pick<Config, "agentToken" | "pageToken">,
  metrics: Metrics,
  log: Logger,
  now: () => number = Date.now,
  devices: DeviceTokens | null = null,
): Guards {
  const guesses = new Guesses(log, now);
  const deny: Deny = (exchange, what, status, message, headers) => {
    metrics.denied.inc({ what });
    exchange.sendJson(status, { error: message }, headers);
  };
  const ofAgents = { challenge: 'Bearer realm="boxwright-host agents"', writes: true, devices };
  const ofReaders = { challenge: 'Basic realm="boxwright-host", charset="UTF-8"', writes: false, devices: null };
  return {
    agents: guard(agentToken, deny, guesses, ofAgents),
    readers: guard(pageToken, deny, guesses, ofReaders),
  };
}

interface GuardOptions {
  readonly challenge: string;
  readonly writes: boolean;
  readonly devices: DeviceTokens | null;
}

function guard(token: string | undefined, deny: Deny, guesses: Guesses, options: GuardOptions): Guard {
  const { challenge, writes, devices } = options;
  const isRight = token === undefined ? null : tokenCheck(token);

  /** Returns true if the token is right. Otherwise answers the request. */
  async function admitToken(exchange: Exchange): Promise<boolean | void> {
    const given = tokenOf(exchange.header("authorization"));
    const wait = given === undefined ? 0 : guesses.wait(exchange.address);
    const tooMany = "Authorization: too many wrong tokens came from this address";
    if (wait > 0) return deny(exchange, "guess", 429, tooMany, { "retry-after": String(wait) });
    if (given !== undefined && isRight?.(given)) return true;
    const verdict = given !== undefined && isDeviceToken(given) ? await devices?.check(given) : undefined;
    if (verdict?.kind === "device") {
      exchange.sender.device = verdict.device;
      if (verdict.name !== null) exchange.sender.deviceName = verdict.name;
      return true;
    }
    if (verdict?.kind === "void") return deny(exchange, "device", 401, `Authorization: ${verdict.reason}`);
    const noHub = "Authorization: the host has not heard of the hub yet, which signs such tokens";
    if (verdict?.kind === "unknown") return deny(exchange, "device", 503, noHub, { "retry-after": "5" });
    // Do not count a missing token as a guess: the first request of a browser has no token.
    if (given !== undefined) guesses.count(exchange.address, exchange.path);
    const headers = { "www-authenticate": challenge };
    deny(exchange, "token", 401, "Authorization: got no token, or a wrong one", headers);
  }

  /**
   * Returns true if the request comes from this machine, and not from another site's page. Otherwise, answers the
   * request.
   */
  function admitLocal(exchange: Exchange): boolean | void {
    // Check Host against DNS rebinding, since a page can make its own name point to 127.0.0.1. The check of Origin
    // below stops POST requests from web pages.
    const wrongName = "Host: got another name, expected localhost, since the host runs without a token";
    if (!isLoopback(hostName(exchange.header("host")))) return deny(exchange, "host", 403, wrongName);
    const wrongOrigin = "Origin: got a request of a page. Set agentToken to take packets of pages";
    if (writes && exchange.header("origin") !== undefined) return deny(exchange, "origin", 403, wrongOrigin);
    return true;
  }

  return (handler) => async (exchange, params) => {
    const isIn = isRight || devices ? await admitToken(exchange) : admitLocal(exchange);
    if (isIn === true) await handler(exchange, params);
  };
}

const hostName = (host = ""): string => host.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
