/** Roll-outs that go on by themselves, with simulated devices. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "boxwright-service/database";
import { createApp, saveVersion } from "../../src/nouns/application.ts";
import { assign, findAssignment, placeInRollout, type Assign } from "../../src/nouns/assignment.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { resolveDesired, rolloutProgress } from "../../src/nouns/desired.ts";
import { addDevices } from "../../src/nouns/device.ts";
import { noteReport } from "../../src/nouns/report.ts";
import { moveRollouts } from "../../src/nouns/rollout-steps.ts";
import { addTeam } from "../../src/nouns/team.ts";
import { Desired } from "../../src/nouns/waiting.ts";
import { findWideSteps } from "../support/plans.ts";
import { NOW, openTestDatabase, onDatabases, type TestDatabase } from "../support/hub.ts";

const MINUTE = 60_000;
const STEPS = [1, 10, 50, 100];

onDatabases("a roll-out with steps", (kind) => {
  let storage: TestDatabase;
  beforeAll(async () => void (storage = await openTestDatabase(kind)));
  afterAll(() => storage.remove());

  /** A group of devices that all run version 1, and a clock. */
  class Fleet {
    now = NOW;
    db = storage.db;
    desired = new Desired({ db: this.db, onError: (error) => expect(error).toBeUndefined() });
    failing = new Set<string>();
    readonly #told = new Set<string>();

    readonly teamId: string;
    readonly app: string;
    readonly devices: readonly string[];

    constructor({ teamId, app, devices }: Pick<Fleet, "teamId" | "app" | "devices">) {
      this.teamId = teamId;
      this.app = app;
      this.devices = devices;
    }

    static async create(count: number): Promise<Fleet> {
      const { db } = storage;
      const teamId = (await addTeam(db, NOW, "test", "Crew")).id;
      const list = Array.from({ length: count }, (_, i) => ({ name: `d${i}` }));
      const devices = (await addDevices(db, NOW, teamId, 1000, list)).map(({ id }) => id);
      await db.write(async (tx) => {
        await tx.all("INSERT INTO device_groups (id, team_id, name, created_at) VALUES (?, ?, 'all', ?)", [
          ...[`g-${teamId}`, teamId, NOW],
        ]);
        for (const id of devices)
          await tx.all("INSERT INTO device_group_members (team_id, group_id, device_id) VALUES (?, ?, ?)", [
            ...[teamId, `g-${teamId}`, id],
          ]);
      });
      const app = (await createApp(db, { now: NOW, actor: "test", teamId }, { name: "Door" })).id;
      for (const threshold of [0.1, 0.2]) {
        const config = { family: "yolov8", confidence_threshold: threshold };
        const content = { config, options: {}, model: null, snaps: [] };
        await saveVersion(db, { now: NOW, actor: "test", teamId }, app, { content, description: "" });
      }
      const fleet = new Fleet({ teamId, app, devices });
      await fleet.give({ version: 1 });
      return fleet;
    }

    get target() {
      return { kind: "group", id: `g-${this.teamId}` } as const;
    }

    give(given: Partial<Assign>) {
      const change = { now: this.now, actor: "test", teamId: this.teamId };
      return assign(this.db, change, { target: this.target, appId: this.app, version: 2, ...given });
    }

    state = async () => (await findAssignment(this.db, this.teamId, this.target))!;

    /** Lets each device report that should run version 2 and has not said so. */
    async report(): Promise<void> {
      for (const [id, { number, etag }] of await resolveDesired(this.db, this.teamId)) {
        if (number !== 2 || this.#told.has(id)) continue;
        this.#told.add(id);
        const state = this.failing.has(id) ? "failed" : "applied";
        const error = state === "failed" ? { code: "config", message: "no" } : undefined;
        await noteReport(this.db, this.now, this.teamId, id, { version: etag, state, ...(error && { error }) });
      }
    }

    /** Moves the clock, and lets the hub look at its roll-outs. */
    async look(minutes = 0): Promise<void> {
      this.now += minutes * MINUTE;
      await moveRollouts({ db: this.db, desired: this.desired, now: () => this.now });
    }

    /** Goes on with another process on the same data. */
    restart(): void {
      this.desired.stop();
      this.db = storage.again();
      this.desired = new Desired({ db: this.db, onError: (error) => expect(error).toBeUndefined() });
    }

    /** Picks devices evenly in the order of a roll-out, so that chance decides nothing. */
    fail(rolloutId: string, every: number): void {
      const order = this.devices.toSorted((a, b) => placeInRollout(a, rolloutId) - placeInRollout(b, rolloutId));
      this.failing = new Set(order.filter((_, i) => i % every === every - 1));
    }

    async audit(): Promise<string[]> {
      const rows = await readAudit(this.db, 20, this.teamId);
      const own = rows.filter(({ actor }) => actor === "hub").reverse();
      return own.map(({ action, subject }) => `${action} ${subject.replace(/^.*?: /, "")}`);
    }
  }

  it("runs to its end while 3 % of 300 devices fail, through a restart", async () => {
    const fleet = await Fleet.create(300);
    const rollout = await fleet.give({ steps: STEPS, waitMinutes: 10 });
    expect(rollout).toMatchObject({ share: 1, failure_limit: 5, rollout_state: "running" });
    fleet.fail(rollout.rollout_id!, 33);
    const shares: (number | null)[] = [];
    for (let i = 0; i < 12; i++) {
      await fleet.report();
      await fleet.look(5);
      if (i === 4) fleet.restart();
      shares.push((await fleet.state()).share);
    }
    expect(shares).toEqual([1, 10, 10, 50, 50, 100, 100, null, null, null, null, null]);
    expect(await fleet.state()).toMatchObject({
      ...{ version: 2, next_version: null, rollout_id: null, gates: null, step_at: null, revision: 6 },
    });
    const audit = await fleet.audit();
    expect(audit.map((row) => row.split(",")[0])).toEqual([
      ...["rollout.step_opened 10 %", "rollout.step_opened 50 %", "rollout.step_opened 100 %"],
      "rollout.completed 291 of 300 use it",
    ]);
  });

  // The plans of SQLite alone matter: PostgreSQL runs in a process of its own.
  if (kind === "sqlite")
    it("reads reports and devices in slices", async () => {
      const fleet = await Fleet.create(3);
      const rollout = await fleet.give({ steps: STEPS });
      const tables = ["r", "s", "o", "app_reports", "device_states"];
      const wide = await findWideSteps(storage, tables, async (db) => {
        await moveRollouts({ db, desired: fleet.desired, now: () => fleet.now });
        expect(await rolloutProgress(db, fleet.now, fleet.teamId, rollout)).toMatchObject({ failed: 0 });
      });
      expect(wide).toEqual([]);
    });

  it("stops while 6 % of 300 devices fail, and goes on when a person widens it", async () => {
    const fleet = await Fleet.create(300);
    const rollout = await fleet.give({ steps: STEPS, waitMinutes: 0, errorPercent: 5 });
    fleet.fail(rollout.rollout_id!, 16);
    for (let i = 0; i < 6; i++) {
      await fleet.report();
      await fleet.look(1);
    }
    const stopped = await fleet.state();
    expect(stopped).toMatchObject({ rollout_state: "stopped", version: 1, share: 50 });
    expect(await fleet.audit()).toEqual(expect.arrayContaining([expect.stringMatching(/^rollout.stopped \d+ of \d+/)]));
    // The gates stay, and the failures that the person has seen stop nothing.
    fleet.now += MINUTE;
    const widened = await fleet.give({ share: 60 });
    expect(widened).toMatchObject({ gates: stopped.gates, failure_limit: 5, rollout_state: "running", share: 60 });
    fleet.failing.clear();
    for (let i = 0; i < 3; i++) {
      await fleet.report();
      await fleet.look(1);
    }
    expect(await fleet.state()).toMatchObject({ version: 2, rollout_id: null });
  });

  it("waits for devices that say nothing, and for its minutes", async () => {
    const fleet = await Fleet.create(10);
    await fleet.give({ steps: [50, 100], waitMinutes: 10, failureLimit: 1 });
    while ((await fleet.state()).share === 50 && (await chosen(fleet)) < 2)
      await fleet.give({ version: 1 }).then(() => fleet.give({ steps: [50, 100], waitMinutes: 10, failureLimit: 1 }));
    await fleet.look(20);
    expect((await fleet.state()).share).toBe(50);
    await fleet.report();
    await fleet.look();
    const opened = await fleet.state();
    expect(opened).toMatchObject({ share: 100, step_at: fleet.now });
    await fleet.report();
    await fleet.look(9);
    expect((await fleet.state()).share).toBe(100);
    await fleet.look(1);
    expect((await fleet.state()).version).toBe(2);
  });

  it("is not stopped by the one failing device of a step, nor held up by it", async () => {
    const fleet = await Fleet.create(1);
    await fleet.give({ steps: [99, 100], waitMinutes: 0 });
    fleet.failing = new Set(fleet.devices);
    await fleet.report();
    await fleet.look();
    expect(await fleet.state()).toMatchObject({ share: 100, rollout_state: "running" });
    const strict = await Fleet.create(1);
    await strict.give({ steps: [99, 100], waitMinutes: 0, failureLimit: 1 });
    strict.failing = new Set(strict.devices);
    for (let i = 0; i < 2; i++) {
      await strict.report();
      await strict.look();
    }
    expect(await strict.state()).toMatchObject({ rollout_state: "stopped" });
  });

  it("leaves the last step below 100 to a person, and keeps who has it when steps are given later", async () => {
    const fleet = await Fleet.create(20);
    const { rollout_id } = await fleet.give({ share: 30 });
    expect(await fleet.give({ steps: [10, 50], waitMinutes: 0 })).toMatchObject({ share: 30, rollout_id });
    for (let i = 0; i < 3; i++) {
      await fleet.report();
      await fleet.look(1);
    }
    expect(await fleet.state()).toMatchObject({ share: 50, rollout_state: "running", version: 1 });
    await expect(fleet.give({ steps: [1], share: 5 })).rejects.toThrow("got them beside a share");
    const device = { kind: "device", id: fleet.devices[0]! } as const;
    await expect(fleet.give({ target: device, steps: [100] })).rejects.toThrow("got one for a device");
  });

  it("is moved by one hub if two look at once, and not over the change of a person", async () => {
    const fleet = await Fleet.create(3);
    await fleet.give({ steps: [1, 2, 3, 4], waitMinutes: 0, failureLimit: 1 });
    const { revision } = await fleet.state();
    const other: Database = storage.again();
    const hubs = [fleet.db, other].map((db) => ({ db, desired: new Desired({ db, onError: () => undefined }) }));
    while ((await chosen(fleet)) > 0) await fleet.report();
    await Promise.all(hubs.map((hub) => moveRollouts({ ...hub, now: () => fleet.now })));
    const moved = await fleet.state();
    expect(moved.revision - revision).toBe(moved.share! - 1);
    expect((await fleet.audit()).length).toBe(moved.share! - 1);
  });

  /** Counts the devices of version 2 without a report. */
  async function chosen(fleet: Fleet): Promise<number> {
    const rows = await fleet.db.all<{ device_id: string }>(
      "SELECT device_id FROM app_reports WHERE team_id = ? AND version = 2",
      [fleet.teamId],
    );
    const told = new Set(rows.map(({ device_id }) => device_id));
    const desired = await resolveDesired(fleet.db, fleet.teamId);
    return [...desired].filter(([id, { number }]) => number === 2 && !told.has(id)).length;
  }
});
