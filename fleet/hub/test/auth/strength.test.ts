/** Weak passwords are refused. The list of weak ones is of others: passwords that leaks hold most often. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { weaknessOf } from "../../src/auth/strength.ts";
import { invite } from "../../src/nouns/user.ts";
import { password, Person, startHub, type TestHub } from "../support/hub.ts";

/** Passwords of ten characters and more from published lists of leaked ones, and their usual changes. */
const LEAKED = [
  ...["1234567890", "password123", "qwertyuiop", "1q2w3e4r5t", "iloveyou123", "Password123!", "P@ssw0rd123"],
  ...["0123456789", "abcdefghij", "asdfghjkl;", "9876543210", "qwerty12345", "letmein12345", "sunshine2020"],
  ...["aaaaaaaaaaaa", "abababababab", "1111111111", "alexander1990", "Liverpool2019", "administrator"],
];

describe("the strength of a password", () => {
  it.each(LEAKED)("refuses %s", async (weak) => {
    expect(await weaknessOf(weak, [])).toMatch(/^it|^its/);
  });

  it("refuses what is made of the person, the team or this service", async () => {
    for (const weak of ["boxwright1", "margarethe7", "greenhouse12"])
      expect([weak, await weaknessOf(weak, ["margarethe@example.org", "Greenhouse"])]).toEqual([
        weak,
        expect.stringMatching(/^it/),
      ]);
  });

  it("accepts words that do not belong together, random letters, and any script", async () => {
    for (const good of [password, "k7#mQz!w2Lp9", "ведро лампа тесто", "x".repeat(5) + "Kq9!fwe7#2vB"])
      expect([good, await weaknessOf(good, ["a@example.org"])]).toEqual([good, undefined]);
  });

  it("looks at the first 40 characters only: the whole of 200 took two seconds", async () => {
    const tail = "Kq9!fwe7#2vB zo8%tLp4";
    expect(await weaknessOf(`${"ab".repeat(15)}${tail}`, [])).toBeUndefined();
    expect(await weaknessOf(`${"ab".repeat(20)}${tail}`, [])).toBe("it repeats itself");
  });
});

describe("the pages", () => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub()));
  afterAll(() => hub.stop());

  it("take no weak password, neither by a link nor on the account page", async () => {
    const token = await invite(
      hub.storage.db,
      { now: Date.now(), actor: "test", teamId: hub.team.id },
      "new@example.org",
      "member",
    );
    const person = new Person(hub.url);
    const refused = await person.post(`/link/${token}`, { password: "1234567890" });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain("Choose another password: it is one of the most used passwords.");
    expect((await person.post(`/link/${token}`, { password })).status).toBe(303);
    const form = await person.formOf("/account", "/account");
    const again = await person.post("/account", { ...form, current: password, password: "qwertyuiop" });
    expect(again.status).toBe(400);
    expect(again.html).toContain("Choose another password");
    expect(await new Person(hub.url).signIn("new@example.org")).toBe(303);
  });
});
