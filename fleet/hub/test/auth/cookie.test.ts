/** Sessions of browsers: their cookie, rotation and end. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds, password, Person, startHub, type TestHub } from "../support/hub.ts";

for (const { kind, skip } of kinds) {
  describe.skipIf(skip)(`sessions on ${kind}`, () => {
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

    it("rotate the session at sign-in, and end it at sign-out and at a new password (14)", async () => {
      const user = await hub.makeUser(`rotate-${kind}@example.org`, hub.team.id, "member");
      const [one, two] = [new Person(hub.url), new Person(hub.url)];
      one.cookie = "__Host-hub_session=planted";
      await one.signIn(user.email);
      const first = one.cookie;
      expect(first).not.toContain("planted");
      expect((await one.get("/sign-in")).headers.get("location")).toBe("/");
      await one.signIn(user.email);
      expect(one.cookie).not.toBe(first);
      const stale = new Person(hub.url);
      stale.cookie = first;
      expect((await stale.get(base + "/devices")).headers.get("location")).toBe("/sign-in");
      await two.signIn(user.email);
      const form = await one.formOf("/account", "/account");
      expect((await one.post("/account", { ...form, current: "wrong", password: "a new password" })).status).toBe(401);
      expect((await one.post("/account", { ...form, current: password, password: "short" })).status).toBe(400);
      const old = one.cookie;
      const changed = await one.post("/account", { ...form, current: password, password: "a new password" });
      expect(changed.html).toContain("The password is changed");
      expect(one.cookie).not.toBe(old);
      expect((await one.get(base + "/devices")).status).toBe(200);
      expect((await two.get(base + "/devices")).status).toBe(303);
      expect(await new Person(hub.url).signIn(user.email)).toBe(401);
      expect(await two.signIn(user.email, "a new password")).toBe(303);
      const leaving = two.cookie;
      const out = await two.formOf("/account", "/sign-out");
      expect((await two.post("/sign-out", out)).headers.get("location")).toBe("/sign-in?signed-out");
      expect(two.cookie).toBeUndefined();
      two.cookie = leaving;
      expect((await two.get(base + "/devices")).status).toBe(303);
    });

    it("end a session that is idle, and any session in the end", async () => {
      const person = new Person(hub.url);
      await person.signIn(hub.admin.email);
      hub.clock.offset = 479 * 60_000;
      expect((await person.get(base + "/devices")).status).toBe(200);
      hub.clock.offset += 480 * 60_000;
      expect((await person.get(base + "/devices")).status).toBe(303);
      hub.clock.offset = 0;
      await person.signIn(hub.admin.email);
      for (let hours = 0; hours < 168; hours += 7) {
        hub.clock.offset = hours * 3600_000;
        expect((await person.get(base + "/devices")).status).toBe(200);
      }
      hub.clock.offset = 168 * 3600_000 + 1;
      expect((await person.get(base + "/devices")).status).toBe(303);
      hub.clock.offset = 0;
    });

    it("set a cookie that only this host gets, over TLS, and no script sees", async () => {
      const answer = await new Person(hub.url).post("/sign-in", { email: hub.admin.email, password });
      const [cookie = ""] = answer.headers.getSetCookie();
      expect(cookie).toMatch(/^__Host-hub_session=[\w-]{43};/);
      for (const part of ["Path=/", "HttpOnly", "Secure", "SameSite=Lax", "Max-Age=604800"])
        expect(cookie).toContain(part);
      expect(cookie).not.toContain("Domain");
    });
  });
}
