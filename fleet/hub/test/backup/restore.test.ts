/** Backups, on both databases and from one into the other. */
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { backup } from "../../src/backup/dump.ts";
import { restore } from "../../src/backup/restore.ts";
import { UserError } from "../../src/core/errors.ts";
import { schemaVersion } from "../../src/database/migrations.ts";
import { createKey, lookUpKey, revokeKey, rotateKey } from "../../src/nouns/apikey.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { createApp, listVersions, saveVersion } from "../../src/nouns/application.ts";
import { assign, unassign } from "../../src/nouns/assignment.ts";
import { resolveDesired } from "../../src/nouns/desired.ts";
import { addToGroup, createGroup, groupsOf } from "../../src/nouns/group.ts";
import { beginModel, completeModel } from "../../src/nouns/model.ts";
import { addDevices, listDevices, removeDevice } from "../../src/nouns/device.ts";
import { openSession } from "../../src/nouns/session.ts";
import { addTeam, findTeam, membersOf, removeMember, setRole } from "../../src/nouns/team.ts";
import { changePassword, findUser, invite, removeUser, useLink, type User } from "../../src/nouns/user.ts";
import { joinTeam, NOW, kinds, openTestDatabase, temporaryFolder, onEmptyDatabases } from "../support/hub.ts";

