/** `/healthz` and `/metrics` over HTTP. */
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { messageOf } from "boxwright-service/errors";
import { SettingsError } from "../core/errors.ts";
import type { HealthSettings } from "../settings/schema.ts";
import type { HealthReport } from "./health.ts";
import type { Metrics } from "./metrics.ts";

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function openHealthServer(
  { host, port }: HealthSettings,
  report: HealthReport,
  metrics: Metrics,
): Promise<HealthServer> {
  const server: Server = createServer((request, response) => {
    const answer = (status: number, type: string, body: string): void => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
    };
    if (request.method !== "GET") return answer(405, "text/plain", "expected GET\n");
    if (request.url === "/healthz") {
      const health = report.read();
      return answer(health.status === "ok" ? 200 : 503, "application/json", JSON.stringify(health));
    }
    if (request.url !== "/metrics") return answer(404, "text/plain", "expected /healthz or /metrics\n");
    metrics.registry.metrics().then(
      (text) => answer(200, metrics.registry.contentType, text),
      (error: unknown) => answer(500, "text/plain", String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      const message = `cannot listen on ${host}, port ${port} (${messageOf(error)}). Choose another one, or null for none`;
      reject(new SettingsError([{ path: "health", message }]));
    });
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
