/** The files that pages load. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { refuseMethod } from "../http/refusals.ts";
import type { Router } from "../http/router.ts";

const ASSETS = [
  ["/app.css", "text/css; charset=utf-8"],
  ["/app.js", "text/javascript; charset=utf-8"],
  ["/application.js", "text/javascript; charset=utf-8"],
  ["/snap.js", "text/javascript; charset=utf-8"],
  ["/mark.svg", "image/svg+xml"],
] as const;

/** boxwright for pages, in one file: it draws detections. */
const BOXWRIGHT = join(dirname(createRequire(import.meta.url).resolve("boxwright")), "page.mjs");

export function registerAssets(router: Router): void {
  const files = ASSETS.map(([path, type]) => [path, type, new URL(`../../public${path}`, import.meta.url)] as const);
  for (const [path, type, file] of [
    ...files,
    ["/boxwright.js", "text/javascript; charset=utf-8", BOXWRIGHT] as const,
  ]) {
    const content = readFileSync(file);
    router.any(path, (exchange) => {
      if (exchange.method !== "GET" && exchange.method !== "HEAD") refuseMethod(exchange, "GET, HEAD");
      else exchange.send(200, type, content, { "cache-control": "public, max-age=300" });
    });
  }
}
