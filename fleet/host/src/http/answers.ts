/** Headers of every answer, and refusals as answers. */
import type { Context, MiddlewareHandler } from "hono";
import type { Refusal } from "../core/errors.ts";
import type { Env } from "./guards.ts";

/** Content-Security-Policy: scripts, styles and connections of this host only. Images may also be data: URLs. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

/** @param framers returns the addresses of the hub, whose pages may show the page of a device in a frame */
export const safeHeaders = (framers: () => readonly string[]): MiddlewareHandler<Env> => {
  return async (c, next) => {
    await next();
    const origins = new Set(framers().map((address) => new URL(address).origin));
    const ancestors = origins.size === 0 ? "'none'" : [...origins].join(" ");
    c.header("Content-Security-Policy", `${POLICY}; frame-ancestors ${ancestors}`);
    c.header("X-Content-Type-Options", "nosniff");
    c.header("Referrer-Policy", "no-referrer");
    c.header("Cross-Origin-Resource-Policy", "same-origin");
    if (!c.res.headers.has("Cache-Control")) c.header("Cache-Control", "no-store");
  };
};

/** Answers with a refusal: the reason, and when to try again. */
export function refusalAnswer(c: Context<Env>, { reason, message, config, retryAfter, status }: Refusal): Response {
  if (retryAfter !== null) c.header("Retry-After", String(Math.ceil(retryAfter)));
  return c.json(reason === "unknown config" ? { error: message, config } : { error: message, reason }, status);
}
