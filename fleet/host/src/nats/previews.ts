/** Takes preview pictures from the broker. The broker does not store pictures, and sends each one to all hosts. */
import type { NatsConnection } from "@nats-io/transport-node";
import type { Metrics } from "../core/metrics.ts";
import { refusalOf } from "../intake/intake.ts";
import { type Previews, readAttributes } from "../live/previews.ts";

export const PREVIEWS = "boxwright.previews.>";

export function takePreviews(connection: NatsConnection, previews: Previews, metrics: Metrics): void {
  connection.subscribe(PREVIEWS, {
    callback: (error, message) => {
      if (error) return;
      try {
        // Copy the bytes, which belong to the connection's memory.
        previews.take(
          readAttributes((name) => message.headers?.get(name)),
          message.data.slice(),
        );
      } catch (failure) {
        metrics.countRefusal(refusalOf(failure), "nats");
      }
    },
  });
}
