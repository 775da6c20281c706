import { setTimeout as sleep } from "node:timers/promises";

export { sleep };

/**
 * Largest number of seconds that a test waits. It is large, since the machine may be busy. No test measures this time.
 */
export const PATIENCE = 120;

/**
 * Returns the error of a wait that ended without a result. The vitest configuration recognises this error by its first
 * words.
 */
export const timeUp = (seconds: number, what: string): Error => new Error(`waited ${seconds} s for ${what}`);

/** Waits until `holds` returns a true value. Throws after this many seconds. */
export async function until(holds: () => unknown, what = "a condition", seconds = PATIENCE): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw timeUp(seconds, what);
    await sleep(25);
  }
}

/** Waits until an assertion passes. After this many seconds, throws the assertion's last error. */
export async function untilPasses(assertion: () => unknown, seconds = PATIENCE): Promise<void> {
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
  await until(passes, "an assertion to pass", seconds).catch((error: Error) => {
    error.message += `: ${last instanceof Error ? last.message : String(last)}`;
    throw error;
  });
}
