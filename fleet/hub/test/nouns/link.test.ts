/** One-time links and who may make them, on both databases. */
import { expect, it } from "vitest";
import { readAudit } from "../../src/nouns/audit.ts";
import { LINK_LIFETIME_MS, readLink } from "../../src/nouns/link.ts";
import { addTeam, membersOf, removeMember, setRole } from "../../src/nouns/team.ts";
import { findUser, invite, removeUser, resetLink, useLink, type User } from "../../src/nouns/user.ts";
import { joinTeam, NOW, onEmptyDatabases } from "../support/hub.ts";

onEmptyDatabases("links", (db, storage) => {
  it("lets a link be used once, for a day, by one of many who try", async () => {
    const team = await addTeam(db(), NOW, "test", "A");
    const token = await invite(db(), { now: NOW, actor: "test", teamId: team.id }, " Ann@Example.org ", "admin");
    expect(await readLink(db(), NOW + LINK_LIFETIME_MS, token)).toBeUndefined();
    expect(await readLink(db(), NOW, token)).toMatchObject({
      purpose: "invite",
      email: "ann@example.org",
      team_name: "A",
      role: "admin",
    });
    const hubs = [db(), storage().again()];
    const used = await Promise.all(Array.from({ length: 6 }, (_, i) => useLink(hubs[i % 2]!, NOW, token, `hash ${i}`)));
    expect(used.filter((user) => user !== undefined)).toHaveLength(1);
    expect(await membersOf(db(), team.id)).toHaveLength(1);
    expect(await useLink(db(), NOW, token, "late")).toBeUndefined();
    const [row] = await db().all<{ hash: string }>("SELECT hash FROM links");
    expect(row?.hash).not.toContain(token);
  });

  it("leaves no second way in for someone who joined, or whose account has ended", async () => {
    const [a, b] = [await addTeam(db(), NOW, "test", "A"), await addTeam(db(), NOW, "test", "B")];
    await joinTeam(db(), a.id, "admin@example.org");
    const asked = (team: { id: string }) =>
      invite(db(), { now: NOW, actor: "test", teamId: team.id }, "ann@example.org", "admin");
    const [first, second, elsewhere] = [await asked(a), await asked(a), await asked(b)];
    const ann = await useLink(db(), NOW, first, "hash");
    await removeMember(db(), { now: NOW, actor: "test", teamId: a.id }, ann!.id);
    expect(await useLink(db(), NOW, second, undefined)).toBeUndefined();
    expect(await membersOf(db(), a.id)).toHaveLength(1);
    expect(await readLink(db(), NOW, elsewhere)).toBeDefined();
    const reset = await resetLink(db(), NOW, "operator", "ann@example.org");
    await removeUser(db(), NOW, "operator", "ann@example.org");
    for (const token of [elsewhere, reset]) expect(await useLink(db(), NOW, token, "hash")).toBeUndefined();
    expect(await findUser(db(), "ann@example.org")).toBeUndefined();
    expect(await useLink(db(), NOW, await asked(b), "hash")).toMatchObject({ email: "ann@example.org" });
  });

  it("ends invitations with the right to invite, and leaves those of others", async () => {
    const [a, b] = [await addTeam(db(), NOW, "test", "A"), await addTeam(db(), NOW, "test", "B")];
    const [ann, ben] = [await joinTeam(db(), a.id, "ann@example.org"), await joinTeam(db(), a.id, "ben@example.org")];
    await useLink(
      db(),
      NOW,
      await invite(db(), { now: NOW, actor: "test", teamId: b.id }, ann.email, "admin"),
      undefined,
    );
    let serial = 0;
    const by = (user: User | undefined, teamId: string, now = NOW) =>
      invite(db(), { now, actor: "x", by: user?.id, teamId }, `p${serial++}@example.org`, "admin");
    const open = async (tokens: readonly string[]) =>
      Promise.all(tokens.map(async (token) => (await readLink(db(), NOW, token)) !== undefined));

    const links = [
      await by(ann, a.id),
      await by(ann, b.id),
      await by(ben, a.id),
      await by(undefined, a.id),
      await by(ann, a.id, NOW - LINK_LIFETIME_MS),
    ];
    await setRole(db(), { now: NOW, actor: "ben@example.org", by: ben.id, teamId: a.id }, ann.email, "member");
    expect(await open(links)).toEqual([false, true, true, true, false]);
    // One row for what ended here, none for what had run out.
    expect((await readAudit(db(), 100)).filter((row) => row.action === "invite.ended")).toMatchObject([
      { actor: "ben@example.org", team_id: a.id, subject: "p0@example.org admin" },
    ]);
    // Given back, the right brings no old invitation back.
    await setRole(db(), { now: NOW, actor: "operator", teamId: a.id }, ann.email, "admin");
    expect(await open(links)).toEqual([false, true, true, true, false]);

    links[0] = await by(ann, a.id);
    await removeMember(db(), { now: NOW, actor: "operator", teamId: a.id }, ann.id);
    expect(await open(links)).toEqual([false, true, true, true, false]);
    expect(await useLink(db(), NOW, links[0], "hash")).toBeUndefined();
    await removeUser(db(), NOW, "operator", ann.email);
    expect(await open(links)).toEqual([false, false, true, true, false]);
  });

  it("lets nobody invite while they are being removed", async () => {
    const team = await addTeam(db(), NOW, "test", "A");
    const other = storage().again();
    const counts = { made: 0, refused: 0 };
    for (let i = 0; i < 10; i++) {
      const [ann] = [
        await joinTeam(db(), team.id, `ann${i}@example.org`),
        await joinTeam(db(), team.id, `ben${i}@example.org`),
      ];
      const inviting = () =>
        invite(db(), { now: NOW, actor: "x", by: ann.id, teamId: team.id }, `new${i}@example.org`, "admin");
      const removing = () => removeMember(other, { now: NOW, actor: "x", teamId: team.id }, ann.id);
      let invited: Promise<string>;
      let gone: Promise<unknown>;
      // Either may win. The first two rounds are no race, so that both ends are seen on any machine.
      if (i % 2 === 0) {
        invited = inviting();
        if (i === 0) await invited;
        gone = removing();
      } else {
        gone = removing();
        if (i === 1) await gone;
        invited = inviting();
      }
      const [made, removed] = await Promise.allSettled([invited, gone]);
      expect(removed.status).toBe("fulfilled");
      if (made.status === "fulfilled") {
        counts.made++;
        expect(await readLink(db(), NOW, made.value)).toBeUndefined();
      } else {
        counts.refused++;
        expect(made.reason).toMatchObject({ message: "this needs an administrator of the team", status: 403 });
      }
    }
    expect(counts.made).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
    expect(counts.made + counts.refused).toBe(10);
  });
});
