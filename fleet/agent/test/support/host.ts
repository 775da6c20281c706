/** A small host that stores packets in memory, and fails, waits or dies as a test asks. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type Packet, createDecoderSync, fromPacket } from "boxwright";

export interface FakeAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export class FakeHost {
  /** Packets by source and id, in the order in which they came first. */
  readonly stored = new Map<string, Packet>();
  /** Bytes of each packet that came first. */
  readonly bytes = new Map<string, Buffer>();
  /** Packets that came again. */
  duplicates = 0;
  readonly configs = new Map<string, string>();
  readonly previews: { readonly headers: IncomingMessage["headers"]; readonly jpeg: Buffer }[] = [];
  /** Answers in place of storing; null stores. Called with the count of packets so far. */
  answer: (request: IncomingMessage, count: number) => FakeAnswer | null | Promise<FakeAnswer | null> = () => null;
  /** Asks for configs of raw packets. */
  needsConfigs = false;
  count = 0;
  #server: Server | null = null;
  #port = 0;

  readonly #tls: { readonly key: Buffer; readonly cert: Buffer } | null;

  /** @param tls key and certificate of a host behind HTTPS */
  constructor(tls: { readonly key: Buffer; readonly cert: Buffer } | null = null) {
    this.#tls = tls;
  }

  get url(): string {
    return `${this.#tls ? "https" : "http"}://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<this> {
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      void this.#take(request, response).catch(() => response.destroy());
    };
    const server = this.#tls ? createTlsServer(this.#tls, answer) : createServer(answer);
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    return this;
  }

  /** Dies: open connections are cut. The address stays. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const end = ({ status, headers = {}, body = "" }: FakeAnswer): void => {
      response.writeHead(status, headers).end(body);
    };
    if (request.url === "/v1/previews") {
      this.previews.push({ headers: request.headers, jpeg: body });
      return end({ status: 204 });
    }
    if (request.url?.startsWith("/v1/configs/")) return end(this.#takeConfig(request.url.slice(12), body));
    const answer = await this.answer(request, this.count++);
    if (answer) return end(answer);
    end(this.#takePacket(body));
  }

  #takeConfig(hash: string, body: Buffer): FakeAnswer {
    const { config, options } = JSON.parse(body.toString()) as { config: object; options: object };
    const own = createDecoderSync(config, options).configHash;
    if (own !== hash) return { status: 400, body: JSON.stringify({ error: `got ${hash}, expected ${own}` }) };
    this.configs.set(hash, body.toString());
    return { status: 204 };
  }

  #takePacket(body: Buffer): FakeAnswer {
    const copy = Uint8Array.from(body);
    const packet = fromPacket(copy);
    if (this.needsConfigs && packet.config !== null && !this.configs.has(packet.config))
      return { status: 409, body: JSON.stringify({ error: "unknown config", config: packet.config }) };
    const key = `${packet.source}\n${packet.id}`;
    if (this.stored.has(key)) {
      this.duplicates++;
      return { status: 204, headers: { "x-boxwright-duplicate": "1" } };
    }
    this.stored.set(key, packet);
    this.bytes.set(key, body);
    return { status: 204 };
  }
}
