/** Shadows of roll-outs: limits, votes counted by hand, devices that lie, and what follows on both databases. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ShadowReport } from "boxwright-service/schema/shadow";
import { createApp, saveVersion } from "../../src/nouns/application.ts";
import { assign, findAssignment, placeInRollout, type Assign } from "../../src/nouns/assignment.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { resolveDesired } from "../../src/nouns/desired.ts";
import { addDevices } from "../../src/nouns/device.ts";
import { moveRollouts } from "../../src/nouns/rollout-steps.ts";
import { readShadow, type Shadow } from "../../src/nouns/shadow.ts";
import { addVotes, judgeShadow, noteShadow, shadowVotes, type ShadowVote } from "../../src/nouns/shadow-report.ts";
import { shadowsOf } from "../../src/nouns/shadow-task.ts";
import { addTeam } from "../../src/nouns/team.ts";
import { Desired } from "../../src/nouns/waiting.ts";
import { NOW, onDatabases, openTestDatabase, type TestDatabase } from "../support/hub.ts";

const LIMITS: Shadow = readShadow({ minFrames: 100, maxSlowdownPercent: 20 })!;

const reportOf = (more: Partial<ShadowReport> = {}): ShadowReport => ({
  ...{ rollout: "r", version: "door:0123456789abcdef", against: "door:fedcba9876543210", state: "comparing" as const },
  ...{ error: undefined, frames: 110, empty: 10, matched: 190, changed: 2, only_old: 3, only_new: 5 },
  ...{ confidence: { old: 0.8, new: 0.7 }, decode_ms: { old: 1, new: 2 }, frame_ms: { old: 50, new: 55 } },
  ...{ memory: { old: 1e8, new: 2e8 } },
  ...more,
});
const voteOf = (device_id: string, report: ShadowReport | null): ShadowVote => ({
  ...{ device_id, at: NOW, message: "", report, state: report?.state ?? "refused" },
});
const sumOf = (reports: readonly (ShadowReport | null)[], limits = LIMITS, silent = 0) => {
  const ids = Array.from({ length: reports.length + silent }, (_, i) => `d${i}`);
  return addVotes(limits, ids, new Map(reports.map((report, i) => [`d${i}`, voteOf(`d${i}`, report)])));
};

describe("a shadow", () => {
  it("has usual limits, and refuses those that could not work", () => {
    expect(readShadow(undefined)).toBeUndefined();
    expect(readShadow({})).toEqual({
      ...{ share: 1, every: 10, min_agreement: 95, min_frames: 1000, max_slowdown: 20, snaps: false },
    });
    for (const wrong of [{ sharePercent: 0 }, { every: 0 }, { minAgreementPercent: 101 }, { minFrames: 1.5 }])
      expect(() => readShadow(wrong)).toThrow(/^shadow\.\w+: got [\d.]+, expected a whole number from/);
  });

  it("adds up what its devices say", () => {
    // 190 of 200 boxes on the first, 60 of 120 on the second, in 100 and 50 frames: (0.95 * 100 + 0.5 * 50) / 150.
    const second = { frames: 50, empty: 0, matched: 60, changed: 60, only_old: 0, only_new: 0 };
    const slow = { frame_ms: { old: 50, new: 100 }, confidence: { old: 0.5, new: null } };
    const sum = sumOf([reportOf(), reportOf({ ...second, ...slow })]);
    expect(sum).toMatchObject({ devices: 2, reported: 2, failed: 0, refused: 0, frames: 150 });
    expect(sum.agreement).toBeCloseTo(0.8, 10);
    expect(sum.changed).toBeCloseTo((0.01 * 100 + 0.5 * 50) / 150, 10);
    expect(sum.slowdown).toBeCloseTo((1.1 + 2) / 2, 10);
    expect(sum.confidence.old).toBeCloseTo((0.8 * 100 + 0.5 * 50) / 150, 10);
    expect(sum.confidence.new).toBeCloseTo(0.7, 10);
    expect(sum.decodeMs).toEqual({ old: 1, new: 2 });
    expect(sumOf([])).toMatchObject({ devices: 0, frames: 0, agreement: null, slowdown: null });
  });

  it("waits for frames with boxes, then opens or stops", () => {
    const judge = (...reports: (ShadowReport | null)[]) => judgeShadow(LIMITS, sumOf(reports));
    expect(judge(reportOf({ frames: 109 }))).toBe("wait");
    expect(judge(reportOf({ frames: 1e6, empty: 1e6, matched: 0, changed: 0, only_old: 0, only_new: 0 }))).toBe("wait");
    expect(judge(reportOf())).toBe("open");
    expect(judge(reportOf({ matched: 189, changed: 3 }))).toBe("stop");
    expect(judge(reportOf({ frame_ms: { old: 50, new: 60 } }))).toBe("open");
    expect(judge(reportOf({ frame_ms: { old: 50, new: 60.1 } }))).toBe("stop");
    expect(judge(reportOf({ state: "failed" }))).toBe("stop");
    expect(judge(null)).toBe("wait");
  });

  it("gives a device its own part of the vote and no more, whatever it says", () => {
    const honest = Array.from({ length: 19 }, () => reportOf({ matched: 200, changed: 0, only_old: 0, only_new: 0 }));
    const liar = reportOf({ frames: 1e6, empty: 0, matched: 0, changed: 0, only_old: 0, only_new: 1e9 });
    const sum = sumOf([...honest, { ...liar, frame_ms: { old: 0.001, new: 3.6e6 } }]);
    // Each of 20 devices counts for at most 2 * 100 / 20 frames.
    expect(sum.frames).toBe(200);
    expect(sum.agreement).toBeCloseTo(0.95, 10);
    expect(sum.slowdown).toBeCloseTo(1.1, 10);
    expect(judgeShadow(LIMITS, sum)).toBe("open");
    // Nor can it open a roll-out whose versions disagree, and one device alone is not enough.
    const bad = reportOf({ matched: 0, changed: 200, only_old: 0, only_new: 0 });
    const praise = reportOf({ frames: 1e6, empty: 0, matched: 1e9, changed: 0, only_old: 0, only_new: 0 });
    expect(judgeShadow(LIMITS, sumOf([...honest.map(() => bad), praise]))).toBe("stop");
    expect(judgeShadow(LIMITS, sumOf([praise], LIMITS, 19))).toBe("wait");
    expect(sumOf([null, ...honest])).toMatchObject({ refused: 1, reported: 19, agreement: 1 });
  });
});

onDatabases("a roll-out with a shadow", (kind) => {
  let storage: TestDatabase;
  beforeAll(async () => void (storage = await openTestDatabase(kind)));
  afterAll(() => storage.remove());

  async function createFleet(count: number) {
    let { db } = storage;
    let now = NOW;
    const teamId = (await addTeam(db, NOW, "test", "Crew")).id;
    const list = Array.from({ length: count }, (_, i) => ({ name: `d${i}` }));
    const devices = (await addDevices(db, NOW, teamId, 1000, list)).map(({ id }) => id);
    const target = { kind: "group", id: `g-${teamId}` } as const;
    await db.write(async (tx) => {
      await tx.all("INSERT INTO device_groups (id, team_id, name, created_at) VALUES (?, ?, 'all', ?)", [
        ...[target.id, teamId, NOW],
      ]);
      for (const id of devices)
        await tx.all("INSERT INTO device_group_members (team_id, group_id, device_id) VALUES (?, ?, ?)", [
          ...[teamId, target.id, id],
        ]);
    });
    const app = (await createApp(db, { now: NOW, actor: "test", teamId }, { name: "Door" })).id;
    for (const threshold of [0.1, 0.2]) {
      const content = { config: { confidence_threshold: threshold }, options: {}, model: null, snaps: [] };
      await saveVersion(db, { now: NOW, actor: "test", teamId }, app, { content, description: "" });
    }
    const give = (given: Partial<Assign>) =>
      assign(db, { now, actor: "test", teamId }, { target, appId: app, version: 2, ...given });
    const tasks = async () => shadowsOf(await resolveDesired(db, teamId));
    return {
      ...{ teamId, devices, give, tasks },
      state: async () => (await findAssignment(db, teamId, target))!,
      versions: async () => [...(await resolveDesired(db, teamId)).values()].map(({ number }) => number),
      async report(of: (index: number) => object): Promise<void> {
        for (const [i, [deviceId, task]] of [...(await tasks())].entries()) {
          const names = { rollout: task.rolloutId, version: task.etag, against: task.version.etag };
          await noteShadow(db, now, { teamId, deviceId }, task, { ...reportOf(names), ...of(i) });
        }
      },
      async look(minutes = 0): Promise<void> {
        now += minutes * 60_000;
        const desired = new Desired({ db, onError: (error) => expect(error).toBeUndefined() });
        await moveRollouts({ db, desired, now: () => now });
        desired.stop();
      },
      restart: () => void (db = storage.again()),
      votes: async (rolloutId: string) => shadowVotes(db, teamId, rolloutId),
      audit: async () =>
        (await readAudit(db, 20, teamId)).filter(({ actor }) => actor === "hub").map((row) => row.action),
    };
  }

  const good = () => ({ matched: 200, changed: 0, only_old: 0, only_new: 0 });
  const steps = { steps: [10, 100], waitMinutes: 10, shadow: { sharePercent: 5, minFrames: 100 } };

  it("compares on its share, opens its first step at high agreement, and survives a restart", async () => {
    const fleet = await createFleet(100);
    await fleet.give({ version: 1 });
    const rollout = await fleet.give(steps);
    expect(rollout).toMatchObject({ share: 0, version: 1, next_version: 2, rollout_state: "running" });
    const chosen = fleet.devices.filter((id) => placeInRollout(id, rollout.rollout_id!) < 5);
    const least = fleet.devices.toSorted(
      (a, b) => placeInRollout(a, rollout.rollout_id!) - placeInRollout(b, rollout.rollout_id!),
    )[0]!;
    expect(new Set((await fleet.tasks()).keys())).toEqual(new Set(chosen.length > 0 ? chosen : [least]));
    expect(new Set(await fleet.versions())).toEqual(new Set([1]));
    await fleet.look(20);
    expect((await fleet.state()).share).toBe(0);
    await fleet.report(good);
    fleet.restart();
    await fleet.look();
    expect(await fleet.state()).toMatchObject({ share: 10, rollout_state: "running", shadow: rollout.shadow });
    expect(await fleet.audit()).toEqual(["rollout.step_opened"]);
    expect((await fleet.tasks()).size).toBe(0);
    expect((await fleet.votes(rollout.rollout_id!)).size).toBe(Math.max(1, chosen.length));
  });

  it("waits for its minutes, and stops at low agreement until a person goes on", async () => {
    const fleet = await createFleet(3);
    await fleet.give({ version: 1 });
    const { rollout_id } = await fleet.give(steps);
    expect((await fleet.tasks()).size).toBe(1);
    await fleet.report(good);
    await fleet.look(9);
    expect((await fleet.state()).share).toBe(0);
    await fleet.report(() => ({ matched: 100, changed: 100 }));
    await fleet.look(5);
    const stopped = await fleet.state();
    expect(stopped).toMatchObject({ share: 0, rollout_state: "stopped", version: 1 });
    expect(await fleet.audit()).toEqual(["rollout.stopped"]);
    expect(new Set(await fleet.versions())).toEqual(new Set([1]));
    expect((await fleet.tasks()).size).toBe(0);
    const other = { ...steps, shadow: { ...steps.shadow, minAgreementPercent: 40 } };
    expect(await fleet.give(other)).toMatchObject({ share: 0, rollout_id, rollout_state: "running" });
    await fleet.look(15);
    expect((await fleet.state()).share).toBe(10);
    await expect(fleet.give(other)).rejects.toThrow("a roll-out whose first step is open");
    expect(await fleet.give({ share: 50 })).toMatchObject({ share: 50, rollout_id });
  });

  it("stops when the version crashes, and keeps what a device says about something else out", async () => {
    const fleet = await createFleet(4);
    await fleet.give({ version: 1 });
    const { rollout_id } = await fleet.give(steps);
    for (const other of [{ rollout: "other" }, { version: "door:aaaaaaaaaaaaaaaa" }, { against: "door:bbbb" }])
      await fleet.report(() => ({ ...good(), ...other }));
    expect((await fleet.votes(rollout_id!)).size).toBe(0);
    for (const lie of [
      ...[{ frames: 1e12 }, { frames: NaN }, { matched: -1 }, { empty: 111 }, { matched: 1e8 }],
      ...[{ confidence: { old: 1.5, new: 0 } }, { state: "fine" }, { only_old: 0.5 }, { matched: 0 }],
    ])
      await fleet.report(() => ({ only_new: 0, changed: 0, ...lie }));
    const [vote] = (await fleet.votes(rollout_id!)).values();
    expect(vote).toMatchObject({
      state: "refused",
      report: null,
      message: expect.stringMatching(/^body: got/) as string,
    });
    await fleet.look(60);
    expect((await fleet.state()).share).toBe(0);
    await fleet.report(() => ({ ...good(), state: "failed", error: { code: "crashed", message: "SIGSEGV" } }));
    await fleet.look();
    expect(await fleet.state()).toMatchObject({ rollout_state: "stopped" });
  });

  it("needs steps, a group, and a version of the same application to compare with", async () => {
    const fleet = await createFleet(1);
    await expect(fleet.give(steps)).rejects.toThrow("a target without a version of this application");
    await fleet.give({ version: 1 });
    await expect(fleet.give({ shadow: {} })).rejects.toThrow("got it without steps");
    const device = { kind: "device", id: fleet.devices[0]! } as const;
    await expect(fleet.give({ ...steps, target: device })).rejects.toThrow("got one for a device");
    await expect(fleet.give({ ...steps, shadow: { every: 0 } })).rejects.toThrow("shadow.every: got 0");
  });
});
