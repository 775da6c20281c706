import { type Server, createServer } from "node:net";

/**
 * First port and number of ports. They are below those that systems use for outgoing connections (from 32768 on Linux).
 * So no connection takes a server's port while the server is down.
 */
const [FIRST, COUNT] = [20_000, 12_000];
/** The next port to try. Each test process starts at another port. */
let next = (process.pid * 97) % COUNT;

/**
 * Returns a port of 127.0.0.1 without a listener. Until this process ends, this function returns the port to no other
 * process, so the server may start later, or be killed and started again.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT);
    // Listen on the same port of another loopback address, as a mark that the port is reserved.
    const sign = await listen(port, "127.0.0.2");
    if (!sign) continue;
    const server = await listen(port, "127.0.0.1");
    if (server) {
      await new Promise((resolve) => server.close(resolve));
      return port;
    }
    sign.close();
  }
  throw new Error(`got no free port from ${FIRST} to ${FIRST + COUNT - 1}`);
}

/** Listens on a port. Returns null if another process does so already. */
const listen = (port: number, host: string): Promise<Server | null> =>
  new Promise((resolve) => {
    const server = createServer().unref();
    // Go on without the mark if the system has no such address.
    server.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "EADDRINUSE" ? null : server));
    server.listen(port, host, () => resolve(server));
  });
