/** One contract, kept by both databases. */
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { backup } from "../src/backup/dump.ts";
import { restore } from "../src/backup/restore.ts";
import { UserError } from "../src/core/errors.ts";
import { migrate, migrations, schemaVersion, databaseVersion } from "../src/database/migrations.ts";
import { createKey, LastUsed, lookUpKey, revokeKey } from "../src/nouns/apikey.ts";
import { readAudit } from "../src/nouns/audit.ts";
import { addDevices, listDevices, removeDevice, renameDevice } from "../src/nouns/device.ts";
import { closeSession, openSession, readSession } from "../src/nouns/session.ts";
import { LINK_LIFETIME_MS, readLink } from "../src/nouns/link.ts";
import { addTeam, findTeam, membersOf, removeMember, renameTeam, setRole, teamsOf } from "../src/nouns/team.ts";
import {
  changePassword,
  findUser,
  initialise,
  invite,
  removeUser,
  resetLink,
  useLink,
  type User,
} from "../src/nouns/user.ts";
import { kinds, openTestDatabase, temporaryFolder, type TestDatabase } from "./support/hub.ts";

const NOW = 1_800_000_000_000;

for (const { kind, skip } of kinds) {
  describe.skipIf(skip)(`storage on ${kind}`, () => {
    let storage: TestDatabase;
    const db = () => storage.db;
    beforeEach(async () => void (storage = await openTestDatabase(kind)));
    afterEach(() => storage.remove());

    async function join_(teamId: string, email: string, role: "admin" | "member" = "admin"): Promise<User> {
      const user = await useLink(db(), NOW, await invite(db(), NOW, "test", undefined, teamId, email, role), "hash");
      expect(user).toBeDefined();
      return user!;
    }

    it("migrates once, whoever starts (check 19: four at once)", async () => {
      const fresh = await openTestDatabase(kind, { migrated: false });
      const hubs = [fresh.db, fresh.again(), fresh.again(), fresh.again()];
      const applied = await Promise.all(hubs.map((hub) => migrate(hub)));
      expect(applied.sort()).toEqual([0, 0, 0, migrations.length]);
      expect(await fresh.db.all("SELECT version FROM schema_migrations")).toHaveLength(migrations.length);
      expect(await databaseVersion(fresh.db)).toBe(schemaVersion);
      await fresh.remove();
    });

    it("leaves nothing behind of a migration that fails, and refuses a schema from the future", async () => {
      const bad = {
        version: schemaVersion + 1,
        name: "bad",
        sql: (text: string) => `CREATE TABLE half (id ${text}); SELECT * FROM does_not_exist;`,
      };
      await expect(migrate(db(), Date.now, [...migrations, bad])).rejects.toThrow(/does_not_exist/);
      expect(await databaseVersion(db())).toBe(schemaVersion);
      await expect(db().all("SELECT * FROM half")).rejects.toThrow(/half/);
      await db().write((tx) =>
        tx.all("INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)", [99, "future", 0]),
      );
      await expect(migrate(db())).rejects.toThrow(
        `got a database of schema version 99, expected at most ${schemaVersion}`,
      );
    });

    it("undoes a transaction whole, and other connections see it only when it is done", async () => {
      const other = storage.again();
      await expect(
        db().write(async (tx) => {
          await tx.all("INSERT INTO teams (id, name, created_at) VALUES (?, ?, ?)", ["t", "x", 1]);
          expect(await other.all("SELECT id FROM teams")).toEqual([]);
          expect(await db().all("SELECT id FROM teams")).toEqual([]);
          throw new Error("no");
        }),
      ).rejects.toThrow("no");
      expect(await db().all("SELECT id FROM teams")).toEqual([]);
      const team = await addTeam(db(), NOW, "test", "A");
      expect(await other.all("SELECT id, name, created_at FROM teams")).toEqual([{ ...team, created_at: NOW }]);
    });

    it("writes from several connections at once without losing one", async () => {
      const team = await addTeam(db(), NOW, "test", "A");
      const hubs = [db(), storage.again(), storage.again()];
      await Promise.all(
        Array.from({ length: 60 }, (_, i) => addDevices(hubs[i % 3]!, NOW, team.id, 1000, [{ name: `d${i}` }])),
      );
      for (const hub of hubs) expect(await listDevices(hub, team.id)).toHaveLength(60);
    });

    it("keeps the limit of devices when many are added at once", async () => {
      const team = await addTeam(db(), NOW, "test", "A");
      const hubs = [db(), storage.again()];
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => addDevices(hubs[i % 2]!, NOW, team.id, 7, [{ name: `d${i}` }])),
      );
      expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(7);
      expect(await listDevices(db(), team.id)).toHaveLength(7);
    });

    it("lists devices in one order, in pages too, and byte by byte", async () => {
      const team = await addTeam(db(), NOW, "test", "A");
      const ids = ["b", "B", "a", "_x".slice(1), "1", "Z9", "z.1", "a-1", "a1"];
      await addDevices(
        db(),
        NOW,
        team.id,
        100,
        ids.map((id) => ({ id, name: `name of ${id}` })),
      );
      const all = (await listDevices(db(), team.id)).map((device) => device.id);
      expect(all).toEqual([...ids].sort());
      const paged: string[] = [];
      for (let after = ""; ;) {
        const page = await listDevices(db(), team.id, after, 2);
        paged.push(...page.map((device) => device.id));
        if (page.length < 2) break;
        after = page.at(-1)!.id;
      }
      expect(paged).toEqual(all);
    });

    it("adds, renames and removes devices of the team and of no other", async () => {
      const [a, b] = [await addTeam(db(), NOW, "test", "A"), await addTeam(db(), NOW, "test", "B")];
      const [device] = await addDevices(db(), NOW, a.id, 10, [{ name: "  cam  " }]);
      expect(device?.name).toBe("cam");
      await expect(renameDevice(db(), b.id, device!.id, "stolen")).rejects.toThrow(UserError);
      await expect(removeDevice(db(), b.id, device!.id)).rejects.toThrow(UserError);
      await renameDevice(db(), a.id, device!.id, "cam 2");
      expect(await listDevices(db(), a.id)).toEqual([{ id: device!.id, name: "cam 2" }]);
      await expect(
        addDevices(db(), NOW, a.id, 10, [{ name: "new" }, { id: device!.id, name: "again" }]),
      ).rejects.toThrow("expected one that the team does not have yet");
      expect(await listDevices(db(), a.id)).toHaveLength(1);
      await addDevices(db(), NOW, b.id, 10, [{ id: device!.id, name: "same id, other team" }]);
      await removeDevice(db(), a.id, device!.id);
      expect(await listDevices(db(), b.id)).toHaveLength(1);
    });

    it("makes one key per form, for administrators, and stores only its hash", async () => {
      const team = await addTeam(db(), NOW, "test", "A");
      const admin = await join_(team.id, "a@example.org");
      const member = await join_(team.id, "m@example.org", "member");
      const hubs = [db(), storage.again()];
      const made = await Promise.all(
        Array.from({ length: 6 }, (_, i) => createKey(hubs[i % 2]!, NOW, admin, team.id, "one form")),
      );
      const keys = made.filter((key) => key !== undefined);
      expect(keys).toHaveLength(1);
      const [key] = keys;
      expect(await lookUpKey(db(), key!.id)).toEqual({
        hash: key!.hash,
        revoked_at: null,
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
      const key = await createKey(db(), NOW, await join_(a.id, "a@example.org"), a.id, "form");
      await expect(revokeKey(db(), NOW, "operator", b.id, key!.id)).rejects.toThrow(
        "expected the public id of a key of this team",
      );
      await expect(revokeKey(db(), NOW, "operator", a.id, key!.key)).rejects.toThrow(
        /got 55 characters, expected the public id/,
      );
      const other = storage.again();
      expect((await lookUpKey(other, key!.id))?.revoked_at).toBeNull();
      expect(await revokeKey(db(), NOW + 5, "operator", a.id, key!.id)).toEqual({ fresh: true });
      expect((await lookUpKey(other, key!.id))?.revoked_at).toBe(NOW + 5);
      expect(await revokeKey(db(), NOW + 9, "operator", a.id, key!.id)).toEqual({ fresh: false });
      expect((await readAudit(db(), 10, a.id)).filter((row) => row.action === "key.revoked")).toHaveLength(1);
    });

    it("writes times of last use together and never backwards", async () => {
      const team = await addTeam(db(), NOW, "test", "A");
      const key = await createKey(db(), NOW, await join_(team.id, "a@example.org"), team.id, "form");
      const [one, two] = [new LastUsed(), new LastUsed()];
      one.note(key!.id, NOW + 10);
      two.note(key!.id, NOW + 20);
      expect(await two.flush(db())).toBe(1);
      expect(await one.flush(db())).toBe(1);
      expect(await one.flush(db())).toBe(0);
      expect(await db().all("SELECT last_used_at FROM api_keys")).toEqual([{ last_used_at: NOW + 20 }]);
    });

    it("lets a link be used once, for a day, by one of many who try", async () => {
      const team = await addTeam(db(), NOW, "test", "A");
      const token = await invite(db(), NOW, "test", undefined, team.id, " Ann@Example.org ", "admin");
      expect(await readLink(db(), NOW + LINK_LIFETIME_MS, token)).toBeUndefined();
      expect(await readLink(db(), NOW, token)).toMatchObject({
        purpose: "invite",
        email: "ann@example.org",
        team_name: "A",
        role: "admin",
      });
      const hubs = [db(), storage.again()];
      const used = await Promise.all(
        Array.from({ length: 6 }, (_, i) => useLink(hubs[i % 2]!, NOW, token, `hash ${i}`)),
      );
      expect(used.filter((user) => user !== undefined)).toHaveLength(1);
      expect(await membersOf(db(), team.id)).toHaveLength(1);
      expect(await useLink(db(), NOW, token, "late")).toBeUndefined();
      const [row] = await db().all<{ hash: string }>("SELECT hash FROM links");
      expect(row?.hash).not.toContain(token);
    });

    it("leaves no second way in for someone who joined, or whose account has ended", async () => {
      const [a, b] = [await addTeam(db(), NOW, "test", "A"), await addTeam(db(), NOW, "test", "B")];
      await join_(a.id, "admin@example.org");
      const asked = (team: { id: string }) => invite(db(), NOW, "test", undefined, team.id, "ann@example.org", "admin");
      const [first, second, elsewhere] = [await asked(a), await asked(a), await asked(b)];
      const ann = await useLink(db(), NOW, first, "hash");
      await removeMember(db(), NOW, "test", undefined, a.id, ann!.id);
      expect(await useLink(db(), NOW, second, undefined)).toBeUndefined();
      expect(await membersOf(db(), a.id)).toHaveLength(1);
      expect(await readLink(db(), NOW, elsewhere)).toBeDefined();
      const reset = await resetLink(db(), NOW, "operator", "ann@example.org");
      await removeUser(db(), NOW, "operator", "ann@example.org");
      for (const token of [elsewhere, reset]) expect(await useLink(db(), NOW, token, "hash")).toBeUndefined();
      expect(await findUser(db(), "ann@example.org")).toBeUndefined();
      expect(await useLink(db(), NOW, await asked(b), "hash")).toMatchObject({ email: "ann@example.org" });
    });

    it("ends invitations with the right to invite, and leaves those of others", async () => {
      const [a, b] = [await addTeam(db(), NOW, "test", "A"), await addTeam(db(), NOW, "test", "B")];
      const [ann, ben] = [await join_(a.id, "ann@example.org"), await join_(a.id, "ben@example.org")];
      await useLink(db(), NOW, await invite(db(), NOW, "test", undefined, b.id, ann.email, "admin"), undefined);
      let serial = 0;
      const by = (user: User | undefined, teamId: string, now = NOW) =>
        invite(db(), now, "x", user?.id, teamId, `p${serial++}@example.org`, "admin");
      const open = async (tokens: readonly string[]) =>
        Promise.all(tokens.map(async (token) => (await readLink(db(), NOW, token)) !== undefined));

      const links = [
        await by(ann, a.id),
        await by(ann, b.id),
        await by(ben, a.id),
        await by(undefined, a.id),
        await by(ann, a.id, NOW - LINK_LIFETIME_MS),
      ];
      await setRole(db(), NOW, "ben@example.org", ben.id, a.id, ann.email, "member");
      expect(await open(links)).toEqual([false, true, true, true, false]);
      // One row for what ended here, none for what had run out.
      expect((await readAudit(db(), 100)).filter((row) => row.action === "invite.ended")).toMatchObject([
        { actor: "ben@example.org", team_id: a.id, subject: "p0@example.org admin" },
      ]);
      // Given back, the right brings no old invitation back.
      await setRole(db(), NOW, "operator", undefined, a.id, ann.email, "admin");
      expect(await open(links)).toEqual([false, true, true, true, false]);

      links[0] = await by(ann, a.id);
      await removeMember(db(), NOW, "operator", undefined, a.id, ann.id);
      expect(await open(links)).toEqual([false, true, true, true, false]);
      expect(await useLink(db(), NOW, links[0], "hash")).toBeUndefined();
      await removeUser(db(), NOW, "operator", ann.email);
      expect(await open(links)).toEqual([false, false, true, true, false]);
    });

    it("lets nobody invite while they are being removed", async () => {
      const team = await addTeam(db(), NOW, "test", "A");
      const other = storage.again();
      const counts = { made: 0, refused: 0 };
      for (let i = 0; i < 10; i++) {
        const [ann] = [await join_(team.id, `ann${i}@example.org`), await join_(team.id, `ben${i}@example.org`)];
        const inviting = () => invite(db(), NOW, "x", ann.id, team.id, `new${i}@example.org`, "admin");
        const removing = () => removeMember(other, NOW, "x", undefined, team.id, ann.id);
        let invited: Promise<string>;
        let gone: Promise<void>;
        // Either may win. The first two rounds are no race, so that both ends are seen on any machine.
        if (i % 2 === 0) {
          invited = inviting();
          if (i === 0) await invited;
          gone = removing();
        } else {
          gone = removing();
          if (i === 1) await gone;
          invited = inviting();
        }
        const [made, removed] = await Promise.allSettled([invited, gone]);
        expect(removed.status).toBe("fulfilled");
        if (made.status === "fulfilled") {
          counts.made++;
          expect(await readLink(db(), NOW, made.value)).toBeUndefined();
        } else {
          counts.refused++;
          expect(made.reason).toEqual(new UserError("this needs an administrator of the team", 403));
        }
      }
      expect(counts.made).toBeGreaterThan(0);
      expect(counts.refused).toBeGreaterThan(0);
      expect(counts.made + counts.refused).toBe(10);
    });

    it("learns from the audit who made the invitations that are open when the schema changes", async () => {
      const fresh = await openTestDatabase(kind, { migrated: false });
      await migrate(fresh.db, Date.now, migrations.slice(0, 1));
      await fresh.db.write(async (tx) => {
        await tx.all("INSERT INTO teams (id, name, created_at) VALUES ('t', 'T', 1)");
        await tx.all("INSERT INTO users (id, email, password, created_at) VALUES ('u', 'ann@example.org', 'hash', 1)");
        for (const [hash, email, actor] of [
          ["1", "a@example.org", "ann@example.org"],
          ["2", "b@example.org", "operator"],
        ]) {
          await tx.all(
            "INSERT INTO links (hash, purpose, email, team_id, role, created_at, expires_at) VALUES (?, 'invite', ?, 't', 'admin', 5, 9)",
            [hash!, email!],
          );
          await tx.all(
            "INSERT INTO audit (id, at, actor, action, team_id, subject) VALUES (?, 5, ?, 'invite.created', 't', ?)",
            [hash!, actor!, `${email} admin`],
          );
        }
      });
      expect(await migrate(fresh.db)).toBe(migrations.length - 1);
      expect(await fresh.db.all("SELECT hash, created_by FROM links ORDER BY hash")).toEqual([
        { hash: "1", created_by: "u" },
        { hash: "2", created_by: null },
      ]);
      await fresh.remove();
    });

    it("lets a team be renamed by its administrators only, as they are when it is written", async () => {
      const team = await addTeam(db(), NOW, "test", "A");
      const [admin, member] = [await join_(team.id, "a@example.org"), await join_(team.id, "m@example.org", "member")];
      await expect(renameTeam(db(), NOW, member.email, member.id, team.id, "B")).rejects.toThrow(
        "needs an administrator",
      );
      expect((await renameTeam(db(), NOW, admin.email, admin.id, team.id, "C")).name).toBe("C");
    });

    it("joins someone with an account without touching their password", async () => {
      const [a, b] = [await addTeam(db(), NOW, "test", "A"), await addTeam(db(), NOW, "test", "B")];
      const user = await join_(a.id, "a@example.org");
      const token = await invite(db(), NOW, "test", undefined, b.id, "a@example.org", "member");
      expect(await useLink(db(), NOW, token, "a new password")).toBeUndefined();
      expect(await useLink(db(), NOW, token, undefined)).toEqual({ id: user.id, email: user.email });
      expect((await findUser(db(), "a@example.org"))?.password).toBe("hash");
      expect((await teamsOf(db(), user.id)).map((team) => [team.name, team.role])).toEqual([
        ["A", "admin"],
        ["B", "member"],
      ]);
      await expect(invite(db(), NOW, "test", undefined, b.id, "a@example.org", "member")).rejects.toThrow(
        "not in the team yet",
      );
    });

    it("ends sessions by time, by sign-out and by a new password", async () => {
      const limits = { idleMs: 1000_000, absoluteMs: 5000_000 };
      const team = await addTeam(db(), NOW, "test", "A");
      const user = await join_(team.id, "a@example.org");
      const first = await openSession(db(), NOW, limits, user);
      expect((await readSession(db(), NOW + 999_999, limits, first.token))?.user).toEqual({
        id: user.id,
        email: user.email,
      });
      expect(await readSession(db(), NOW + 999_999 + 1000_000, limits, first.token)).toBeUndefined();
      for (let t = NOW; t < NOW + 5000_000; t += 900_000) await readSession(db(), t, limits, first.token);
      expect(await readSession(db(), NOW + 4_999_999, limits, first.token)).toBeDefined();
      expect(await readSession(db(), NOW + 5_000_000, limits, first.token)).toBeUndefined();
      const second = await openSession(db(), NOW, limits, user, first.token);
      expect(await readSession(db(), NOW, limits, first.token)).toBeUndefined();
      await closeSession(db(), NOW, second);
      expect(await readSession(db(), NOW, limits, second.token)).toBeUndefined();
      const [third, fourth] = [await openSession(db(), NOW, limits, user), await openSession(db(), NOW, limits, user)];
      await changePassword(db(), NOW, user, "new hash");
      for (const session of [third, fourth])
        expect(await readSession(db(), NOW, limits, session.token)).toBeUndefined();
      const rest = await resetLink(db(), NOW, "operator", user.email);
      expect(await useLink(db(), NOW, rest, "newer hash")).toEqual({ id: user.id, email: user.email });
      expect((await findUser(db(), user.email))?.password).toBe("newer hash");
      const stored = JSON.stringify(await db().all("SELECT hash FROM sessions"));
      expect(stored).not.toContain(third.token);
    });

    it("believes no session and no link that was made under a clock far ahead", async () => {
      const limits = { idleMs: 1000_000, absoluteMs: 5000_000 };
      const ahead = NOW + 3650 * 24 * 3600_000;
      const team = await addTeam(db(), NOW, "test", "A");
      const user = await join_(team.id, "a@example.org");
      const early = await openSession(db(), ahead, limits, user);
      expect(await readSession(db(), ahead, limits, early.token)).toBeDefined();
      expect(await readSession(db(), NOW, limits, early.token)).toBeUndefined();
      const token = await invite(db(), ahead, "test", undefined, team.id, "late@example.org", "member");
      expect(await useLink(db(), NOW, token, "hash")).toBeUndefined();
      // Of another hub, whose clock is a little ahead.
      const near = await openSession(db(), NOW + 60_000, limits, user);
      expect(await readSession(db(), NOW, limits, near.token)).toBeDefined();
      expect(
        await readLink(
          db(),
          NOW,
          await invite(db(), NOW + 60_000, "test", undefined, team.id, "near@example.org", "member"),
        ),
      ).toBeDefined();
      expect(await db().all("SELECT hash FROM sessions")).toHaveLength(1);
      // Used while the clock was ahead: the end by idleness counts from when it is right again.
      await readSession(db(), NOW + 900_000, limits, near.token);
      expect(await readSession(db(), NOW, limits, near.token)).toBeDefined();
      expect(await readSession(db(), NOW + 1_000_000, limits, near.token)).toBeUndefined();
    });

    it("tells why a transaction failed where the database has undone it by itself", async () => {
      const failed = db().write(async (tx) => {
        await tx.all("ROLLBACK");
        throw new Error("the disk is full");
      });
      await expect(failed).rejects.toThrow("the disk is full");
      expect((await addTeam(db(), NOW, "test", "A")).name).toBe("A");
    });

    it("keeps one administrator, also when two go at the same time", async () => {
      const team = await addTeam(db(), NOW, "test", "A");
      const [ann, ben] = [await join_(team.id, "ann@example.org"), await join_(team.id, "ben@example.org")];
      const other = storage.again();
      const results = await Promise.allSettled([
        removeMember(db(), NOW, "x", ann.id, team.id, ann.id),
        setRole(other, NOW, "x", ben.id, team.id, ben.email, "member"),
      ]);
      expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
      expect((await membersOf(db(), team.id)).filter((member) => member.role === "admin")).toHaveLength(1);
      await expect(removeUser(db(), NOW, "operator", "nobody@example.org")).rejects.toThrow("expected a user");
    });

    it("finds teams by id or by a name that only one has", async () => {
      const a = await addTeam(db(), NOW, "test", "A");
      expect(await findTeam(db(), "A")).toEqual(a);
      const twin = await addTeam(db(), NOW, "test", "A");
      await expect(findTeam(db(), "A")).rejects.toThrow("which 2 teams have");
      await renameTeam(db(), NOW, "operator", undefined, twin.id, "B");
      expect(await findTeam(db(), "B")).toEqual({ id: twin.id, name: "B" });
      await expect(findTeam(db(), "C")).rejects.toThrow("expected the id or name of one that exists");
    });

    it("initialises while nobody has an account, and not after", async () => {
      const start = () => initialise(db(), NOW, "root@example.org", () => addTeam(db(), NOW, "operator", "First"));
      const first = await start();
      const again = await start();
      expect(again.team).toEqual(first.team);
      await useLink(db(), NOW, again.token, "hash");
      await expect(start()).rejects.toThrow("got 1 users in the database, expected none");
    });

    it.each(kinds.filter((other) => !other.skip))(
      "backs up into $kind, without secrets, sessions and links",
      async ({ kind: target }) => {
        const folder = temporaryFolder();
        const file = join(folder.path, "b.gz");
        const team = await addTeam(db(), NOW, "test", "Team \u{1f980} 'quoted'");
        const admin = await join_(team.id, "a@example.org");
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
        await revokeKey(db(), NOW, "operator", team.id, key!.id);

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
      for (const name of people) users.set(name, await join_(a.id, `${name}@example.org`));
      const person = (name: string): User => users.get(name)!;
      await useLink(
        db(),
        NOW,
        await invite(db(), NOW, "test", undefined, b.id, person("removed").email, "admin"),
        undefined,
      );
      const key = await createKey(db(), NOW, person("ended"), a.id, "form");
      const live = await createKey(db(), NOW, person("ended"), a.id, "other form");
      const [device] = await addDevices(db(), NOW, a.id, 10, [{ name: "cam" }]);
      const { rows } = await backup(db(), NOW, file);

      await setRole(db(), NOW, "x", undefined, a.id, person("demoted").email, "member");
      await removeMember(db(), NOW, "x", undefined, a.id, person("removed").id);
      for (const name of ["ended", "again"]) await removeUser(db(), NOW, "x", person(name).email);
      await removeMember(db(), NOW, "x", undefined, a.id, person("back").id);
      await useLink(db(), NOW, await invite(db(), NOW, "x", undefined, a.id, person("back").email, "admin"), undefined);
      // Another id, another password, another team.
      await useLink(
        db(),
        NOW,
        await invite(db(), NOW, "x", undefined, b.id, person("again").email, "member"),
        "another hash",
      );
      await changePassword(db(), NOW, person("renewed"), "new hash");
      await revokeKey(db(), NOW + 5, "x", a.id, key!.id);
      await removeDevice(db(), a.id, device!.id);
      const late = await join_(a.id, "late@example.org");
      const since = (await readAudit(db(), 1000)).length;

      const check = async (result: Awaited<ReturnType<typeof restore>>): Promise<void> => {
        expect(result).toMatchObject({
          rows,
          knowsSince: true,
          inForce: { users: 6, keys: 1 },
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
        expect(await listDevices(db(), a.id)).toEqual([device]);
        // What came in since is gone, and the audit still tells of it.
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
      const ann = await join_(team.id, "ann@example.org");
      await backup(db(), NOW, file);
      await join_(team.id, "ben@example.org");
      await removeMember(db(), NOW, "x", undefined, team.id, ann.id);
      expect((await restore(db(), NOW, file, true)).teamsWithoutAdmin).toEqual([team.id]);
      expect(await membersOf(db(), team.id)).toEqual([]);

      const other = await openTestDatabase(kind);
      await addTeam(other.db, NOW, "test", "Other");
      expect(await restore(other.db, NOW, file, true)).toMatchObject({
        knowsSince: false,
        stayRemoved: [],
        inForce: { users: 1, keys: 0 },
      });
      await other.remove();
      folder.remove();
    });

    it("restores a backup of the schema before", async () => {
      const folder = temporaryFolder();
      const file = join(folder.path, "b.gz");
      await addTeam(db(), NOW, "test", "A");
      await backup(db(), NOW, file);
      writeFileSync(
        file,
        gzipSync(gunzipSync(readFileSync(file)).toString().replace(`"schema":${schemaVersion}`, '"schema":1')),
      );
      expect(await restore(db(), NOW, file, true)).toMatchObject({ knowsSince: true });
      expect(await findTeam(db(), "A")).toBeDefined();
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
          `got schema version 99, expected 1 to ${schemaVersion}: restore with the hub that made it`,
        ],
        [
          "schema before the first",
          empty({ schema: 0 }),
          `got schema version 0, expected 1 to ${schemaVersion}: restore with the hub that made it`,
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

    it("keeps any text as it is", async () => {
      const team = await addTeam(db(), NOW, "test", "A");
      const names = [
        "'; DROP TABLE devices; --",
        '"quoted"',
        "\\x00",
        "?",
        "$1",
        "日本語",
        "👩‍👩‍👧",
        randomBytes(30).toString("base64"),
      ];
      await addDevices(
        db(),
        NOW,
        team.id,
        100,
        names.map((name) => ({ name })),
      );
      expect((await listDevices(db(), team.id)).map((device) => device.name)).toEqual(names);
    });
  });
}
