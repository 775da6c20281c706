/** Inviting, joining and removing members. */
import { expect, it } from "vitest";
import { membersOf } from "../../src/nouns/team.ts";
import { invite } from "../../src/nouns/user.ts";
import { password, Person, placeOf, onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

/** Returns the path of the one-time link that a page shows. */
const linkOn = (html: string): string => /\/link\/[\w-]{43}/.exec(html)![0];

onDatabases("members", (kind) => {
  const site = useSignedInHub(kind);

  it("invite, join and remove members", async () => {
    const form = await site.admin.formOf(`${site.base}/members`, `${site.base}/members`);
    const made = await site.admin.post(`${site.base}/members`, {
      ...form,
      email: `New-${kind}@Example.org`,
      role: "member",
    });
    expect(made.status).toBe(201);
    const path = linkOn(made.html);
    const guest = new Person(site.hub.url);
    const look = await guest.get(path);
    expect(look.html).toContain(`new-${kind}@example.org`);
    expect((await guest.post(path, { password: "short" })).status).toBe(400);
    expect(placeOf(await guest.post(path, { password: "long enough password" }))).toBe(`${site.base}/devices`);
    expect((await guest.get(`${site.base}/devices`)).status).toBe(200);
    expect((await new Person(site.hub.url).get(path)).status).toBe(404);
    expect((await new Person(site.hub.url).post(path, { password: "long enough password" })).status).toBe(404);
    const theirs = await guest.formOf(`${site.base}/members`, "/sign-out");
    expect(
      (await guest.post(`${site.base}/members`, { ...theirs, email: "x@example.org", role: "admin" })).status,
    ).toBe(403);
    expect((await guest.post(`${site.base}/members/${site.hub.admin.id}/remove`, theirs)).status).toBe(403);
    const guestId = (await membersOf(site.hub.storage.db, site.hub.team.id)).find(
      (member) => member.email === `new-${kind}@example.org`,
    )!.user_id;
    expect((await site.admin.post(`${site.base}/members/${guestId}/remove`, form)).status).toBe(303);
    expect((await guest.get(`${site.base}/devices`)).status).toBe(404);
    expect(
      (await site.admin.post(`${site.base}/members`, { ...form, email: "not an email", role: "member" })).status,
    ).toBe(400);
    expect(
      (await site.admin.post(`${site.base}/members`, { ...form, email: "x@example.org", role: "owner" })).status,
    ).toBe(400);
  });

  it("list open invitations, and cancel them", async () => {
    const members = `${site.base}/members`;
    const form = await site.admin.formOf(members, members);
    const email = `waiting-${kind}@example.org`;
    const link = linkOn((await site.admin.post(members, { ...form, email, role: "admin" })).html);
    const { html } = await site.admin.get(members);
    expect(html).toMatch(new RegExp(`${email}.*Administrator, invited by .*, ends in 24 hours`, "s"));
    const cancel = new RegExp(`action="(${members}/invitations/[0-9a-f]{64}/cancel)"`).exec(html)![1]!;
    const told = await site.admin.post(cancel, form);
    expect([told.status, placeOf(told)]).toEqual([303, members]);
    expect((await site.admin.get(told.headers.get("location")!)).html).toContain(
      `The invitation of ${email} is cancelled.`,
    );
    expect((await new Person(site.hub.url).get(link)).status).toBe(404);
    expect((await site.admin.get(members)).html).not.toContain(email);
    expect((await site.admin.post(cancel, form)).status).toBe(404);
    // Members see no invitations, and cancel none.
    const member = await site.hub.makeUser(`sees-none-${kind}@example.org`, site.hub.team.id, "member");
    const person = new Person(site.hub.url);
    await person.signIn(member.email);
    await site.admin.post(members, { ...form, email: `other-${kind}@example.org`, role: "member" });
    const page = await person.get(members);
    expect(page.html).not.toContain(`other-${kind}@example.org`);
    const open = /invitations\/([0-9a-f]{64})/.exec((await site.admin.get(members)).html)![0];
    const theirs = await person.formOf(members, "/sign-out");
    expect((await person.post(`${members}/${open}/cancel`, theirs)).status).toBe(403);
  });

  it("change roles, and keep the last administrator", async () => {
    const members = `${site.base}/members`;
    const form = await site.admin.formOf(members, members);
    const user = await site.hub.makeUser(`rises-${kind}@example.org`, site.hub.team.id, "member");
    const alone = (await site.admin.get(members)).html;
    expect(alone).toContain("The last administrator stays.");
    expect(alone).not.toContain(`members/${site.hub.admin.id}/role`);
    expect(alone).not.toContain(`remove=${site.hub.admin.id}`);
    const last = await site.admin.post(`${members}/${site.hub.admin.id}/role`, { ...form, role: "member" });
    expect([last.status, last.html]).toEqual([409, expect.stringContaining("the team&#39;s last administrator")]);
    const told = await site.admin.post(`${members}/${user.id}/role`, { ...form, role: "admin" });
    expect((await site.admin.get(told.headers.get("location")!)).html).toContain(
      `${user.email} is an administrator now.`,
    );
    expect((await site.admin.get(members)).html).not.toContain("The last administrator stays.");
    expect((await site.admin.post(`${members}/${user.id}/role`, { ...form, role: "member" })).status).toBe(303);
  });

  it("make a link for a forgotten password, that opens no other team", async () => {
    const members = `${site.base}/members`;
    const form = await site.admin.formOf(members, members);
    const user = await site.hub.makeUser(`forgets-${kind}@example.org`, site.hub.team.id, "member");
    const ask = () => site.admin.post(`${members}/${user.id}/password`, form);
    const made = await ask();
    expect(made.status).toBe(201);
    const link = linkOn(made.html);
    expect((await site.admin.get(members)).html).not.toContain(link);
    expect(placeOf(await new Person(site.hub.url).post(link, { password: "a fresh new password" }))).toBe(
      `${site.base}/devices`,
    );
    expect(await new Person(site.hub.url).signIn(user.email)).toBe(401);
    expect(await new Person(site.hub.url).signIn(user.email, "a fresh new password")).toBe(303);

    // Whoever is also in a team of others is helped by the operator: the link would open that team too.
    const early = linkOn((await ask()).html);
    const other = await site.hub.makeTeam(`Others ${kind}`, []);
    const token = await invite(
      site.hub.storage.db,
      { now: Date.now(), actor: "x", teamId: other.team.id },
      user.email,
      "admin",
    );
    await new Person(site.hub.url).post(`/link/${token}`, { password: "a fresh new password" });
    const refused = await ask();
    expect([refused.status, refused.html]).toEqual([
      403,
      expect.stringContaining("is also in a team that you do not administer"),
    ]);
    // Nor does a link that was made before they joined it.
    expect((await new Person(site.hub.url).post(early, { password: "taken over, said the thief" })).status).toBe(404);
    expect(await new Person(site.hub.url).signIn(user.email, "a fresh new password")).toBe(303);
    // Nobody resets themselves past their password, and no member resets anybody.
    expect((await site.admin.post(`${members}/${site.hub.admin.id}/password`, form)).status).toBe(404);
    const person = new Person(site.hub.url);
    await person.signIn(user.email, "a fresh new password");
    const theirs = await person.formOf(members, "/sign-out");
    expect((await person.post(`${members}/${site.hub.admin.id}/password`, theirs)).status).toBe(403);
  });

  it("end the link of an administrator who is none any more", async () => {
    const members = `${site.base}/members`;
    const second = await site.hub.makeUser(`second-${kind}@example.org`, site.hub.team.id, "admin");
    const user = await site.hub.makeUser(`target-${kind}@example.org`, site.hub.team.id, "member");
    const person = new Person(site.hub.url);
    await person.signIn(second.email);
    const form = await person.formOf(members, members);
    const link = linkOn((await person.post(`${members}/${user.id}/password`, form)).html);
    expect((await new Person(site.hub.url).get(link)).status).toBe(200);
    const mine = await site.admin.formOf(members, members);
    expect((await site.admin.post(`${members}/${second.id}/role`, { ...mine, role: "member" })).status).toBe(303);
    expect((await new Person(site.hub.url).get(link)).status).toBe(404);
    expect((await new Person(site.hub.url).post(link, { password })).status).toBe(404);
  });

  it("keep what was typed into an invitation that failed", async () => {
    const members = `${site.base}/members`;
    const form = await site.admin.formOf(members, members);
    const failed = await site.admin.post(members, { ...form, email: "not an email", role: "admin" });
    expect(failed.status).toBe(400);
    expect(failed.html).toContain('value="not an email"');
    expect(failed.html).toMatch(/<option value="admin" selected/);
    expect(failed.html).toContain("Enter an email address like name@example.org.");
  });
});
