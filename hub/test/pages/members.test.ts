/** Inviting, joining and removing members. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { membersOf } from "../../src/nouns/team.ts";
import { kinds, Person, startHub, type TestHub } from "../support/hub.ts";

for (const { kind, skip } of kinds) {
  describe.skipIf(skip)(`members on ${kind}`, () => {
    let hub: TestHub;
    let admin: Person;
    let base: string;
    beforeAll(async () => {
      hub = await startHub({ kind });
      admin = new Person(hub.url);
      expect(await admin.signIn(hub.admin.email)).toBe(303);
      base = `/teams/${hub.team.id}`;
    });

    afterAll(() => hub.stop());

    it("invite, join and remove members", async () => {
      const form = await admin.formOf(`${base}/members`, `${base}/members`);
      const made = await admin.post(`${base}/members`, { ...form, email: `New-${kind}@Example.org`, role: "member" });
      expect(made.status).toBe(201);
      const path = new URL(/value="(http[^"]*\/link\/[^"]*)"/.exec(made.html)![1]!).pathname;
      const guest = new Person(hub.url);
      const look = await guest.get(path);
      expect(look.html).toContain(`new-${kind}@example.org`);
      expect((await guest.post(path, { password: "short" })).status).toBe(400);
      expect((await guest.post(path, { password: "long enough password" })).headers.get("location")).toBe(
        `${base}/devices`,
      );
      expect((await guest.get(`${base}/devices`)).status).toBe(200);
      expect((await new Person(hub.url).get(path)).status).toBe(404);
      expect((await new Person(hub.url).post(path, { password: "long enough password" })).status).toBe(404);
      const theirs = await guest.formOf(`${base}/members`, "/sign-out");
      expect((await guest.post(`${base}/members`, { ...theirs, email: "x@example.org", role: "admin" })).status).toBe(
        403,
      );
      expect((await guest.post(`${base}/members/${hub.admin.id}/remove`, theirs)).status).toBe(403);
      const guestId = (await membersOf(hub.storage.db, hub.team.id)).find(
        (member) => member.email === `new-${kind}@example.org`,
      )!.user_id;
      expect((await admin.post(`${base}/members/${guestId}/remove`, form)).status).toBe(303);
      expect((await guest.get(`${base}/devices`)).status).toBe(404);
      expect((await admin.post(`${base}/members`, { ...form, email: "not an email", role: "member" })).status).toBe(
        400,
      );
      expect((await admin.post(`${base}/members`, { ...form, email: "x@example.org", role: "owner" })).status).toBe(
        400,
      );
    });
  });
}
