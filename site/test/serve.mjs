/** A plain file server on loopback: files below a sub-path, no rewriting, no headers but the type and the encoding. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, normalize } from "node:path";
import { gzipSync } from "node:zlib";

const TYPES = {
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  mjs: "text/javascript",
  css: "text/css",
  json: "application/json",
  svg: "image/svg+xml",
  jpg: "image/jpeg",
  png: "image/png",
  wasm: "application/wasm",
  md: "text/markdown; charset=utf-8",
  txt: "text/plain; charset=utf-8",
};

/** Files that are small already. */
const PACKED = /\.(jpg|png|safetensors|onnx)$/;

/** Serves a folder under a path such as "/a/b/", gzipped if it `compresses`. Returns the address and `close`. */
export async function serve(folder, path, { compresses = false } = {}) {
  const missing = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://127.0.0.1");
    try {
      if (!pathname.startsWith(path)) throw new Error("outside");
      const inside = normalize(decodeURIComponent(pathname.slice(path.length)));
      const file = pathname.endsWith("/") ? join(inside, "index.html") : inside;
      const body = await readFile(join(folder, file));
      const packs = compresses && !PACKED.test(file);
      response
        .writeHead(200, {
          "content-type": TYPES[file.split(".").pop()] ?? "application/octet-stream",
          ...(packs && { "content-encoding": "gzip" }),
        })
        .end(packs ? gzipSync(body) : body);
    } catch {
      missing.push(pathname);
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}${path}`,
    missing,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}
