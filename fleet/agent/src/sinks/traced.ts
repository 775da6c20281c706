/** Traces each attempt to send a packet, and sends the ids of the trace to the receiver. */
import { fromPacket } from "boxwright";
import { type Traces, traceparentOf } from "boxwright-service/traces";
import type { Outcome, Sink } from "./sink.ts";

/** Returns a sink that traces what `sink` sends. */
export function traced(sink: Sink, traces: Traces): Sink {
  return {
    ...{ name: sink.name, inFlight: sink.inFlight, close: () => sink.close() },
    ...(sink.preview && { preview: sink.preview.bind(sink) }),
    async send(packet, signal): Promise<Outcome> {
      const { source, id } = fromPacket(packet);
      const frame = traces.contextOf(source ?? "", id ?? "");
      if (frame === null) return sink.send(packet, signal);
      const span = traces.follow(frame, "send", "client");
      const outcome = await sink.send(packet, signal, { traceparent: traceparentOf(span.context) });
      const problem = outcome.kind === "stored" ? undefined : outcome.reason;
      span.end(
        { "boxwright.sink": sink.name, "boxwright.outcome": outcome.kind, "boxwright.bytes": packet.length },
        problem,
      );
      return outcome;
    },
  };
}
