/** What settles first, and what ends a stream. */
import { expect, test } from "vitest";
import { Arrivals, STOPPED } from "../../src/detect/arrivals.ts";

test("a stream that was stopped ends without an error, even if its signal aborts too", async () => {
  const end = new AbortController();
  const arrivals = new Arrivals(end.signal);
  const next = arrivals.next();
  arrivals.stop();
  end.abort(new Error("enough"));
  await expect(next).rejects.toBe(STOPPED);
});

test("a stream that has ended listens to its signal no longer: the signal may live as long as the page", () => {
  const listeners = new Set<unknown>();
  const signal = {
    addEventListener: (_: string, listener: unknown) => listeners.add(listener),
    removeEventListener: (_: string, listener: unknown) => listeners.delete(listener),
  } as unknown as AbortSignal;
  const arrivals = new Arrivals(signal);
  expect(listeners.size).toBe(1);
  arrivals.forgetSignal();
  expect(listeners.size).toBe(0);
});
