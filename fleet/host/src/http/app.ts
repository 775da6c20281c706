/** All routes of the host. */
import type { RequestListener } from "node:http";
import { type AnswerHeaders, Exchange } from "boxwright-service/http/exchange";
import { Router } from "boxwright-service/http/router";
import type { Logger } from "boxwright-service/log";
import { messageOf } from "boxwright-service/errors";
import type { Refusal } from "../core/errors.ts";
import { refusalOf } from "../intake/intake.ts";
import { type DeviceRoutes, addDeviceRoutes } from "./devices.ts";
import { type OpsRoutes, addOpsRoutes } from "./ops.ts";
import { type PageRoutes, addPageRoutes } from "./page.ts";
import { addQueryRoutes, addRefusedRoute } from "./query.ts";
import { addHistoryRoutes } from "./history.ts";
import { addWebhookRoutes } from "./queues.ts";

export type AppOptions = DeviceRoutes &
  OpsRoutes &
  PageRoutes & {
    readonly log: Logger;
    readonly now: () => number;
    readonly proxyHops: number;
    /** Returns the addresses of the hub: the one that this host requests, and the one that browsers use. */
    readonly framers: () => readonly string[];
  };

/** Content-Security-Policy: scripts, styles and connections of this host only. Images may also be data: URLs. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

export function createApp(options: AppOptions): RequestListener {
  const { db, guards, framers, log, metrics, proxyHops } = options;
  const router = new Router();
  addOpsRoutes(router, options);
  addDeviceRoutes(router, options);
  addQueryRoutes(router, db, guards, options.now);
  addHistoryRoutes(router, db, guards, options.now);
  addRefusedRoute(router, db, options.refused, guards);
  addWebhookRoutes(router, options.webhooks, guards);
  addPageRoutes(router, options);
  const ofExchange = { proxyHops, headers: () => safeHeaders(framers()) };

  async function answer(exchange: Exchange): Promise<void> {
    try {
      const found = router.find(exchange.method, exchange.path);
      if (found === undefined) exchange.sendJson(404, { error: "no such address" });
      else await found.route.handler(exchange, found.params);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal.cause !== undefined) log.error({ error: messageOf(refusal.cause) }, "request failed");
      metrics.countRefusal(refusal, "http");
      sendRefusal(exchange, refusal);
    }
  }
  return (request, response) => void answer(new Exchange(request, response, ofExchange));
}

/**
 * Returns the security headers of every answer.
 * @param framers addresses of the hub, whose pages may show a device's page in a frame
 */
function safeHeaders(framers: readonly string[]): AnswerHeaders {
  const origins = new Set(framers.map((address) => new URL(address).origin));
  const ancestors = origins.size === 0 ? "'none'" : [...origins].join(" ");
  return {
    "content-security-policy": `${POLICY}; frame-ancestors ${ancestors}`,
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
  };
}

/** Answers with a refusal: its reason, and when to try again. */
function sendRefusal(exchange: Exchange, { reason, message, config, retryAfter, status }: Refusal): void {
  const body = reason === "unknown config" ? { error: message, config } : { error: message, reason };
  exchange.sendJson(status, body, retryAfter === null ? {} : { "retry-after": String(Math.ceil(retryAfter)) });
}
