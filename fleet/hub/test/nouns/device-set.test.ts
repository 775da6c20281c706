/** Roll-outs to all devices with a tag: who follows them while tags come and go, how they go on, and how they stop. */
import type { Database, Queries } from "boxwright-service/database";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApp, saveVersion } from "../../src/nouns/application.ts";
import { assign, endRollout, findAssignment, isInShare, unassign, type Assign } from "../../src/nouns/assignment.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { readChanges } from "../../src/nouns/changes.ts";
import { resolveDesired, rolloutProgress } from "../../src/nouns/desired.ts";
import { addDevices } from "../../src/nouns/device.ts";
import { ROWS_A_TURN } from "../../src/nouns/device-set.ts";
import { setDeviceTags } from "../../src/nouns/device-tag.ts";
import { addToGroup, createGroup, removeFromGroup } from "../../src/nouns/group.ts";
import { noteReport } from "../../src/nouns/report.ts";
import { moveRollouts } from "../../src/nouns/rollout-steps.ts";
import { tagTarget } from "../../src/nouns/target.ts";
import { addTeam } from "../../src/nouns/team.ts";
import { Desired } from "../../src/nouns/waiting.ts";
import { NOW, openTestDatabase, onDatabases, type TestDatabase } from "../support/hub.ts";

const NORTH = tagTarget("north");

