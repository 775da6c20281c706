/** Status of devices: a pure step for each heartbeat, and the batches that are written. */
import type { Heartbeat } from "boxwright-service/schema/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addDevices } from "../../src/nouns/device.ts";
import { noteHeartbeat } from "../../src/nouns/report.ts";
import { countByStatus, queryDevices, readStates } from "../../src/nouns/device-query.ts";
import {
  advance,
  deleteOldHours,
  Heartbeats,
  hoursOf,
  offlineMs,
  statusChangedAt,
  statusOf,
  type DeviceState,
} from "../../src/nouns/status.ts";
import { addTeam } from "../../src/nouns/team.ts";
import { NOW, openTestDatabase, Watched, type TestDatabase, onDatabases } from "../support/hub.ts";

const HOUR = 3600_000;
const fresh: DeviceState = {
  ...{
    enrolled_at: NOW,
    serial_number: null,
    model: "",
    architecture: "",
    version: "",
    last_contact_at: null,
    beat_seconds: 30,
  },
  ...{ online_since: null, counter: 0, process_id: null, previous_process_id: null, conflict_at: null },
  ...{ clock_difference: null, host_url: null, application: null, application_version: null, report: null },
  ...{ application_error: null, revoked_at: null, frames_at: null, spool_percent: null, paused_at: null },
  ...{
    hour: null,
    contacts: 0,
    restarts: 0,
    worst_p99: null,
    drops: 0,
    snap_requested_at: null,
    log_requested_at: null,
  },
  application_state: "none",
};

const beat = (counter: number, part: Partial<Heartbeat> = {}): Heartbeat => ({
  ...{ counter, process_id: "a", version: "1", model: "m", architecture: "x", time: new Date(NOW).toISOString() },
  application: { identifier: "gate", version: "v1", state: "applied" },
  ...{ frames: 0, dropped: 0, lost: 0 },
  decode_ms: { p50: 1, p99: 5 },
  spool: { bytes: 0, limit: 0, frames: 0 },
  ...part,
});

/** Runs heartbeats at times after NOW. */
function run(...beats: [number, Heartbeat][]) {
  let state = fresh;
  let conflicts = 0;
  for (const [at, one] of beats) {
    const next = advance(state, one, NOW + at, 30);
    state = next.state;
    if (next.isConflict) conflicts++;
  }
  return { state, conflicts };
}

describe("a heartbeat", () => {
  it("makes a device online, and silence makes it offline, with the times of both changes", () => {
    const { state } = run([0, beat(1)], [30_000, beat(2)]);
    expect([statusOf(state, NOW + 40_000), statusChangedAt(state, NOW + 40_000)]).toEqual(["ONLINE", NOW]);
    const late = NOW + 30_000 + offlineMs(30);
    expect([statusOf(state, late), statusChangedAt(state, late + HOUR)]).toEqual(["OFFLINE", late]);
    const back = advance(state, beat(3), late + HOUR, 30).state;
    expect(statusChangedAt(back, late + HOUR + 1)).toBe(late + HOUR);
    expect([statusOf(fresh, NOW), statusChangedAt(fresh, NOW)]).toEqual(["OFFLINE", null]);
  });

  it("of a revoked device leaves it offline, since the revocation", () => {
    const { state } = run([0, beat(1)]);
    const revoked = { ...state, revoked_at: NOW + 20_000 };
    expect([statusOf(revoked, NOW + 30_000), statusChangedAt(revoked, NOW + HOUR)]).toEqual(["OFFLINE", NOW + 20_000]);
  });

  it("from a future that was a wrong clock counts as silence", () => {
    const { state } = run([HOUR, beat(1)]);
    expect(statusOf(state, NOW)).toBe("OFFLINE");
  });

  it("counts restarts, and tells a copy by its counter or by processes in turn", () => {
    const restarted = run([0, beat(1)], [1, beat(2, { process_id: "b" })], [2, beat(3, { process_id: "b" })]);
    expect([restarted.conflicts, restarted.state.restarts]).toEqual([0, 1]);
    expect(run([0, beat(5)], [1, beat(5)], [2, beat(6)]).conflicts).toBe(0);
    expect(run([0, beat(5)], [1, beat(4)]).state.conflict_at).toBe(NOW + 1);
    const turns = run([0, beat(1)], [1, beat(2, { process_id: "b" })], [2, beat(3)]);
    expect(turns.conflicts).toBe(1);
  });

  it("adds up an hour: contacts, the slowest decode, drops since the last one", () => {
    const counts = { dropped: 3, lost: 1 };
    const { state } = run(
      [0, beat(1, counts)],
      [1, beat(2, { ...counts, decode_ms: { p50: 1, p99: 40 } })],
      [2, beat(3, { dropped: 5, lost: 1, decode_ms: { p50: null, p99: null } })],
      [3, beat(4, { process_id: "b", dropped: 2 })],
    );
    expect([state.contacts, state.worst_p99, state.drops]).toEqual([4, 40, 4 + 0 + 2 + 2]);
    const next = advance(state, beat(5, { process_id: "b", dropped: 2 }), NOW + HOUR, 30);
    expect(next.finished).toMatchObject({ hour: NOW / HOUR, contacts: 4, drops: 8 });
    expect(next.state).toMatchObject({ contacts: 1, drops: 0, worst_p99: 5 });
  });

  it("keeps how far the clock of the device is off", () => {
    const { state } = run([0, beat(1, { time: "1970-01-01T00:00:10Z" })]);
    expect(state.clock_difference).toBe(10_000 - NOW);
  });
});

