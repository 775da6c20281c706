import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export { sleep };

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Waits until something holds, and throws after a minute. */
export async function until(holds: () => unknown, what = "a condition", milliseconds = 60_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`got no ${what} in ${milliseconds} ms`);
    await sleep(25);
  }
}
