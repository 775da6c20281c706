/** Files that pages load: compressed as the browser takes them, kept by their ETag, and small. */
import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHub, type TestHub } from "../support/hub.ts";

interface Got {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

describe("files of pages", () => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub()));
  afterAll(() => hub.stop());

  /** `fetch` decompresses, so ask by hand. */
  const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Got> =>
    new Promise((resolve, reject) => {
      const sent = request(hub.url + path, { method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      });
      sent.on("error", reject).end();
    });

  it.each(["/app.css", "/app.js", "/application.js", "/snap.js", "/mark.svg"])("%s", async (path) => {
    const plain = await get(path);
    expect([plain.status, plain.headers["content-encoding"], plain.headers.vary]).toEqual([
      ...[200, undefined, "accept-encoding"],
    ]);
    const br = await get(path, { "accept-encoding": "gzip, deflate, br" });
    expect([br.headers["content-encoding"], brotliDecompressSync(br.body).equals(plain.body)]).toEqual(["br", true]);
    const gzip = await get(path, { "accept-encoding": "br;q=0, GZIP ; q=0.5" });
    expect([gzip.headers["content-encoding"], gunzipSync(gzip.body).equals(plain.body)]).toEqual(["gzip", true]);
    expect(br.body.length).toBeLessThan(plain.body.length);
    const kept = await get(path, { "if-none-match": String(plain.headers.etag) });
    expect([kept.status, kept.body.length]).toEqual([304, 0]);
    const head = await get(path, { "accept-encoding": "br" }, "HEAD");
    expect([head.headers["content-length"], head.body.length]).toEqual([String(br.body.length), 0]);
    expect((await get(path, {}, "POST")).status).toBe(405);
  });

  it("bring of boxwright its drawing alone", async () => {
    expect((await get("/snap.js", { "accept-encoding": "br" })).body.length).toBeLessThan(10_000);
    expect((await get("/boxwright.js")).status).toBe(303);
  });
});
