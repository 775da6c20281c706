/** API keys in the team settings: shown once, made once, by administrators, kept nowhere. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { backup } from "../../src/backup/dump.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { keyOn, LIST, Person, temporaryFolder, onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

onDatabases("team settings", (kind) => {
  const site = useSignedInHub(kind);
  const keys = () =>
    site.hub.storage.db.all<{ id: string }>("SELECT id FROM api_keys WHERE team_id = ?", [site.hub.team.id]);
  const newKey = (person: Person) => person.formOf(`${site.base}/settings`, `${site.base}/keys`);

  it("make a key, show it once, and it works", async () => {
    const form = await newKey(site.admin);
    const made = await site.admin.post(`${site.base}/keys`, form);
    expect(made.status).toBe(201);
    const key = keyOn(made.html)!;
    expect((await site.hub.query(LIST, key)).json.data.team.devices.nodes).toHaveLength(2);
    expect(made.headers.get("cache-control")).toBe("no-store");
    const before = (await keys()).length;
    const again = await site.admin.post(`${site.base}/keys`, form);
    expect(again.status).toBe(409);
    expect(keyOn(again.html)).toBeUndefined();
    expect(await keys()).toHaveLength(before);
    for (const path of [`${site.base}/settings`, `${site.base}/keys`, `${site.base}/devices`, `${site.base}/members`])
      expect((await site.admin.get(path)).html).not.toContain(key.slice(17));
    expect((await readAudit(site.hub.storage.db, 1, site.hub.team.id))[0]).toMatchObject({
      action: "key.created",
      actor: site.hub.admin.email,
      subject: key.slice(4, 16),
    });
  });

  it("make a key with scopes, list it, rotate it once, and revoke it", async () => {
    const settings = `${site.base}/settings`;
    const form = { ...(await newKey(site.admin)), access: "", name: "Shop <b>", days: "30" };
    const none = await site.admin.post(`${site.base}/keys`, form);
    expect([none.status, none.html]).toEqual([400, expect.stringContaining("Choose at least one thing")]);
    const made = await site.admin.post(`${site.base}/keys`, { ...form, scope: "read" });
    const key = keyOn(made.html)!;
    const id = key.slice(4, 16);
    // The line to try it asks for something that the key may read.
    expect(made.html).toContain("{ team { devices {");
    const apps = await site.admin.post(`${site.base}/keys`, {
      ...{ ...form, ...(await newKey(site.admin)), access: "", name: "uploads", scope: "applications" },
    });
    expect(apps.html).toContain("{ team { apps {");
    const { status } = await site.hub.query("query { team { apps { nodes { id name } } } }", keyOn(apps.html));
    expect(status).toBe(200);
    const listed = (await site.admin.get(settings)).html;
    expect(listed).toContain("Shop &lt;b&gt;");
    expect(listed).toMatch(new RegExp(`${id}.{0,400}never used`, "s"));
    expect(await site.hub.query(LIST, key)).toMatchObject({ status: 200 });
    const path = `${site.base}/keys/${id}`;
    const rotation = { ...(await site.admin.formOf(settings, `${path}/rotate`)), hours: "1" };
    const rotated = await site.admin.post(`${path}/rotate`, rotation);
    expect([rotated.status, keyOn(rotated.html) === key]).toEqual([201, false]);
    expect((await site.admin.post(`${path}/rotate`, rotation)).status).toBe(409);
    expect((await site.hub.query(LIST, keyOn(rotated.html))).status).toBe(200);
    const revoked = await site.admin.post(`${path}/revoke`, await site.admin.formOf(settings, `${path}/revoke`));
    expect(await site.follow(revoked)).toEqual([settings, expect.stringContaining("is revoked")]);
    expect((await site.hub.query(LIST, key)).status).toBe(401);
    const member = await site.hub.makeUser(`plain-${kind}@example.org`, site.hub.team.id, "member");
    const plain = new Person(site.hub.url);
    await plain.signIn(member.email);
    expect((await plain.get(settings)).html).not.toContain(id);
    const mark = await plain.formOf("/account", "/sign-out");
    expect((await plain.post(`${site.base}/keys/${keyOn(rotated.html)!.slice(4, 16)}/revoke`, mark)).status).toBe(403);
  });

  it("make exactly one key of a double click (13)", async () => {
    const before = (await keys()).length;
    const form = await newKey(site.admin);
    const answers = await Promise.all(Array.from({ length: 5 }, () => site.admin.post(`${site.base}/keys`, form)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect(await keys()).toHaveLength(before + 1);
  });

  it("let only administrators of the team make keys (15)", async () => {
    const stranger = await site.hub.makeTeam("Other team", []);
    const member = await site.hub.makeUser(`member-${kind}@example.org`, site.hub.team.id, "member");
    const [outside, inside, nobody] = [new Person(site.hub.url), new Person(site.hub.url), new Person(site.hub.url)];
    await outside.signIn(stranger.admin.email);
    await inside.signIn(member.email);
    const before = (await keys()).length;
    const form = await newKey(site.admin);
    for (const path of ["devices", "settings", "members"])
      expect((await outside.get(`${site.base}/${path}`)).status).toBe(404);
    const theirs = await outside.formOf(`/teams/${stranger.team.id}/settings`, `/teams/${stranger.team.id}/keys`);
    expect((await outside.post(`${site.base}/keys`, theirs)).status).toBe(404);
    expect((await outside.post(`${site.base}/keys`, form)).status).toBe(403);
    expect((await outside.post(`${site.base}/devices`, { ...theirs, name: "x" })).status).toBe(404);
    expect((await nobody.post(`${site.base}/keys`, form)).status).toBe(303);
    const settings = (await inside.get(`${site.base}/settings`)).html;
    expect(settings).not.toContain("Create API key");
    // A role taken away between the page and the click: the write itself refuses.
    const second = await site.hub.makeUser(`second-${kind}@example.org`, site.hub.team.id, "admin");
    const demoted = new Person(site.hub.url);
    await demoted.signIn(second.email);
    const late = await newKey(demoted);
    await site.hub.storage.db.write((tx) =>
      tx.all("UPDATE members SET role = 'member' WHERE user_id = ?", [second.id]),
    );
    expect((await demoted.post(`${site.base}/keys`, late)).status).toBe(403);
    expect(await keys()).toHaveLength(before);
  });

  it("keep the full key out of the database, logs, audit and backup (3)", async () => {
    const key = keyOn((await site.admin.post(`${site.base}/keys`, await newKey(site.admin))).html)!;
    await site.hub.query(LIST, key);
    await site.hub.running.app.flush();
    const secret = key.slice(17);
    const folder = temporaryFolder();
    await backup(site.hub.storage.db, Date.now(), join(folder.path, "b.gz"));
    expect(gunzipSync(readFileSync(join(folder.path, "b.gz"))).includes(secret)).toBe(false);
    folder.remove();
    expect(site.hub.logs()).not.toContain(secret);
    expect(JSON.stringify(await readAudit(site.hub.storage.db, 1000))).not.toContain(secret);
    if (kind === "sqlite") {
      const at = dirname(site.hub.storage.config.databaseFile);
      const files = readdirSync(at);
      expect(files).toContain("hub.db-wal");
      for (const file of files) expect(readFileSync(join(at, file)).includes(secret)).toBe(false);
    } else {
      for (const { name } of await site.hub.storage.db.all<{ name: string }>(
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
      )) {
        expect(JSON.stringify(await site.hub.storage.db.all(`SELECT * FROM ${name}`))).not.toContain(secret);
      }
    }
  });
});
