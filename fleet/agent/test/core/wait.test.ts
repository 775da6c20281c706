import { expect, onTestFinished, test, vi } from "vitest";
import { Backoff, Reopened } from "../../src/core/wait.ts";

test("what is lost or fails late leaves alone what was opened meanwhile", async () => {
  const loses: (() => void)[] = [];
  let fail: (error: Error) => void = () => undefined;
  const reopened = new Reopened((lose) => {
    const count = loses.push(lose);
    return count === 1 ? new Promise<number>((_, reject) => (fail = reject)) : Promise.resolve(count);
  });
  const first = reopened.get();
  loses[0]!();
  expect(await reopened.get()).toBe(2);
  fail(new Error("away"));
  await expect(first).rejects.toThrow("away");
  loses[0]!();
  expect(await reopened.get()).toBe(2);
  loses[1]!();
  expect(await reopened.get()).toBe(3);
});

test("pauses double up to a limit, and vary by a tenth, so that devices do not all come back at once", () => {
  const random = vi.spyOn(Math, "random");
  onTestFinished(() => random.mockRestore());
  const pauses = (share: number): number[] => {
    random.mockReturnValue(share);
    const backoff = new Backoff(1000, 4000);
    return Array.from({ length: 4 }, () => Math.round(backoff.next()));
  };
  expect(pauses(0)).toEqual([900, 1800, 3600, 3600]);
  expect(pauses(0.5)).toEqual([1000, 2000, 4000, 4000]);
  expect(pauses(1)).toEqual([1100, 2200, 4400, 4400]);
  const backoff = new Backoff(1000, 4000);
  for (let i = 0; i < 3; i++) backoff.next();
  backoff.reset();
  expect(Math.round(backoff.next())).toBe(1100);
});