onDatabases("batches of heartbeats", (kind) => {
  let storage: TestDatabase;
  let teamId: string;
  const db = () => storage.db;
  const states = async () => readStates(db(), teamId, ["d1", "d2", "d3"]);
  beforeEach(async () => {
    storage = await openTestDatabase(kind);
    teamId = (await addTeam(db(), NOW, "test", "A")).id;
    const devices = ["d1", "d2", "d3"].map((id) => ({ id, name: `Name of ${id}` }));
    await addDevices(db(), NOW, teamId, 10, devices);
    for (const id of ["d1", "d2"])
      await db().write((tx) =>
        tx.all(
          "INSERT INTO device_states (team_id, device_id, enrolled_at, enrolled_by, model, architecture, version, counter, application_state, contacts, restarts, drops) VALUES (?, ?, ?, 'k', '', '', '', 0, 'none', 0, 0, 0)",
          [teamId, id, NOW],
        ),
      );
  });
  afterEach(() => storage.remove());

  it("write many devices in one transaction, and the hour that is over", async () => {
    const beats = new Heartbeats();
    const note = (id: string, one: Heartbeat, at: number) => beats.note(teamId, id, fresh, one, NOW + at);
    note("d1", beat(1), 0);
    note("d1", beat(2), HOUR);
    note("d2", beat(1), HOUR);
    note("gone", beat(1), HOUR);
    let writes = 0;
    const watched = new Watched(db());
    const write = watched.write.bind(watched);
    watched.write = (work) => (writes++, write(work));
    await beats.flush(watched);
    expect([writes, beats.size]).toEqual([1, 0]);
    expect((await states()).get("d1")).toMatchObject({ counter: 2, contacts: 1, model: "m" });
    expect(await hoursOf(db(), teamId, "d1", NOW + HOUR, 24)).toMatchObject([{ hour: NOW / HOUR, contacts: 1 }]);
    expect(await countByStatus(db(), teamId, NOW + HOUR)).toEqual({
      ...{ total: 3, online: 2, conflicts: 0, failed: 0, fresh: 1, revoked: 0 },
    });
  });

  it("keep what could not be written, and add what came since", async () => {
    const beats = new Heartbeats();
    const watched = new Watched(db());
    beats.note(teamId, "d1", fresh, beat(5), NOW);
    beats.note(teamId, "d1", fresh, beat(4), NOW + 1);
    watched.failure = new Error("away");
    await expect(beats.flush(watched)).rejects.toThrow("away");
    beats.note(teamId, "d1", fresh, beat(6), NOW + 2);
    watched.failure = undefined;
    await beats.flush(watched);
    expect((await states()).get("d1")).toMatchObject({ counter: 6, contacts: 3, conflict_at: NOW + 1 });
  });

  it("keep a conflict that could not be written, though the device reported meanwhile", async () => {
    const beats = new Heartbeats();
    const failing = new Watched(db());
    failing.write = () => {
      beats.note(teamId, "d1", fresh, beat(6), NOW + 2);
      return Promise.reject(new Error("away"));
    };
    beats.note(teamId, "d1", fresh, beat(5), NOW);
    beats.note(teamId, "d1", fresh, beat(4), NOW + 1);
    await expect(beats.flush(failing)).rejects.toThrow("away");
    await beats.flush(db());
    expect((await states()).get("d1")).toMatchObject({ counter: 6, contacts: 3, conflict_at: NOW + 1 });
  });

  it("do not touch a device that was enrolled anew meanwhile", async () => {
    const beats = new Heartbeats();
    beats.note(teamId, "d1", fresh, beat(9), NOW);
    await db().write((tx) => tx.all("UPDATE device_states SET enrolled_at = ?", [NOW + 1]));
    await beats.flush(db());
    expect((await states()).get("d1")).toMatchObject({ counter: 0 });
    // The next heartbeat begins from the new row.
    const renewed = { ...fresh, enrolled_at: NOW + 1 };
    expect(beats.note(teamId, "d1", renewed, beat(1), NOW + 2).conflict_at).toBeNull();
  });

  it("keep 30 days of hours", async () => {
    const beats = new Heartbeats();
    for (const days of [0, 10, 40]) beats.note(teamId, "d1", fresh, beat(days + 1), NOW + days * 24 * HOUR);
    await beats.flush(db());
    expect(await deleteOldHours(db(), NOW + 40 * 24 * HOUR, 10)).toBe(1);
    expect(await hoursOf(db(), teamId, "d1", NOW + 40 * 24 * HOUR, 720)).toHaveLength(0);
    expect(await hoursOf(db(), teamId, "d1", NOW + 40 * 24 * HOUR, 721)).toHaveLength(1);
  });

  it("are what lists filter and order by", async () => {
    const beats = new Heartbeats();
    beats.note(teamId, "d1", fresh, beat(1), NOW);
    beats.note(teamId, "d2", fresh, beat(1), NOW - HOUR);
    await beats.flush(db());
    const told = (id: string, application: Heartbeat["application"]) =>
      noteHeartbeat(db(), NOW, { ...fresh, team_id: teamId, id }, application);
    await told("d1", { identifier: "gate", version: "v1", state: "applied" });
    await told("d2", { identifier: null, version: null, state: "failed" });
    const ids = async (filter: object, field = "id", descending = false, after?: { value: number; id: string }) =>
      (
        await queryDevices(db(), teamId, filter, NOW, {
          order: { field: field as "id", descending },
          limit: 9,
          after,
        })
      ).map(({ id }) => id);
    expect(await ids({})).toEqual(["d1", "d2", "d3"]);
    expect(await ids({ status: "ONLINE" })).toEqual(["d1"]);
    expect(await ids({ status: "OFFLINE" })).toEqual(["d2", "d3"]);
    expect(await ids({ application: "gate" })).toEqual(["d1"]);
    expect(await ids({ only: "failed" })).toEqual(["d2"]);
    expect(await ids({ only: "new" })).toEqual(["d3"]);
    expect(await ids({ contactBefore: NOW - 1 })).toEqual(["d2", "d3"]);
    expect(await ids({ contactAfter: NOW - 2 * HOUR, search: "NAME OF D2" })).toEqual(["d2"]);
    expect(await ids({}, "lastContactAt", true)).toEqual(["d1", "d2", "d3"]);
    expect(await ids({}, "lastContactAt", true, { value: NOW, id: "d1" })).toEqual(["d2", "d3"]);
    expect(await ids({}, "name", true)).toEqual(["d3", "d2", "d1"]);
  });
});
