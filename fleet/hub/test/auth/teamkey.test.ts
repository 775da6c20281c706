/** The Authorization header, without a hub. */
import { describe, expect, it } from "vitest";
import { readCredentials } from "../../src/auth/teamkey.ts";

describe("credentials", () => {
  it.each([
    [[], "none"],
    [[""], "malformed"],
    [["Bearer"], "malformed"],
    [["Bearer "], "malformed"],
    [["Basic dTpw"], "malformed"],
    [["Bearer a b"], "malformed"],
    [["Bearer a, Bearer b"], "malformed"],
    [["Bearer a", "Bearer b"], "malformed"],
    [["Bearer a", "Bearer a"], "malformed"],
    [["Token a"], "malformed"],
    [["Bearer a"], "bearer"],
    [["bearer a"], "bearer"],
    [["BEARER  a"], "bearer"],
  ])("%j is %s", (values, kind) => {
    expect(readCredentials(values).kind).toBe(kind);
  });
});
