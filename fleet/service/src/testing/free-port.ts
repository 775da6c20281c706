import { type Server, createServer } from "node:net";

/**
 * Ports below those that systems give to outgoing connections (from 32768 on with Linux). No connection takes such a
 * port while a server that was killed is down.
 */
const [FIRST, COUNT] = [20_000, 12_000];
/** The next port to try. Processes of tests begin at places far from each other. */
let next = (process.pid * 97) % COUNT;

/**
 * Returns a port of 127.0.0.1 that nobody listens on, and that no other process gets from here until this one ends. Its
 * server may be killed and started again, and may start later.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT);
    // This process listens at another address of the loopback interface as a sign that the port is given away.
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

/** Returns null if somebody listens there already. */
const listen = (port: number, host: string): Promise<Server | null> =>
  new Promise((resolve) => {
    const server = createServer().unref();
    // A system without this address has no sign.
    server.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "EADDRINUSE" ? null : server));
    server.listen(port, host, () => resolve(server));
  });
