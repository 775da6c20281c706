/** Counters in the Prometheus text format. Labels take few values, so no label names a camera. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Refusal } from "./errors.ts";

/** Protocol over which a packet came. */
export type Transport = "http" | "nats" | "mqtt";

export interface Metrics {
  readonly registry: Registry;
  readonly received: Counter<"way">;
  readonly stored: Counter<"kind">;
  readonly duplicates: Counter<"way">;
  readonly refused: Counter<"reason" | "way">;
  readonly denied: Counter<"what">;
  readonly redelivered: Counter;
  readonly previews: Counter;
  readonly previewsDropped: Counter;
  readonly webhooks: Counter<"outcome">;
  /** Sets the message counts of webhook queues. Removes the counts of queues that no longer exist. */
  setWebhookQueues(queues: readonly QueueCounts[]): void;
  readonly announced: Counter<"outcome">;
  readonly batch: Histogram;
  readonly latency: Histogram;
  readonly future: Counter;
  /** Counts for the page. */
  readonly totals: Record<"received" | "stored" | "duplicates" | "refused" | "previewsDropped", number>;
  /** Counts a refusal. Repeated calls with the same Refusal count once. */
  countRefusal(refusal: Refusal, way: Transport): void;
}

/** Counts of the messages in a webhook's queue. */
interface QueueCounts {
  /** Address of the webhook; null if the config of this host has no webhook for the queue. */
  readonly webhook: string | null;
  readonly waiting: number;
  readonly dropped: number;
}

const P = "boxwright_host_";

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[] = []): Counter<T> =>
    new Counter({ name: P + name, help, labelNames: [...labelNames], registers });
  const refused = counter("refused_total", "Packets, configs and previews refused", ["reason", "way"]);
  const counted = new WeakSet<Refusal>();
  const queued = new Gauge({
    name: `${P}webhook_messages`,
    help: "Messages in the queues of webhooks, waiting or dropped. Webhook none: no webhook of this host has the queue",
    labelNames: ["webhook", "state"],
    registers,
  });
  const totals = { received: 0, stored: 0, duplicates: 0, refused: 0, previewsDropped: 0 };
  return {
    registry,
    received: counter("received_total", "Packets received", ["way"]),
    stored: counter("stored_total", "Frames stored, by kind of packet", ["kind"]),
    duplicates: counter("duplicates_total", "Packets of frames that were stored already", ["way"]),
    refused,
    denied: counter(
      "denied_total",
      "Requests denied: token, device (revoked or run out), guess (too many wrong tokens), origin, host name, connection",
      ["what"],
    ),
    redelivered: counter("redelivered_total", "Messages that the broker delivered again"),
    previews: counter("previews_total", "Preview pictures taken"),
    previewsDropped: counter("previews_dropped_total", "Preview pictures thrown away to keep memory bounded"),
    webhooks: counter("webhooks_total", "Messages to webhooks: sent, failed (one attempt), dropped (lost or kept)", [
      "outcome",
    ]),
    announced: counter("announced_total", "Messages to other programs over MQTT: sent or dropped", ["outcome"]),
    batch: new Histogram({
      name: `${P}batch_frames`,
      help: "Frames stored by one transaction",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    latency: new Histogram({
      name: `${P}latency_seconds`,
      help: "Time from capture to stored, by the clocks of device and host",
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600],
      registers,
    }),
    future: counter("future_total", "Frames stored whose time of capture is in the future: a device's clock is wrong"),
    totals,
    setWebhookQueues(queues) {
      queued.reset();
      for (const { webhook, waiting, dropped } of queues) {
        queued.inc({ webhook: webhook ?? "none", state: "waiting" }, waiting);
        queued.inc({ webhook: webhook ?? "none", state: "dropped" }, dropped);
      }
    },
    countRefusal(refusal, way) {
      if (counted.has(refusal)) return;
      counted.add(refusal);
      // The page does not count a refusal that asks for a config, since the agent sends the packet again.
      if (refusal.config === null) totals.refused++;
      refused.inc({ reason: refusal.reason, way });
    },
  };
}

/** Adds a gauge whose value is computed at each request. */
export function addGauge({ registry }: Metrics, name: string, help: string, read: () => number): void {
  new Gauge({
    name: P + name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
