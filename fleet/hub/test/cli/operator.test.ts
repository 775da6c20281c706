/** An operator with the command, on both databases, while the hub runs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ask, openTestDatabase, temporaryFolder, type TestDatabase, onDatabases } from "../support/hub.ts";
import { HubProcess, makeKey, run, useLinkAt, type Environment } from "../support/process.ts";

let folder: { path: string; remove: () => void };
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

onDatabases("the command", (kind) => {
  let storage: TestDatabase;
  let env: Environment;
  beforeEach(async () => {
    storage = await openTestDatabase(kind, { migrated: false });
    env =
      storage.config.databaseUrl === undefined
        ? { HUB_DATABASE_FILE: join(folder.path, "hub.db") }
        : { DATABASE_URL: storage.config.databaseUrl };
  });

  afterEach(() => storage.remove());

  it("takes an operator from nothing to a revoked key, while the hub runs (2)", async () => {
    const init = await run(["init", "--email", "root@example.org", "--team", "Crew"], env);
    expect(init.stderr).toBe("");
    const team = init.json.team as { id: string };
    expect((await run(["devices", "add", "--team", "Crew", "--name", "one", "--id", "dev-1"], env)).json).toEqual({
      id: "dev-1",
      name: "one",
    });
    const file = join(folder.path, "devices.jsonl");
    writeFileSync(file, '{"name":"two"}\n{"name":"three","id":"dev-3"}\n');
    expect((await run(["devices", "import", "--team", team.id, file], env)).json).toEqual({ imported: 2 });
    const hub = await HubProcess.start(env);
    const person = await useLinkAt(hub.url, init.json.link as string);
    const key = await makeKey(person, team.id);
    expect(await ask(hub.url, key)).toBe(200);
    expect((await run(["devices", "remove", "--team", "Crew", "--id", "dev-3"], env)).json).toEqual({
      removed: "dev-3",
    });
    expect((await run(["devices", "list", "--team", "Crew"], env)).json).toHaveLength(2);

    const full = await run(["keys", "revoke", "--team", "Crew", "--key", key], env);
    expect([full.code, full.stderr.includes(key.slice(17))]).toEqual([1, false]);
    expect(await ask(hub.url, key)).toBe(200);
    expect((await run(["keys", "revoke", "--team", "Crew", "--key", key.slice(4, 16)], env)).json).toEqual({
      revoked: key.slice(4, 16),
      before: false,
    });
    expect(await ask(hub.url, key)).toBe(401);
    expect((await run(["keys", "revoke", "--team", "Crew", "--key", key.slice(4, 16)], env)).json).toEqual({
      revoked: key.slice(4, 16),
      before: true,
    });

    const log = (await run(["audit", "--team", "Crew"], env)).json as { action: string; actor: string }[];
    expect(log.map((row) => [row.action, row.actor])).toEqual([
      ["key.revoked", "operator"],
      ["device.removed", "operator"],
      ["key.created", "root@example.org"],
      ["member.joined", "root@example.org"],
      ["device.added", "operator"],
      ["device.added", "operator"],
      ["invite.created", "operator"],
      ["team.created", "operator"],
    ]);
    const adopt = await run(["adopt-keys", "create", "--team", "Crew", "--name", "again", "--device", "dev-1"], env);
    const about = { name: "x", model: "m", architecture: "arm64", version: "1" };
    const enrolled = await fetch(`${hub.url}/device/enrol`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify({ adopt_key: adopt.json.key, ...about }),
    });
    expect(await enrolled.json()).toMatchObject({ device_id: "dev-1", name: "one" });
    const keyOfTokens = await run(["signing-key", "replace"], env);
    const document = await (await fetch(`${hub.url}/.well-known/boxwright-hub.json`)).json();
    expect(document.keys).toMatchObject([{ kid: keyOfTokens.json.key }]);
    const backup = join(folder.path, "backup.gz");
    expect((await run(["backup", "--out", backup], env)).code).toBe(0);
    expect((await run(["restore", "--from", backup], env)).stderr).toContain("expected an empty database");
    const elsewhere = { HUB_DATABASE_FILE: join(folder.path, "other.db") };
    const moved = await run(["restore", "--from", backup, "--create"], elsewhere);
    expect([moved.code, moved.json]).toMatchObject([0, { inForce: { users: 1, keys: 0 } }]);
    // Warn if the database cannot know what was taken away since, and only then.
    expect(moved.stderr).toMatch(
      /^hub: this database does not know what happened after the backup of \d{4}-.* 0 API keys and 1 accounts/,
    );
    const again = await run(["restore", "--from", backup, "--replace"], elsewhere);
    expect([again.code, again.stderr, again.json]).toMatchObject([0, "", { stayRevoked: [], stayRemoved: [] }]);
    expect((await run(["teams", "members", "--team", "Crew"], elsewhere)).json).toMatchObject([
      { email: "root@example.org", role: "admin" },
    ]);
    expect(await hub.stop()).toBe(0);
    expect(hub.output).not.toContain(key.slice(17));
    expect(hub.output).not.toContain(new URL(init.json.link as string).pathname.slice(6));
  });

  it("says which keys a removed person leaves behind, and which team without an administrator", async () => {
    const init = await run(["init", "--email", "root@example.org", "--team", "Crew"], env);
    const team = init.json.team.id as string;
    const second = (await run(["teams", "add", "--name", "Second"], env)).json as { id: string };
    const hub = await HubProcess.start(env);
    const person = await useLinkAt(hub.url, init.json.link as string);
    const invited = await run(
      ["users", "invite", "--team", second.id, "--email", "root@example.org", "--role", "admin"],
      env,
    );
    await useLinkAt(hub.url, invited.json.link as string);
    const keys = [await makeKey(person, team), await makeKey(person, team), await makeKey(person, second.id)];
    const ids = keys.map((key) => key.slice(4, 16));
    await run(["keys", "revoke", "--team", "Crew", "--key", ids[0]!], env);
    const last = await run(["users", "remove", "--team", "Crew", "--email", "root@example.org"], env);
    expect([last.code, last.stderr]).toMatchObject([1, expect.stringContaining("last administrator")]);
    await useLinkAt(
      hub.url,
      (await run(["users", "invite", "--team", "Crew", "--email", "b@example.org", "--role", "admin"], env)).json
        .link as string,
    );
    const role = (name: string) =>
      run(["users", "role", "--team", "Crew", "--email", "root@example.org", "--role", name], env);
    expect((await role("member")).json).toMatchObject({ role: "member", keysThatStay: [ids[1]] });
    expect((await role("admin")).json).not.toHaveProperty("keysThatStay");
    expect(await run(["users", "remove", "--team", "Crew", "--email", " Root@example.org"], env)).toMatchObject({
      stderr: "",
      json: { removed: "root@example.org", keysThatStay: [ids[1]] },
    });
    const ended = await run(["users", "remove", "--email", "root@example.org"], env);
    expect(ended.json).toEqual({ removed: "root@example.org", keysThatStay: [ids[1], ids[2]] });
    expect(ended.stderr).toBe(
      `hub: team "Second" (${second.id}) has no administrator now: boxwright-hub users role, or boxwright-hub users invite --role admin\n`,
    );
    expect((await run(["users", "remove", "--email", "root@example.org"], env)).stderr).toContain("expected a user");
    await hub.stop();
  });

  it("lists keys to support: public id, maker and last use, also of a maker who is gone", async () => {
    const init = await run(["init", "--email", "root@example.org", "--team", "Crew"], env);
    const hub = await HubProcess.start(env);
    const person = await useLinkAt(hub.url, init.json.link as string);
    const [used, unused] = [await makeKey(person, init.json.team.id), await makeKey(person, init.json.team.id)];
    expect(await ask(hub.url, used)).toBe(200);
    await run(["keys", "revoke", "--team", "Crew", "--key", unused.slice(4, 16)], env);
    // Times of last use are written at the end.
    expect(await hub.stop()).toBe(0);
    await run(["users", "remove", "--email", "root@example.org"], env);
    const { json, stdout } = await run(["keys", "list", "--team", "Crew"], env);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as unknown;
    const full = { name: "Full access", scopes: "full", expires: null };
    expect(json).toEqual([
      { key: used.slice(4, 16), ...full, madeBy: "root@example.org", created: time, lastUsed: time, revoked: null },
      { key: unused.slice(4, 16), ...full, madeBy: "root@example.org", created: time, lastUsed: null, revoked: time },
    ]);
    expect(stdout).not.toContain(used.slice(17));
  });

  it("renames a device, and removes a team, whose keys are refused at once", async () => {
    const init = await run(["init", "--email", "root@example.org", "--team", "Crew"], env);
    await run(["devices", "add", "--team", "Crew", "--name", "one", "--id", "dev-1"], env);
    const rename = (id: string) => run(["devices", "rename", "--team", "Crew", "--id", id, "--name", " First "], env);
    expect((await rename("dev-1")).json).toEqual({ id: "dev-1", name: "First" });
    expect(await rename("dev-2")).toMatchObject({ code: 1 });
    expect((await run(["devices", "list", "--team", "Crew"], env)).json).toEqual([{ id: "dev-1", name: "First" }]);

    const hub = await HubProcess.start(env);
    const person = await useLinkAt(hub.url, init.json.link as string);
    const key = await makeKey(person, init.json.team.id);
    const file = join(folder.path, "backup.gz");
    await run(["backup", "--out", file], env);
    const refused = await run(["teams", "remove", "--team", "Crew"], env);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      "hub: got a team with 1 devices, 1 members and 1 API keys in force, expected an empty one; --with-everything removes all of that too\n",
    ]);
    expect(await ask(hub.url, key)).toBe(200);
    expect((await run(["teams", "remove", "--team", "Crew", "--with-everything"], env)).json).toEqual({
      removed: init.json.team,
      devices: 1,
      members: ["root@example.org"],
      keys: [key.slice(4, 16)],
    });
    expect(await ask(hub.url, key)).toBe(401);
    expect((await run(["teams", "list"], env)).json).toEqual([]);
    await run(["teams", "add", "--name", "Empty"], env);
    expect((await run(["teams", "remove", "--team", "Empty"], env)).code).toBe(0);
    // A restore brings the team back, and nobody's access to it.
    expect((await run(["restore", "--from", file, "--replace"], env)).json).toMatchObject({
      stayRevoked: [key.slice(4, 16)],
      stayRemoved: [{ email: "root@example.org", team_id: init.json.team.id }],
    });
    expect(await ask(hub.url, key)).toBe(401);
    await hub.stop();
  });

  it("says which team init keeps instead of the one that was named", async () => {
    await run(["teams", "add", "--name", "Earlier", "--create"], env);
    const { code, json, stderr } = await run(["init", "--email", "root@example.org", "--team", "Crew"], env);
    expect([code, json.team.name]).toEqual([0, "Earlier"]);
    expect(stderr).toBe(
      'hub: --team "Crew" is ignored: this database has the team "Earlier" already, and the link is for that one\n',
    );
    expect(json.database).toBe(env["HUB_DATABASE_FILE"] ?? "DATABASE_URL");
  });

  it("starts four hubs on an empty database at once (19)", async () => {
    const hubs = await Promise.all([1, 2, 3, 4].map(() => HubProcess.start(env)));
    for (const hub of hubs) expect((await fetch(`${hub.url}/readyz`)).status).toBe(200);
    expect(await Promise.all(hubs.map((hub) => hub.stop()))).toEqual([0, 0, 0, 0]);
  });
});
