import { createServer } from "node:net";

/**
 * Ports below those that systems give to outgoing connections (from 32768 on with Linux). No connection takes such a
 * port while a server that was killed is down.
 */
const [FIRST, COUNT] = [20_000, 12_000];
/** The next port to try. Processes of tests begin at places far from each other. */
let next = (process.pid * 97) % COUNT;

/** Returns a port of the loopback address that nobody listens on. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + (next++ % COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error(`got no free port from ${FIRST} to ${FIRST + COUNT - 1}`);
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
