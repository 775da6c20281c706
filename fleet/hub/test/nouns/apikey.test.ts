/** API keys, on both databases. */
import { expect, it } from "vitest";
import { createKey, LastUsed, lookUpKey, revokeKey } from "../../src/nouns/apikey.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { addTeam } from "../../src/nouns/team.ts";
import { joinTeam, NOW, onEmptyDatabases } from "../support/hub.ts";

onEmptyDatabases("API keys", (db, storage) => {
  it("makes one key per form, for administrators, and stores only its hash", async () => {
    const team = await addTeam(db(), NOW, "test", "A");
    const admin = await joinTeam(db(), team.id, "a@example.org");
    const member = await joinTeam(db(), team.id, "m@example.org", "member");
    const hubs = [db(), storage().again()];
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, i) => createKey(hubs[i % 2]!, NOW, admin, team.id, "one form")),
    );
    const keys = made.filter((key) => key !== undefined);
    expect(keys).toHaveLength(1);
    const [key] = keys;
    expect(await lookUpKey(db(), key!.id)).toEqual({
      hash: key!.hash,
      revoked_at: null,
      expires_at: null,
      scopes: "full",
      team_id: team.id,
      team_name: "A",
    });
    await expect(createKey(db(), NOW, member, team.id, "other form")).rejects.toThrow("needs an administrator");
    await expect(createKey(db(), NOW, { id: "nobody", email: "x" }, team.id, "third form")).rejects.toThrow(
      "needs an administrator",
    );
    const rows = await db().all("SELECT * FROM api_keys");
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(key!.key.slice(17));
    expect((await readAudit(db(), 10, team.id)).filter((row) => row.action === "key.created")).toMatchObject([
      { actor: "a@example.org", subject: key!.id },
    ]);
  });

  it("revokes a key once, for its own team only, and for every connection", async () => {
    const [a, b] = [await addTeam(db(), NOW, "test", "A"), await addTeam(db(), NOW, "test", "B")];
    const key = await createKey(db(), NOW, await joinTeam(db(), a.id, "a@example.org"), a.id, "form");
    await expect(revokeKey(db(), { now: NOW, actor: "operator", teamId: b.id }, key!.id)).rejects.toThrow(
      "expected the public id of a key of this team",
    );
    await expect(revokeKey(db(), { now: NOW, actor: "operator", teamId: a.id }, key!.key)).rejects.toThrow(
      /got 55 characters, expected the public id/,
    );
    const other = storage().again();
    expect((await lookUpKey(other, key!.id))?.revoked_at).toBeNull();
    expect(await revokeKey(db(), { now: NOW + 5, actor: "operator", teamId: a.id }, key!.id)).toEqual({ fresh: true });
    expect((await lookUpKey(other, key!.id))?.revoked_at).toBe(NOW + 5);
    expect(await revokeKey(db(), { now: NOW + 9, actor: "operator", teamId: a.id }, key!.id)).toEqual({ fresh: false });
    expect((await readAudit(db(), 10, a.id)).filter((row) => row.action === "key.revoked")).toHaveLength(1);
  });

  it("writes times of last use together and never backwards", async () => {
    const team = await addTeam(db(), NOW, "test", "A");
    const key = await createKey(db(), NOW, await joinTeam(db(), team.id, "a@example.org"), team.id, "form");
    const [one, two] = [new LastUsed(), new LastUsed()];
    one.note(key!.id, NOW + 10);
    two.note(key!.id, NOW + 20);
    expect(await two.flush(db())).toBe(1);
    expect(await one.flush(db())).toBe(1);
    expect(await one.flush(db())).toBe(0);
    expect(await db().all("SELECT last_used_at FROM api_keys")).toEqual([{ last_used_at: NOW + 20 }]);
  });
});
