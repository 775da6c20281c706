/** Several hubs on one SQLite file. */
import { describe, expect, it } from "vitest";
import { revokeKey } from "../../src/nouns/apikey.ts";
import { LIST, openTestDatabase, Person, startHub } from "../support/hub.ts";

describe("several hubs on one SQLite file (18)", () => {
  it("are safe: what one writes the other sees at once, and no write is lost", async () => {
    const one = await startHub();
    const two = await startHub({
      storage: { ...(await openTestDatabase("sqlite")), db: one.storage.again(), remove: () => Promise.resolve() },
    });
    expect((await two.query(LIST, one.key)).json.data.team.devices.nodes).toHaveLength(2);
    const people = [new Person(one.url), new Person(two.url)];
    for (const person of people) expect(await person.signIn(one.admin.email)).toBe(303);
    const path = `/teams/${one.team.id}/devices`;
    const forms = await Promise.all(people.map((person) => person.formOf(path, path)));
    const statuses = await Promise.all(
      Array.from(
        { length: 40 },
        async (_, i) => (await people[i % 2]!.post(path, { ...forms[i % 2]!, name: `new ${i}` })).status,
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([303]));
    for (const hub of [one, two])
      expect((await hub.query(LIST, one.key)).json.data.team.devices.nodes).toHaveLength(42);
    await revokeKey(one.storage.db, { now: Date.now(), actor: "operator", teamId: one.team.id }, one.keyId);
    expect((await two.query(LIST, one.key)).status).toBe(401);
    await two.running.stop();
    await one.stop();
  });
});
