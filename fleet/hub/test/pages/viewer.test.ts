/** A viewer sees every page and changes nothing, whatever is sent. And the audit as a file. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readAudit } from "../../src/nouns/audit.ts";
import { listDevices } from "../../src/nouns/device.ts";
import { setRole } from "../../src/nouns/team.ts";
import { Person, onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

const pages = new URL("../../src/pages/", import.meta.url);
/** Every path of a team that the source of pages names: a new one cannot be forgotten. */
const paths = readdirSync(pages)
  .map((name) => readFileSync(new URL(name, pages), "utf8"))
  .flatMap((text) => {
    const base = /const base = "([^"]*)"/.exec(text)?.[1] ?? "";
    return [...text.matchAll(/["`]((?:\/teams\/:team|\$\{base\})[^"`]*)["`]/g)].map((match) =>
      match[1]!.replace("${base}", base),
    );
  })
  .filter((path) => /^\/teams\/:team\/[\w/:-]+$/.test(path));

onDatabases("a viewer", (kind) => {
  const site = useSignedInHub(kind);

  it("gets 403 for every change that a page of the team takes, and changes nothing", async () => {
    const { hub } = site;
    const { db } = hub.storage;
    const user = await hub.makeUser(`viewer-${kind}@example.org`, hub.team.id, "viewer");
    const viewer = new Person(hub.url);
    await viewer.signIn(user.email);
    const [device] = await listDevices(db, hub.team.id);
    const mark = await viewer.formOf("/account", "/sign-out");
    const before = (await readAudit(db, 1000, hub.team.id)).length;
    expect(paths.length).toBeGreaterThan(40);
    for (const pattern of new Set(paths)) {
      const path = pattern
        .replace(":team", hub.team.id)
        .replace(":device", device!.id)
        .replace(/:(user)\b/, hub.admin.id)
        .replace(/:\w+/g, "x");
      const fields = { ...mark, name: "changed", role: "admin", device: device!.id, devices: device!.id, minutes: "5" };
      const { status } = await viewer.post(path, fields);
      // A path that takes no form is not found or not allowed; one of a script refuses what a form sends.
      expect([pattern, [403, 404, 405].includes(status)]).toEqual([pattern, true]);
    }
    expect((await viewer.post(`${site.base}/devices`, { ...mark, name: "changed" })).html).toContain(
      "You are a viewer",
    );
    expect((await readAudit(db, 1000, hub.team.id)).length).toBe(before);
    for (const page of ["devices", "apps", "models", "snaps", "groups", "alerts", "settings", "members", "audit"])
      expect([page, (await viewer.get(`${site.base}/${page}`)).status]).toEqual([page, 200]);
    // With the role of a member, the same form works at once.
    await setRole(db, { now: Date.now(), actor: "test", teamId: hub.team.id }, user.email, "member");
    expect((await viewer.post(`${site.base}/devices`, { ...mark, name: "changed" })).status).toBe(303);
  });

  it("is invited and named by an administrator alone", async () => {
    const page = `${site.base}/members`;
    const form = await site.admin.formOf(page, page);
    const invited = await site.admin.post(page, { ...form, email: `new-${kind}@example.org`, role: "viewer" });
    expect([invited.status, invited.html]).toEqual([201, expect.stringContaining("Viewer, invited by")]);
    expect((await site.admin.post(page, { ...form, email: "a@example.org", role: "owner" })).status).toBe(400);
  });

  it("and everybody of the team gets the audit as JSON lines, the oldest first; others do not", async () => {
    const answer = await site.admin.get(`${site.base}/audit/lines`);
    expect(answer.headers.get("content-type")).toContain("application/x-ndjson");
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="audit-[\d-]+\.jsonl"$/);
    const rows = answer.html
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; at: string });
    const all = await readAudit(site.hub.storage.db, 1000, site.hub.team.id);
    expect(rows.map(({ id }) => id)).toEqual(all.map(({ id }) => id).reverse());
    expect(rows[0]).toMatchObject({
      action: "team.created",
      team_id: site.hub.team.id,
      at: expect.stringMatching(/Z$/),
    });
    const other = await site.hub.makeTeam("Other", []);
    const person = new Person(site.hub.url);
    await person.signIn(other.admin.email);
    expect((await person.get(`${site.base}/audit/lines`)).status).toBe(404);
    expect((await new Person(site.hub.url).get(`${site.base}/audit/lines`)).status).toBe(404);
  });
});
