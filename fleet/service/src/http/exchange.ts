/** A request and its answer, with the functions that routes use to read and write them. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, type Readable } from "node:stream";
import type { Visit } from "../room.ts";
import { addressOf } from "./caller.ts";

/** Headers of an answer. A header with a list is sent once for each value. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface ExchangeOptions {
  readonly proxyHops?: number;
  /** Milliseconds for a whole body, unless its route sets another pace. */
  readonly bodyMs?: number;
  /** True if answers must close their connection, because the service is stopping. */
  readonly isDraining?: () => boolean;
  /** Returns headers for every answer. A route's own header replaces one with the same name. */
  readonly headers?: () => AnswerHeaders;
}

/** Authenticated sender of a request. */
export interface Sender {
  /** Public id of a team's API key. */
  key?: string;
  /** Public id of a device's credential. */
  credential?: string;
  team?: string;
  /** Id of a device, and its name in the hub. */
  device?: string;
  deviceName?: string;
}

/** Default milliseconds for a whole body. Bodies have at most about 100 kB, unless their route allows more. */
const BODY_MS = 20_000;

export const JSON_TYPE = "application/json; charset=utf-8";

/** True if the headers announce a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";

export class Exchange {
  readonly id = randomUUID();
  readonly request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #options: ExchangeOptions;
  /** Milliseconds for a whole body. */
  readonly bodyMs: number;
  readonly method: string;
  /** Address of the sender, for limits that count requests. */
  readonly address: string;
  readonly path: string;
  /** Query after the `?`. */
  readonly search: string;
  /** Pattern of the route, for the log. The path itself may contain a secret, such as a one-time link. */
  route = "other";
  readonly sender: Sender = {};
  /** The body's visit in the room that all bodies share (room.ts), once the route has begun the visit. */
  visit: Visit | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, options: ExchangeOptions = {}) {
    this.request = request;
    this.#response = response;
    this.#options = options;
    this.bodyMs = options.bodyMs ?? BODY_MS;
    this.method = request.method ?? "GET";
    this.address = addressOf(request, options.proxyHops ?? 0);
    const target = request.url ?? "/";
    const mark = target.indexOf("?");
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.search = mark < 0 ? "" : target.slice(mark + 1);
  }

  /** Returns the value of a header, or undefined if it is missing or a list. */
  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === "string" ? value : undefined;
  }

  /** Returns a parameter of the query, or undefined. */
  query(name: string): string | undefined {
    return new URLSearchParams(this.search).get(name) ?? undefined;
  }

  /** Returns the stream of the body. Answers `100 Continue` to a sender that waits for it. */
  openBody(): IncomingMessage {
    if (this.header("expect")?.toLowerCase() === "100-continue") this.#response.writeContinue();
    return this.request;
  }

  /** Status of the answer if it was sent completely. 499 if the caller closed the connection first. */
  get status(): number {
    return this.#response.writableFinished ? this.#response.statusCode : 499;
  }

  /** Sends the answer. Does nothing if an answer was sent already. Node writes no body for HEAD. */
  send(status: number, type: string, body: string | Uint8Array, headers: AnswerHeaders = {}): void {
    if (this.#response.headersSent || this.#response.destroyed) return;
    this.#writeHead(status, type, Buffer.byteLength(body), headers);
    this.#response.end(body);
  }

  sendJson(status: number, body: object, headers?: AnswerHeaders): void {
    this.send(status, JSON_TYPE, JSON.stringify(body), headers);
  }

  /** Sends 204, which has no body. */
  sendNothing(headers: AnswerHeaders = {}): void {
    if (this.#response.headersSent || this.#response.destroyed) return;
    this.#writeHead(204, undefined, undefined, headers);
    this.#response.end();
  }

  /**
   * Sends a stream, of `length` bytes if known. If the stream breaks, closes the connection, so that the caller
   * notices.
   */
  sendStream(
    status: number,
    type: string,
    length: number | undefined,
    body: Readable,
    headers: AnswerHeaders = {},
  ): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return void body.destroy();
    this.#writeHead(status, type, length, headers);
    if (this.method === "HEAD") {
      body.destroy();
      response.end();
    } else pipeline(body, response, () => undefined);
  }

  /** Calls `work` when this answer is finished or cut off, even if the caller closed the connection. */
  afterAnswer(work: () => void): void {
    if (this.#response.closed || this.#response.destroyed) work();
    else this.#response.once("close", work);
  }

  #writeHead(status: number, type: string | undefined, length: number | undefined, headers: AnswerHeaders): void {
    const { headers: ofAll, isDraining } = this.#options;
    const given = ofAll === undefined ? headers : { ...ofAll(), ...headers };
    // Pass a flat array, which Node writes directly.
    const flat = ["X-Request-Id", this.id, "X-Content-Type-Options", "nosniff"];
    if (type !== undefined) flat.push("Content-Type", type);
    if (length !== undefined) flat.push("Content-Length", String(length));
    if (given["cache-control"] === undefined) flat.push("Cache-Control", "no-store");
    for (const [name, value] of Object.entries(given)) for (const one of [value].flat()) flat.push(name, one);
    if (isDraining?.() === true) flat.push("Connection", "close");
    this.#response.writeHead(status, flat);
  }
}
