import { setTimeout as sleep } from "node:timers/promises";

export { sleep };

/** Waits until something holds, and throws after so many seconds. */
export async function until(holds: () => unknown, what = "a condition", seconds = 60): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s for ${what}`);
    await sleep(25);
  }
}
