/** Routes of the operator: health and metrics. */
import type { Handler, Router } from "boxwright-service/http/router";
import type { Metrics } from "../core/metrics.ts";
import type { Database } from "boxwright-service/database";
import type { Writer } from "../store/writer.ts";
import type { Senders } from "../webhook/senders.ts";
import type { Guards } from "./guards.ts";

export interface OpsRoutes {
  readonly db: Database;
  readonly writer: Writer;
  readonly metrics: Metrics;
  readonly guards: Guards;
  /** Returns "ok", "away" or another problem of the broker; null if the host uses no broker. */
  readonly broker: () => Promise<string> | null;
  /** Returns "ok", "none" (not configured) or why no packets come over MQTT. */
  readonly mqtt: () => string;
  /** Returns "ok", "none" (not configured) or why detections cannot be published over MQTT. */
  readonly announcing: () => string;
  readonly webhooks: Senders;
  /** Returns "ok", "none" (not configured) or why the hub's document cannot be read. The host works without the hub. */
  readonly hubState: () => string;
}

const PATIENCE_MS = 2000;

export function addOpsRoutes(
  router: Router,
  { db, writer, metrics, guards, broker, mqtt, announcing, webhooks, hubState }: OpsRoutes,
): void {
  router.get("/healthz", async (exchange) => {
    const [answers, brokerState] = await Promise.all([inTime(db.all("SELECT 1 AS one")), broker()]);
    // Ask the writer too, since a SELECT succeeds even on a full disk and in a deleted file.
    const problem = writer.problem ?? (await db.problem()) ?? null;
    const ok = answers && problem === null && (brokerState ?? "ok") === "ok" && ["ok", "none"].includes(mqtt());
    const database = problem ?? (answers ? "ok" : "away");
    const body = {
      ok,
      database,
      broker: brokerState ?? "none",
      mqtt: mqtt(),
      ...(announcing() !== "none" && { announcing: announcing() }),
      webhooks: webhooks.states,
      hub: hubState(),
    };
    exchange.sendJson(ok ? 200 : 503, body);
  });

  const sendMetrics: Handler = async (exchange) => {
    // Show the last counts if the database cannot be reached. All other counts are in memory.
    await inTime(webhooks.queues().then((queues) => metrics.setWebhookQueues(queues)));
    exchange.send(200, metrics.registry.contentType, await metrics.registry.metrics());
  };
  router.get("/metrics", guards.readers(sendMetrics));
}

/** True if the work succeeds within PATIENCE_MS. */
function inTime(work: Promise<unknown>): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, PATIENCE_MS, false).unref());
  return Promise.race([
    work.then(
      () => true,
      () => false,
    ),
    late,
  ]);
}
