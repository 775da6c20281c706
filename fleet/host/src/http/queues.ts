/** Routes of the operator: queues of webhooks, and dropped messages. */
import type { Handler, Router } from "boxwright-service/http/router";
import type { Senders } from "../webhook/senders.ts";
import type { Guards } from "./guards.ts";
import { readLimit } from "./query.ts";

const MOST_DROPPED = 10_000;

export function addWebhookRoutes(router: Router, webhooks: Senders, guards: Guards): void {
  const list: Handler = async (exchange) => {
    const limit = readLimit(exchange.query("limit"), 100, MOST_DROPPED);
    exchange.sendJson(200, { webhooks: await webhooks.queues(), dropped: await webhooks.dropped(limit) });
  };
  const resend: Handler = async (exchange) => {
    // Refuse requests from web pages: a browser adds the host's password to requests from other sites too.
    const error = "Origin: got a request of a page, expected one of a program";
    if (exchange.header("origin") !== undefined) return exchange.sendJson(403, { error });
    exchange.sendJson(200, { resent: await webhooks.sendDropped() });
  };
  router.get("/v1/webhooks", guards.readers(list));
  router.post("/v1/webhooks/dropped/resend", guards.readers(resend));
}
