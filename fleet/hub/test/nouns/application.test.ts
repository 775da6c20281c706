/** Applications: versions that never change, assignments, roll-outs, and what devices report. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Database } from "boxwright-service/database";
import {
  createApp,
  deleteApp,
  findVersion,
  listVersions,
  saveVersion,
  updateApp,
  identifierOf,
} from "../../src/nouns/application.ts";
import { contentHash, readDraft, type AppContent } from "../../src/nouns/application-content.ts";
import { assign, endRollout, findAssignment, isInShare, unassign } from "../../src/nouns/assignment.ts";
import { resolveDesired, rolloutProgress } from "../../src/nouns/desired.ts";
import { addDevices } from "../../src/nouns/device.ts";
import { countReports, noteReport, reportsOf } from "../../src/nouns/report.ts";
import type { Change } from "../../src/nouns/audit.ts";
import { addTeam } from "../../src/nouns/team.ts";
import { Desired } from "../../src/nouns/waiting.ts";
import { NOW, openTestDatabase, type TestDatabase, onDatabases } from "../support/hub.ts";

const content = (threshold: number): AppContent => ({
  config: { family: "yolov8", confidence_threshold: threshold },
  options: {},
  model: null,
  snaps: [],
});

describe("an identifier", () => {
  it("is made of the name", () => {
    const names = ["Front door (v2)", "Personen am nördlichen Tor", "  --x", "温室"];
    expect(names.map(identifierOf)).toEqual(["front-door-v2", "personen-am-nordlichen-tor", "x", "app"]);
  });
});

describe("content", () => {
  it("has one hash, whatever the order of its names, and another for any other content", () => {
    const hash = contentHash(content(0.5));
    expect(contentHash({ ...content(0.5), config: { confidence_threshold: 0.5, family: "yolov8" } })).toBe(hash);
    expect(contentHash({ ...content(0.5), model: { sha256: "a".repeat(64), size: 1, name: "x" } })).not.toBe(hash);
    expect(contentHash(content(0.25))).not.toBe(hash);
  });

  it("is read from text, and every problem is told at once", () => {
    const draft = readDraft({ config: '{"a":1}', options: "", snaps: null, modelSha256: "" });
    expect(draft).toEqual({ config: { a: 1 }, options: {}, snaps: [], modelSha256: null });
    const wrong = {
      ...{ config: "[1]", options: "{", modelSha256: "../etc" },
      snaps: [{ name: "a", min_confidence: 2, per_hour: 1 }],
    };
    expect(() => readDraft(wrong)).toThrow(
      /^config: got \[1\], expected a JSON object\noptions: got text that is not JSON .*\nsnaps\[0\]\.min_confidence: got 2, .*\nmodel: got "\.\.\/etc", expected a SHA-256/,
    );
    expect(() => readDraft({ ...wrong, config: "x".repeat(200_000) })).toThrow("config: got text that is not JSON");
    const long = JSON.stringify({ a: "x".repeat(200_000) });
    expect(() => readDraft({ config: long, options: "", snaps: "", modelSha256: "" })).toThrow("more than 131072");
  });
});

onDatabases("applications", (kind) => {
  let storage: TestDatabase;
  let db: Database;
  let teamId: string;
  let change: Change;
  beforeAll(async () => {
    storage = await openTestDatabase(kind);
    db = storage.db;
  });
  afterAll(() => storage.remove());

  /** Makes a team with devices and one group of all of them. */
  async function prepare(count: number): Promise<{ devices: string[]; group: string; app: string }> {
    teamId = (await addTeam(db, NOW, "test", "Crew")).id;
    change = { now: NOW, actor: "test", teamId };
    const list = Array.from({ length: count }, (_, i) => ({ name: `d${i}` }));
    const devices = (await addDevices(db, NOW, teamId, 1000, list)).map(({ id }) => id);
    const group = `g-${teamId}`;
    await db.write(async (tx) => {
      await tx.all("INSERT INTO device_groups (id, team_id, name, created_at) VALUES (?, ?, 'all', ?)", [
        ...[group, teamId, NOW],
      ]);
      for (const id of devices)
        await tx.all("INSERT INTO device_group_members (team_id, group_id, device_id) VALUES (?, ?, ?)", [
          ...[teamId, group, id],
        ]);
    });
    const app = (await createApp(db, { now: NOW, actor: "test", teamId }, { name: "Front Door (v2)" })).id;
    for (const threshold of [0.1, 0.2, 0.3]) await save(app, threshold);
    return { devices, group, app };
  }
  const save = (app: string, threshold: number, expected?: number) =>
    saveVersion(db, { now: NOW, actor: "test", teamId }, app, {
      content: content(threshold),
      description: "",
      expected,
    });
  const versions = async () => new Map([...(await resolveDesired(db, teamId))].map(([id, { number }]) => [id, number]));

  it("count their versions, know content again, and refuse a save over another one", async () => {
    const { app } = await prepare(1);
    expect(await save(app, 0.4, 3)).toMatchObject({ isNew: true, version: { number: 4 } });
    await expect(save(app, 0.5, 3)).rejects.toThrow("got a change of version 3, expected one of version 4");
    expect(await save(app, 0.2)).toMatchObject({ isNew: false, version: { number: 2 } });
    const numbers = (await listVersions(db, teamId, app)).map(({ number }) => number);
    expect(numbers).toEqual([4, 3, 2, 1]);
    expect((await listVersions(db, teamId, app, { before: 3, limit: 1 })).map((v) => v.number)).toEqual([2]);
    expect((await findVersion(db, teamId, app, 4))?.content).toEqual(content(0.4));
    await expect(createApp(db, { now: NOW, actor: "test", teamId }, { name: "front door v2" })).rejects.toThrow(
      "again",
    );
    expect(
      await updateApp(db, { now: NOW, actor: "test", teamId }, app, { name: "New", tags: ["a", "a"] }),
    ).toMatchObject({
      ...{ identifier: "front-door-v2", name: "New", tags: ["a"] },
    });
    await assign(db, change, { target: { kind: "group", id: `g-${teamId}` }, appId: app, version: 1 });
    await expect(deleteApp(db, { now: NOW, actor: "test", teamId }, app)).rejects.toThrow(
      "that 1 devices and groups are given",
    );
    await unassign(db, change, { kind: "group", id: `g-${teamId}` });
    await deleteApp(db, { now: NOW, actor: "test", teamId }, app);
    expect(await listVersions(db, teamId, app)).toEqual([]);
  });

  it("go to a group or a device, the device's own first, and refuse a change of an older state", async () => {
    const { devices, group, app } = await prepare(3);
    const target = { kind: "group", id: group } as const;
    const own = { kind: "device", id: devices[1]! } as const;
    await assign(db, change, { target, appId: app, version: 1, expected: 0 });
    await assign(db, change, { target: own, appId: app, version: 3 });
    expect([...(await versions()).entries()].sort()).toEqual([
      [devices[0], 1],
      [devices[1], 3],
      [devices[2], 1],
    ]);
    expect((await resolveDesired(db, teamId, { deviceId: devices[1] })).size).toBe(1);
    await expect(assign(db, change, { target, appId: app, version: 2, expected: 0 })).rejects.toThrow("meanwhile");
    await assign(db, change, { target, appId: app, version: 2, expected: 1 });
    await unassign(db, change, own, 1);
    expect([...(await versions()).values()]).toEqual([2, 2, 2]);
    await expect(assign(db, change, { target: own, appId: app, version: 9 })).rejects.toThrow("expected 1 to 3");
    await expect(assign(db, change, { target: { kind: "device", id: "x" }, appId: app, version: 1 })).rejects.toThrow(
      'got device "x"',
    );
    const other = await addTeam(db, NOW, "test", "Other");
    await expect(assign(db, { ...change, teamId: other.id }, { target, appId: app, version: 1 })).rejects.toThrow(
      "expected one of the team",
    );
  });

  it("roll out to a share that only grows, stop at the first failure, and go back", async () => {
    const { devices, group, app } = await prepare(40);
    const target = { kind: "group", id: group } as const;
    await assign(db, change, { target, appId: app, version: 1 });
    const { rollout_id } = await assign(db, change, { target, appId: app, version: 2, share: 25 });
    const first = [...(await versions())].filter(([, version]) => version === 2).map(([id]) => id);
    expect(first.sort()).toEqual(devices.filter((id) => isInShare(id, rollout_id!, 25)).sort());
    expect(first.length).toBeGreaterThan(1);
    expect(first.length).toBeLessThan(30);
    const wider = await assign(db, change, { target, appId: app, version: 2, share: 60 });
    expect(wider.rollout_id).toBe(rollout_id);
    const second = new Set([...(await versions())].filter(([, v]) => v === 2).map(([id]) => id));
    expect(first.every((id) => second.has(id))).toBe(true);
    expect(second.size).toBeGreaterThan(first.length);

    // One device uses the version, another fails: the roll-out stops. Devices that have not applied it get the old one.
    const etag = (await resolveDesired(db, teamId, { deviceId: first[0] })).get(first[0]!)!.etag;
    const report = (id: string, state: "applied" | "failed") =>
      noteReport(db, NOW, teamId, id, { version: etag, state, error: { code: "config", message: "no" } });
    expect(await report(first[0]!, "applied")).toBe(false);
    expect(await report(first[1]!, "failed")).toBe(true);
    expect(await findAssignment(db, teamId, target)).toMatchObject({ rollout_state: "stopped", version: 1 });
    expect([...(await versions())].filter(([, version]) => version === 2)).toEqual([[first[0], 2]]);
    expect(await countReports(db, teamId, app)).toEqual(
      expect.arrayContaining([
        { version: 2, state: "applied", count: 1 },
        { version: 2, state: "failed", count: 1 },
      ]),
    );
    expect(await reportsOf(db, teamId, first[1]!)).toMatchObject([{ state: "failed", code: "config" }]);
    await endRollout(db, change, target);
    expect([...(await versions()).values()].every((version) => version === 1)).toBe(true);
    await expect(endRollout(db, change, target)).rejects.toThrow("without a roll-out");
  });

  it("roll out until as many devices fail as stated, counting anew when somebody widens", async () => {
    const { devices, group, app } = await prepare(60);
    const target = { kind: "group", id: group } as const;
    const give = (share: number, failureLimit?: number, at = NOW) =>
      assign(db, { ...change, now: at }, { target, appId: app, version: 2, share, failureLimit });
    await assign(db, change, { target, appId: app, version: 1 });
    for (const wrong of [0, 1.5, NaN, 100_001]) await expect(give(50, wrong)).rejects.toThrow("failure limit: got");
    const rollout = await give(50, 3);
    expect(rollout).toMatchObject({ failure_limit: 3, rollout_state: "running" });
    const chosen = devices.filter((id) => isInShare(id, rollout.rollout_id!, 50));
    const etag = (await resolveDesired(db, teamId, { deviceId: chosen[0] })).get(chosen[0]!)!.etag;
    const report = (id: string, state: "applied" | "failed", at = NOW) =>
      noteReport(db, at, teamId, id, { version: etag, state, error: { code: "config", message: "no" } });
    // The same device counts once.
    for (const id of [chosen[0]!, chosen[0]!, chosen[1]!]) expect(await report(id, "failed")).toBe(false);
    expect(await report(chosen[3]!, "applied")).toBe(false);
    const state = async () => (await findAssignment(db, teamId, target))!;
    expect(await rolloutProgress(db, NOW, teamId, await state())).toEqual({
      ...{ devices: chosen.length, applied: 1, failed: 2, waiting: chosen.length - 3, offline: chosen.length - 3 },
    });
    expect(await report(chosen[2]!, "failed")).toBe(true);
    expect(await state()).toMatchObject({ rollout_state: "stopped", failure_limit: 3 });
    // A device that went back says that it uses the earlier version. It is still one of those that failed.
    const earlier = (await resolveDesired(db, teamId, { deviceId: chosen[0] })).get(chosen[0]!)!.etag;
    expect(earlier).not.toBe(etag);
    await noteReport(db, NOW + 1, teamId, chosen[0]!, { version: earlier, state: "applied" });
    expect(await rolloutProgress(db, NOW, teamId, await state())).toMatchObject({ applied: 1, failed: 3 });
    // Who does not use it goes back; whoever failed before is counted, and does not stop the next step.
    expect([...(await versions())].filter(([, version]) => version === 2)).toEqual([[chosen[3], 2]]);
    expect(await give(80, undefined, NOW + 1000)).toMatchObject({ rollout_state: "running", failure_limit: 3 });
    expect(await report(chosen[4]!, "failed", NOW + 2000)).toBe(false);
    expect(await report(chosen[5]!, "failed", NOW + 2000)).toBe(false);
    expect(await report(chosen[6]!, "failed", NOW + 2000)).toBe(true);
    expect(await give(90, 1, NOW + 3000)).toMatchObject({ failure_limit: 1 });
    expect(await report(chosen[7]!, "failed", NOW + 4000)).toBe(true);
    expect(await give(100, undefined, NOW + 5000)).toMatchObject({ version: 2, failure_limit: null });
  });

  it("keep a device at the earlier version that used the new one long before a stopped roll-out", async () => {
    const { devices, group, app } = await prepare(2);
    const [early, late] = devices as [string, string];
    const target = { kind: "group", id: group } as const;
    await assign(db, change, { target, appId: app, version: 2 });
    const etag = (await resolveDesired(db, teamId)).get(early)!.etag;
    await assign(db, change, { target, appId: app, version: 1 });
    const old = (await resolveDesired(db, teamId)).get(early)!.etag;
    const report = (id: string, version: string, state: "applied" | "failed", at: number) =>
      noteReport(db, at, teamId, id, { version, state, error: { code: "config", message: "no" } });
    await report(early, etag, "applied", NOW + 1);
    await report(early, old, "applied", NOW + 2);
    await assign(db, change, { target, appId: app, version: 2, share: 99 });
    await report(late, etag, "failed", NOW + 3);
    expect((await versions()).get(early)).toBe(1);
  });

  it("refuse a report of a version that was never given", async () => {
    const { devices } = await prepare(1);
    for (const version of ["x", "front-door-v2:0123456789abcdef", `front-door-v2:${"%".repeat(16)}`, ":"])
      await expect(noteReport(db, NOW, teamId, devices[0]!, { version, state: "applied" })).rejects.toThrow(
        "expected one that the hub gave",
      );
  });

  it("wake who waits, in this process and in others, and cost no query while nothing changes", async () => {
    const { devices, group, app } = await prepare(2);
    const target = { kind: "group", id: group } as const;
    await assign(db, change, { target, appId: app, version: 1 });
    let queries = 0;
    const counted: Database = Object.assign(Object.create(db) as Database, {
      all: (sql: string, params: never) => (queries++, db.all(sql, params)),
    });
    const failed = (error: unknown): void => void expect(error).toBeUndefined();
    const [here, elsewhere] = [new Desired({ db: counted, onError: failed }), new Desired({ db, onError: failed })];
    const etag = await here.etag(teamId, devices[0]!);
    await elsewhere.etag(teamId, devices[0]!);
    await elsewhere.poll();
    const wait = (desired: Desired, hangUp: (work: () => void) => void = () => undefined, milliseconds = 60_000) =>
      desired.waitForOther(teamId, devices[0]!, etag, { milliseconds, onHangUp: hangUp });
    queries = 0;
    const [first, second] = [wait(here), wait(elsewhere)];
    expect(await wait(here, undefined, 20)).toMatchObject({ number: 1 });
    let hangUp = (): void => undefined;
    const gone = wait(here, (work) => (hangUp = work));
    await new Promise((resolve) => setImmediate(resolve));
    expect(here.waiting).toBe(2);
    hangUp();
    await gone;
    expect([here.waiting, queries]).toEqual([1, 0]);
    await assign(db, change, { target, appId: app, version: 2 });
    here.wake(teamId);
    expect(await first).toMatchObject({ number: 2 });
    await elsewhere.poll();
    expect(await second).toMatchObject({ number: 2 });
    const last = here.waitForOther(teamId, devices[0]!, await here.etag(teamId, devices[0]!), {
      ...{ milliseconds: 60_000, onHangUp: () => undefined },
    });
    for (const desired of [here, elsewhere]) desired.stop();
    expect(await last).toMatchObject({ number: 2 });
    expect(here.waiting).toBe(0);
  });
});
