/** Webhooks as defined by Standard Webhooks: settings, signature, and one attempt to deliver a message. */
import { createHmac } from "node:crypto";
import http from "node:http";
import https from "node:https";
import type { Attempt, AttemptOptions, Message } from "./delivery.ts";
import { connectionProblem } from "./errors.ts";
import { attemptInTime } from "./patience.ts";
import { type LookUp, refuseInside } from "./public-address.ts";
import { askedPause } from "./retry.ts";

export interface Receiver {
  readonly url: string;
  /** Key that signs the messages. */
  readonly key: Buffer;
}

/** Parses an address. The error does not repeat the address, since many services put a key into its path. */
export function parseWebhookAddress(given: unknown): string {
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : null;
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.hash === "") return url.href;
  throw new Error("expected an address like https://example.org/hook, without user and password");
}

/** Parses a key in the format of Standard Webhooks: whsec_ and 24 to 64 bytes in base64. */
export function parseWebhookSecret(given: unknown): Buffer {
  const digits = typeof given === "string" ? given.trim().replace(/^whsec_/, "") : "";
  const key = Buffer.from(digits, "base64");
  if (/^[A-Za-z\d+/]+=*$/.test(digits) && key.length >= 24 && key.length <= 64) return key;
  throw new Error(
    'expected whsec_ and 24 to 64 bytes in base64. Make one: echo "whsec_$(openssl rand -base64 32)"; the receiver needs it too',
  );
}

/** Returns an address for logs. Leaves out path and query, which may contain a key. */
export const originOf = ({ url }: { readonly url: string }): string => new URL(url).origin;

/** Returns the headers of an attempt. The signature covers the time, so that old messages cannot be replayed. */
export function headersOfMessage(
  { key }: Pick<Receiver, "key">,
  { id, body }: Message,
  now: number,
): Record<string, string> {
  const seconds = String(Math.floor(now / 1000));
  const signature = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "user-agent": "boxwright",
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${signature}`,
  };
}

export interface PostOptions extends AttemptOptions {
  /** Resolves names, and refuses some addresses. Undefined allows all addresses. */
  readonly lookup?: LookUp | undefined;
}

/** Posts a message once. Follows no redirect, which could send the data to an unintended address. */
export function postMessage(hook: Receiver, message: Message, options: PostOptions): Promise<Attempt> {
  const { now, lookup } = options;
  const attempt = async (signal: AbortSignal): Promise<Attempt> => {
    if (lookup !== undefined) refuseInside(new URL(hook.url).hostname);
    const { statusCode = 0, headers } = await send(hook.url, message.body, {
      headers: headersOfMessage(hook, message, now()),
      signal,
      ...(lookup && { lookup }),
    });
    if (statusCode >= 200 && statusCode < 300) return "sent";
    if (statusCode === 410) return "gone";
    return { reason: `status ${statusCode}`, after: askedPause(headers["retry-after"], now()) };
  };
  return attemptInTime(options, attempt, connectionProblem);
}

/** Sends a body, and resolves once the headers of the answer are there. The answer's body is not read. */
function send(url: string, body: string, options: http.RequestOptions): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { request } = url.startsWith("https:") ? https : http;
    const length = String(Buffer.byteLength(body));
    const headers = { ...(options.headers as Record<string, string>), "content-length": length };
    // Open a new connection each time: the receiver could close a kept connection just as the next message is sent.
    const sent = request(url, { ...options, headers, method: "POST", agent: false }, (response) => {
      response.on("error", () => undefined);
      response.destroy();
      resolve(response);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
