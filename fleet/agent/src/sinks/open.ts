/** Opens the sink that settings name. */
import type { SinkSettings } from "../settings/types.ts";
import { HttpSink } from "./http.ts";
import { NatsSink } from "./nats.ts";
import { NdjsonSink } from "./ndjson.ts";
import type { FindConfig, Sink } from "./sink.ts";

export function openSink(settings: SinkSettings, findConfig: FindConfig): Sink {
  switch (settings.kind) {
    case "ndjson":
      return new NdjsonSink(settings);
    case "http":
      return new HttpSink(settings, findConfig);
    case "nats":
      return new NatsSink(settings, findConfig);
  }
}
