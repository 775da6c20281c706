import { expect, it } from "vitest";
import { levelOf } from "../src/level.ts";

it("is the name, or a name of allowed characters that stays apart from others", () => {
  expect(levelOf("door-1")).toBe("door-1");
  expect(levelOf("a.b")).toMatch(/^a_b-[\da-f]{12}$/);
  expect(levelOf("")).toMatch(/^-[\da-f]{12}$/);
  expect(levelOf("x".repeat(1024)).length).toBeLessThan(64);
  const strange = ["a.b", "a*b", "a/b", "a+b", "a#b", "a b", "", "ä", "../../>"].map(levelOf);
  expect(new Set(strange).size).toBe(strange.length);
  for (const level of strange) expect(level).toMatch(/^[\w-]+$/);
});
