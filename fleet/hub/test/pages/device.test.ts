/** Pages of one device, of groups, of adopt keys and of the audit. */
import { beforeAll, expect, it } from "vitest";
import { audit } from "../../src/nouns/audit.ts";
import { createApp, saveVersion } from "../../src/nouns/application.ts";
import { assign } from "../../src/nouns/assignment.ts";
import { resolveDesired } from "../../src/nouns/desired.ts";
import { addDevices, listDevices } from "../../src/nouns/device.ts";
import { createGroup, groupsOf } from "../../src/nouns/group.ts";
import { Agent, enrol } from "../support/agent.ts";
import { placeOf, type Person, onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

onDatabases("pages of devices", (kind) => {
  const site = useSignedInHub(kind);
  const db = () => site.hub.storage.db;
  const change = () => ({ now: Date.now(), actor: "test", teamId: site.hub.team.id });
  let form: Record<string, string>;
  beforeAll(async () => void (form = await site.admin.formOf(`${site.base}/groups`, `${site.base}/groups`)));

  const flush = () => site.hub.running.app.heartbeats.flush(db());
  const pageOf = (id: string) => `${site.base}/devices/${id}`;
  const text = (html: string) =>
    html
      .replaceAll("<wbr/>", "")
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ");
  const said = async (answer: Awaited<ReturnType<Person["post"]>>) => {
    expect(answer.status).toBe(303);
    const { html } = await site.admin.get(answer.headers.get("location")!);
    return /role="status"><span>(.*?)<\/span>/s.exec(html)?.[1]?.replaceAll("<wbr/>", "");
  };

  it("tell what a device is and does, and mark what is wrong", async () => {
    const agent = await Agent.enrol(site.hub, undefined, { name: "<b>gate</b>" });
    const error = { code: "shape", message: "no" };
    await agent.beat({
      time: "1970-01-01T00:00:00Z",
      last_error: "<script>alert(1)</script>",
      host_url: "http://localhost:8790/?source=device%3Ax",
      application: { identifier: "gate", version: "gate:1", state: "failed", error },
    });
    await flush();
    const { html, headers } = await site.admin.get(pageOf(agent.id));
    expect(html).not.toContain("<script>alert");
    expect(html).not.toContain("<b>gate</b>");
    expect(text(html)).toMatch(/Status online for less than a minute/);
    expect(text(html)).toContain("Application gate failed: no");
    expect(text(html)).toContain("1 contact, by the hour");
    expect(text(html)).toContain("0 frames; files of the spool: 0.0 MB");
    expect(text(html)).toMatch(/Clock [\d,]+ days behind/);
    expect(html).toContain('src="http://localhost:8790/?source=device%3Ax&amp;framed="');
    // Only this page may show the host's page inside of it.
    expect(headers.get("content-security-policy")).toContain("; frame-src http://localhost:8790");
    expect((await site.admin.get(`${site.base}/devices`)).headers.get("content-security-policy")).not.toContain(
      "frame-src",
    );
    const list = (await site.admin.get(`${site.base}/devices?only=failed`)).html;
    expect(text(list)).toContain("1 of 3 devices match");
    expect(list).toContain(agent.id);
    expect((await site.admin.get(`${site.base}/devices?status=online&sort=-contact`)).html).toContain(agent.id);
    expect((await site.admin.get(`${site.base}/devices?status=offline`)).html).not.toContain(agent.id);
  });

  it("show an error as past once the device has reported on another version than its heartbeat", async () => {
    const agent = await Agent.enrol(site.hub, undefined, { name: "fresh" });
    const last_error = "network: frames wait until the hub gives this device an application";
    const shown = async () => text((await site.admin.get(pageOf(agent.id))).html);
    await agent.beat({ last_error });
    await flush();
    expect(await shown()).toContain(`Last error ${last_error} Frames`);
    const { id } = await createApp(db(), change(), { name: `First ${kind}` });
    const content = { config: {}, options: {}, model: null, snaps: [] };
    await saveVersion(db(), change(), id, { content, description: "" });
    await assign(db(), change(), { target: { kind: "device", id: agent.id }, appId: id, version: 1 });
    const version = (await resolveDesired(db(), site.hub.team.id)).get(agent.id)!.etag;
    expect((await agent.ask("/device/report", { json: { version, state: "applied" } })).status).toBe(204);
    expect(await shown()).toContain(`Last error ${last_error} (said before it reported on its version) Frames`);
    await agent.beat({ application: { identifier: version.split(":")[0]!, version, state: "applied" } });
    await flush();
    expect(await shown()).not.toContain("Last error");
  });

  it("show a copied credential, and forget it when told", async () => {
    const agent = await Agent.enrol(site.hub, undefined, { name: "copied" });
    await agent.beat({ counter: 9 });
    await agent.beat({ counter: 3 });
    await flush();
    const warning = "Two machines seem to use the credential";
    expect((await site.admin.get(pageOf(agent.id))).html).toContain(warning);
    expect(await said(await site.admin.post(`${pageOf(agent.id)}/one`, form))).toBe("Noted: copied is one device.");
    expect((await site.admin.get(pageOf(agent.id))).html).not.toContain(warning);
  });

  it("revoke a credential, and adopt the device anew under its id", async () => {
    const agent = await Agent.enrol(site.hub, undefined, { name: "wall" });
    await agent.beat();
    await flush();
    expect((await site.admin.get(`${pageOf(agent.id)}?revoke=`)).html).toContain("Revoke it");
    expect(await said(await site.admin.post(`${pageOf(agent.id)}/revoke`, form))).toContain("is revoked");
    expect((await agent.beat()).status).toBe(401);
    const page = text((await site.admin.get(pageOf(agent.id))).html);
    // Its last contact is short ago, but the hub refuses it.
    expect(page).toContain("Status revoked for less than a minute Last contact");
    expect(page).not.toContain("online");
    expect(page).not.toContain("Ask for a snap");
    const devices = `${site.base}/devices`;
    const found = async (query: string) => (await site.admin.get(`${devices}?q=wall&${query}`)).html;
    expect([(await found("status=online")).includes(agent.id), await found("status=offline")]).toEqual([
      ...[false, expect.stringContaining(agent.id)],
    ]);
    const list = await found("only=revoked");
    expect(text(list)).toMatch(/1 revoked .*wall [-0-9a-f]+ revoked less than a minute ago/);
    const adopt = await site.admin.formOf(pageOf(agent.id), `${pageOf(agent.id)}/adopt`);
    const made = await site.admin.post(`${pageOf(agent.id)}/adopt`, adopt);
    expect(made.status).toBe(201);
    const [key] = /bwa_\w{12}_\w{38}/.exec(made.html)!;
    expect(text(made.html)).toContain(`boxwright-agent enrol settings.json --key ${key}`);
    const again = await site.admin.post(`${pageOf(agent.id)}/adopt`, adopt);
    expect([again.status, /bwa_\w/.test(again.html)]).toEqual([409, false]);
    expect((await enrol(site.hub, key)).json).toMatchObject({ device_id: agent.id, name: "wall" });
    expect(await found("only=revoked")).not.toContain(agent.id);
  });

  it("put devices into groups, many at once, and take a removal of many back", async () => {
    const group = await createGroup(db(), change(), `north ${kind}`);
    const list = `${site.base}/devices`;
    const added = await addDevices(db(), Date.now(), site.hub.team.id, 1000, [{ name: "m1" }, { name: "m2" }]);
    const many = async (action: string, ids = added.map(({ id }) => id)) => {
      const body = new URLSearchParams({ ...form, action, group: group.id });
      for (const id of ids) body.append("device", id);
      return site.admin.post(`${list}/bulk?q=m`, body as unknown as Record<string, string>);
    };
    expect(await said(await many("add"))).toBe(`Added 2 devices to north ${kind}.`);
    expect((await groupsOf(db(), site.hub.team.id, added[0]!.id)).map(({ id }) => id)).toEqual([group.id]);
    expect(text((await site.admin.get(`${list}?group=${group.id}`)).html)).toMatch(/2 of \d+ devices match/);
    expect(await said(await many("take", [added[0]!.id]))).toBe(`Took 1 device out of north ${kind}.`);
    const asked = await many("ask");
    expect([asked.status, text(asked.html)]).toEqual([200, expect.stringContaining("Remove 2 devices ?")]);
    const removed = await many("remove");
    expect(placeOf(removed)).toBe(`${list}?q=m`);
    const gone = await listDevices(db(), site.hub.team.id);
    expect(gone.filter(({ name }) => name === "m1")).toEqual([]);
    const undo = await site.admin.formOf(removed.headers.get("location")!, `${list}/restore`);
    expect(await said(await site.admin.post(`${list}/restore`, undo))).toBe("2 devices are back.");
    expect((await site.admin.post(`${list}/restore`, undo)).status).toBe(404);
    // The second one was still in the group, and is again.
    expect(await groupsOf(db(), site.hub.team.id, added[1]!.id)).toHaveLength(1);
    expect((await many("add", [])).html).toContain("Tick the devices first.");
    expect((await many("add", ["nothing"])).status).toBe(404);
  });

  it("make an adopt key once, with groups, and refuse what is out of bounds", async () => {
    const path = `${site.base}/adopt-keys`;
    const group = await createGroup(db(), change(), `south ${kind}`);
    const fresh = () => site.admin.formOf(path, path);
    const wanted = { name: "autumn", days: "3", devices: "2", group: group.id };
    for (const [part, message] of [
      [{ days: "0" }, "Enter a whole number of days from 1 to 365."],
      [{ devices: "1e9" }, "Enter a whole number of devices"],
      [{ name: " " }, "Enter a name of 1 to 100 characters."],
      [{ group: "other" }, "This group does not exist any more."],
    ] as const) {
      const { html, status } = await site.admin.post(path, { ...(await fresh()), ...wanted, ...part });
      expect([status >= 400, html.includes(message)]).toEqual([true, true]);
      expect(html).not.toMatch(/bwa_\w/);
    }
    const once = await fresh();
    const made = await site.admin.post(path, { ...once, ...wanted });
    const [key] = /bwa_\w{12}_\w{38}/.exec(made.html)!;
    expect((await site.admin.post(path, { ...once, ...wanted })).status).toBe(409);
    const { json } = await enrol(site.hub, key, { name: "by key" });
    expect((await groupsOf(db(), site.hub.team.id, json.device_id))[0]).toMatchObject({ id: group.id });
    const list = (await site.admin.get(path)).html;
    expect(list).not.toContain(key.slice(17));
    expect(text(list)).toMatch(/autumn .* 1 of 2 used/);
    const id = key.slice(4, 16);
    expect(await said(await site.admin.post(`${path}/${id}/revoke`, form))).toContain("autumn is revoked");
    expect((await enrol(site.hub, key)).status).toBe(403);
    expect(await said(await site.admin.post(`${path}/${id}/delete`, form))).toContain("autumn is deleted");
    expect((await enrol(site.hub, key)).status).toBe(401);
  });

  it("rename and delete groups, and keep their names apart", async () => {
    const path = `${site.base}/groups`;
    expect(await said(await site.admin.post(path, { ...form, name: `east ${kind}` }))).toBe(`Made east ${kind}.`);
    expect((await site.admin.post(path, { ...form, name: `east ${kind}` })).status).toBe(409);
    const other = await createGroup(db(), change(), `west ${kind}`);
    const renamed = await site.admin.post(`${path}/${other.id}/rename`, { ...form, name: `east ${kind}` });
    expect([renamed.status, renamed.html.includes("of this name already")]).toEqual([409, true]);
    expect(await said(await site.admin.post(`${path}/${other.id}/remove`, form))).toContain("Deleted west");
    expect((await site.admin.post(`${path}/${other.id}/remove`, form)).status).toBe(404);
  });

  it("say in the audit who did what, find it, and delete old rows but for those of access", async () => {
    const path = `${site.base}/audit`;
    const [device] = await addDevices(db(), Date.now() - 400 * 86_400_000, site.hub.team.id, 1000, [
      { name: "old one" },
    ]);
    const found = text((await site.admin.get(`${path}?subject=OLD+ONE&kind=device.`)).html);
    expect(found).toContain(`device added ${device!.id} old one`);
    const { id } = await createGroup(db(), change(), `gates ${kind}`);
    const stopped = [`device ${device!.id}`, "rollout.stopped", site.hub.team.id, `dogs 2 group ${id}`] as const;
    await db().write((tx) => audit(tx, Date.now(), ...stopped));
    const rollouts = text((await site.admin.get(`${path}?kind=rollout.`)).html);
    expect(rollouts).toContain(`rollout stopped dogs 2 group gates ${kind}`);
    expect(rollouts).toContain("device old one");
    expect(text((await site.admin.get(`${path}?subject=%25`)).html)).toContain("No rows match.");
    expect(text((await site.admin.get(`${path}?subject=${site.hub.admin.email}`)).html)).toContain("adopt key");
    expect((await site.admin.post(path, { ...form, days: "3" })).status).toBe(400);
    expect(await said(await site.admin.post(path, { ...form, days: "365" }))).toBe("Deleted 1 row.");
    expect(text((await site.admin.get(`${path}?subject=old+one`)).html)).toContain("No rows match.");
    const rows = await db().all<{ action: string }>("SELECT action FROM audit WHERE team_id = ?", [site.hub.team.id]);
    expect(rows.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["key.created", "member.joined", "audit.deleted"]),
    );
  });

  it("are no stranger's", async () => {
    const agent = await Agent.enrol(site.hub, undefined, { name: "ours" });
    const other = await site.hub.makeTeam("Strangers", []);
    for (const path of [`/devices/${agent.id}`, "/groups", "/adopt-keys", "/audit"])
      expect((await site.admin.get(`/teams/${other.team.id}${path}`)).status).toBe(404);
    expect((await site.admin.get(`${site.base}/devices/nothing`)).status).toBe(404);
    expect((await site.admin.post(`${site.base}/devices/nothing/revoke`, form)).status).toBe(404);
  });
});
