/** Checks who sends a request: agents and readers need their tokens. Without tokens only this machine gets in. */
import { Buckets } from "boxwright-service/bucket";
import { addressOf } from "boxwright-service/caller";
import type { Logger } from "boxwright-service/log";
import type { HttpBindings } from "@hono/node-server";
import type { Context, MiddlewareHandler } from "hono";
import { isLoopback } from "boxwright-service/options";
import { tokenCheck } from "boxwright-service/tokens";
import { type DeviceTokens, isDeviceToken } from "../access/device-tokens.ts";
import type { Config } from "../core/config.ts";
import type { Metrics } from "../core/metrics.ts";
import { tokenOf } from "../core/token.ts";

export interface Env {
  Bindings: HttpBindings;
  Variables: {
    /** Id of the device that sent its token. Absent for `agentToken`, and for requests without a token. */
    device?: string;
    /** Name of that device in the hub. */
    deviceName?: string;
    /** Length of the body. Absent until it was read. */
    bodyLength?: number;
  };
}

export interface Guards {
  /** For what devices send. */
  readonly agents: MiddlewareHandler<Env>;
  /** For what people and programs read. */
  readonly readers: MiddlewareHandler<Env>;
}

type Deny = (c: Context<Env>, what: string, status: 401 | 403 | 429 | 503, message: string) => Response;

/** Wrong tokens of the sender of a request. */
type GuessesOf = (c: Context<Env>) => { wait(): number; count(): void };

/** Wrong tokens that an address may send: 20 at once, then one every five seconds. */
const GUESSES = { rate: 0.2, burst: 20 } as const;
/** Milliseconds between two log lines about wrong tokens of all addresses. */
const LOG_EVERY_MS = 60_000;

/** Limits and logs the wrong tokens of each address. */
class Guesses {
  readonly #buckets = new Buckets(GUESSES);
  readonly #log: Logger;
  readonly #now: () => number;
  #untold = 0;
  #toldAt = -Infinity;

  constructor(log: Logger, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /** Returns the seconds for which no token of this address is looked at; 0: it is. */
  wait(address: string): number {
    return this.#buckets.wait(address, this.#now());
  }

  count(address: string, path: string): void {
    const now = this.#now();
    this.#buckets.take(address, now);
    this.#untold++;
    if (now - this.#toldAt < LOG_EVERY_MS) return;
    this.#log.warn({ address, path: path.slice(0, 60), count: this.#untold }, "requests came with a wrong token");
    this.#toldAt = now;
    this.#untold = 0;
  }
}

export function createGuards(
  { agentToken, pageToken, proxyHops }: Pick<Config, "agentToken" | "pageToken" | "proxyHops">,
  metrics: Metrics,
  log: Logger,
  now: () => number = Date.now,
  devices: DeviceTokens | null = null,
): Guards {
  const guesses = new Guesses(log, now);
  const deny: Deny = (c, what, status, message) => {
    metrics.denied.inc({ what });
    return c.json({ error: message }, status);
  };
  const guessesOf = (c: Context<Env>) => {
    const address = addressOf(c.env.incoming, proxyHops);
    return { wait: () => guesses.wait(address), count: () => guesses.count(address, c.req.path) };
  };
  return {
    agents: guard(agentToken, deny, guessesOf, 'Bearer realm="boxwright-host agents"', true, devices),
    readers: guard(pageToken, deny, guessesOf, 'Basic realm="boxwright-host", charset="UTF-8"', false, null),
  };
}

function guard(
  token: string | undefined,
  deny: Deny,
  guessesOf: GuessesOf,
  challenge: string,
  writes: boolean,
  devices: DeviceTokens | null,
): MiddlewareHandler<Env> {
  const isRight = token === undefined ? null : tokenCheck(token);
  return async (c, next) => {
    if (isRight || devices) {
      const given = tokenOf(c.req.header("Authorization"));
      const guesses = guessesOf(c);
      const wait = given === undefined ? 0 : guesses.wait();
      if (wait > 0) {
        c.header("Retry-After", String(wait));
        return deny(c, "guess", 429, "Authorization: too many wrong tokens came from this address");
      }
      if (given !== undefined && isRight?.(given)) return next();
      const verdict = given !== undefined && isDeviceToken(given) ? await devices?.check(given) : undefined;
      if (verdict?.kind === "device") {
        c.set("device", verdict.device);
        if (verdict.name !== null) c.set("deviceName", verdict.name);
        return next();
      }
      if (verdict?.kind === "void") return deny(c, "device", 401, `Authorization: ${verdict.reason}`);
      if (verdict?.kind === "unknown") {
        c.header("Retry-After", "5");
        return deny(c, "device", 503, "Authorization: the host has not heard of the hub yet, which signs such tokens");
      }
      // A browser asks without a token first: that is no guess.
      if (given !== undefined) guesses.count();
      c.header("WWW-Authenticate", challenge);
      return deny(c, "token", 401, "Authorization: got no token, or a wrong one");
    }
    // Check Host against DNS rebinding: a web page can point its own name at 127.0.0.1. Check Origin below against
    // posts from web pages.
    if (!isLoopback(hostName(c.req.header("Host"))))
      return deny(c, "host", 403, "Host: got another name, expected localhost, since the host runs without a token");
    if (writes && c.req.header("Origin") !== undefined)
      return deny(c, "origin", 403, "Origin: got a request of a page. Set agentToken to take packets of pages");
    return next();
  };
}

const hostName = (host = ""): string => host.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
