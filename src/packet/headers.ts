/** Makes the headers that accompany a packet over HTTP, NATS or MQTT 5. */
import { padded, readHead } from "./text.ts";

/**
 * Returns the headers by which other programs recognise a packet as a CloudEvent. A raw packet uses binary mode, with
 * the length of its JSON for clients of the Open Inference Protocol. A packet of detections uses structured mode.
 * `fromPacket` needs no headers.
 * @param bytes a packet that `toPacket` made
 * @throws PacketError if the bytes are no packet
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
  // Escape spaces, quotes, percent signs and all characters beyond ASCII, as the HTTP binding of CloudEvents demands.
  const parameters = head.parameters as Record<string, unknown> | undefined;
  for (const name in parameters)
    if (/^ce-/.test(name))
      headers[name] = String(parameters[name]).replace(/[^!#$&-~]+/gu, encodeURIComponent);
  return headers;
}
