import { expect, test } from "vitest";
import { duration } from "../../page/words.ts";

test("a duration is told in a unit that fits", () => {
  const days = 86_400_000;
  expect([0.5, 40, 9999, 10_000, 599_000, 600_000, 36_000_000, 2765 * days, -3 * days].map(duration)).toEqual([
    "0.50 ms",
    "40 ms",
    "9999 ms",
    "10.0 s",
    "599.0 s",
    "10 min",
    "10 h",
    "2765 days",
    "-72 h",
  ]);
});
