/** The ends of sessions and links, on both databases. */
import { expect, it } from "vitest";
import { UnavailableError } from "boxwright-service/errors";
import { readLink } from "../../src/nouns/link.ts";
import { closeSession, openSession, readSession } from "../../src/nouns/session.ts";
import { addTeam } from "../../src/nouns/team.ts";
import { changePassword, findUser, invite, resetLink, useLink } from "../../src/nouns/user.ts";
import { joinTeam, NOW, Watched, onEmptyDatabases } from "../support/hub.ts";

onEmptyDatabases("sessions", (db) => {
  it("ends sessions by time, by sign-out and by a new password", async () => {
    const limits = { idleMs: 1000_000, absoluteMs: 5000_000 };
    const team = await addTeam(db(), NOW, "test", "A");
    const user = await joinTeam(db(), team.id, "a@example.org");
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
    for (const session of [third, fourth]) expect(await readSession(db(), NOW, limits, session.token)).toBeUndefined();
    const rest = await resetLink(db(), NOW, "operator", user.email);
    expect(await useLink(db(), NOW, rest, "newer hash")).toEqual({ id: user.id, email: user.email });
    expect((await findUser(db(), user.email))?.password).toBe("newer hash");
    const stored = JSON.stringify(await db().all("SELECT hash FROM sessions"));
    expect(stored).not.toContain(third.token);
  });

  it("goes on while the database takes no writes", async () => {
    const limits = { idleMs: 1000_000, absoluteMs: 5000_000 };
    const team = await addTeam(db(), NOW, "test", "A");
    const user = await joinTeam(db(), team.id, "a@example.org");
    const { token } = await openSession(db(), NOW, limits, user);
    const watched = new Watched(db());
    watched.failing = /UPDATE sessions/;
    watched.failure = new UnavailableError("full");
    const later = NOW + 120_000;
    expect(await readSession(watched, later, limits, token)).toBeDefined();
    watched.failure = new Error("wrong");
    await expect(readSession(watched, later, limits, token)).rejects.toThrow("wrong");
  });

  it("believes no session and no link that was made under a clock far ahead", async () => {
    const limits = { idleMs: 1000_000, absoluteMs: 5000_000 };
    const ahead = NOW + 3650 * 24 * 3600_000;
    const team = await addTeam(db(), NOW, "test", "A");
    const user = await joinTeam(db(), team.id, "a@example.org");
    const early = await openSession(db(), ahead, limits, user);
    expect(await readSession(db(), ahead, limits, early.token)).toBeDefined();
    expect(await readSession(db(), NOW, limits, early.token)).toBeUndefined();
    const token = await invite(db(), { now: ahead, actor: "test", teamId: team.id }, "late@example.org", "member");
    expect(await useLink(db(), NOW, token, "hash")).toBeUndefined();
    // The clock of another hub may be a little ahead.
    const near = await openSession(db(), NOW + 60_000, limits, user);
    expect(await readSession(db(), NOW, limits, near.token)).toBeDefined();
    expect(
      await readLink(
        db(),
        NOW,
        await invite(db(), { now: NOW + 60_000, actor: "test", teamId: team.id }, "near@example.org", "member"),
      ),
    ).toBeDefined();
    expect(await db().all("SELECT hash FROM sessions")).toHaveLength(1);
    // Used while the clock was ahead: the end by idleness counts from when it is right again.
    await readSession(db(), NOW + 900_000, limits, near.token);
    expect(await readSession(db(), NOW, limits, near.token)).toBeDefined();
    expect(await readSession(db(), NOW + 1_000_000, limits, near.token)).toBeUndefined();
  });
});
