/** One-time links. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { invite, resetLink } from "../../src/nouns/user.ts";
import { password, Person, startHub, type TestHub, onDatabases } from "../support/hub.ts";

onDatabases("links", (kind) => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub({ kind })));
  afterAll(() => hub.stop());

  it("want the password of an account that is invited into another team", async () => {
    const other = await hub.makeTeam("Second", []);
    const token = await invite(
      hub.storage.db,
      { now: Date.now(), actor: "test", teamId: other.team.id },
      hub.admin.email,
      "member",
    );
    const person = new Person(hub.url);
    expect((await person.post(`/link/${token}`, { password: "not the password" })).status).toBe(401);
    expect((await person.post(`/link/${token}`, { password })).status).toBe(303);
    expect((await person.get("/")).headers.get("location")).toBe("/teams");
    expect((await person.get("/teams")).html).toContain("Second");
  });

  it("let a forgotten password be replaced by a link of the operator", async () => {
    const user = await hub.makeUser(`forgot-${kind}@example.org`, hub.team.id, "member");
    const [first, second] = [
      await resetLink(hub.storage.db, Date.now(), "operator", user.email),
      await resetLink(hub.storage.db, Date.now(), "operator", user.email),
    ];
    const person = new Person(hub.url);
    expect((await person.post(`/link/${first}`, { password: "brand new password" })).status).toBe(303);
    expect(await new Person(hub.url).signIn(user.email, "brand new password")).toBe(303);
    expect(await new Person(hub.url).signIn(user.email)).toBe(401);
    expect((await new Person(hub.url).get(`/link/${second}`)).status).toBe(404);
  });
});
