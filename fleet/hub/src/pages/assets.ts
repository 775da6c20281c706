/** Files that pages load. Each file is compressed once, at its first request. */
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { sha256 } from "../core/ids.ts";
import type { Exchange } from "boxwright-service/http/exchange";
import { refuseMethod } from "../http/refusals.ts";
import type { Router } from "boxwright-service/http/router";

const SCRIPT = "text/javascript; charset=utf-8";
const ASSETS = [
  ["/app.css", "text/css; charset=utf-8", "public/app.css"],
  ["/app.js", SCRIPT, "public/app.js"],
  ["/application.js", SCRIPT, "public/application.js"],
  // The build makes this script from page/, with boxwright's drawing code.
  ["/snap.js", SCRIPT, "dist/page/snap.js"],
  ["/mark.svg", "image/svg+xml", "public/mark.svg"],
] as const;

type Encoding = "br" | "gzip";

const compress: Readonly<Record<Encoding, (text: Buffer) => Buffer>> = {
  br: (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (text) => gzipSync(text, { level: 9 }),
};

export function registerAssets(router: Router): void {
  for (const [path, type, file] of ASSETS) {
    const content = readFileSync(new URL(`../../${file}`, import.meta.url));
    const etag = `"${sha256(content.toString("latin1")).slice(0, 32)}"`;
    const bodies = new Map<Encoding, Buffer>();
    const bodyIn = (encoding: Encoding): Buffer => {
      const body = bodies.get(encoding) ?? compress[encoding](content);
      bodies.set(encoding, body);
      return body;
    };
    router.any(path, (exchange) => {
      if (exchange.method !== "GET" && exchange.method !== "HEAD") return refuseMethod(exchange, "GET, HEAD");
      const headers = { "cache-control": "public, max-age=300", etag, vary: "accept-encoding" };
      if (exchange.header("if-none-match")?.includes(etag) === true) return exchange.send(304, type, "", headers);
      const encoding = encodingFor(exchange);
      if (encoding === undefined) return exchange.send(200, type, content, headers);
      exchange.send(200, type, bodyIn(encoding), { ...headers, "content-encoding": encoding });
    });
  }
}

/** Returns the best encoding that the browser accepts, or undefined. */
function encodingFor(exchange: Exchange): Encoding | undefined {
  const taken = new Set<string>();
  for (const part of (exchange.header("accept-encoding") ?? "").toLowerCase().split(",")) {
    const [name = "", ...params] = part.split(";").map((text) => text.trim());
    if (!params.some((param) => /^q=0(\.0*)?$/.test(param))) taken.add(name);
  }
  return (["br", "gzip"] as const).find((name) => taken.has(name));
}
