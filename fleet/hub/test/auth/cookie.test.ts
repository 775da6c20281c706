/** Sessions of browsers: their cookie, rotation and end. */
import { expect, it } from "vitest";
import { password, Person, onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

onDatabases("sessions", (kind) => {
  const site = useSignedInHub(kind);

  it("rotate the session at sign-in, and end it at sign-out and at a new password (14)", async () => {
    const user = await site.hub.makeUser(`rotate-${kind}@example.org`, site.hub.team.id, "member");
    const [one, two] = [new Person(site.hub.url), new Person(site.hub.url)];
    one.cookie = "__Host-hub_session=planted";
    await one.signIn(user.email);
    const first = one.cookie;
    expect(first).not.toContain("planted");
    expect((await one.get("/sign-in")).headers.get("location")).toBe("/");
    await one.signIn(user.email);
    expect(one.cookie).not.toBe(first);
    const stale = new Person(site.hub.url);
    stale.cookie = first;
    expect((await stale.get(site.base + "/devices")).headers.get("location")).toBe("/sign-in");
    await two.signIn(user.email);
    const form = await one.formOf("/account", "/account");
    expect((await one.post("/account", { ...form, current: "wrong", password: "a new password" })).status).toBe(401);
    expect((await one.post("/account", { ...form, current: password, password: "short" })).status).toBe(400);
    const old = one.cookie;
    const changed = await one.post("/account", { ...form, current: password, password: "a new password" });
    expect(changed.html).toContain("The password is changed");
    expect(one.cookie).not.toBe(old);
    expect((await one.get(site.base + "/devices")).status).toBe(200);
    expect((await two.get(site.base + "/devices")).status).toBe(303);
    expect(await new Person(site.hub.url).signIn(user.email)).toBe(401);
    expect(await two.signIn(user.email, "a new password")).toBe(303);
    const leaving = two.cookie;
    const out = await two.formOf("/account", "/sign-out");
    expect((await two.post("/sign-out", out)).headers.get("location")).toBe("/sign-in?signed-out");
    expect(two.cookie).toBeUndefined();
    two.cookie = leaving;
    expect((await two.get(site.base + "/devices")).status).toBe(303);
  });

  it("end a session that is idle, and any session in the end", async () => {
    const person = new Person(site.hub.url);
    await person.signIn(site.hub.admin.email);
    site.hub.clock.offset = 479 * 60_000;
    expect((await person.get(site.base + "/devices")).status).toBe(200);
    site.hub.clock.offset += 480 * 60_000;
    expect((await person.get(site.base + "/devices")).status).toBe(303);
    site.hub.clock.offset = 0;
    await person.signIn(site.hub.admin.email);
    for (let hours = 0; hours < 168; hours += 7) {
      site.hub.clock.offset = hours * 3600_000;
      expect((await person.get(site.base + "/devices")).status).toBe(200);
    }
    site.hub.clock.offset = 168 * 3600_000 + 1;
    expect((await person.get(site.base + "/devices")).status).toBe(303);
    site.hub.clock.offset = 0;
  });

  it("set a cookie that only this host gets, over TLS, and no script sees", async () => {
    const answer = await new Person(site.hub.url).post("/sign-in", { email: site.hub.admin.email, password });
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-hub_session=[\w-]{43};/);
    for (const part of ["Path=/", "HttpOnly", "Secure", "SameSite=Lax", "Max-Age=604800"])
      expect(cookie).toContain(part);
    expect(cookie).not.toContain("Domain");
  });
});
