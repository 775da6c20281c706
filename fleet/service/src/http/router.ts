/**
 * Finds the handler for a method and path. Uses hono's routers, but with Node's request and response objects, so that a
 * route can read the body after it knows the caller.
 */
import { METHOD_NAME_ALL } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import type { Exchange } from "./exchange.ts";

export type Params = Readonly<Record<string, string | undefined>>;
export type Handler = (exchange: Exchange, params: Params) => Promise<void> | void;

export interface RouteOptions {
  /** True for a route that programs call. Such a route checks methods and body types itself. */
  readonly forPrograms?: boolean;
  /** True if requests to this route do not count for the address limit. */
  readonly unlimited?: boolean;
}

export interface Route extends RouteOptions {
  readonly pattern: string;
  readonly handler: Handler;
}

export interface Found {
  readonly route: Route;
  readonly params: Params;
}

export class Router {
  readonly #routes = new SmartRouter<Route>({ routers: [new RegExpRouter<Route>(), new TrieRouter<Route>()] });

  /** Adds a handler for GET and HEAD. */
  get(pattern: string, handler: Handler): void {
    this.#routes.add("GET", pattern, { pattern, handler });
  }

  post(pattern: string, handler: Handler): void {
    this.#routes.add("POST", pattern, { pattern, handler });
  }

  put(pattern: string, handler: Handler): void {
    this.#routes.add("PUT", pattern, { pattern, handler });
  }

  /** Adds a handler for every method. The handler checks the method. */
  any(pattern: string, handler: Handler, options: RouteOptions = {}): void {
    this.#routes.add(METHOD_NAME_ALL, pattern, { ...options, pattern, handler });
  }

  /** Returns the route of a request. If several match, takes the one with the fewest parameters. */
  find(method: string, path: string): Found | undefined {
    const [routes, texts] = this.#routes.match(method === "HEAD" ? "GET" : method, path);
    let best: Found | undefined;
    let fewest = Infinity;
    for (const [route, places] of routes) {
      const names = Object.entries(places as Record<string, string | number>);
      if (names.length >= fewest) continue;
      fewest = names.length;
      const textOf = (place: string | number): string => (typeof place === "string" ? place : (texts?.[place] ?? ""));
      best = { route, params: Object.fromEntries(names.map(([name, place]) => [name, decode(textOf(place))])) };
    }
    return best;
  }
}

/** Returns the text without percent-encoding, or unchanged if the encoding is invalid. */
function decode(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
