/** The page of alerts, and the section of a device. */
import { expect, it } from "vitest";
import { addDevices } from "../../src/nouns/device.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { setDeviceTags } from "../../src/nouns/device-tag.ts";
import { createGroup } from "../../src/nouns/group.ts";
import { createChannel, deleteChannel } from "../../src/nouns/alert-channel.ts";
import { createRule, deleteRule, listRules } from "../../src/nouns/alert-rule.ts";
import { Person, onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

onDatabases("the page of alerts", (kind) => {
  const site = useSignedInHub(kind);
  const { follow } = site;

  it("makes and deletes rules, and silences them", async () => {
    const page = `${site.base}/alerts`;
    expect((await site.admin.get(page)).html).toContain("No rule watches anything yet.");
    const form = await site.admin.formOf(page, `${page}/rules`);
    expect(await follow(await site.admin.post(`${page}/rules`, { ...form, kind: "device_offline" }))).toEqual([
      ...[page, "Watching: Device offline for 5 minutes."],
    ]);
    expect((await site.admin.get(page)).html).toContain("Nothing is wrong.");
    const wrong = await site.admin.post(`${page}/rules`, { ...form, kind: "spool_full", threshold: "x" });
    expect([wrong.status, wrong.html]).toEqual([400, expect.stringContaining("Enter 1 to 100 per cent.")]);
    expect((await site.admin.post(`${page}/rules`, { ...form, kind: "toString" })).status).toBe(400);
    const [, id] = /rules\/([^/"]+)\/remove/.exec((await site.admin.get(page)).html)!;
    const silent = `${page}/rules/${id}/silence`;
    const [, said] = await follow(await site.admin.post(silent, { ...form, minutes: "60" }));
    expect(said).toContain("Silenced.");
    expect((await site.admin.get(page)).html).toMatch(/Silenced, ends <time[^>]*>in 1 hour</);
    expect((await follow(await site.admin.post(silent, { ...form, minutes: "0" })))[1]).toContain("told again");
    expect((await site.admin.post(silent, { ...form, minutes: "-5" })).status).toBe(400);
    expect((await follow(await site.admin.post(`${page}/rules/${id}/remove`, form)))[1]).toContain("Deleted");
    expect((await site.admin.post(`${page}/rules/${id}/remove`, form)).status).toBe(404);
  });

  it("says that a rule of less than three heartbeats waits for three heartbeats", async () => {
    const { team, admin } = await site.hub.makeTeam("Quick", []);
    const change = { now: Date.now(), actor: "test", teamId: team.id };
    for (const threshold of [1, 2])
      await createRule(site.hub.storage.db, change, { kind: "device_offline", threshold });
    const person = new Person(site.hub.url);
    await person.signIn(admin.email);
    const { html } = await person.get(`/teams/${team.id}/alerts`);
    expect(html).toMatch(/for 1 minute<.*?every channel; waits 90 s, three heartbeats; nothing open/s);
    expect(html).toMatch(/for 2 minutes<.*?every channel; nothing open/s);
  });

  it("changes a rule in place, with its values in the form, and renames a channel", async () => {
    const page = `${site.base}/alerts`;
    const { db } = site.hub.storage;
    const change = { now: Date.now(), actor: "test", teamId: site.hub.team.id };
    const limits = { webhookAddresses: "any", smtpUrl: undefined } as const;
    const { channel } = await createChannel(db, limits, change, { name: "night", webhook: "http://127.0.0.1:9/" });
    const rule = await createRule(db, change, { kind: "no_frames", tag: "gone", channelId: channel.id });
    const action = `${page}/rules/${rule.id}/change`;
    expect((await site.admin.get(page)).html).toContain(`?rule=${rule.id}`);
    const hidden = await site.admin.formOf(`${page}?rule=${rule.id}`, action);
    const { html } = await site.admin.get(`${page}?rule=${rule.id}`);
    expect(html).toMatch(/<input id="changed-threshold"[^>]* value="10"/);
    // No device has the tag, and the list names it all the same.
    expect(html).toMatch(/<option value="gone" selected/);
    expect(html).toMatch(new RegExp(`<option value="${channel.id}" selected`));
    const form = { ...hidden, tag: "gone", channel: channel.id };
    const wrong = await site.admin.post(action, { ...form, threshold: "0" });
    expect([wrong.status, wrong.html]).toEqual([400, expect.stringContaining("Enter 1 to 43200 minutes.")]);
    expect(wrong.html).toMatch(/<input id="changed-threshold"[^>]* value="0"/);
    expect(await follow(await site.admin.post(action, { ...form, threshold: "12" }))).toEqual([
      ...[page, "Watching: No frames for 12 minutes."],
    ]);
    expect((await listRules(db, site.hub.team.id)).find(({ id }) => id === rule.id)).toMatchObject({
      ...{ threshold: 12, tag: "gone", channel_id: channel.id },
    });
    const rename = `${page}/channels/${channel.id}/rename`;
    const naming = await site.admin.formOf(`${page}?channel=${channel.id}`, rename);
    expect((await site.admin.post(rename, { ...naming, name: " " })).status).toBe(400);
    expect((await follow(await site.admin.post(rename, { ...naming, name: "day" })))[1]).toBe("Renamed to day.");
    const member = await site.hub.makeUser(`rename-${kind}@example.org`, site.hub.team.id, "member");
    const person = new Person(site.hub.url);
    await person.signIn(member.email);
    const theirs = await person.formOf(page, `${page}/rules`);
    expect((await person.get(`${page}?channel=${channel.id}`)).html).not.toContain("/rename");
    expect((await person.post(rename, { ...theirs, name: "x" })).status).toBe(403);
    expect((await person.post(action, { ...theirs, threshold: "15" })).status).toBe(303);
    await deleteRule(db, change, rule.id);
    await deleteChannel(db, change, channel.id);
  });

  it("shows a webhook's secret once, and lets administrators alone add channels", async () => {
    const page = `${site.base}/alerts`;
    const form = await site.admin.formOf(page, `${page}/channels`);
    const fields = { ...form, name: "night", address: "https://example.org/hook?key=inpath" };
    const made = await site.admin.post(`${page}/channels`, fields);
    expect([made.status, /whsec_[\w+/]{43}=/.test(made.html)]).toEqual([201, true]);
    const { html } = await site.admin.get(page);
    expect(html).toContain("https://example.org");
    expect(html).not.toMatch(/whsec_|inpath/);
    const inside = await site.admin.post(`${page}/channels`, { ...fields, address: "http://127.0.0.1/" });
    expect([inside.status, inside.html]).toEqual([400, expect.stringContaining("HUB_WEBHOOK_ADDRESSES=any")]);
    expect(inside.html).toMatch(/<input id="channel-name"[^>]* value="night"/);
    expect(inside.html).toMatch(/<input id="channel-address"[^>]* value="http:\/\/127.0.0.1\/"/);
    expect((await site.admin.post(`${page}/channels`, { ...fields, address: "night@example.org" })).status).toBe(409);
    const member = await site.hub.makeUser(`alerts-${kind}@example.org`, site.hub.team.id, "member");
    const person = new Person(site.hub.url);
    await person.signIn(member.email);
    const theirs = await person.formOf(page, `${page}/rules`);
    expect((await person.post(`${page}/channels`, { ...fields, ...theirs })).status).toBe(403);
    const [, id] = /channels\/([^/"]+)\/test/.exec(html)!;
    expect((await person.post(`${page}/channels/${id}/remove`, theirs)).status).toBe(403);
    expect((await follow(await site.admin.post(`${page}/channels/${id}/remove`, form)))[1]).toBe("Deleted night.");
  });

  it("escapes names, and shows nothing of another team", async () => {
    const { db } = site.hub.storage;
    const hostile = '<img src=x onerror=alert(1)>"';
    const change = { now: Date.now(), actor: "test", teamId: site.hub.team.id };
    const limits = { webhookAddresses: "any", smtpUrl: undefined } as const;
    await createChannel(db, limits, change, { name: hostile, webhook: "http://127.0.0.1:9/" });
    const rule = await createRule(db, change, { kind: "version_failed", name: hostile });
    const [device] = await addDevices(db, Date.now(), site.hub.team.id, 1000, [{ name: hostile }]);
    await db.write((tx) =>
      tx.all(
        "INSERT INTO alerts (id, team_id, rule_id, rule_name, kind, subject, subject_name, began_at, hold_ms) VALUES ('a', ?, ?, ?, 'version_failed', ?, ?, 1, 1)",
        [site.hub.team.id, rule.id, hostile, device!.id, hostile],
      ),
    );
    for (const path of [`${site.base}/alerts`, `${site.base}/devices/${device!.id}`]) {
      const { html } = await site.admin.get(path);
      expect(html).not.toContain("<img src=x");
      expect(html).toContain("&lt;img src=x");
    }
    const other = await site.hub.makeTeam("Other", []);
    const person = new Person(site.hub.url);
    await person.signIn(other.admin.email);
    expect((await person.get(`${site.base}/alerts`)).status).toBe(404);
    expect((await person.get(`/teams/${other.team.id}/alerts`)).html).not.toContain("onerror");
  });

  it("silences a group and a tag, lists them by name, and ends it", async () => {
    const { db } = site.hub.storage;
    const page = `${site.base}/alerts`;
    const change = { now: Date.now(), actor: "test", teamId: site.hub.team.id };
    const { id } = await createGroup(db, change, "north <1>");
    const [device] = await addDevices(db, Date.now(), site.hub.team.id, 1000, [{ name: "tagged" }]);
    await setDeviceTags(db, change, device!.id, ["roof: west"]);
    const form = await site.admin.formOf(page, `${page}/silences`);
    for (const target of [`group:${id}`, "tag:roof: west", `device:${device!.id}`]) {
      const [, said] = await follow(await site.admin.post(`${page}/silences`, { ...form, target, minutes: "60" }));
      expect(said).toContain("Silenced.");
    }
    const { html } = await site.admin.get(page);
    for (const what of ["group north &lt;1&gt;", "tag roof: west", "device tagged"])
      expect(html).toContain(`End it: the silence of ${what}`);
    const ending = { ...form, target: "tag:roof: west", minutes: "0" };
    expect((await follow(await site.admin.post(`${page}/silences`, ending)))[1]).toContain("told again");
    expect((await site.admin.get(page)).html).not.toContain("the silence of tag");
    for (const [target, status] of [
      ["tag:nobody", 404],
      ["rule:x", 400],
      ["", 400],
      ["group:x", 404],
    ] as const)
      expect((await site.admin.post(`${page}/silences`, { ...form, target, minutes: "60" })).status).toBe(status);
    const [row] = (await readAudit(db, 1, site.hub.team.id)).map(({ action, subject }) => `${action} ${subject}`);
    expect(row).toBe("alert.silenced tag roof: west 0 minutes");
  });

  it("silences a device on its own page", async () => {
    const [device] = await addDevices(site.hub.storage.db, Date.now(), site.hub.team.id, 1000, [{ name: "lone" }]);
    const page = `${site.base}/devices/${device!.id}`;
    const form = await site.admin.formOf(page, `${page}/silence`);
    const [, said] = await follow(await site.admin.post(`${page}/silence`, { ...form, minutes: "480" }));
    expect(said).toBe("lone is silent. Its alerts are noted all the same.");
    expect((await site.admin.get(page)).html).toContain("Silenced, ends");
  });
});
