/** Messages of pages when something cannot be done, and the address bar after a form. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/nouns/application.ts";
import { listDevices } from "../../src/nouns/device.ts";
import { Agent } from "../support/agent.ts";
import { Person, placeOf, onDatabases } from "../support/hub.ts";
import { png } from "../support/pictures.ts";
import { useSignedInHub } from "../support/signed-in.ts";
import { sendSnap } from "../support/snaps.ts";

const pages = new URL("../../src/pages/", import.meta.url);

/** Paths that a form is sent to, read from the source: a new one cannot be forgotten. */
const posted = readdirSync(pages)
  .map((name) => readFileSync(new URL(name, pages), "utf8"))
  .flatMap((text) => {
    const base = /const base = "([^"]*)"/.exec(text)?.[1] ?? "";
    return [...text.matchAll(/(?:router\.post|\bform)\(\s*(?:base|["`]([^"`]*)["`]),/g)].map((match) =>
      match[1] === undefined ? base : match[1].replace("${base}", base),
    );
  });

describe("the address bar after a form", () => {
  const site = useSignedInHub("sqlite");

  it("leads to the page that the form belongs to, for every form there is", async () => {
    expect(posted.length).toBeGreaterThan(13);
    const { db } = site.hub.storage;
    const [device] = await listDevices(db, site.hub.team.id);
    const app = await createApp(db, { now: Date.now(), actor: "test", teamId: site.hub.team.id }, { name: "gate" });
    const snap = await sendSnap(await Agent.enrol(site.hub), [png(4, 4, [1, 1, 1])]);
    for (const pattern of posted) {
      const path = pattern
        .replace(":team", site.hub.team.id)
        .replace(":device", device!.id)
        .replace(":app", app.id)
        .replace(":snap", snap)
        .replace(":group", "x")
        .replace(":key", "x")
        .replace(":rule", "x")
        .replace(":channel", "x")
        .replace(":user", site.hub.admin.id)
        .replace(":invitation", "x");
      if (pattern === "/link/:token") continue;
      const answer = await site.admin.get(path);
      if (answer.status === 303) {
        const place = placeOf(answer);
        expect([pattern, place]).toEqual([
          pattern,
          expect.stringMatching(
            /^\/($|teams\/[^/]*\/(devices|groups|apps|models|snaps|adopt-keys|settings|members|alerts))/,
          ),
        ]);
        expect([pattern, (await site.admin.get(place)).status === 404]).toEqual([pattern, false]);
      } else expect([pattern, answer.status]).toEqual([pattern, 200]);
    }
  });

  it("shows no key, and keeps the row that the form was for", async () => {
    const settings = `${site.base}/settings`;
    const form = await site.admin.formOf(settings, `${site.base}/keys`);
    const key = /hub_\w{12}_\w{38}/.exec((await site.admin.post(`${site.base}/keys`, form)).html)![0];
    const answer = await site.admin.get(`${site.base}/keys`);
    expect([answer.status, placeOf(answer)]).toEqual([303, settings]);
    expect((await site.admin.get(settings)).html).not.toContain(key.slice(4));
    // A part of a path may hold anything. A header may not.
    for (const id of ["%0d%0aSet-Cookie:%20a=b", "%E6%B8%A9", "%22%3E%3Cscript%3E"]) {
      const { status, headers } = await site.admin.get(`${site.base}/devices/${id}/remove`);
      expect([id, status, headers.get("set-cookie")]).toEqual([id, 303, null]);
    }
    expect(placeOf(await site.admin.get(`${site.base}/devices/abc/rename?q=x&page=2`))).toBe(
      `${site.base}/devices?q=x&page=2&rename=abc`,
    );
  });
});

onDatabases("messages of pages", (kind) => {
  const site = useSignedInHub(kind);

  it("are in people's words", async () => {
    const { admin, hub, base } = site;
    const form = await admin.formOf(`${base}/devices`, `${base}/devices`);
    const member = await hub.makeUser(`member-${kind}@example.org`, hub.team.id, "member");
    const person = new Person(hub.url);
    await person.signIn(member.email);
    const theirs = await person.formOf(`${base}/devices`, "/sign-out");
    const post = async (who: Person, path: string, fields: Record<string, string>, headers = {}) =>
      (await who.post(path, { ...(who === admin ? form : theirs), ...fields }, headers)).html;
    const shown: [string, string][] = [
      [await post(admin, `${base}/devices`, { name: "" }), "Enter a name of 1 to 100 characters."],
      [await post(admin, `${base}/devices`, { name: "x".repeat(134) }), "characters. This one has 134."],
      [await post(admin, `${base}/devices`, { name: "a\nb" }), "Enter a name without line breaks"],
      [await post(admin, `${base}/devices`, { name: "\u200b" }), "Enter a name that can be seen."],
      [await post(admin, `${base}/devices/none/rename`, { name: "a" }), "This device is not in the team any more."],
      [await post(admin, `${base}/devices/none/remove`, {}), "This device is not in the team any more."],
      [await post(admin, `${base}/settings`, { name: "" }), "Enter a name of 1 to 100 characters."],
      [await post(admin, `${base}/members`, { email: "x" }), "Enter an email address like name@example.org."],
      [await post(admin, `${base}/members`, { email: "x@example.org", role: "owner" }), "Choose a role"],
      [await post(admin, `${base}/members`, { email: member.email, role: "member" }), "is in the team already."],
      [await post(admin, `${base}/members/none/remove`, {}), "This person is not in the team any more."],
      [await post(admin, `${base}/members/none/role`, { role: "admin" }), "This person is not in the team any more."],
      [await post(person, `${base}/settings`, { name: "a" }), "Only administrators of the team can do this."],
      [await post(admin, `${base}/devices`, { csrf: "x" }), "Reload the page and try again."],
      [await post(admin, `${base}/devices`, { name: "x".repeat(9000) }), "What you entered is too long."],
      [await post(admin, `${base}/devices`, {}, { origin: "https://evil.example" }), "takes forms only from"],
      [await post(admin, "/account", { current: "x" }), "This is not the current password."],
    ];
    for (const [html, sentence] of shown) {
      const message = /role="alert">(.*?)<\/div>/s.exec(html)?.[1]?.replaceAll("<wbr/>", "") ?? html;
      expect(message).toContain(sentence);
      expect(message).not.toMatch(/\bgot\b|\bexpected\b/i);
    }
  });
});
