import { expect, test } from "vitest";
import { sortableTime } from "../../src/core/time.ts";
import { tokenCheck } from "boxwright-service/tokens";
import { tokenOf } from "../../src/core/token.ts";

test("times sort as texts, whatever their zone and digits", () => {
  expect(sortableTime("2026-01-01T00:30:00.5+01:00")).toBe("2025-12-31T23:30:00.500000000Z");
  expect(sortableTime("2026-01-01t00:00:00.123456789z")).toBe("2026-01-01T00:00:00.123456789Z");
  const times = ["2026-01-01T00:00:00.12Z", "2026-01-01T00:00:00.119Z", "2026-01-01T02:00:00.1201+02:00"];
  expect(times.map((time) => sortableTime(time)!).sort()).toEqual([
    "2026-01-01T00:00:00.119000000Z",
    "2026-01-01T00:00:00.120000000Z",
    "2026-01-01T00:00:00.120100000Z",
  ]);
});

test("text that is no time, or leaves the calendar, is none", () => {
  for (const text of [
    "",
    "now",
    "2026-13-01T00:00:00Z",
    "2026-01-01",
    "0000-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
  ])
    expect(sortableTime(text), text).toBeUndefined();
});

test("a token is that of Bearer, or the password of Basic", () => {
  expect(tokenOf("Bearer abc")).toBe("abc");
  expect(tokenOf(`Basic ${Buffer.from("anybody:a:c").toString("base64")}`)).toBe("a:c");
  for (const other of [undefined, "", "abc", "Digest abc", "Basic YWJj"]) expect(tokenOf(other)).toBeUndefined();
  const isRight = tokenCheck("secret");
  expect(["secret", "secreT", "", "secret "].map(isRight)).toEqual([true, false, false, false]);
});
