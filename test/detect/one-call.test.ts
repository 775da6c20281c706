/** One call at a time, and what close does to it. */
import { expect, test } from "vitest";
import { OneCall } from "../../src/detect/one-call.ts";

test("close ends the loop that runs, none before it, and frees once the loop has left", async () => {
  const calls = new OneCall();
  const told: string[] = [];
  calls.enter("detectAll", () => told.push("first"));
  calls.leave();
  calls.enter("detectAll", () => {
    told.push("second");
    calls.leave();
  });
  await calls.close(() => Promise.resolve(void told.push("freed")));
  expect(told).toEqual(["second", "freed"]);
});

test("close waits for a call that is no loop, whatever ran before", async () => {
  const calls = new OneCall();
  const told: string[] = [];
  calls.enter("detectAll", () => told.push("ended"));
  calls.leave();
  calls.enter("detect");
  const closed = calls.close(() => Promise.resolve(void told.push("freed")));
  await Promise.resolve();
  expect(told).toEqual([]);
  calls.leave();
  await closed;
  expect(told).toEqual(["freed"]);
});
