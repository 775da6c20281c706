/** Accounts, on both databases. */
import { expect, it } from "vitest";
import { addTeam, teamsOf } from "../../src/nouns/team.ts";
import { findUser, initialise, invite, useLink } from "../../src/nouns/user.ts";
import { joinTeam, NOW, onEmptyDatabases } from "../support/hub.ts";

onEmptyDatabases("accounts", (db) => {
  it("joins someone with an account without touching their password", async () => {
    const [a, b] = [await addTeam(db(), NOW, "test", "A"), await addTeam(db(), NOW, "test", "B")];
    const user = await joinTeam(db(), a.id, "a@example.org");
    const token = await invite(db(), { now: NOW, actor: "test", teamId: b.id }, "a@example.org", "member");
    expect(await useLink(db(), NOW, token, "a new password")).toBeUndefined();
    expect(await useLink(db(), NOW, token, undefined)).toEqual({ id: user.id, email: user.email });
    expect((await findUser(db(), "a@example.org"))?.password).toBe("hash");
    expect((await teamsOf(db(), user.id)).map((team) => [team.name, team.role])).toEqual([
      ["A", "admin"],
      ["B", "member"],
    ]);
    await expect(invite(db(), { now: NOW, actor: "test", teamId: b.id }, "a@example.org", "member")).rejects.toThrow(
      "not in the team yet",
    );
  });

  it("initialises while nobody has an account, and not after", async () => {
    const start = () => initialise(db(), NOW, "root@example.org", () => addTeam(db(), NOW, "operator", "First"));
    const first = await start();
    const again = await start();
    expect(again.team).toEqual(first.team);
    await useLink(db(), NOW, again.token, "hash");
    await expect(start()).rejects.toThrow("got 1 users in the database, expected none");
  });
});
