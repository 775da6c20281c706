/** One request and its answer: what every route reads of the one and writes of the other. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { refuseBytes } from "boxwright-service/connections";
import { addressOf } from "boxwright-service/caller";
import type { Visit } from "boxwright-service/room";

/** True if a request has a body, by its headers. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";

/** A list stands for a header that is sent several times. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface ExchangeOptions {
  readonly proxyHops: number;
  /** Milliseconds for a whole request. */
  readonly requestMs: number;
  readonly isDraining: () => boolean;
}

export class Exchange {
  readonly id = randomUUID();
  readonly request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #isDraining: () => boolean;
  readonly #late: NodeJS.Timeout | undefined;
  readonly method: string;
  /** The address that limits count by. */
  readonly address: string;
  readonly path: string;
  /** Begins behind the `?`. */
  readonly search: string;
  /** The pattern of the route, for the log. The path itself may hold a one-time link, or whatever people paste. */
  route = "other";
  /** Public id of the API key, once it is known. */
  key: string | undefined;
  team: string | undefined;
  /** Place of the body in the room that bodies share, once it has one. */
  visit: Visit | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, options: ExchangeOptions) {
    this.request = request;
    this.#response = response;
    this.#isDraining = options.isDraining;
    if (hasBody(request)) {
      this.#late = setTimeout(() => this.#refuseLate(), options.requestMs).unref();
      response.once("close", () => clearTimeout(this.#late));
    }
    this.method = request.method ?? "GET";
    this.address = addressOf(request, options.proxyHops);
    const target = request.url ?? "/";
    const mark = target.indexOf("?");
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.search = mark < 0 ? "" : target.slice(mark + 1);
  }

  /** Lets the body take as long as it needs, while its bytes keep coming: a large file over a slow line. */
  allowSlowBody(): void {
    clearTimeout(this.#late);
  }

  #refuseLate(): void {
    const { socket, complete } = this.request;
    if (!complete) refuseBytes(Object.assign(new Error("late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
  }

  /** Returns a header that may come once, or undefined. */
  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === "string" ? value : undefined;
  }

  /** The status that was sent whole; 499 if the caller hung up first. */
  get status(): number {
    return this.#response.writableFinished ? this.#response.statusCode : 499;
  }

  /** Sends the answer, once: a second one is dropped. Node writes no body for HEAD. */
  send(status: number, type: string, body: string | Buffer, headers: AnswerHeaders = {}): void {
    if (this.#response.headersSent || this.#response.destroyed) return;
    // One flat array and the body in one piece: Node writes them as they are.
    const flat = ["X-Request-Id", this.id, "X-Content-Type-Options", "nosniff", "Content-Type", type];
    flat.push("Content-Length", String(Buffer.byteLength(body)));
    if (headers["cache-control"] === undefined) flat.push("Cache-Control", "no-store");
    for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) flat.push(name, one);
    if (this.#isDraining()) flat.push("Connection", "close");
    this.#response.writeHead(status, flat);
    this.#response.end(body);
  }

  /** Sends `length` bytes of a stream. If it breaks, the connection is cut: the caller sees that bytes are missing. */
  sendStream(status: number, type: string, length: number, body: Readable, headers: AnswerHeaders = {}): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return void body.destroy();
    const flat = ["X-Request-Id", this.id, "X-Content-Type-Options", "nosniff", "Content-Type", type];
    flat.push("Content-Length", String(length));
    for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) flat.push(name, one);
    if (this.#isDraining()) flat.push("Connection", "close");
    response.writeHead(status, flat);
    if (this.method === "HEAD") {
      body.destroy();
      response.end();
    } else pipeline(body, response, () => undefined);
  }

  /** Calls `work` when the connection is done with this answer, also if the caller hangs up before it. */
  afterAnswer(work: () => void): void {
    if (this.#response.closed || this.#response.destroyed) work();
    else this.#response.once("close", work);
  }
}
