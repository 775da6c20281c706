/**
 * A small store that speaks S3, for tests: one bucket, one key, objects in memory. It checks the signature, the clock,
 * the region and the hash of the bytes by itself, and refuses in the words of S3.
 */
import { createHash } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { readAuthorization, signatureOf } from "./signature.ts";

export const BUCKET = "hub-test";
export const PREFIX = "one/";
const REGION = "test-1";
const KEY = { id: "KEYOFTHETEST", secret: "secret/of+the=test" };
const SKEW_MS = 15 * 60_000;

interface Stored {
  readonly bytes: Buffer;
  readonly at: number;
}

export interface Bucket {
  readonly endpoint: string;
  /** Settings of a hub that uses it. */
  readonly env: Readonly<Record<string, string>>;
  readonly objects: Map<string, Stored>;
  /** Returns the status with which the bucket refuses a request, as in an overload; undefined if it answers. */
  refuse: (method: string, name: string) => number | undefined;
  /** Milliseconds that its clock is ahead. */
  ahead: number;
  /** Most objects of one list. */
  mostListed: number;
  /** Methods of all requests. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** A refusal of the store. */
class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly more: string;
  constructor(status: number, code: string, more = "") {
    super(code);
    [this.status, this.code, this.more] = [status, code, more];
  }
}

export async function startBucket(): Promise<Bucket> {
  const server = http.createServer((request, response) => {
    bucket.asked.push(request.method ?? "");
    const send = (status: number, body: string | Buffer, headers: http.OutgoingHttpHeaders = {}): void => {
      const date = new Date(Date.now() + bucket.ahead).toUTCString();
      response.writeHead(status, { "content-length": Buffer.byteLength(body), date, ...headers }).end(body);
    };
    answer(bucket, request, send).catch((error: unknown) => {
      const { status, code, more } = error instanceof Refusal ? error : new Refusal(500, String(error));
      const told = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>refused</Message>${more}</Error>`;
      send(status, request.method === "HEAD" ? "" : told, { "content-type": "application/xml" });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bucket: Bucket = {
    endpoint,
    env: {
      ...{ HUB_S3_ENDPOINT: endpoint, HUB_S3_BUCKET: BUCKET, HUB_S3_PREFIX: PREFIX, HUB_S3_REGION: REGION },
      ...{ HUB_S3_ACCESS_KEY_ID: KEY.id, HUB_S3_SECRET_ACCESS_KEY: KEY.secret },
    },
    ...{ objects: new Map(), refuse: () => undefined, ahead: 0, mostListed: 1000, asked: [] },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return bucket;
}

type Send = (status: number, body: string | Buffer, headers?: http.OutgoingHttpHeaders) => void;

async function answer(bucket: Bucket, request: http.IncomingMessage, send: Send): Promise<void> {
  const { method = "", url = "", headers } = request;
  const { pathname, searchParams } = new URL(url, bucket.endpoint);
  const [, of = "", ...rest] = pathname.split("/");
  const name = decodeURIComponent(rest.join("/"));
  const parts: Buffer[] = [];
  for await (const bytes of request) parts.push(bytes as Buffer);
  const bytes = Buffer.concat(parts);
  const status = bucket.refuse(method, name);
  if (status !== undefined) throw new Refusal(status, status === 403 ? "AccessDenied" : "SlowDown");
  checkSignature(bucket, request);
  if (of !== BUCKET) throw new Refusal(404, "NoSuchBucket");
  if (name === "" && method === "GET") return send(200, list(bucket, searchParams));
  if (method === "PUT") {
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (headers["content-length"] === undefined) throw new Refusal(411, "MissingContentLength");
    if (headers["x-amz-content-sha256"] !== hash) throw new Refusal(400, "XAmzContentSHA256Mismatch");
    bucket.objects.set(name, { bytes, at: Date.now() });
    return send(200, "");
  }
  if (method === "DELETE") {
    bucket.objects.delete(name);
    return send(204, "");
  }
  const found = bucket.objects.get(name);
  if (found === undefined) throw new Refusal(404, "NoSuchKey");
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
  const shown = found.bytes.subarray(Number(first ?? 0), last ? Number(last) + 1 : undefined);
  send(first === undefined ? 200 : 206, method === "HEAD" ? "" : shown, { "content-length": shown.length });
}

function checkSignature({ ahead }: Bucket, { method = "", url = "", headers }: http.IncomingMessage): void {
  const claim = readAuthorization(headers.authorization);
  if (claim === undefined) throw new Refusal(403, "AccessDenied");
  if (claim.accessKeyId !== KEY.id) throw new Refusal(403, "InvalidAccessKeyId");
  if (claim.region !== REGION) throw new Refusal(400, "AuthorizationHeaderMalformed", `<Region>${REGION}</Region>`);
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers["x-amz-date"])) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (!(Math.abs(Date.now() + ahead - at) < SKEW_MS)) throw new Refusal(403, "RequestTimeTooSkewed");
  const signed = ["host", "x-amz-content-sha256", "x-amz-date"].every((name) => claim.signedHeaders.includes(name));
  const expected = signatureOf({ method, target: url, headers }, claim, KEY.secret);
  if (!signed || expected !== claim.signature) throw new Refusal(403, "SignatureDoesNotMatch");
}

function list({ objects, mostListed }: Bucket, query: URLSearchParams): string {
  const prefix = query.get("prefix") ?? "";
  const after = query.get("continuation-token") ?? "";
  const all = [...objects.keys()].filter((name) => name.startsWith(prefix) && name > after).sort();
  const shown = all.slice(0, Math.min(mostListed, Number(query.get("max-keys") ?? 1000)));
  const time = (name: string): string => new Date(objects.get(name)!.at).toISOString();
  const contents = shown.map(
    (name) => `<Contents><Key>${name}</Key><LastModified>${time(name)}</LastModified></Contents>`,
  );
  const next = all.length > shown.length ? `<NextContinuationToken>${shown.at(-1)}</NextContinuationToken>` : "";
  return `<?xml version="1.0"?><ListBucketResult><Name>${BUCKET}</Name>${contents.join("")}${next}</ListBucketResult>`;
}
