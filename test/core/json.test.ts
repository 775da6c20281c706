import { expect, test } from "vitest";
import { showJson } from "../../src/core/json.ts";

test("values that JSON has no word for are shown as they are", () => {
  expect(showJson([NaN, -Infinity, undefined, 5n, "NaN", null])).toBe(
    '[NaN,-Infinity,undefined,5,"NaN",null]',
  );
  expect(showJson({ width: NaN, height: 5 })).toBe('{"width":NaN,"height":5}');
  expect(showJson(NaN)).toBe("NaN");
  expect(showJson(undefined)).toBe("nothing");
  const circle: { self?: unknown } = {};
  circle.self = circle;
  expect(showJson(circle)).toBe("an object");
});
