/** Reads the body of a request, up to a limit. */
import type { IncomingMessage } from "node:http";
import type { RefusalCode } from "./refusals.ts";

/** A body over its limit is read and thrown away up to here, so that its sender hears the answer. */
const MAX_DISCARD = 1024 * 1024;

export type BodyRefusal = Extract<RefusalCode, "unsupported_encoding" | "body_too_large" | "invalid_encoding">;

export type Body =
  | { readonly kind: "ok"; readonly text: string }
  | { readonly kind: "refused"; readonly code: BodyRefusal }
  /** The caller hung up. */
  | { readonly kind: "gone" };

/** Reads at most `max` bytes of UTF-8, declared or not. Listen late: nothing of the body is read before this call. */
export function readBody(request: IncomingMessage, max: number): Promise<Body> {
  const refused = (code: BodyRefusal): Body => ({ kind: "refused", code });
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    return Promise.resolve(refused("unsupported_encoding"));
  if (Number(request.headers["content-length"] ?? 0) > MAX_DISCARD) return Promise.resolve(refused("body_too_large"));
  if (request.destroyed) return Promise.resolve({ kind: "gone" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= max) chunks.push(chunk);
      else chunks.length = 0;
      if (size > MAX_DISCARD) resolve(refused("body_too_large"));
    });
    request.on("end", () => resolve(size > max ? refused("body_too_large") : decode(chunks)));
    request.on("error", () => resolve({ kind: "gone" }));
    request.on("close", () => resolve({ kind: "gone" }));
  });
}

function decode(chunks: readonly Buffer[]): Body {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  const text = bytes.toString("utf8");
  // The decoder puts U+FFFD for bytes that are no UTF-8. Only then does encoding give other bytes.
  if (text.includes("\ufffd") && !Buffer.from(text).equals(bytes)) return { kind: "refused", code: "invalid_encoding" };
  return { kind: "ok", text };
}
