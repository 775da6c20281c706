import { expect, test } from "vitest";
import { ageText, duration, labelText } from "../../page/words.ts";

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

test("an age is told in whole units, and a class id as one", () => {
  expect([3, 7388, 119_000, 286_500, 7_200_000, 3 * 86_400_000].map(ageText)).toEqual([
    ...["less than 1 s", "7 s", "119 s", "5 min", "2 h", "3 days"],
  ]);
  expect(["16", "dog", "7up"].map(labelText)).toEqual(["class 16", "dog", "7up"]);
});
