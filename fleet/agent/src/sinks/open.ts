/** Opens the sink of the settings. */
import type { SinkSettings } from "../settings/sinks.ts";
import { HttpSink } from "./http.ts";
import { MqttSink } from "./mqtt.ts";
import { NatsSink } from "./nats.ts";
import { NdjsonSink } from "./ndjson.ts";
import { type Bearer, type FindConfig, type Sink, fixedBearer } from "./sink.ts";

/**
 * Opens a sink.
 * @param id id of this device, unique among all devices
 * @param device token that the hub signed for this device, for hosts without a token in the settings
 */
export function openSink(settings: SinkSettings, findConfig: FindConfig, id: string, device: Bearer | null): Sink {
  switch (settings.kind) {
    case "ndjson":
      return new NdjsonSink(settings);
    case "http":
      return new HttpSink(
        settings,
        findConfig,
        settings.token === null && device ? device : fixedBearer(settings.token),
      );
    case "nats":
      return new NatsSink(settings, findConfig);
    case "mqtt":
      return new MqttSink(settings, findConfig, id);
  }
}
