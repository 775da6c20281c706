import { setTimeout as sleep } from "node:timers/promises";

export { sleep };

/** Waits until something holds, and throws after a minute. */
export async function until(holds: () => unknown, what = "a condition", milliseconds = 60_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`got no ${what} in ${milliseconds} ms`);
    await sleep(25);
  }
}
