/** Tags of devices: set, filtered by, watched by, given a version, gone with their device. */
import { beforeAll, expect, it } from "vitest";
import { watchRule } from "../../src/alerts/watch.ts";
import { createRule } from "../../src/nouns/alert-rule.ts";
import { createApp, saveVersion } from "../../src/nouns/application.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { readTags, splitTags } from "../../src/nouns/device-tag.ts";
import { forgetDevice } from "../../src/nouns/leftovers.ts";
import { Agent } from "../support/agent.ts";
import { onDatabases, Person } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

onDatabases("tags of devices", (kind) => {
  const site = useSignedInHub(kind);
  const change = async (field: string) => {
    const { json } = await site.hub.query(`mutation { team { done: ${field} } }`);
    return json.data.team.done;
  };
  const idsWith = async (tag: string): Promise<string[]> => {
    const { json } = await site.hub.query(`query { team { devices(filter: { tag: "${tag}" }) { nodes { id } } } }`);
    return json.data.team.devices.nodes.map(({ id }: { id: string }) => id);
  };
  let [one, other]: Agent[] = [];
  beforeAll(async () => {
    one = await Agent.enrol(site.hub, undefined, { name: "One" });
    other = await Agent.enrol(site.hub, undefined, { name: "Other" });
  });

  it("are set by page and by GraphQL, filter lists, and stand in the audit", async () => {
    const path = `${site.base}/devices/${one!.id}`;
    const form = { ...(await site.admin.formOf(path, `${path}/tags`)), tags: " night, Dach , night,," };
    expect(await site.follow(await site.admin.post(`${path}/tags`, form))).toEqual([
      path,
      "The tags of One are saved.",
    ]);
    expect((await site.admin.get(path)).html).toContain('value="Dach, night"');
    const set = `setDeviceTags(deviceId: "${other!.id}", tags: ["night"])`;
    expect(await change(`${set} { status device { tags } }`)).toEqual({
      status: "SUCCESS",
      device: { tags: ["night"] },
    });
    expect((await idsWith("night")).sort()).toEqual([one!.id, other!.id].sort());
    expect([await idsWith("Dach"), await idsWith("dach")]).toEqual([[one!.id], []]);
    const { json } = await site.hub.query("query { team { deviceTags devices { nodes { id tags } } } }");
    expect(json.data.team.deviceTags).toEqual(["Dach", "night"]);
    expect(json.data.team.devices.nodes).toContainEqual({ id: one!.id, tags: ["Dach", "night"] });
    const list = (await site.admin.get(`${site.base}/devices?tag=Dach`)).html;
    expect([list.includes(one!.id), list.includes(other!.id)]).toEqual([true, false]);
    await change(`${set} { status }`);
    const rows = await readAudit(site.hub.storage.db, 100, site.hub.team.id);
    expect(rows.filter(({ action }) => action === "device.tagged").map(({ subject }) => subject)).toEqual([
      `${other!.id} night`,
      `${one!.id} night, Dach`,
    ]);
  });

  it("have no comma, and are of the own team", async () => {
    const stranger = await site.hub.makeTeam("Other team", ["far"]);
    const far = await site.hub.query("query { team { devices { nodes { id } } } }", stranger.key);
    const { id } = far.json.data.team.devices.nodes[0];
    expect(await change(`setDeviceTags(deviceId: "${id}", tags: ["x"]) { status }`)).toEqual({ status: "FAILED" });
    expect(await change(`setDeviceTags(deviceId: "${one!.id}", tags: ["a,b"]) { status failedMessage }`)).toEqual({
      status: "FAILED",
      failedMessage: 'tags: got "a,b", expected texts without commas',
    });
    expect(splitTags(" a , ,b")).toEqual(["a", "b"]);
    expect(() => readTags(Array.from({ length: 21 }, (_, i) => `t${i}`))).toThrow("got 21");
  });

  it("limit a rule to their devices", async () => {
    const { db } = site.hub.storage;
    const teamId = site.hub.team.id;
    const made = await change(
      'createAlertRule(kind: SPOOL_FULL, threshold: 50, deviceTag: "Dach") { status alertRule { deviceTag } }',
    );
    expect(made).toEqual({ status: "SUCCESS", alertRule: { deviceTag: "Dach" } });
    expect(await change('createAlertRule(kind: ROLLOUT_STOPPED, deviceTag: "Dach") { status }')).toEqual({
      status: "FAILED",
    });
    const rule = await createRule(
      db,
      { now: Date.now(), actor: "test", teamId },
      { kind: "spool_full", threshold: 50, tag: "Dach" },
    );
    for (const device of [one!, other!]) await device.beat({ spool: { bytes: 900, limit: 1000, frames: 1 } });
    await site.hub.running.app.heartbeats.flush(db);
    await watchRule(db, rule, Date.now(), 1e9, 30);
    const rows = await db.all("SELECT subject FROM alerts WHERE rule_id = ?", [rule.id]);
    expect(rows).toEqual([{ subject: one!.id }]);
    expect((await site.admin.get(`${site.base}/alerts`)).html).toContain("all devices with the tag Dach");
  });

  it("are given a version by page and by GraphQL, and a stopped roll-out of theirs is told", async () => {
    const { hub, admin, base } = site;
    const { db } = hub.storage;
    const teamId = hub.team.id;
    const app = await createApp(db, { now: Date.now(), actor: "test", teamId }, { name: "Door" });
    for (const threshold of [0.1, 0.2]) {
      const content = { config: { confidence_threshold: threshold }, options: {}, model: null, snaps: [] };
      await saveVersion(db, { now: Date.now(), actor: "test", teamId }, app.id, { content, description: "" });
    }
    const page = `${base}/apps/${app.id}`;
    const give = await admin.formOf(`${page}/versions/1`, `${page}/assign`);
    expect((await admin.get(`${page}/versions/1`)).html).toContain('<option value="tag:Dach">tag Dach</option>');
    const post = (target: string) => admin.post(`${page}/assign`, { ...give, target, share: "100" });
    expect((await site.follow(await post("tag:Dach")))[1]).toBe("Version 1 goes to the devices with the tag Dach.");
    expect((await post("tag:dach")).html).toContain("No device of the team has this tag.");
    expect((await admin.get(page)).html).toContain("<strong>Tag Dach</strong>");
    expect((await admin.get(`${base}/apps`)).html).toContain("given to 1 tag");
    expect((await admin.get(`${base}/devices/${one!.id}`)).html).toContain("(from the tag Dach)");
    const viewer = new Person(hub.url);
    await viewer.signIn((await hub.makeUser(`tags-${kind}@example.org`, teamId, "viewer")).email);
    const mark = await viewer.formOf("/account", "/sign-out");
    for (const action of ["assign", "unassign", "end"])
      expect((await viewer.post(`${page}/${action}`, { ...mark, target: "tag:Dach", version: "2" })).status).toBe(403);
    expect((await viewer.get(page)).html).toContain("<strong>Tag Dach</strong>");

    const assigned = "status failedMessage assignment { deviceId groupId deviceTag version rolloutVersion }";
    const roll = `assignApp(appId: "door", version: 2, deviceTag: "Dach", steps: [50, 100]) { ${assigned} }`;
    expect(await change(roll)).toMatchObject({
      assignment: { deviceId: null, groupId: null, deviceTag: "Dach", version: 1, rolloutVersion: 2 },
    });
    expect(await change(`unassignApp(groupId: "x", deviceTag: "Dach") { failedMessage }`)).toEqual({
      failedMessage: "deviceId, groupId, deviceTag: got 2 of them, expected one",
    });
    expect(await change("endAppRollout { failedMessage }")).toEqual({
      failedMessage: "groupId, deviceTag: got 0 of them, expected one",
    });
    const rule = await createRule(db, { now: Date.now(), actor: "test", teamId }, { kind: "rollout_stopped" });
    const stopped = async () => {
      await watchRule(db, rule, Date.now(), 1e9, 30);
      return db.all("SELECT subject, subject_name FROM alerts WHERE rule_id = ? AND ended_at IS NULL", [rule.id]);
    };
    expect(await stopped()).toEqual([]);
    await db.write((tx) => tx.all("UPDATE assignments SET rollout_state = 'stopped' WHERE kind = 'tag'"));
    expect(await stopped()).toEqual([{ subject: "tag:Dach", subject_name: "tag Dach" }]);
    expect(await change(`endAppRollout(deviceTag: "Dach") { status }`)).toEqual({ status: "SUCCESS" });
    expect(await change(`unassignApp(deviceTag: "Dach") { status }`)).toEqual({ status: "SUCCESS" });
  });

  it("go with their device", async () => {
    await site.hub.storage.db.write((tx) => forgetDevice(tx, site.hub.team.id, one!.id));
    expect(await site.hub.storage.db.all("SELECT tag FROM device_tags")).toEqual([{ tag: "night" }]);
  });
});