onEmptyDatabases("backups", (db, storage) => {
  it("keeps groups, applications, versions and who is given them; leaves snaps and models that are there", async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, "b.gz");
    const team = await addTeam(db(), NOW, "test", "Crew");
    const change = { now: NOW, actor: "test", teamId: team.id };
    const [device] = await addDevices(db(), NOW, team.id, 10, [{ name: "gate" }]);
    const group = await createGroup(db(), change, "Gates");
    await addToGroup(db(), change, group.id, [device!.id]);
    const app = await createApp(db(), { now: NOW, actor: "test", teamId: team.id }, { name: "Gate" });
    const sha256 = "a".repeat(64);
    const limits = { modelBytes: 100, teamModelBytes: 1000 };
    const model = await beginModel(db(), NOW, team.id, limits, { sha256, size: 3, name: "m.onnx" });
    await completeModel(db(), { now: NOW, actor: "test", teamId: team.id }, model);
    for (const classes of [1, 2]) {
      const content = { config: { classes }, options: {}, model: { sha256, size: 3, name: "m.onnx" }, snaps: [] };
      await saveVersion(db(), { now: NOW, actor: "test", teamId: team.id }, app.id, { content, description: "" });
    }
    const target = { kind: "group", id: group.id } as const;
    await assign(db(), change, { target, appId: app.id, version: 1 });
    await assign(db(), change, { target, appId: app.id, version: 2, share: 50 });
    const { leftOut } = await backup(db(), NOW, file);
    expect(leftOut).toEqual(expect.arrayContaining(["snaps", "model files"]));
    const desired = [...(await resolveDesired(db(), team.id)).values()];
    const versions = await listVersions(db(), team.id, app.id);

    for (const other of kinds.filter(({ skip: isSkipped }) => !isSkipped)) {
      const fresh = await openTestDatabase(other.kind);
      expect((await restore(fresh.db, NOW, file, false)).missingModels).toEqual([sha256]);
      expect([...(await resolveDesired(fresh.db, team.id)).values()]).toEqual(desired);
      expect(await listVersions(fresh.db, team.id, app.id)).toEqual(versions);
      expect(await groupsOf(fresh.db, team.id, device!.id)).toMatchObject([{ name: "Gates" }]);
      await fresh.remove();
    }
    await unassign(db(), change, target);
    expect((await restore(db(), NOW, file, true)).missingModels).toEqual([]);
    expect([...(await resolveDesired(db(), team.id)).values()]).toEqual(desired);
    folder.remove();
  });

  it.each(kinds.filter((other) => !other.skip))(
    "backs up into $kind, without secrets, sessions and links",
    async ({ kind: target }) => {
      const folder = temporaryFolder();
      const file = join(folder.path, "b.gz");
      const team = await addTeam(db(), NOW, "test", "Team \u{1f980} 'quoted'");
      const admin = await joinTeam(db(), team.id, "a@example.org");
      const key = await createKey(db(), NOW, admin, team.id, "form");
      await addDevices(
        db(),
        NOW,
        team.id,
        5000,
        Array.from({ length: 2345 }, (_, i) => ({ name: `device ${i}` })),
      );
      const session = await openSession(db(), NOW, { idleMs: 1e9, absoluteMs: 1e9 }, admin);
      const { rows } = await backup(db(), NOW, file);
      expect(rows).toBeGreaterThan(2345);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const text = gunzipSync(readFileSync(file)).toString();
      expect(text).not.toContain(key!.key.slice(17));
      expect(text).not.toContain(session.token);
      expect(text).not.toMatch(/"table":"(sessions|links)"/);
      await revokeKey(db(), { now: NOW, actor: "operator", teamId: team.id }, key!.id);

      const fresh = await openTestDatabase(target);
      expect(await restore(fresh.db, NOW, file, false)).toMatchObject({
        rows,
        taken: NOW,
        knowsSince: false,
        inForce: { users: 1, keys: 1 },
        stayRevoked: [],
      });
      expect(await listDevices(fresh.db, team.id)).toEqual(await listDevices(db(), team.id));
      expect(await membersOf(fresh.db, team.id)).toEqual(await membersOf(db(), team.id));
      expect((await lookUpKey(fresh.db, key!.id))?.hash).toBe(key!.hash);
      await expect(restore(fresh.db, NOW, file, false)).rejects.toThrow("expected an empty database");
      await fresh.remove();

      // Into the database it came from: what was revoked since stays revoked.
      expect(await restore(db(), NOW, file, true)).toMatchObject({
        rows,
        knowsSince: true,
        inForce: { users: 1, keys: 0 },
        stayRevoked: [key!.id],
      });
      expect((await lookUpKey(db(), key!.id))?.revoked_at).toBe(NOW);
      folder.remove();
    },
  );

  it("restores no access that was taken away since, and says which", async () => {
    const folder = temporaryFolder();
    const [empty, file] = [join(folder.path, "empty.gz"), join(folder.path, "b.gz")];
    await backup(db(), NOW, empty);
    const [a, b] = [await addTeam(db(), NOW, "test", "A"), await addTeam(db(), NOW, "test", "B")];
    const people = ["root", "demoted", "removed", "ended", "back", "again", "renewed"];
    const users = new Map<string, User>();
    for (const name of people) users.set(name, await joinTeam(db(), a.id, `${name}@example.org`));
    const person = (name: string): User => users.get(name)!;
    await useLink(
      db(),
      NOW,
      await invite(db(), { now: NOW, actor: "test", teamId: b.id }, person("removed").email, "admin"),
      undefined,
    );
    const key = await createKey(db(), NOW, person("ended"), a.id, "form");
    const live = await createKey(db(), NOW, person("ended"), a.id, "other form");
    const rotated = await createKey(db(), NOW, person("root"), a.id, "third form");
    const [device] = await addDevices(db(), NOW, a.id, 10, [{ name: "cam" }]);
    const { rows } = await backup(db(), NOW, file);

    await rotateKey(db(), NOW, person("root"), a.id, "fourth form", { id: rotated!.id, overlapHours: 1 });
    await setRole(db(), { now: NOW, actor: "x", teamId: a.id }, person("demoted").email, "member");
    await removeMember(db(), { now: NOW, actor: "x", teamId: a.id }, person("removed").id);
    for (const name of ["ended", "again"]) await removeUser(db(), NOW, "x", person(name).email);
    await removeMember(db(), { now: NOW, actor: "x", teamId: a.id }, person("back").id);
    await useLink(
      db(),
      NOW,
      await invite(db(), { now: NOW, actor: "x", teamId: a.id }, person("back").email, "admin"),
      undefined,
    );
    // Another id, another password, another team.
    await useLink(
      db(),
      NOW,
      await invite(db(), { now: NOW, actor: "x", teamId: b.id }, person("again").email, "member"),
      "another hash",
    );
    await changePassword(db(), NOW, person("renewed"), "new hash");
    await revokeKey(db(), { now: NOW + 5, actor: "x", teamId: a.id }, key!.id);
    await removeDevice(db(), { now: NOW, actor: "test", teamId: a.id }, device!.id);
    const late = await joinTeam(db(), a.id, "late@example.org");
    const since = (await readAudit(db(), 1000)).length;
    const check = async (result: Awaited<ReturnType<typeof restore>>): Promise<void> => {
      expect(result).toMatchObject({
        rows,
        knowsSince: true,
        inForce: { users: 6, keys: 2 },
        stayRevoked: [key!.id],
        teamsWithoutAdmin: [],
      });
      expect(result.stayRemoved).toEqual(
        expect.arrayContaining([
          { email: "ended@example.org" },
          { email: "removed@example.org", team_id: a.id },
          { email: "again@example.org", team_id: a.id },
        ]),
      );
      expect(result.stayRemoved).toHaveLength(3);
      const members = (await membersOf(db(), a.id)).map(({ email, role }) => `${email.split("@")[0]} ${role}`);
      expect(members).toEqual(["back admin", "demoted member", "renewed admin", "root admin"]);
      expect((await membersOf(db(), b.id)).map(({ email }) => email)).toEqual(["removed@example.org"]);
      expect(await findUser(db(), "ended@example.org")).toBeUndefined();
      expect((await findUser(db(), "renewed@example.org"))?.password).toBe("new hash");
      expect((await findUser(db(), "again@example.org"))?.password).toBe("another hash");
      expect(await lookUpKey(db(), key!.id)).toMatchObject({ revoked_at: NOW + 5 });
      expect(await lookUpKey(db(), live!.id)).toMatchObject({ revoked_at: null });
      expect(await lookUpKey(db(), rotated!.id)).toMatchObject({ expires_at: NOW + 3_600_000 });
      expect(await listDevices(db(), a.id)).toEqual([device]);
      // A user added after the backup is gone. The audit still mentions them.
      expect(await findUser(db(), late.email)).toBeUndefined();
    };
    const first = await restore(db(), NOW, file, true);
    await check(first);
    expect(first).toMatchObject({
      stayDemoted: [{ email: "demoted@example.org", team_id: a.id }],
      keptPasswords: expect.arrayContaining(["again@example.org", "renewed@example.org"]) as string[],
    });
    expect(await readAudit(db(), 1000)).toHaveLength(since + 1);
    await check(await restore(db(), NOW, file, true));

    // A restore of an older backup loses the rows. The audit still knows who was removed, and not only lost.
    await restore(db(), NOW, empty, true);
    expect(await db().all("SELECT id FROM users")).toEqual([]);
    const { stayRemoved, stayRevoked } = await restore(db(), NOW, file, true);
    expect(stayRemoved).toHaveLength(3);
    expect(stayRevoked).toEqual([key!.id]);
    expect(await findUser(db(), "root@example.org")).toBeDefined();
    folder.remove();
  });

  it("names the teams that a restore leaves without an administrator, and knows a stranger's database", async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, "b.gz");
    const team = await addTeam(db(), NOW, "test", "A");
    await addTeam(db(), NOW, "test", "never had one");
    const ann = await joinTeam(db(), team.id, "ann@example.org");
    await backup(db(), NOW, file);
    await joinTeam(db(), team.id, "ben@example.org");
    await removeMember(db(), { now: NOW, actor: "x", teamId: team.id }, ann.id);
    expect((await restore(db(), NOW, file, true)).teamsWithoutAdmin).toEqual([team.id]);
    expect(await membersOf(db(), team.id)).toEqual([]);

    const other = await openTestDatabase(storage().kind);
    await addTeam(other.db, NOW, "test", "Other");
    expect(await restore(other.db, NOW, file, true)).toMatchObject({
      knowsSince: false,
      stayRemoved: [],
      inForce: { users: 1, keys: 0 },
    });
    await other.remove();
    folder.remove();
  });

  it("writes a backup into a file of its own, for its owner only, and says what is in the way", async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, "b.gz");
    const trap = join(folder.path, "trap");
    writeFileSync(trap, "");
    symlinkSync(trap, `${file}.part`);
    await backup(db(), NOW, file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(lstatSync(file).isFile()).toBe(true);
    expect(readFileSync(trap, "utf8")).toBe("");
    await expect(backup(db(), NOW, join(folder.path, "no", "b.gz"))).rejects.toThrow(UserError);
    await expect(backup(db(), NOW, folder.path)).rejects.toThrow(UserError);
    expect(readdirSync(folder.path).sort()).toEqual(["b.gz", "b.gz.part", "trap"]);
    folder.remove();
  });

  it("takes no backup that is cut, changed or somebody else's, and then changes nothing", async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, "b.gz");
    await addTeam(db(), NOW, "test", "A");
    await backup(db(), NOW, file);
    const whole = readFileSync(file);
    const lines = gunzipSync(whole).toString().trimEnd().split("\n");
    // An empty backup, complete but for what each case changes in its first line.
    const empty = (change: object): Buffer => {
      const first = { format: "boxwright-hub-backup", schema: schemaVersion, at: NOW, ...change };
      return gzipSync(`${JSON.stringify(first)}\n{"end":true,"rows":0}\n`);
    };
    const rows = lines.length - 2;
    const wrong: [string, Buffer, string][] = [
      ["cut", whole.subarray(0, whole.length - 12), "unexpected end of file"],
      ["not gzip", Buffer.from("hello"), "incorrect header check"],
      [
        "damage behind the last line",
        Buffer.concat([whole, Buffer.from([0x1f, 0x8b, 9, 9, 9, 9, 9, 9, 9, 9, 9])]),
        "unknown compression method",
      ],
      [
        "last line gone",
        gzipSync(lines.slice(0, -1).join("\n")),
        `got ${rows} rows and no last line, expected a complete file`,
      ],
      [
        "row gone",
        gzipSync([lines[0], ...lines.slice(2)].join("\n")),
        `got ${rows - 1} rows and a last line for ${rows}, expected a complete file`,
      ],
      ["other format", empty({ format: "x" }), 'got format "x", expected boxwright-hub-backup'],
      ["no time", empty({ at: undefined }), "at: got undefined, expected a time in milliseconds"],
      ["a line of null", gzipSync("null\n"), "line 1: got null, expected a JSON object"],
      [
        "schema of a later hub",
        empty({ schema: 99 }),
        `got schema version 99, expected at most ${schemaVersion}: restore with the hub that made it`,
      ],
      [
        "schema before the first",
        empty({ schema: 0 }),
        `got schema version 0, expected at most ${schemaVersion}: restore with the hub that made it`,
      ],
    ];
    for (const [name, content, message] of wrong) {
      writeFileSync(file, content);
      const outcome = await restore(db(), NOW, file, true).catch((error: unknown) => error);
      expect([name, outcome]).toEqual([name, new UserError(`backup ${file}: ${message}`)]);
    }
    await expect(restore(db(), NOW, join(folder.path, "none"), true)).rejects.toThrow("ENOENT");
    expect(await findTeam(db(), "A")).toBeDefined();
    folder.remove();
  });
});
