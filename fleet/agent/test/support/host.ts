/** A small host that stores packets in memory, and fails, waits or dies as a test asks. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Packet, createDecoderSync, fromPacket } from "boxwright";
import { FakeServer } from "./server.ts";

export interface FakeAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export class FakeHost extends FakeServer {
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

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
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
