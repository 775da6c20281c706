/** The files that pages load. */
import { readFileSync } from "node:fs";
import { refuseMethod } from "../http/refusals.ts";
import type { Router } from "../http/router.ts";

const ASSETS = [
  ["/app.css", "text/css; charset=utf-8"],
  ["/app.js", "text/javascript; charset=utf-8"],
  ["/mark.svg", "image/svg+xml"],
] as const;

export function registerAssets(router: Router): void {
  for (const [path, type] of ASSETS) {
    const content = readFileSync(new URL(`../../public${path}`, import.meta.url));
    router.any(path, (exchange) => {
      if (exchange.method !== "GET" && exchange.method !== "HEAD") refuseMethod(exchange, "GET, HEAD");
      else exchange.send(200, type, content, { "cache-control": "public, max-age=300" });
    });
  }
}
