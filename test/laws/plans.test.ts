/** Compares the plans and refusals of seeded cases with those that `npm run plans -- --update` recorded. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isThorough } from "../support/effort.ts";
import { digestOf } from "../support/plan-record.ts";
import { outcomeOfCase } from "../support/shape-outcomes.ts";

/** One of so many cases is tried. */
const EVERY = isThorough ? 1 : 20;

test("plans and refusals of seeded shapes are as recorded: npm run plans shows the others", () => {
  const digests = readFileSync(new URL("../fixtures/plans.txt", import.meta.url), "utf8")
    .trim()
    .split(/\s+/);
  const meaning = (digest: string): string => digest.slice(0, 5);
  const cases = digests.flatMap((digest, i) => (i % EVERY === 0 ? [{ i, meaning: meaning(digest) }] : []));
  const now = cases.map(({ i }) => ({ i, meaning: meaning(digestOf(outcomeOfCase(i))) }));
  expect(now.filter((one, at) => one.meaning !== cases[at].meaning)).toEqual([]);
  expect(digests.length).toBeGreaterThan(4000);
});
