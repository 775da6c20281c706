/** All routes of the host. */
import { Hono } from "hono";
import type { Logger } from "boxwright-service/log";
import { messageOf } from "boxwright-service/errors";
import { refusalOf } from "../intake/intake.ts";
import { refusalAnswer, safeHeaders } from "./answers.ts";
import { type DeviceRoutes, addDeviceRoutes } from "./devices.ts";
import type { Env } from "./guards.ts";
import { type OpsRoutes, addOpsRoutes } from "./ops.ts";
import { type PageRoutes, addPageRoutes } from "./page.ts";
import { addQueryRoutes, addRefusedRoute } from "./query.ts";
import { addWebhookRoutes } from "./queues.ts";

export type AppOptions = DeviceRoutes &
  OpsRoutes &
  PageRoutes & {
    readonly log: Logger;
    readonly now: () => number;
    /** Returns the addresses of the hub: the one that this host asks, and the one that browsers have. */
    readonly framers: () => readonly string[];
  };

export function createApp(options: AppOptions): Hono<Env> {
  const { db, guards, framers, log, metrics } = options;
  const app = new Hono<Env>();
  app.use(safeHeaders(framers));
  addOpsRoutes(app, options);
  addDeviceRoutes(app, options);
  addQueryRoutes(app, db, guards, options.now);
  addRefusedRoute(app, db, options.refused, guards);
  addWebhookRoutes(app, options.webhooks, guards);
  addPageRoutes(app, options);
  app.notFound((c) => c.json({ error: "no such address" }, 404));
  app.onError((error, c) => {
    const refusal = refusalOf(error);
    if (refusal.cause !== undefined) log.error({ error: messageOf(refusal.cause) }, "request failed");
    metrics.countRefusal(refusal, "http");
    return refusalAnswer(c, refusal);
  });
  return app;
}
