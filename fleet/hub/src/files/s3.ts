/**
 * Requests to an S3-compatible store. `aws4fetch` signs them (Signature Version 4), and Node's own client sends them:
 * it streams a file with its length, which a store wants. The bucket is part of the path, which every such store takes.
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
  /** Stands before the name of each object, for example "hub/". */
  readonly prefix: string;
}

export interface StoreRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** Name of the object behind the prefix; empty: the bucket itself. */
  readonly name: string;
  /** What the request does, for its refusal. */
  readonly work: Work;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes the body anew for each try. */
  readonly body?: { readonly size: number; readonly sha256: string; readonly open: () => Readable };
}

/** Milliseconds without a byte after which a request is given up. */
const IDLE_MS = 20_000;
/** Pauses before the second and the third try. Stores ask for them with 503. */
const PAUSES = { first: 400, most: 800 } as const;
const MOST_TRIES = 3;
/** Connections to the store. A device that reads slowly holds one. */
const CONNECTIONS = 1000;
/** Bytes of a refusal that are read. */
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
   * Returns the answer if its status is 2xx, or undefined for an object that is not there. Whoever gets an answer reads
   * or destroys it.
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
      // The store compares the bytes with this hash, and refuses others.
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
      // A store that refuses early ends the connection while bytes are on their way.
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

/** Returns the beginning of an answer as text. */
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

/** Returns the text of each element of this name, which holds no elements. */
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
