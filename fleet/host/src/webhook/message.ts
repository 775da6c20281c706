/** Makes the messages of webhooks: picks the detections of a frame, and signs by Standard Webhooks. */
import { createHash, createHmac } from "node:crypto";
import type { Webhook } from "../core/webhooks.ts";
import type { StoredFrame } from "../store/frames.ts";

export interface Message {
  /** The same in all attempts. By it the receiver recognises a message that comes twice. */
  readonly id: string;
  readonly body: string;
}

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

/** Returns the headers of one attempt. The time is signed, so that nobody can send an old message again. */
export function headersOfMessage({ key }: Webhook, { id, body }: Message, now: number): Record<string, string> {
  const seconds = String(Math.floor(now / 1000));
  const signature = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "user-agent": "boxwright-host",
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${signature}`,
  };
}
