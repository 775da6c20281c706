/** The pages of devices. */
import { expect, it } from "vitest";
import { revokeDevice } from "../../src/nouns/credential.ts";
import { addDevices, listDevices } from "../../src/nouns/device.ts";
import { adoptKey, Agent } from "../support/agent.ts";
import { Person, placeOf, onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

onDatabases("devices", (kind) => {
  const site = useSignedInHub(kind);

  const { follow } = site;

  it("add, rename and remove devices, say what happened, and take a removal back", async () => {
    const list = `${site.base}/devices`;
    const form = await site.admin.formOf(list, list);
    expect(await follow(await site.admin.post(list, { ...form, name: "  west  " }))).toEqual([list, "Added west."]);
    const west = (await listDevices(site.hub.storage.db, site.hub.team.id)).find(({ name }) => name === "west")!;
    const rename = (name: string) => site.admin.post(`${list}/${west.id}/rename`, { ...form, name });
    expect(await follow(await rename("far west"))).toEqual([list, "Renamed to far west."]);
    const wrong = await rename("");
    expect([wrong.status, wrong.html]).toEqual([400, expect.stringContaining("Enter a name of 1 to 100 characters.")]);
    // The form stays open, with what was typed.
    expect((await rename("\u200b".repeat(3))).html).toMatch(/id="new-name"[^>]*value="\u200b{3}"/);
    expect((await site.admin.post(list, { ...form, name: "x".repeat(101) })).status).toBe(400);
    const removed = await site.admin.post(`${list}/${west.id}/remove`, form);
    expect(await follow(removed)).toEqual([list, "Removed far west."]);
    expect((await site.admin.post(`${list}/${west.id}/remove`, form)).status).toBe(404);
    const undo = await site.admin.formOf(removed.headers.get("location")!, `${list}/restore`);
    expect(await follow(await site.admin.post(`${list}/restore`, undo))).toEqual([list, "far west is back."]);
    const back = await listDevices(site.hub.storage.db, site.hub.team.id);
    expect(back).toContainEqual({ id: west.id, name: "far west" });
    // A second Undo changes nothing.
    expect((await site.admin.post(`${list}/restore`, undo)).status).toBe(409);
  });

  it("say only what the hub said", async () => {
    const list = `${site.base}/devices`;
    const form = await site.admin.formOf(list, list);
    const said = new URL((await site.admin.post(list, { ...form, name: "east" })).headers.get("location")!, "http://x");
    const text = said.searchParams.get("said")!;
    for (const [path, value] of [
      [list, `${Buffer.from('{"text":"Call 0123"}').toString("base64url")}.${text.split(".")[1]}`],
      [list, "x"],
      [`${site.base}/members`, text],
    ] as const) {
      const page = await site.admin.get(`${path}?said=${value}`);
      expect([path, page.status, page.html.includes('class="message')]).toEqual([path, 200, false]);
    }
    const other = new Person(site.hub.url);
    await other.signIn(site.hub.admin.email);
    expect((await other.get(`${list}?said=${text}`)).html).not.toContain("Added east");
  });

  it("are counted in one state each, and each number links to as many devices", async () => {
    const { team, admin } = await site.hub.makeTeam("Counted", []);
    const { db } = site.hub.storage;
    const on = await Agent.enrol(site.hub, await adoptKey(site.hub, {}, team.id), { name: "on" });
    await on.beat();
    await site.hub.running.app.heartbeats.flush(db);
    await Agent.enrol(site.hub, await adoptKey(site.hub, {}, team.id), { name: "off" });
    const gone = await Agent.enrol(site.hub, await adoptKey(site.hub, {}, team.id), { name: "gone" });
    await revokeDevice(db, { now: Date.now(), actor: "test", teamId: team.id }, gone);
    await addDevices(db, Date.now(), team.id, 1000, [{ name: "typed" }]);
    const person = new Person(site.hub.url);
    await person.signIn(admin.email);
    const { html } = await person.get(`/teams/${team.id}/devices`);
    const tally = /<ul class="tally".*?<\/ul>/s.exec(html)![0];
    const rows = [...tally.matchAll(/href="([^"]*)"><strong>(\d+)<\/strong> ([\w ]+)/g)].map(([, ...row]) => row);
    expect(rows.map(([, ...row]) => row)).toEqual([
      ...[
        ["1", "online"],
        ["1", "offline"],
        ["1", "never enrolled"],
        ["1", "revoked"],
      ],
    ]);
    for (const [address, count] of rows)
      expect((await person.get(address!.replaceAll("&amp;", "&"))).html).toContain(`${count} of 4 devices match`);
  });

  it("keep search and page in the address, and show a new device where it is", async () => {
    const many = await site.hub.makeTeam("Many", []);
    const list = `/teams/${many.team.id}/devices`;
    const names = Array.from({ length: 230 }, (_, i) => ({ name: `device number ${i};`, id: `d-${1000 + i}` }));
    await addDevices(site.hub.storage.db, Date.now(), many.team.id, 1000, names);
    const person = new Person(site.hub.url);
    await person.signIn(many.admin.email);
    const shown = (html: string) =>
      [...html.matchAll(/<strong>device number (\d+);/g)].map((match) => Number(match[1]));
    const seen: number[] = [];
    const next = (html: string) => /href="([^"]*)" rel="next"/.exec(html)?.[1]?.replaceAll("&amp;", "&");
    for (let path: string | undefined = list; path !== undefined;) {
      const { html }: { html: string } = await person.get(path);
      seen.push(...shown(html));
      path = next(html);
    }
    expect(seen).toEqual(names.map((_, i) => i));
    const second = (await person.get(`${list}?page=2`)).html;
    expect(second).toContain("230 devices, 101 to 200 on this page");
    expect(second).toMatch(new RegExp(`href="${list}" rel="prev"`));
    expect(shown((await person.get(`${list}?page=99`)).html)).toHaveLength(30);

    // Rename on a page comes back to that page, with the search.
    const form = await person.formOf(list, list);
    const renamed = await person.post(`${list}/d-1150/rename?q=number&page=2`, {
      ...form,
      name: "device number 150;",
    });
    expect(placeOf(renamed)).toBe(`${list}?q=number&page=2`);
    expect(renamed.headers.get("location")).toMatch(/#device-d-1150$/);
    // A device behind all others is on the last page.
    await addDevices(site.hub.storage.db, Date.now(), many.team.id, 1000, [{ name: "last", id: "z" }]);
    const removed = await person.post(`${list}/z/remove`, form);
    const undo = await person.formOf(removed.headers.get("location")!, `${list}/restore`);
    expect(placeOf(await person.post(`${list}/restore`, undo))).toBe(`${list}?page=3`);

    const found = (await person.get(`${list}?q=NUMBER%2012`)).html;
    expect(shown(found)).toEqual([12, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129]);
    expect(found).toContain("11 of 231 devices match");
    expect(shown((await person.get(`${list}?q=d-1007`)).html)).toEqual([7]);
  });
});
