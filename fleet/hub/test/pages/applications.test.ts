/** The pages of applications and snaps, without a browser. */
import { expect, it } from "vitest";
import { createApp, saveVersion } from "../../src/nouns/application.ts";
import { assign } from "../../src/nouns/assignment.ts";
import { resolveDesired } from "../../src/nouns/desired.ts";
import { addToGroup, createGroup } from "../../src/nouns/group.ts";
import { adoptKey, Agent } from "../support/agent.ts";
import { Person, onDatabases } from "../support/hub.ts";
import { png } from "../support/pictures.ts";
import { useSignedInHub } from "../support/signed-in.ts";
import { sendSnap } from "../support/snaps.ts";

const CONFIG = `{"family": "yolov8", "classes": 2, "inputSize": [320, 320]}`;

onDatabases("pages of applications", (kind) => {
  const site = useSignedInHub(kind);
  const said = site.follow;

  it("compare a version first, and show what the devices say", async () => {
    const { admin, base, hub } = site;
    const { db } = hub.storage;
    const change = { now: Date.now(), actor: "test", teamId: hub.team.id };
    const agent = await Agent.enrol(hub);
    const group = await createGroup(db, change, "Shadows");
    await addToGroup(db, change, group.id, [agent.id]);
    const app = await createApp(db, { now: Date.now(), actor: "test", teamId: hub.team.id }, { name: "Shadowed" });
    for (const threshold of [0.1, 0.2]) {
      const content = { config: { confidence_threshold: threshold }, options: {}, model: null, snaps: [] };
      await saveVersion(db, { now: Date.now(), actor: "test", teamId: hub.team.id }, app.id, {
        content,
        description: "",
      });
    }
    const page = `${base}/apps/${app.id}`;
    const give = async (version: number, fields: object): Promise<string | undefined> => {
      const form = await admin.formOf(`${page}/versions/${version}`, `${page}/assign`);
      return (await said(await admin.post(`${page}/assign`, { ...form, target: `group:${group.id}`, ...fields })))[1];
    };
    await give(1, { share: "100" });
    const text = await give(2, { steps: "10 100", shadow: "yes", "shadow-frames": "50" });
    expect(text).toBe("Some devices of Shadows compare version 2 with what they run.");
    const before = (await admin.get(page)).html;
    expect(before).toMatch(
      /roll-out of version 2 in shadow on 1\u00a0%.*agree, from [-\d]+ [\d:]+ UTC on.*0 of 1 device reported.*0, 50 are needed/s,
    );
    const { json } = await agent.ask("/device/shadow", { method: "GET" });
    const boxes = { frames: 20, empty: 4, matched: 30, changed: 5, only_old: 10, only_new: 5 };
    const pairs = { confidence: { old: 0.8, new: 0.7 }, memory: { old: 1e8, new: 2e8 } };
    const times = { decode_ms: { old: 1, new: 2 }, frame_ms: { old: 50, new: 55 } };
    const names = { rollout: json.rollout, version: json.etag, against: json.against };
    await agent.beat({ shadow: { ...names, state: "comparing", ...boxes, ...pairs, ...times } });
    const after = (await admin.get(page)).html;
    for (const shown of ["16, 50 are needed", "60.0 %, 95 % are needed", "110.0 % of before", "0.800 before"])
      expect(after).toContain(shown);
    await agent.beat({ shadow: { ...names, state: "comparing", ...boxes, ...pairs, ...times, frames: 1e12 } });
    expect((await admin.get(page)).html).toMatch(
      /frames: got 1000000000000, expected a whole number from 0 to 1000000/,
    );
  });

  it("show how many devices of a group use its version, without a roll-out too", async () => {
    const { admin, base, hub } = site;
    const { db } = hub.storage;
    const change = { now: Date.now(), actor: "test", teamId: hub.team.id };
    const group = await createGroup(db, change, "Counted");
    const [first, second] = [await Agent.enrol(hub), await Agent.enrol(hub)];
    await addToGroup(db, change, group.id, [first.id, second.id]);
    const app = await createApp(db, change, { name: "Counted" });
    const content = { config: {}, options: {}, model: null, snaps: [] };
    await saveVersion(db, change, app.id, { content, description: "" });
    await assign(db, change, { target: { kind: "group", id: group.id }, appId: app.id, version: 1 });
    const page = async () => (await admin.get(`${base}/apps/${app.id}`)).html.replace(/<[^>]*>/g, "");
    expect(await page()).toMatch(
      /version 10 of 2 devices use it; 2 without a report yet, 2 of them offline(?!; stops)/,
    );
    const version = (await resolveDesired(db, hub.team.id)).get(first.id)!.etag;
    const error = { code: "shape", message: "no" };
    await first.ask("/device/report", { json: { version, state: "applied" } });
    await second.ask("/device/report", { json: { version, state: "failed", error } });
    expect(await page()).toMatch(/version 11 of 2 devices use it; 1 cannot use it(?!; stops)/);
  });

  it("make an application, check and save versions, give them, and take them back", async () => {
    const { admin, base, hub } = site;
    const change = { now: Date.now(), actor: "test", teamId: hub.team.id };
    const group = await createGroup(hub.storage.db, change, "Gates");
    const list = await admin.formOf(`${base}/apps`, `${base}/apps`);
    const made = await admin.post(`${base}/apps`, { ...list, name: "Gate people" });
    const [edit] = await said(made);
    expect(edit).toMatch(/\/apps\/[0-9a-f-]{36}\/edit$/);
    const app = edit.replace(/\/edit$/, "");
    expect((await admin.post(`${base}/apps`, { ...list, name: "gate PEOPLE" })).html).toContain(
      "identifier gate-people",
    );

    const form = { ...(await admin.formOf(edit, edit)), options: "", snaps: "", model: "" };
    const wrong = await admin.post(edit, { ...form, config: `{"family": "yolov99"}`, do: "check" });
    expect([wrong.status, wrong.html]).toEqual([200, expect.stringMatching(/role="alert".*yolov99/s)]);
    expect((await admin.post(edit, { ...form, config: "{", do: "save" })).status).toBe(400);
    const checked = await admin.post(edit, { ...form, config: CONFIG, do: "check" });
    expect(checked.html).toContain("What boxwright makes of it");
    const saved = await said(await admin.post(edit, { ...form, config: CONFIG, do: "save" }));
    expect(saved).toEqual([`${app}/versions/1`, "Saved as version 1."]);
    // A form that was opened before cannot overwrite it.
    const late = await admin.post(edit, { ...form, config: CONFIG.replace("2", "3"), do: "save" });
    expect([late.status, late.html]).toEqual([409, expect.stringContaining("Somebody saved version 1 meanwhile")]);
    const next = { ...(await admin.formOf(edit, edit)), options: "", snaps: "", model: "" };
    const changed = await admin.post(edit, { ...next, config: CONFIG.replace("2", "3"), do: "check" });
    expect(changed.html).toMatch(/<del>-\s+&quot;classes&quot;: 2,\n<\/del><ins>\+\s+&quot;classes&quot;: 3,\n<\/ins>/);
    await admin.post(edit, { ...next, config: CONFIG.replace("2", "3"), do: "save" });

    const give = await admin.formOf(`${app}/versions/2`, `${app}/assign`);
    expect(
      await said(await admin.post(`${app}/assign`, { ...give, target: `group:${group.id}`, share: "100" })),
    ).toEqual([...[app, "Version 2 goes to Gates."]]);
    expect((await admin.post(`${app}/assign`, { ...give, device: "nobody" })).html).toContain("no device of this name");
    const page = (await admin.get(app)).html;
    expect(page).toMatch(/Group Gates.*version 2/s);
    expect((await admin.post(`${app}/assign`, { ...give, target: `group:${group.id}`, revision: "0" })).status).toBe(
      409,
    );
    const steps = { ...give, steps: "10, 50 100", success: "80", target: `group:${group.id}` };
    expect((await admin.post(`${app}/assign`, { ...steps, steps: "50, x" })).status).toBe(400);
    expect((await said(await admin.post(`${app}/assign`, steps)))[1]).toBe("Version 2 goes to 10 % of Gates.");
    const rollout = (await admin.get(app)).html;
    expect(rollout).toMatch(/stops at 5 devices and 5 % that cannot use it; goes to 50 % once 80 % use it, from 20/);
    expect(rollout).toContain("Widen to 50 %");
    const taken = await admin.formOf(app, `${app}/unassign`);
    expect((await said(await admin.post(`${app}/unassign`, taken)))[1]).toMatch(/^Taken away/);
    expect((await said(await admin.post(`${app}/remove`, { csrf: give["csrf"]! })))[0]).toBe(`${base}/apps`);
    expect((await admin.get(app)).status).toBe(404);
  });

  it("show nothing of another team, and take nothing from it", async () => {
    const { hub } = site;
    const other = await hub.makeTeam("Strangers", []);
    const stranger = new Person(hub.url);
    await stranger.signIn(other.admin.email);
    const agent = await Agent.enrol(hub);
    const snap = await sendSnap(agent, [png(8, 8, [1, 2, 3])], { tags: ["<b>bold</b>"] });
    const mine = await site.admin.get(`${site.base}/snaps/${snap}`);
    const file = /src="([^"]*\/files\/[^"]*)"/.exec(mine.html)![1]!;
    expect(mine.html).toContain("&lt;b&gt;bold&lt;/b&gt;");
    expect((await stranger.get(`${site.base}/snaps`)).status).toBe(404);
    expect((await stranger.get(file)).status).toBe(404);
    const own = `/teams/${other.team.id}`;
    expect((await stranger.get(file.replace(site.base, own))).status).toBe(404);
    expect((await stranger.get(`${own}/snaps/${snap}`)).status).toBe(404);
    const picture = await fetch(hub.url + file, { headers: { cookie: site.admin.cookie! } });
    expect(Object.fromEntries(picture.headers)).toMatchObject({
      ...{ "content-type": "image/png", "x-content-type-options": "nosniff", "cache-control": "private, no-cache" },
      "content-security-policy": "default-src 'none'; sandbox",
    });
    expect((await fetch(hub.url + file)).status).toBe(404);
    const form = await site.admin.formOf(`${site.base}/snaps/${snap}?delete=yes`, `${site.base}/snaps/${snap}/delete`);
    expect((await said(await site.admin.post(`${site.base}/snaps/${snap}/delete`, form)))[1]).toContain("Deleted");
    expect((await fetch(hub.url + file, { headers: { cookie: site.admin.cookie! } })).status).toBe(404);
  });

  it("take a model file only with the mark of the page", async () => {
    const { hub, admin } = site;
    const path = `${hub.url}${site.base}/models/${"a".repeat(64)}?name=x.onnx`;
    const form = await admin.formOf(`${site.base}/apps`, `${site.base}/apps`);
    const put = (headers: Record<string, string>) =>
      fetch(path, { method: "PUT", body: "bytes", headers: { cookie: admin.cookie!, ...headers } });
    const good = { origin: hub.url, "x-hub-csrf": form["csrf"]! };
    expect((await put({})).status).toBe(403);
    expect((await put({ ...good, origin: "https://evil.example" })).status).toBe(403);
    expect((await put({ ...good, "x-hub-csrf": "x" })).status).toBe(403);
    expect((await put(good)).status).toBe(422);
    expect((await fetch(path, { method: "PUT", body: "bytes", headers: good })).status).toBe(404);
  });

  it("find snaps by device, name and tag, in pages", async () => {
    const { hub } = site;
    const team = await hub.makeTeam("Many snaps", []);
    const person = new Person(hub.url);
    await person.signIn(team.admin.email);
    const key = await adoptKey(hub, {}, team.team.id);
    const [one, two] = [await Agent.enrol(hub, key), await Agent.enrol(hub, key)];
    const base = `/teams/${team.team.id}/snaps`;
    expect((await person.get(base)).html).toContain("No snaps yet");
    for (let i = 0; i < 30; i++)
      await sendSnap(i % 2 ? one : two, [png(4, 4, [i, 0, 9])], { name: `n${i % 3}`, tags: i === 7 ? ["rare"] : [] });
    const count = async (path: string): Promise<number> =>
      (await person.get(path)).html.split('class="snap small"').length - 1;
    const first = (await person.get(base)).html;
    const next = /href="([^"]*)" rel="next"/.exec(first)![1]!.replaceAll("&amp;", "&");
    expect([await count(base), await count(next)]).toEqual([24, 6]);
    expect(await count(`${base}?device=${one.id}`)).toBe(15);
    expect(await count(`${base}?name=n1`)).toBe(10);
    expect(await count(`${base}?tag=rare`)).toBe(1);
    expect(await count(`${base}?tag=none&after=x`)).toBe(0);
  });
});
