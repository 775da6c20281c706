import { setTimeout as sleep } from "node:timers/promises";

export { sleep };

/** Waits until something holds, and throws after so many seconds: many, since the machine may be busy elsewhere. */
export async function until(holds: () => unknown, what = "a condition", seconds = 60): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s for ${what}`);
    await sleep(25);
  }
}

/** Waits until an assertion passes, and throws its last error after so many seconds. */
export async function untilPasses(assertion: () => unknown, seconds = 60): Promise<void> {
  let last: unknown;
  const passes = async (): Promise<boolean> => {
    try {
      await assertion();
      return true;
    } catch (error) {
      last = error;
      return false;
    }
  };
  await until(passes, "an assertion to pass", seconds).catch(() => {
    throw last;
  });
}
