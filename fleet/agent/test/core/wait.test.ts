import { expect, test } from "vitest";
import { Reopened } from "../../src/core/wait.ts";

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
