/** Faults that open an alert, its receivers and times, and devices that come and go. */
import { expect, it } from "vitest";
import { findAlerts } from "../../src/nouns/alert.ts";
import { createApp, saveVersion } from "../../src/nouns/application.ts";
import { assign } from "../../src/nouns/assignment.ts";
import { setDeviceTags } from "../../src/nouns/device-tag.ts";
import { deleteGroup } from "../../src/nouns/group.ts";
import { tagTarget } from "../../src/nouns/target.ts";
import { deleteRule } from "../../src/nouns/alert-rule.ts";
import { listSilences, silence } from "../../src/nouns/alert-silence.ts";
import { onEmptyDatabases } from "../support/hub.ts";
import { MINUTE, SECOND, watchedTeam } from "../support/watched-team.ts";

onEmptyDatabases("alerts", (_db, storage) => {
  const start = async (...ids: string[]) => {
    const site = await watchedTeam(storage());
    await site.devices(ids);
    await site.channel({ webhook: "http://127.0.0.1:9/" });
    return {
      ...site,
      titles: async () => (await site.queued()).map(({ data }) => data.title),
    };
  };

  it("tell of a device that falls silent, and of its return, once each", async () => {
    const { rule, pass, titles, queued, team } = await start("a", "b");
    const { id } = await rule({ kind: "device_offline", threshold: 5 });
    await pass(10 * MINUTE, ["a", "b"]);
    expect(await titles()).toEqual([]);
    await pass(5 * MINUTE - SECOND, ["b"]);
    expect(await titles()).toEqual([]);
    await pass(30 * SECOND, ["b"]);
    expect(await titles()).toEqual(["Camera a is offline"]);
    await pass(60 * MINUTE, ["b"]);
    expect(await titles()).toHaveLength(1);
    await pass(3 * MINUTE, ["a", "b"]);
    expect(await titles()).toEqual(["Camera a is offline", "Over: Camera a is offline"]);
    expect((await queued())[0]).toMatchObject({
      type: "alert.began",
      data: {
        team: { id: team.id, name: "Crew" },
        rule: { id, kind: "device_offline", threshold: 5 },
        ...{ count: 1, groups: [], tags: [], subjects: [{ id: "a", name: "Camera a" }] },
        url: `http://hub/teams/${team.id}/alerts`,
      },
    });
  });

  it("name the group of many that fall silent together, in few messages", async () => {
    const ids = Array.from({ length: 600 }, (_, i) => `d${String(i).padStart(4, "0")}`);
    const { rule, pass, titles, group, queued, db, team, change } = await start(...ids, "z");
    await group("north", ids);
    await group("all", [...ids, "z"]);
    for (const id of ids.slice(0, 2)) await setDeviceTags(db, change(), id, ["roof"]);
    await rule({ kind: "device_offline", threshold: 5 });
    await pass(6 * MINUTE, [...ids, "z"], MINUTE);
    await pass(5 * MINUTE, ["z"]);
    await pass(30 * SECOND, ["z"]);
    expect(await titles()).toEqual(["600 devices of group all are offline"]);
    const [message] = await queued();
    expect(message!.data.groups.map(({ name, count }) => [name, count])).toEqual([
      ["all", 600],
      ["north", 600],
    ]);
    expect(message!.data.tags).toEqual([{ name: "roof", count: 2 }]);
    expect(message!.data.subjects).toHaveLength(50);
    expect(await findAlerts(db, team.id, { open: true }, 1000)).toHaveLength(600);
    await pass(3 * MINUTE, [...ids, "z"], 20 * SECOND);
    expect((await titles()).at(-1)).toBe("Over: 600 devices of group all are offline");
  });

  it("send few messages of a device that comes and goes all night", async () => {
    const { rule, pass, titles } = await start("a", "b");
    await rule({ kind: "device_offline", threshold: 2 });
    await pass(5 * MINUTE, ["a", "b"], 30 * SECOND);
    // Four minutes away, three minutes there, for eight hours.
    for (let i = 0; i < 69; i++) {
      await pass(4 * MINUTE, ["b"], 30 * SECOND);
      await pass(3 * MINUTE, ["a", "b"], 30 * SECOND);
    }
    const sent = await titles();
    expect(sent[0]).toBe("Camera a is offline");
    expect(sent.length).toBeLessThanOrEqual(8);
    // Once it stays, it is over.
    await pass(2 * 60 * MINUTE, ["a", "b"], MINUTE);
    expect((await titles()).at(-1)).toBe("Over: Camera a is offline");
  });

  it("do not take a hub that was away for devices that are", async () => {
    const { rule, pass, titles, restart } = await start("a", "b");
    await rule({ kind: "device_offline", threshold: 5 });
    await pass(6 * MINUTE, ["a", "b"], MINUTE);
    await restart();
    // The hub comes back after an hour. Meanwhile, it received no heartbeats.
    await pass(60 * MINUTE, [], 60 * MINUTE);
    await pass(4 * MINUTE, ["b"]);
    expect(await titles()).toEqual([]);
    await pass(2 * MINUTE, ["b"]);
    expect(await titles()).toEqual(["Camera a is offline"]);
  });

  it("of a hub's first rule open at once, if the hub has heard devices for long enough", async () => {
    const { rule, pass, titles } = await start("a", "b");
    await pass(10 * MINUTE, ["b"], MINUTE);
    await rule({ kind: "device_offline", threshold: 5 });
    await pass(30 * SECOND, ["b"]);
    expect(await titles()).toEqual(["Camera a is offline"]);
  });

  it("that nobody was told of yet are told by the next process", async () => {
    const { rule, pass, titles, restart, set } = await start("a");
    await rule({ kind: "version_failed" });
    await set(["a"], { application_state: "failed" });
    await pass(5 * SECOND);
    expect(await titles()).toEqual([]);
    await restart();
    await pass(20 * SECOND);
    expect(await titles()).toEqual(["Camera a cannot run its version"]);
  });

  it.each([
    ["no_frames", 10, { frames_at: -11 * MINUTE, online_since: -20 * MINUTE }, "Camera a is online without frames"],
    ["no_frames", 10, { frames_at: -11 * MINUTE, online_since: -MINUTE }, null],
    ["no_frames", 10, { frames_at: -11 * MINUTE, online_since: -20 * MINUTE, paused_at: -MINUTE }, null],
    ["spool_full", 80, { spool_percent: 80 }, "Camera a has a nearly full spool"],
    ["spool_full", 80, { spool_percent: 79 }, null],
    ["version_failed", undefined, { application_state: "failed" }, "Camera a cannot run its version"],
    ["clock_wrong", 60, { clock_difference: -61_000 }, "Camera a has a wrong clock"],
    ["clock_wrong", 60, { clock_difference: 59_000 }, null],
    ["frames_lost", 10, { hour: "now", drops: 10 }, "Camera a drops or loses frames"],
    ["frames_lost", 10, { hour: "now", drops: 9 }, null],
  ] as const)("%s of %s with %j: %s", async (kind, threshold, given, title) => {
    const { rule, watch, set, now, titles, pass } = await start("a", "b");
    await rule({ kind, threshold });
    const columns: Record<string, string | number | null> = { last_contact_at: now() + MINUTE };
    for (const [name, value] of Object.entries(given))
      columns[name] =
        value === "now"
          ? Math.floor(now() / 3_600_000)
          : /_(at|since)$/.test(name)
            ? now() + (value as number)
            : (value as string | number);
    await set(["a"], columns);
    await set(["b"], { last_contact_at: now() + MINUTE, frames_at: now(), online_since: now() });
    await watch();
    await pass(20 * SECOND);
    expect(await titles()).toEqual(title === null ? [] : [title]);
  });

  it("of a rule for a group leave other devices alone", async () => {
    const { rule, set, pass, group, titles } = await start("a", "b");
    const { id } = await group("north", ["b"]);
    await rule({ kind: "version_failed", groupId: id });
    await set(["a"], { application_state: "failed" });
    await pass(MINUTE);
    expect(await titles()).toEqual([]);
    await set(["b"], { application_state: "failed" });
    await pass(MINUTE);
    expect(await titles()).toEqual(["Camera b cannot run its version"]);
  });

  it("wait while they are silenced, and are told at its end if they are still there", async () => {
    const { rule, set, pass, titles, db, change, team, group } = await start("a", "b", "c", "d", "e");
    await rule({ kind: "version_failed" });
    const { id } = await group("north", ["d"]);
    await silence(db, change(), { kind: "device", id: "a", minutes: 30 });
    await silence(db, change(), { kind: "device", id: "b", minutes: 30 });
    await silence(db, change(), { kind: "group", id, minutes: 30 });
    await setDeviceTags(db, change(), "e", ["roof"]);
    await silence(db, change(), { kind: "tag", id: "roof", minutes: 30 });
    await set(["a", "b", "c", "d", "e"], { application_state: "failed" });
    await pass(MINUTE);
    expect(await titles()).toEqual(["Camera c cannot run its version"]);
    expect(await findAlerts(db, team.id, { open: true }, 10)).toHaveLength(5);
    await set(["b", "d", "e"], { application_state: "applied" });
    await pass(30 * MINUTE, [], MINUTE);
    expect(await titles()).toEqual(["Camera c cannot run its version", "Camera a cannot run its version"]);
    // An end in a silence whose begin nobody heard of is no news; silences end on demand.
    await silence(db, change(), { kind: "device", id: "a", minutes: 30 });
    await silence(db, change(), { kind: "device", id: "a", minutes: 0 });
    await set(["a"], { application_state: "applied" });
    await pass(3 * MINUTE);
    expect((await titles()).at(-1)).toBe("Over: Camera a cannot run its version");
  });

  it("end with a message in a silence if their start was told, so that no receiver keeps an incident open", async () => {
    const { rule, set, pass, titles, db, change, group } = await start("a", "b", "c", "d");
    const { id: ruleId } = await rule({ kind: "version_failed" });
    const { id } = await group("north", ["b"]);
    await setDeviceTags(db, change(), "c", ["roof"]);
    await set(["a", "b", "c"], { application_state: "failed" });
    await pass(MINUTE);
    expect(await titles()).toEqual(["3 devices cannot run their version"]);
    await silence(db, change(), { kind: "device", id: "a", minutes: 30 });
    await silence(db, change(), { kind: "group", id, minutes: 30 });
    await silence(db, change(), { kind: "tag", id: "roof", minutes: 30 });
    await silence(db, change(), { kind: "rule", id: ruleId, minutes: 30 });
    // The start of this alert stays untold, and so does its end.
    await set(["d"], { application_state: "failed" });
    await pass(MINUTE);
    await set(["a", "b", "c", "d"], { application_state: "applied" });
    await pass(3 * MINUTE);
    const told = ["3 devices cannot run their version", "Over: 3 devices cannot run their version"];
    expect(await titles()).toEqual(told);
    // The end of the silences repeats nothing.
    await pass(30 * MINUTE, [], MINUTE);
    expect(await titles()).toEqual(told);
  });

  it("of a roll-out wait while its group or tag is silent, and a device that loses the tag is heard", async () => {
    const { rule, set, pass, titles, db, change, group } = await start("a", "b");
    await rule({ kind: "rollout_stopped" });
    await rule({ kind: "version_failed" });
    const { id } = await group("north", []);
    await setDeviceTags(db, change(), "a", ["roof"]);
    const { id: appId } = await createApp(
      db,
      { now: change().now, actor: "test", teamId: change().teamId },
      { name: "Door" },
    );
    const content = { config: {}, options: {}, model: null, snaps: [] };
    for (const target of [{ kind: "group", id } as const, tagTarget("roof")]) {
      await saveVersion(db, { now: change().now, actor: "test", teamId: change().teamId }, appId, {
        content,
        description: "",
      });
      await assign(db, change(), { target, appId, version: 1, share: 50 });
      await silence(db, change(), { ...target, minutes: 30 });
    }
    await db.write((tx) => tx.all("UPDATE assignments SET rollout_state = 'stopped'"));
    await set(["a"], { application_state: "failed" });
    await pass(MINUTE);
    expect(await titles()).toEqual([]);
    await setDeviceTags(db, change(), "a", []);
    await pass(MINUTE);
    expect(await titles()).toEqual(["Camera a cannot run its version"]);
    // No device has the tag any more, and its silence ends all the same. The silence of a group goes with the group.
    await silence(db, change(), { kind: "tag", id: "roof", minutes: 0 });
    await deleteGroup(db, change(), id);
    expect(await listSilences(db, change().teamId, 0)).toEqual([]);
    await pass(MINUTE);
    expect(await titles()).toHaveLength(2);
  });

  it("of a rule that is deleted, and of a device that is removed, end", async () => {
    const { rule, set, pass, titles, db, change, team } = await start("a", "b");
    const { id } = await rule({ kind: "version_failed" });
    await set(["a", "b"], { application_state: "failed" });
    await pass(MINUTE);
    await db.write((tx) => tx.all("DELETE FROM devices WHERE id = 'b'"));
    await pass(3 * MINUTE);
    expect(await titles()).toEqual(["2 devices cannot run their version", "Over: Camera b cannot run its version"]);
    await deleteRule(db, change(), id);
    await pass(3 * MINUTE);
    expect(await titles()).toHaveLength(2);
    expect(await findAlerts(db, team.id, { open: true }, 10)).toEqual([]);
    expect(await findAlerts(db, team.id, { open: false, subject: "a" }, 10)).toHaveLength(1);
  });
});
