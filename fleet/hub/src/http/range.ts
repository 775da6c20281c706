/**
 * Sends files, whole or in part. Supports a `Range` header with one range, which a client sends to continue an
 * interrupted download.
 */
import { Readable } from "node:stream";
import type { AnswerHeaders, Exchange } from "boxwright-service/http/exchange";

export interface SentFile {
  readonly size: number;
  readonly type: string;
  /** ETag without quotes. A file with the same ETag never changes. */
  readonly etag: string;
  readonly read: (start: number, end: number) => Promise<Readable>;
}

interface Range {
  readonly start: number;
  /** Offset of the last byte, which is part of the range. */
  readonly end: number;
}

/**
 * Returns the range that a header asks for. Returns "whole" for a missing or unsupported header, and "beyond" for a
 * range after the end of the file.
 */
export function readRange(header: string | undefined, size: number): Range | "whole" | "beyond" {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return "whole";
  if (first === "")
    return size === 0 || last === "0" ? "beyond" : { start: Math.max(0, size - Number(last)), end: size - 1 };
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < start) return "whole";
  return start >= size ? "beyond" : { start, end };
}

/** Sends a file in answer to GET or HEAD. */
export async function sendFile(exchange: Exchange, file: SentFile, more: AnswerHeaders = {}): Promise<void> {
  const { size, type } = file;
  const read = (start: number, end: number): Promise<Readable> =>
    exchange.method === "HEAD" || size === 0 ? Promise.resolve(Readable.from([])) : file.read(start, end);
  const etag = `"${file.etag}"`;
  const headers = { "cache-control": "private, max-age=31536000, immutable", etag, "accept-ranges": "bytes", ...more };
  if (exchange.header("if-none-match")?.includes(etag) === true) return exchange.send(304, type, "", headers);
  const condition = exchange.header("if-range");
  const range = condition === undefined || condition === etag ? readRange(exchange.header("range"), size) : "whole";
  if (range === "beyond") return exchange.send(416, type, "", { ...headers, "content-range": `bytes */${size}` });
  if (range === "whole") return exchange.sendStream(200, type, size, await read(0, size - 1), headers);
  const { start, end } = range;
  const partHeaders = { ...headers, "content-range": `bytes ${start}-${end}/${size}` };
  exchange.sendStream(206, type, end - start + 1, await read(start, end), partHeaders);
}
