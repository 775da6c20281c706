import { expect, onTestFinished, test, vi } from "vitest";
import { askedPause, Backoff, pauseAfter } from "../src/retry.ts";

test("pauses double up to a limit, and vary by a tenth, so that devices do not all come back at once", () => {
  const random = vi.spyOn(Math, "random");
  onTestFinished(() => random.mockRestore());
  const pauses = (share: number): number[] => {
    random.mockReturnValue(share);
    const backoff = new Backoff(1000, 4000);
    return Array.from({ length: 4 }, () => backoff.next());
  };
  expect(pauses(0)).toEqual([900, 1800, 3600, 3600]);
  expect(pauses(0.5)).toEqual([1000, 2000, 4000, 4000]);
  expect(pauses(1)).toEqual([1100, 2200, 4400, 4400]);
  const backoff = new Backoff(1000, 4000);
  for (let i = 0; i < 3; i++) backoff.next();
  backoff.reset();
  expect(backoff.next()).toBe(1100);
  expect(pauseAfter(2, { first: 10, most: 100, share: 1 })).toBe(40);
  // After a night without a receiver the count is far above the exponents of a double.
  expect(pauseAfter(5000, { first: 1000, most: 4000 })).toBe(4400);
});

test("Retry-After holds seconds or a date; anything else asks for nothing", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const answers = { "0": 0, "7": 7000, "Thu, 01 Jan 2026 00:01:00 GMT": 60_000 };
  for (const [header, milliseconds] of Object.entries(answers)) expect(askedPause(header, now)).toBe(milliseconds);
  for (const header of ["nonsense", "", "-7", "7.5 s", "Wed, 31 Dec 2025 23:59:59 GMT", null, undefined])
    expect(askedPause(header, now), String(header)).toBeNull();
});
