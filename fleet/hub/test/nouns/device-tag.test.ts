/** Tags of devices: set, filtered by, watched by, gone with their device. */
import { beforeAll, expect, it } from "vitest";
import { watchRule } from "../../src/alerts/watch.ts";
import { createRule } from "../../src/nouns/alert-rule.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { readTags, splitTags } from "../../src/nouns/device-tag.ts";
import { forgetDevice } from "../../src/nouns/leftovers.ts";
import { Agent } from "../support/agent.ts";
import { onDatabases } from "../support/hub.ts";
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

  it("go with their device", async () => {
    await site.hub.storage.db.write((tx) => forgetDevice(tx, site.hub.team.id, one!.id));
    expect(await site.hub.storage.db.all("SELECT tag FROM device_tags")).toEqual([{ tag: "night" }]);
  });
});