onDatabases("a roll-out to a tag", (kind) => {
  let storage: TestDatabase;
  beforeAll(async () => void (storage = await openTestDatabase(kind)));
  afterAll(() => storage.remove());

  /** Makes a team with devices and an application of three versions. The first `tagged` devices are in the north. */
  async function prepare(count: number, tagged: number) {
    const { db } = storage;
    const teamId = (await addTeam(db, NOW, "test", "Crew")).id;
    let now = NOW;
    const change = () => ({ now: ++now, actor: "test", teamId });
    const list = Array.from({ length: count }, (_, i) => ({ name: `d${i}` }));
    const devices = (await addDevices(db, NOW, teamId, 10_000, list)).map(({ id }) => id);
    await db.write(async (tx) => {
      for (const id of devices.slice(0, tagged))
        await tx.all("INSERT INTO device_tags (team_id, device_id, tag) VALUES (?, ?, 'north')", [teamId, id]);
    });
    const app = (await createApp(db, { now: NOW, actor: "test", teamId }, { name: "Door" })).id;
    for (const threshold of [0.1, 0.2, 0.3]) {
      const content = { config: { confidence_threshold: threshold }, options: {}, model: null, snaps: [] };
      await saveVersion(db, { now: NOW, actor: "test", teamId }, app, { content, description: "" });
    }
    const desired = new Desired({ db, onError: (error) => expect(error).toBeUndefined() });
    return {
      ...{ db, teamId, change, devices, app, desired },
      give: (version: number, given: Partial<Assign> = {}) =>
        assign(db, change(), { target: NORTH, appId: app, version, ...given }),
      tag: (index: number, ...tags: string[]) => setDeviceTags(db, change(), devices[index]!, tags),
      /** Numbers of the versions that the devices should run, in their order. */
      versions: async () => {
        const found = await resolveDesired(db, teamId);
        return devices.map((id) => found.get(id)?.number);
      },
      state: async () => (await findAssignment(db, teamId, NORTH))!,
      report: async (index: number, state: "applied" | "failed") => {
        const id = devices[index]!;
        const { etag } = (await resolveDesired(db, teamId, { deviceId: id })).get(id)!;
        const error = { code: "config", message: "no" };
        return noteReport(db, ++now, teamId, id, { version: etag, state, ...(state === "failed" && { error }) });
      },
      look: () => moveRollouts({ db, desired, now: () => ++now }),
    };
  }

  it("reaches its devices alone, and follows the tag as devices get and lose it", async () => {
    const { give, tag, versions, db, teamId, change, devices, desired } = await prepare(4, 2);
    await give(1);
    expect(await versions()).toEqual([1, 1, undefined, undefined]);
    const rollout = await give(2, { steps: [100], waitMinutes: 60 });
    expect(await versions()).toEqual([2, 2, undefined, undefined]);
    expect((await desired.latest(teamId, devices)).size).toBe(2);
    await tag(0);
    await tag(2, "roof", "north");
    await tag(3, "North");
    expect(await versions()).toEqual([undefined, 2, 2, undefined]);
    // A hub that has the team in memory learns of it too.
    expect([...(await desired.latest(teamId, devices)).keys()].sort()).toEqual([devices[1]!, devices[2]!].sort());
    expect(await rolloutProgress(db, NOW, teamId, rollout)).toMatchObject({ devices: 2, waiting: 2 });
    await endRollout(db, change(), NORTH);
    expect(await versions()).toEqual([undefined, 1, 1, undefined]);
    await unassign(db, change(), NORTH);
    expect(await versions()).toEqual([undefined, undefined, undefined, undefined]);
    const rows = (await readAudit(db, 20, teamId)).map(({ action, subject }) => `${action} ${subject}`).reverse();
    expect(rows.filter((row) => /^(app\.(un)?assigned|rollout)/.test(row))).toEqual([
      ...["app.assigned door 1 tag north", "app.assigned door 2 100 % of tag north"],
      ...["rollout.ended door 2 tag north", "app.unassigned door tag north"],
    ]);
  });

  it("goes behind a device's own version, and before a group that was changed earlier", async () => {
    const { give, versions, tag, db, change, devices } = await prepare(3, 2);
    const group = await createGroup(db, change(), "north");
    await addToGroup(db, change(), group.id, devices);
    await give(1, { target: { kind: "group", id: group.id } });
    await give(2);
    await give(3, { target: { kind: "device", id: devices[1]! } });
    expect(await versions()).toEqual([2, 3, 1]);
    await tag(0);
    expect(await versions()).toEqual([1, 3, 1]);
  });

  it("opens its steps by its own devices, and finds its end by itself", async () => {
    const { give, state, report, look, tag, change, db, teamId } = await prepare(3, 2);
    await give(1);
    await give(2, { steps: [100], waitMinutes: 0 });
    await report(0, "applied");
    await look();
    expect(await state()).toMatchObject({ next_version: 2, rollout_state: "running" });
    // The device that holds it up loses the tag, and counts no more.
    await tag(1);
    await look();
    expect(await state()).toMatchObject({ version: 2, next_version: null });
    const [last] = await readAudit(db, 1, teamId);
    expect(last).toMatchObject({ action: "rollout.completed", subject: "door 2 tag north: 1 of 1 use it" });
    await expect(endRollout(db, change(), NORTH)).rejects.toThrow("got tag north without a roll-out");
  });

  it("stops at its failures, with steps and without", async () => {
    const { give, state, report, look, versions, devices } = await prepare(3, 2);
    await give(1);
    await give(2, { steps: [100], failureLimit: 1, errorPercent: 50, successPercent: 50 });
    await report(0, "failed");
    await look();
    expect(await state()).toMatchObject({ rollout_state: "stopped" });
    expect(await versions()).toEqual([1, 1, undefined]);
    const { rollout_id } = await give(3, { share: 99, failureLimit: 1 });
    const index = devices.findIndex((id) => isInShare(id, rollout_id!, 99));
    expect(await report(index, "failed")).toBe(true);
    expect(await state()).toMatchObject({ rollout_state: "stopped", next_version: 3 });
  });

  it("lets hubs read a team again only if a set with a version changed", async () => {
    const { give, tag, db, teamId, change, devices } = await prepare(2, 1);
    await give(1);
    const { id } = await createGroup(db, change(), "gates");
    const changesOf = async (work: () => Promise<unknown>): Promise<number> => {
      const before = (await readChanges(db)).get(teamId)!;
      await work();
      return (await readChanges(db)).get(teamId)! - before;
    };
    expect(await changesOf(() => tag(1, "roof"))).toBe(0);
    expect(await changesOf(() => tag(1, "roof", "north"))).toBe(1);
    expect(await changesOf(() => tag(1, "north"))).toBe(0);
    expect(await changesOf(() => tag(1))).toBe(1);
    expect(await changesOf(() => addToGroup(db, change(), id, devices))).toBe(0);
    await give(1, { target: { kind: "group", id } });
    expect(await changesOf(() => removeFromGroup(db, change(), id, devices))).toBe(1);
  });

  // SQLite runs one transaction at a time.
  if (kind !== "sqlite")
    it("tells hubs of a set that is given a version at the same moment", async () => {
      const { give, db, teamId, change, devices } = await prepare(2, 1);
      const before = (await readChanges(db)).get(teamId) ?? 0;
      let attempts = 0;
      const meanwhile: Pick<Database, "write"> = {
        write: (work, options) =>
          db.write(async (tx) => {
            attempts++;
            const all: Queries["all"] = async (sql, params) => {
              const rows = await tx.all<never>(sql, params);
              // Give the version after the transaction has seen that the tag has none.
              if (attempts === 1 && sql.includes("FROM assignments")) await give(1);
              return rows;
            };
            return work({ all });
          }, options),
      };
      await setDeviceTags(meanwhile as Database, change(), devices[1]!, ["north"]);
      // The hubs may have read the team after the assignment, so that the tag must count by itself.
      expect(attempts).toBe(2);
      expect((await readChanges(db)).get(teamId)! - before).toBe(2);
    });

  it("needs a tag that a device has, or that is given a version already", async () => {
    const { give, tag } = await prepare(1, 1);
    await expect(give(1, { target: tagTarget("nroth") })).rejects.toThrow('got tag "nroth", expected one of the team');
    await give(1);
    await tag(0);
    expect(await give(2)).toMatchObject({ version: 2, revision: 2 });
    expect(tagTarget(" a ").id).toBe("a");
    for (const wrong of ["", "a,b", "a\0b"]) expect(() => tagTarget(wrong)).toThrow("tag");
    const { give: ofOthers } = await prepare(1, 0);
    await expect(ofOthers(1)).rejects.toThrow("expected one of the team");
  });

  it("reads more devices than one turn", async () => {
    const count = 2 * ROWS_A_TURN;
    const { give, versions } = await prepare(count + 3, count);
    await give(1);
    const found = await versions();
    expect([found.filter((number) => number === 1).length, found.slice(count)]).toEqual([
      ...[count, [undefined, undefined, undefined]],
    ]);
  });
});
