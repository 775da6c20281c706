/** A server that dies and comes back at the same address. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { freePort } from "boxwright-service/testing/free-port";

export abstract class FakeServer {
  #server: Server | null = null;
  #port = 0;

  readonly #tls: { readonly key: Buffer; readonly cert: Buffer } | null;

  /** @param tls key and certificate of a server behind HTTPS */
  constructor(tls: { readonly key: Buffer; readonly cert: Buffer } | null = null) {
    this.#tls = tls;
  }

  get url(): string {
    return `${this.#tls ? "https" : "http"}://127.0.0.1:${this.#port}`;
  }

  /** Answers a request. An error cuts the connection. */
  protected abstract take(request: IncomingMessage, response: ServerResponse): Promise<void>;

  /** @param port by default a free one, and then the same */
  async start(port = this.#port): Promise<this> {
    this.#port = port;
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      void this.take(request, response).catch(() => response.destroy());
    };
    const server = this.#tls ? createTlsServer(this.#tls, answer) : createServer(answer);
    this.#port ||= await freePort();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(this.#port, "127.0.0.1", resolve);
    });
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
}
