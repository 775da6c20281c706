/**
 * Sends requests to an S3-compatible store. `aws4fetch` signs a request (Signature Version 4). Node's own HTTP client
 * sends the request, since a store requires the length of a streamed file. The bucket's name is part of the path: every
 * S3-compatible store accepts this.
 */
import { createHash } from "node:crypto";
import http from "node:http";
import https from "node:https";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { codeOf, connectionProblem, UnavailableError } from "boxwright-service/errors";
import { pauseAfter } from "boxwright-service/retry";
import { explainRefusal, type BucketPlace, type Work } from "./s3-refusals.ts";

export interface BucketOptions extends BucketPlace {
  readonly secretAccessKey: string;
  /** Text before the name of each object, for example "hub/". */
  readonly prefix: string;
}

export interface StoreRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Name of the object after the prefix. Empty for a request to the bucket itself. */
  readonly name: string;
  /** Kind of the request, for error messages. */
  readonly work: Work;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Creates the body. Each try calls this function again. */
  readonly body?: { readonly size: number; readonly sha256: string; readonly open: () => Readable };
}

/** Milliseconds without a byte after which the client gives up a request. */
const IDLE_MS = 20_000;
/** Milliseconds before the second try and before the third. A store with status 503 asks for such a pause. */
const PAUSES = { first: 400, most: 800 } as const;
const MOST_TRIES = 3;
/** Largest number of connections to the store. A device that reads slowly occupies a connection. */
const CONNECTIONS = 1000;
/** Largest number of bytes that are read of an error answer. */
const MOST_TOLD = 64 * 1024;
const EMPTY = createHash("sha256").digest("hex");

export class S3 {
  readonly #options: BucketOptions;
  readonly #agent: http.Agent;

  constructor(options: BucketOptions) {
    this.#options = options;
    const settings = { keepAlive: true, maxSockets: CONNECTIONS };
    this.#agent = options.endpoint.startsWith("https:") ? new https.Agent(settings) : new http.Agent(settings);
  }

  /**
   * Returns the answer if its status is 2xx, or undefined if the object does not exist. The caller must read or destroy
   * the answer.
   * @throws UnavailableError that says what to do
   */
  async send(request: StoreRequest): Promise<http.IncomingMessage | undefined> {
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === MOST_TRIES;
      let answer: http.IncomingMessage;
      try {
        answer = await this.#try(request);
      } catch (error) {
        if (isLast || !/^(ECONNRESET|EPIPE)$/.test(codeOf(error))) throw this.#unreachable(error);
        await sleep(pauseAfter(attempt, PAUSES));
        continue;
      }
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) return answer;
      const body = await textOf(answer).catch(() => "");
      if (status >= 500 && !isLast) {
        await sleep(pauseAfter(attempt, PAUSES));
        continue;
      }
      const isGone = status === 404 && request.name !== "" && !body.includes("<Code>NoSuchBucket</Code>");
      if (isGone) return undefined;
      throw explainRefusal(this.#options, request.work, { status, body, date: answer.headers.date });
    }
  }

  async #try({ method, name, query = {}, headers = {}, body }: StoreRequest): Promise<http.IncomingMessage> {
    const { endpoint, bucket, prefix, region, accessKeyId, secretAccessKey } = this.#options;
    const url = new URL(`${endpoint}/${bucket}${name === "" ? "" : `/${prefix}${name}`}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, region, accessKeyId, secretAccessKey, service: "s3" },
      // The store compares the bytes with this hash, and refuses bytes that differ.
      headers: { ...headers, "x-amz-content-sha256": body?.sha256 ?? EMPTY },
    });
    const signed = await signer.sign();
    const { request: make } = signed.url.protocol === "https:" ? https : http;
    return new Promise((resolve, reject) => {
      const sent = Object.fromEntries(signed.headers);
      if (body !== undefined) sent["content-length"] = String(body.size);
      const request = make(signed.url, { method, headers: sent, agent: this.#agent, timeout: IDLE_MS });
      request.on("timeout", () => request.destroy(new Error(`no answer in ${IDLE_MS / 1000} s`)));
      request.on("error", reject);
      request.on("response", resolve);
      if (body === undefined) return void request.end();
      const bytes = body.open();
      bytes.on("error", (error) => request.destroy(error));
      // Stop reading the file when the connection closes, since a store may refuse before all bytes are sent.
      request.on("close", () => bytes.destroy());
      bytes.pipe(request);
    });
  }

  #unreachable(error: unknown): UnavailableError {
    const { endpoint } = this.#options;
    return new UnavailableError(
      `HUB_S3_ENDPOINT: got ${endpoint}, which does not answer (${connectionProblem(error) || codeOf(error)}); ` +
        "start the store, or name its address",
      { cause: error },
    );
  }
}

/** Returns the first `most` bytes of an answer as text. */
export async function textOf(answer: Readable, most = MOST_TOLD): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const bytes of answer) {
    parts.push(bytes as Buffer);
    if ((size += (bytes as Buffer).length) > most) break;
  }
  return Buffer.concat(parts).toString().slice(0, most);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Returns the texts of all XML elements with this name. The elements must not be nested. */
export function elementsOf(xml: string, name: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"));
  return [...found].map(([, text = ""]) =>
    text
      .replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity]!)
      .replace(/&#(x?)([0-9a-f]+);/gi, (_, hex: string, code: string) =>
        String.fromCodePoint(Number.parseInt(code, hex === "" ? 10 : 16)),
      ),
  );
}
