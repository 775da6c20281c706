/** Makes the messages of webhooks. A message has the detections of a frame that the webhook wants. */
import { createHash } from "node:crypto";
import type { Message } from "boxwright-service/delivery";
import type { Webhook } from "../core/webhooks.ts";
import type { StoredFrame } from "../store/frames.ts";

interface Found {
  readonly label?: unknown;
  readonly confidence?: unknown;
}

/** Returns the message of a frame; null if the webhook wants none of its detections. */
export function messageOfFrame(hook: Webhook, frame: StoredFrame): Message | null {
  const { source, id, subject, time, sequence, config } = frame;
  if ((hook.source ?? source) !== source || (hook.subject ?? subject) !== subject || frame.count === 0) return null;
  const wanted = (JSON.parse(frame.detections) as Found[]).filter(
    ({ label, confidence }) =>
      (!hook.labels || hook.labels.includes(String(label))) && Number(confidence) >= hook.minConfidence,
  );
  if (wanted.length === 0) return null;
  const data = {
    ...{ source, id, subject: subject === "" ? null : subject, time, sequence: sequence < 0 ? null : sequence, config },
    frame: frame.frame === null ? null : (JSON.parse(frame.frame) as unknown),
    detections: wanted,
  };
  const hash = createHash("sha256").update(`${source}\n${id}`).digest("hex");
  const timestamp = new Date(frame.stored_at).toISOString();
  return { id: `msg_${hash.slice(0, 32)}`, body: JSON.stringify({ type: "frame.detected", timestamp, data }) };
}
