/** Headers that go with a packet over HTTP, NATS or MQTT 5. */
import { padded, readHead } from "./text.ts";

/**
 * Returns the headers that make a packet a CloudEvent for others: binary mode for raw packets, with the length of the
 * JSON that clients of the Open Inference Protocol ask for, structured mode for detections. `fromPacket` needs none of
 * them.
 * @param bytes a packet that `toPacket` made
 * @throws PacketError if the bytes are none
 * @example
 * import { createDecoderSync, packetHeaders, toPacket } from "boxwright";
 *
 * const decoder = createDecoderSync({});
 * const outputs = { output0: { data: new Float32Array(6), dims: [1, 6, 1] } };
 * const headers = packetHeaders(toPacket(decoder, outputs, null, { id: "1", source: "/devices/7" }));
 * console.log(headers["content-type"], headers["ce-source"]); // application/octet-stream /devices/7
 */
export function packetHeaders(bytes: Uint8Array): Record<string, string> {
  const [head, end] = readHead(bytes, Infinity);
  if ("specversion" in head) return { "content-type": "application/cloudevents+json" };
  const headers: Record<string, string> = {
    "content-type": "application/octet-stream",
    "inference-header-content-length": String(padded(end)),
  };
  // The HTTP binding escapes space, quote, percent and everything beyond ASCII.
  const parameters = head.parameters as Record<string, unknown> | undefined;
  for (const name in parameters)
    if (/^ce-/.test(name))
      headers[name] = String(parameters[name]).replace(/[^!#$&-~]+/gu, encodeURIComponent);
  return headers;
}
