/** Checks of every page: own forms, own sessions, own script, and methods. */
import { request } from "node:http";
import { expect, it } from "vitest";
import { password, Person, onDatabases } from "../support/hub.ts";
import { useSignedInHub } from "../support/signed-in.ts";

onDatabases("pages", (kind) => {
  const site = useSignedInHub(kind);
  const keys = () =>
    site.hub.storage.db.all<{ id: string }>("SELECT id FROM api_keys WHERE team_id = ?", [site.hub.team.id]);
  const newKey = (person: Person) => person.formOf(`${site.base}/settings`, `${site.base}/keys`);

  it("take forms only from themselves (13)", async () => {
    const before = (await keys()).length;
    const good = await newKey(site.admin);
    const refused: [string, Record<string, string>, Record<string, string | undefined>][] = [
      ["another site", good, { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
      ["a sandboxed page", good, { origin: "null" }],
      ["no origin", good, { origin: undefined }],
      ["a sister host", good, { "sec-fetch-site": "same-site" }],
      ["another port", good, { origin: site.hub.url.replace(/\d+$/, "1") }],
      ["no csrf", { nonce: good["nonce"]! }, {}],
      ["wrong csrf", { ...good, csrf: "x" }, {}],
      ["no nonce", { csrf: good["csrf"]! }, {}],
      ["invented nonce", { ...good, nonce: "abc.def" }, {}],
    ];
    for (const [name, form, headers] of refused)
      expect([name, (await site.admin.post(`${site.base}/keys`, form, headers)).status]).toEqual([name, 403]);
    const asText = await fetch(`${site.hub.url}${site.base}/keys`, {
      method: "POST",
      body: new URLSearchParams(good).toString(),
      headers: { "content-type": "text/plain", origin: site.hub.url, cookie: site.admin.cookie! },
    });
    expect(asText.status).toBe(415);
    expect((await site.admin.post("/sign-out", {}, { origin: "https://evil.example" })).status).toBe(403);
    expect(
      (
        await new Person(site.hub.url).post(
          "/sign-in",
          { email: site.hub.admin.email, password },
          { origin: "https://evil.example" },
        )
      ).status,
    ).toBe(403);
    expect(await keys()).toHaveLength(before);
    expect((await site.admin.get(`${site.base}/settings`)).status).toBe(200);
  });

  it("take no form of another session, not even of the same person", async () => {
    const other = new Person(site.hub.url);
    await other.signIn(site.hub.admin.email);
    const [mine, theirs] = [await newKey(site.admin), await newKey(other)];
    expect((await site.admin.post(`${site.base}/keys`, theirs)).status).toBe(403);
    expect((await site.admin.post(`${site.base}/keys`, { ...mine, nonce: theirs["nonce"]! })).status).toBe(403);
  });

  it("take no one-time mark of another form or another team", async () => {
    const mine = await newKey(site.admin);
    const adopt = await site.admin.formOf(`${site.base}/adopt-keys`, `${site.base}/adopt-keys`);
    expect(adopt["nonce"]).toMatch(/./);
    const wrong = { ...mine, nonce: adopt["nonce"]! };
    expect((await site.admin.post(`${site.base}/keys`, wrong)).status).toBe(403);
    expect((await site.admin.post(`${site.base}/keys`, mine)).status).toBe(201);
  });

  it("escape what people write, and allow no script but their own (16)", async () => {
    const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;
    const team = await site.hub.makeTeam(evil.slice(0, 100), [evil, "</strong>{{7*7}}"]);
    const person = new Person(site.hub.url);
    await person.signIn(team.admin.email);
    for (const path of ["devices", "settings", "members"]) {
      const { html, headers } = await person.get(`/teams/${team.team.id}/${path}`);
      expect(html).not.toMatch(/<script>alert|<img src=x/);
      expect(html).not.toMatch(/<script(?! src="\/app\.js" defer="">)/);
      // The page has no event handler and no inline style: the hostile name is only text.
      expect(html.replaceAll("onerror=alert(1)", "")).not.toMatch(/ on[a-z]+=|javascript:|<style| style=/i);
      const csp = headers.get("content-security-policy")!;
      expect(csp).toContain("default-src 'none'");
      expect(csp).toContain("script-src 'self'");
      expect(csp).not.toMatch(/unsafe|\*|nonce-/);
    }
    const bad = await person.post("/sign-in", { email: evil, password: "x" });
    expect(bad.html).not.toMatch(/<script>alert|<img src=x/);
  });

  it("say what is missing, without a stack", async () => {
    expect((await site.admin.get("/no/such/page")).status).toBe(404);
    expect((await site.admin.get("/teams/none/devices")).status).toBe(404);
    const form = await site.admin.formOf(`${site.base}/devices`, `${site.base}/devices`);
    expect((await site.admin.get(`${site.base}/devices?after=%00`)).status).toBe(404);
    for (const path of ["devices/%00/rename", "devices/%00/remove", "members/%00/remove"])
      expect([path, (await site.admin.post(`${site.base}/${path}`, { ...form, name: "x" })).status]).toEqual([
        path,
        404,
      ]);
  });

  it("take GET, HEAD and POST, and call other methods by their name", async () => {
    for (const [method, path, allow] of [
      ["PUT", "/sign-in", "GET, HEAD, POST"],
      ["OPTIONS", "/", "GET, HEAD, POST"],
      // A `Request` cannot have this method.
      ["TRACE", "/sign-in", "GET, HEAD, POST"],
      ["POST", "/app.css", "GET, HEAD"],
    ] as const) {
      const answer = await new Promise<{ status: number | undefined; allow: string | undefined; text: string }>(
        (resolve, reject) => {
          const sent = request(site.hub.url + path, { method }, (response) => {
            let text = "";
            response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
            response.on("end", () => resolve({ status: response.statusCode, allow: response.headers.allow, text }));
          });
          sent.on("error", reject).end();
        },
      );
      expect([method, answer.status, answer.allow]).toEqual([method, 405, allow]);
      expect(answer.text).toContain(`got ${method}, expected GET or HEAD`);
    }
  });
});
