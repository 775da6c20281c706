/** One attempt to deliver a message to a webhook. */
import { connectionProblem } from "boxwright-service/errors";
import type { Webhook } from "../core/webhooks.ts";
import { type Message, headersOfMessage } from "./message.ts";

/**
 * Result of an attempt. "gone": the receiver wants no more messages. "ended": the host stops, and the result is
 * unknown. An object: send again, not before `after` milliseconds if the receiver stated them.
 */
export type Attempt = "sent" | "gone" | "ended" | { readonly reason: string; readonly after: number | null };

export interface PostOptions {
  readonly now: () => number;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  /** Milliseconds in which the receiver has to answer. */
  readonly patience: number;
}

/** Posts a message once. */
export async function post(hook: Webhook, message: Message, { now, signal, patience }: PostOptions): Promise<Attempt> {
  if (signal.aborted) return "ended";
  const end = new AbortController();
  const abort = (): void => end.abort();
  // The timer holds the controller: a signal of AbortSignal.any can be collected before it fires.
  const timer = setTimeout(abort, patience);
  signal.addEventListener("abort", abort);
  try {
    const response = await fetch(hook.url, {
      method: "POST",
      headers: headersOfMessage(hook, message, now()),
      body: message.body,
      // A redirect would send detections to an address that nobody chose.
      redirect: "manual",
      signal: end.signal,
    });
    await response.body?.cancel();
    if (response.ok) return "sent";
    if (response.status === 410) return "gone";
    return { reason: `status ${response.status}`, after: waitOf(response.headers.get("retry-after"), now()) };
  } catch (error) {
    if (signal.aborted) return "ended";
    return {
      reason: end.signal.aborted ? `no answer within ${patience / 1000} s` : connectionProblem(error),
      after: null,
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** Returns the milliseconds that a Retry-After header asks for, in seconds or as a date; null: none. */
function waitOf(text: string | null, now: number): number | null {
  if (text === null) return null;
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return milliseconds >= 0 ? milliseconds : null;
}
