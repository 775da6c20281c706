/** Routes of the operator: the queues of webhooks, and messages that were dropped. */
import type { Hono } from "hono";
import type { Senders } from "../webhook/senders.ts";
import type { Env, Guards } from "./guards.ts";
import { readLimit } from "./query.ts";

const MOST_DROPPED = 10_000;

export function addWebhookRoutes(app: Hono<Env>, webhooks: Senders, guards: Guards): void {
  app.get("/v1/webhooks", guards.readers, async (c) => {
    const limit = readLimit(c.req.query("limit"), 100, MOST_DROPPED);
    return c.json({ webhooks: await webhooks.queues(), dropped: await webhooks.dropped(limit) });
  });

  app.post("/v1/webhooks/dropped/resend", guards.readers, async (c) => {
    // Refuse web pages: a browser adds the password of the host's page to requests of other sites' pages too.
    if (c.req.header("Origin") !== undefined)
      return c.json({ error: "Origin: got a request of a page, expected one of a program" }, 403);
    return c.json({ resent: await webhooks.sendDropped() });
  });
}
