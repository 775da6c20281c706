/** Checks who sends a request: agents and readers need their tokens. Without tokens only this machine gets in. */
import type { HttpBindings } from "@hono/node-server";
import type { Context, MiddlewareHandler } from "hono";
import { isLoopback } from "boxwright-service/options";
import { tokenCheck } from "boxwright-service/tokens";
import type { Config } from "../core/config.ts";
import type { Metrics } from "../core/metrics.ts";
import { tokenOf } from "../core/token.ts";

export interface Env {
  Bindings: HttpBindings;
}

export interface Guards {
  /** For what devices send. */
  readonly agents: MiddlewareHandler<Env>;
  /** For what people and programs read. */
  readonly readers: MiddlewareHandler<Env>;
}

type Deny = (c: Context<Env>, what: string, status: 401 | 403, message: string) => Response;

export function createGuards(
  { agentToken, pageToken }: Pick<Config, "agentToken" | "pageToken">,
  metrics: Metrics,
): Guards {
  const deny: Deny = (c, what, status, message) => {
    metrics.denied.inc({ what });
    return c.json({ error: message }, status);
  };
  return {
    agents: guard(agentToken, deny, 'Bearer realm="boxwright-host agents"', true),
    readers: guard(pageToken, deny, 'Basic realm="boxwright-host", charset="UTF-8"', false),
  };
}

function guard(token: string | undefined, deny: Deny, challenge: string, writes: boolean): MiddlewareHandler<Env> {
  const isRight = token === undefined ? null : tokenCheck(token);
  return async (c, next) => {
    if (isRight) {
      const given = tokenOf(c.req.header("Authorization"));
      if (given !== undefined && isRight(given)) return next();
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
