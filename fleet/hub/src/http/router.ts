/**
 * Which handler answers which method and path. find-my-way is the router inside Fastify, here on Node's own request and
 * response: 16 us of CPU a request with a body, Fastify 18, @hono/node-server 19. Routes decide for themselves when
 * they read a body, which is after the caller is known.
 */
import findMyWay, { type HTTPMethod } from "find-my-way";
import type { Exchange } from "./exchange.ts";

export type Params = Readonly<Record<string, string | undefined>>;
export type Handler = (exchange: Exchange, params: Params) => Promise<void> | void;

export interface RouteOptions {
  /** True if programs call the route: it judges methods and types of body itself. */
  readonly forPrograms?: boolean;
  /** True if the limit of an address does not count requests of the route. */
  readonly unlimited?: boolean;
}

export interface Route extends RouteOptions {
  readonly pattern: string;
  readonly handler: Handler;
}

/** Longer than any part of a path that Node lets in. The default of 100 would hide a long part from its handler. */
const MAX_PARAM_LENGTH = 16 * 1024;
/** Called by `lookup` only, which the hub does not use. */
const unused = (): void => undefined;

export class Router {
  readonly #routes = findMyWay({ maxParamLength: MAX_PARAM_LENGTH });

  /** Answers GET and HEAD. */
  get(pattern: string, handler: Handler): void {
    this.#routes.on("GET", pattern, unused, { pattern, handler } satisfies Route);
  }

  post(pattern: string, handler: Handler): void {
    this.#routes.on("POST", pattern, unused, { pattern, handler } satisfies Route);
  }

  /** Answers every method: the handler judges it. */
  any(pattern: string, handler: Handler, options: RouteOptions = {}): void {
    this.#routes.all(pattern, unused, { ...options, pattern, handler } satisfies Route);
  }

  find(method: string, path: string): { readonly route: Route; readonly params: Params } | undefined {
    const found = this.#routes.find((method === "HEAD" ? "GET" : method) as HTTPMethod, path);
    return found === null ? undefined : { route: found.store as Route, params: found.params };
  }
}
