/** Counters of the hub, in the Prometheus text format. Labels have few possible values: no ids or requested paths. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<"route" | "status">;
  readonly seconds: Histogram<"route">;
  readonly keyChecks: Counter<"result">;
  readonly deviceChecks: Counter<"result">;
  readonly limited: Counter<"limit">;
  readonly signIns: Counter<"result">;
  readonly refusedConnections: Counter<"limit">;
  readonly internalErrors: Counter;
  readonly alertMessages: Counter<"outcome">;
  readonly openAlerts: Gauge<"kind">;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = registerMetrics(registry);
  // Begin with 0. Prometheus sees no increase if the first value of a series is 1.
  for (const result of ["unknown", "revoked", "expired"]) metrics.keyChecks.inc({ result }, 0);
  metrics.signIns.inc({ result: "wrong" }, 0);
  for (const outcome of ["sent", "failed", "dropped"]) metrics.alertMessages.inc({ outcome }, 0);
  return metrics;
}

function registerMetrics(registry: Registry): Metrics {
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: "hub_requests_total",
      help: "Requests answered",
      labelNames: ["route", "status"],
      registers,
    }),
    seconds: new Histogram({
      name: "hub_request_seconds",
      help: "Time from the request's headers to the end of the answer",
      labelNames: ["route"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    keyChecks: new Counter({
      name: "hub_key_checks_total",
      help: "API keys judged: ok, none, malformed, no_key (prefix or checksum), unknown, revoked, expired",
      labelNames: ["result"],
      registers,
    }),
    deviceChecks: new Counter({
      name: "hub_device_checks_total",
      help: "Credentials of devices judged: ok, none, malformed, no_key (prefix or checksum), unknown",
      labelNames: ["result"],
      registers,
    }),
    limited: new Counter({
      name: "hub_rate_limited_total",
      help: "Requests refused with 429",
      labelNames: ["limit"],
      registers,
    }),
    signIns: new Counter({
      name: "hub_sign_ins_total",
      help: "Sign-ins: ok, wrong, limited",
      labelNames: ["result"],
      registers,
    }),
    refusedConnections: new Counter({
      name: "hub_connections_refused_total",
      help: "Connections closed unread: address (too many of one address), total (too many in all)",
      labelNames: ["limit"],
      registers,
    }),
    internalErrors: new Counter({ name: "hub_internal_errors_total", help: "Errors of the hub itself", registers }),
    alertMessages: new Counter({
      name: "hub_alert_messages_total",
      help: "Attempts to send messages about alerts: sent, failed, dropped",
      labelNames: ["outcome"],
      registers,
    }),
    openAlerts: new Gauge({
      name: "hub_alerts_open",
      help: "Alerts that are open, of all teams; kept by the hub process that watches",
      labelNames: ["kind"],
      registers,
    }),
  };
}
