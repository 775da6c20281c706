/** Traces each attempt to send a packet, and sends the trace context to the receiver. */
import { type TraceContext, type Traces, traceparentOf } from "boxwright-service/traces";
import type { Outcome, Sink } from "./sink.ts";

/** Returns a sink that traces what `sink` sends. */
export function traced(sink: Sink, traces: Traces): Sink {
  return {
    ...{ name: sink.name, inFlight: sink.inFlight, close: () => sink.close() },
    ...(sink.preview && { preview: sink.preview.bind(sink) }),
    async send(packet, signal): Promise<Outcome> {
      const frame = contextOf(packet, traces);
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

/** Number of bytes that hold both names of a frame: a raw packet has its id twice, and names have 1,024 characters. */
const HEAD_BYTES = 16_384;
const TEXT = /"(?:[^"\\]|\\.)*"/.source;
/** The begin of a packet that `toPacket` made: of a raw one, or of detections. */
const HEAD = new RegExp(
  `^\\{(?:"model_name":${TEXT},"id":${TEXT},"parameters":\\{(?:"frame":${TEXT},)?)?"(?:ce-)?specversion":"1.0","(?:ce-)?type":"[\\w.]+",` +
    `"(?:ce-)?id":(?<id>${TEXT}),"(?:ce-)?source":(?<source>${TEXT})`,
);

/**
 * Returns the first span of a packet's frame; null if the frame is not traced, or the bytes are no packet of an agent.
 * Reads the two names alone: `fromPacket` takes ten times as long, and refuses packets that a sink may send.
 */
function contextOf(packet: Uint8Array, traces: Traces): TraceContext | null {
  const head = Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength).toString("latin1", 0, HEAD_BYTES);
  const { id, source } = HEAD.exec(head)?.groups ?? {};
  if (id === undefined || source === undefined) return null;
  try {
    return traces.contextOf(nameIn(source), nameIn(id));
  } catch {
    return null;
  }
}

const nameIn = (json: string): string => JSON.parse(Buffer.from(json, "latin1").toString()) as string;
