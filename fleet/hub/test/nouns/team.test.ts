/** Teams and roles, on both databases. */
import { expect, it } from "vitest";
import { addTeam, findTeam, membersOf, removeMember, renameTeam, setRole } from "../../src/nouns/team.ts";
import { removeUser } from "../../src/nouns/user.ts";
import { joinTeam, NOW, onEmptyDatabases } from "../support/hub.ts";

onEmptyDatabases("teams", (db, storage) => {
  it("lets a team be renamed by its administrators only, as they are when it is written", async () => {
    const team = await addTeam(db(), NOW, "test", "A");
    const [admin, member] = [
      await joinTeam(db(), team.id, "a@example.org"),
      await joinTeam(db(), team.id, "m@example.org", "member"),
    ];
    await expect(
      renameTeam(db(), { now: NOW, actor: member.email, by: member.id, teamId: team.id }, "B"),
    ).rejects.toThrow("needs an administrator");
    expect((await renameTeam(db(), { now: NOW, actor: admin.email, by: admin.id, teamId: team.id }, "C")).name).toBe(
      "C",
    );
  });

  it("keeps one administrator, also when two go at the same time", async () => {
    const team = await addTeam(db(), NOW, "test", "A");
    const [ann, ben] = [
      await joinTeam(db(), team.id, "ann@example.org"),
      await joinTeam(db(), team.id, "ben@example.org"),
    ];
    const other = storage().again();
    const results = await Promise.allSettled([
      removeMember(db(), { now: NOW, actor: "x", by: ann.id, teamId: team.id }, ann.id),
      setRole(other, { now: NOW, actor: "x", by: ben.id, teamId: team.id }, ben.email, "member"),
    ]);
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
    expect((await membersOf(db(), team.id)).filter((member) => member.role === "admin")).toHaveLength(1);
    await expect(removeUser(db(), NOW, "operator", "nobody@example.org")).rejects.toThrow("expected a user");
  });

  it("finds teams by id or by a name that only one has", async () => {
    const a = await addTeam(db(), NOW, "test", "A");
    expect(await findTeam(db(), "A")).toEqual(a);
    const twin = await addTeam(db(), NOW, "test", "A");
    await expect(findTeam(db(), "A")).rejects.toThrow("which 2 teams have");
    await renameTeam(db(), { now: NOW, actor: "operator", teamId: twin.id }, "B");
    expect(await findTeam(db(), "B")).toEqual({ id: twin.id, name: "B" });
    await expect(findTeam(db(), "C")).rejects.toThrow("expected the id or name of one that exists");
  });
});
