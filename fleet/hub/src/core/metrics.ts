/** Counters of the hub, in the Prometheus text format. Labels have few possible values: no ids or requested paths. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = <const L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> =>
    new Counter({ name: `hub_${name}_total`, help, labelNames, registers });
  const metrics = {
    registry,
    requests: counter("requests", "Requests answered", "route", "status"),
    seconds: new Histogram({
      name: "hub_request_seconds",
      help: "Time from the request's headers to the end of the answer",
      labelNames: ["route"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    keyChecks: counter(
      "key_checks",
      "API keys judged: ok, none, malformed, no_key (prefix or checksum), unknown, revoked, expired",
      "result",
    ),
    deviceChecks: counter(
      "device_checks",
      "Credentials of devices judged: ok, none, malformed, no_key (prefix or checksum), unknown",
      "result",
    ),
    limited: counter("rate_limited", "Requests refused with 429", "limit"),
    signIns: counter("sign_ins", "Sign-ins: ok, wrong, limited", "result"),
    refusedConnections: counter(
      "connections_refused",
      "Connections closed unread: address (too many of one address), total (too many in all)",
      "limit",
    ),
    internalErrors: counter("internal_errors", "Errors of the hub itself"),
    alertMessages: counter(
      "alert_messages",
      "Attempts to send messages about alerts: sent, failed, dropped",
      "outcome",
    ),
    openAlerts: new Gauge({
      name: "hub_alerts_open",
      help: "Alerts that are open, of all teams; kept by the hub process that watches",
      labelNames: ["kind"],
      registers,
    }),
  };
  // Begin with 0. Prometheus sees no increase if the first value of a series is 1.
  for (const result of ["unknown", "revoked", "expired"]) metrics.keyChecks.inc({ result }, 0);
  metrics.signIns.inc({ result: "wrong" }, 0);
  for (const outcome of ["sent", "failed", "dropped"]) metrics.alertMessages.inc({ outcome }, 0);
  return metrics;
}
