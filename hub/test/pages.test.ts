/** The web interface through its forms. In a real browser: chromium.test.ts. Numbers in brackets: the threat model. */
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { dirname } from "node:path";
import { gunzipSync } from "node:zlib";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { backup } from "../src/backup/dump.ts";
import { readAudit } from "../src/nouns/audit.ts";
import { addDevices, listDevices } from "../src/nouns/device.ts";
import { membersOf } from "../src/nouns/team.ts";
import { invite, resetLink } from "../src/nouns/user.ts";
import { Passwords } from "../src/auth/password.ts";
import { keyOn, kinds, LIST, password, Person, startHub, temporaryFolder, type TestHub } from "./support/hub.ts";

/** Bytes of a form. */
const MAX_FORM = 8192;

// A test signs in a dozen times, and passwords are slow on purpose. Beside other files on two slow cores, that took 30
// s.

for (const { kind, skip } of kinds) {
  describe.skipIf(skip)(`pages on ${kind}`, () => {
    let hub: TestHub;
    let admin: Person;
    let base: string;
    beforeAll(async () => {
      hub = await startHub({ kind });
      admin = new Person(hub.url);
      expect(await admin.signIn(hub.admin.email)).toBe(303);
      base = `/teams/${hub.team.id}`;
    });
    afterAll(() => hub.stop());
    const keys = () => hub.storage.db.all<{ id: string }>("SELECT id FROM api_keys WHERE team_id = ?", [hub.team.id]);
    const newKey = (person: Person) => person.formOf(`${base}/settings`, `${base}/keys`);

    it("make a key, show it once, and it works", async () => {
      const form = await newKey(admin);
      const made = await admin.post(`${base}/keys`, form);
      expect(made.status).toBe(201);
      const key = keyOn(made.html)!;
      expect((await hub.query(LIST, key)).json.data.team.devices.nodes).toHaveLength(2);
      expect(made.headers.get("cache-control")).toBe("no-store");
      const before = (await keys()).length;
      const again = await admin.post(`${base}/keys`, form);
      expect(again.status).toBe(409);
      expect(keyOn(again.html)).toBeUndefined();
      expect(await keys()).toHaveLength(before);
      for (const path of [`${base}/settings`, `${base}/keys`, `${base}/devices`, `${base}/members`])
        expect((await admin.get(path)).html).not.toContain(key.slice(4, 16));
      expect((await readAudit(hub.storage.db, 1, hub.team.id))[0]).toMatchObject({
        action: "key.created",
        actor: hub.admin.email,
        subject: key.slice(4, 16),
      });
    });

    it("make exactly one key of a double click (13)", async () => {
      const before = (await keys()).length;
      const form = await newKey(admin);
      const answers = await Promise.all(Array.from({ length: 5 }, () => admin.post(`${base}/keys`, form)));
      expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409]);
      expect(await keys()).toHaveLength(before + 1);
    });

    it("take forms only from themselves (13)", async () => {
      const before = (await keys()).length;
      const good = await newKey(admin);
      const refused: [string, Record<string, string>, Record<string, string | undefined>][] = [
        ["another site", good, { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
        ["a sandboxed page", good, { origin: "null" }],
        ["no origin", good, { origin: undefined }],
        ["a sister host", good, { "sec-fetch-site": "same-site" }],
        ["another port", good, { origin: hub.url.replace(/\d+$/, "1") }],
        ["no csrf", { nonce: good["nonce"]! }, {}],
        ["wrong csrf", { ...good, csrf: "x" }, {}],
        ["no nonce", { csrf: good["csrf"]! }, {}],
        ["invented nonce", { ...good, nonce: "abc.def" }, {}],
      ];
      for (const [name, form, headers] of refused)
        expect([name, (await admin.post(`${base}/keys`, form, headers)).status]).toEqual([name, 403]);
      const asText = await fetch(`${hub.url}${base}/keys`, {
        method: "POST",
        body: new URLSearchParams(good).toString(),
        headers: { "content-type": "text/plain", origin: hub.url, cookie: admin.cookie! },
      });
      expect(asText.status).toBe(415);
      expect((await admin.post("/sign-out", {}, { origin: "https://evil.example" })).status).toBe(403);
      expect(
        (
          await new Person(hub.url).post(
            "/sign-in",
            { email: hub.admin.email, password },
            { origin: "https://evil.example" },
          )
        ).status,
      ).toBe(403);
      expect(await keys()).toHaveLength(before);
      expect((await admin.get(`${base}/settings`)).status).toBe(200);
    });

    it("take no form of another session, not even of the same person", async () => {
      const other = new Person(hub.url);
      await other.signIn(hub.admin.email);
      const [mine, theirs] = [await newKey(admin), await newKey(other)];
      expect((await admin.post(`${base}/keys`, theirs)).status).toBe(403);
      expect((await admin.post(`${base}/keys`, { ...mine, nonce: theirs["nonce"]! })).status).toBe(403);
    });

    it("let only administrators of the team make keys (15)", async () => {
      const stranger = await hub.makeTeam("Other team", []);
      const member = await hub.makeUser(`member-${kind}@example.org`, hub.team.id, "member");
      const [outside, inside, nobody] = [new Person(hub.url), new Person(hub.url), new Person(hub.url)];
      await outside.signIn(stranger.admin.email);
      await inside.signIn(member.email);
      const before = (await keys()).length;
      const form = await newKey(admin);
      for (const path of ["devices", "settings", "members"])
        expect((await outside.get(`${base}/${path}`)).status).toBe(404);
      const theirs = await outside.formOf(`/teams/${stranger.team.id}/settings`, `/teams/${stranger.team.id}/keys`);
      expect((await outside.post(`${base}/keys`, theirs)).status).toBe(404);
      expect((await outside.post(`${base}/keys`, form)).status).toBe(403);
      expect((await outside.post(`${base}/devices`, { ...theirs, name: "x" })).status).toBe(404);
      expect((await nobody.post(`${base}/keys`, form)).status).toBe(303);
      const settings = (await inside.get(`${base}/settings`)).html;
      expect(settings).not.toContain("Create API key");
      // A role taken away between the page and the click: the write itself refuses.
      const second = await hub.makeUser(`second-${kind}@example.org`, hub.team.id, "admin");
      const demoted = new Person(hub.url);
      await demoted.signIn(second.email);
      const late = await newKey(demoted);
      await hub.storage.db.write((tx) => tx.all("UPDATE members SET role = 'member' WHERE user_id = ?", [second.id]));
      expect((await demoted.post(`${base}/keys`, late)).status).toBe(403);
      expect(await keys()).toHaveLength(before);
    });

    it("add, rename and remove devices", async () => {
      const form = await admin.formOf(`${base}/devices`, `${base}/devices`);
      expect((await admin.post(`${base}/devices`, { ...form, name: "  west  " })).headers.get("location")).toBe(
        `${base}/devices`,
      );
      const west = (await listDevices(hub.storage.db, hub.team.id)).find((device) => device.name === "west")!;
      expect((await admin.post(`${base}/devices/${west.id}/rename`, { ...form, name: "far west" })).status).toBe(303);
      expect((await admin.get(`${base}/devices`)).html).toContain("far west");
      const wrong = await admin.post(`${base}/devices/${west.id}/rename`, { ...form, name: "" });
      expect(wrong.status).toBe(400);
      expect(wrong.html).toContain("got 0 characters, expected 1 to 100");
      expect((await admin.post(`${base}/devices`, { ...form, name: "x".repeat(101) })).status).toBe(400);
      expect((await admin.post(`${base}/devices/${west.id}/remove`, form)).status).toBe(303);
      expect((await admin.post(`${base}/devices/${west.id}/remove`, form)).status).toBe(404);
    });

    it("page long lists", async () => {
      const many = await hub.makeTeam("Many", []);
      await addDevices(
        hub.storage.db,
        Date.now(),
        many.team.id,
        1000,
        Array.from({ length: 230 }, (_, i) => ({ name: `device number ${i};` })),
      );
      const person = new Person(hub.url);
      await person.signIn(many.admin.email);
      const seen: string[] = [];
      for (let path: string | undefined = `/teams/${many.team.id}/devices`; path !== undefined;) {
        const { html }: { html: string } = await person.get(path);
        seen.push(...[...html.matchAll(/<strong>(device number \d+;)/g)].map((match) => match[1]!));
        path = /href="([^"]*\?after=[^"]*)"/.exec(html)?.[1];
      }
      expect(seen).toEqual(Array.from({ length: 230 }, (_, i) => `device number ${i};`));
    });

    it("escape what people write, and allow no script but their own (16)", async () => {
      const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;
      const team = await hub.makeTeam(evil.slice(0, 100), [evil, "</strong>{{7*7}}"]);
      const person = new Person(hub.url);
      await person.signIn(team.admin.email);
      for (const path of ["devices", "settings", "members"]) {
        const { html, headers } = await person.get(`/teams/${team.team.id}/${path}`);
        expect(html).not.toMatch(/<script>alert|<img src=x/);
        expect(html).not.toMatch(/<script(?! src="\/app\.js" defer="">)/);
        // No handler, no inline style: what is left of the hostile name is text.
        expect(html.replaceAll("onerror=alert(1)", "")).not.toMatch(/ on[a-z]+=|javascript:|<style| style=/i);
        const csp = headers.get("content-security-policy")!;
        expect(csp).toContain("default-src 'none'");
        expect(csp).toContain("script-src 'self'");
        expect(csp).not.toMatch(/unsafe|\*|nonce-/);
      }
      const bad = await person.post("/sign-in", { email: evil, password: "x" });
      expect(bad.html).not.toMatch(/<script>alert|<img src=x/);
    });

    it("rotate the session at sign-in, and end it at sign-out and at a new password (14)", async () => {
      const user = await hub.makeUser(`rotate-${kind}@example.org`, hub.team.id, "member");
      const [one, two] = [new Person(hub.url), new Person(hub.url)];
      one.cookie = "__Host-hub_session=planted";
      await one.signIn(user.email);
      const first = one.cookie;
      expect(first).not.toContain("planted");
      expect((await one.get("/sign-in")).headers.get("location")).toBe("/");
      await one.signIn(user.email);
      expect(one.cookie).not.toBe(first);
      const stale = new Person(hub.url);
      stale.cookie = first;
      expect((await stale.get(base + "/devices")).headers.get("location")).toBe("/sign-in");
      await two.signIn(user.email);
      const form = await one.formOf("/account", "/account");
      expect((await one.post("/account", { ...form, current: "wrong", password: "a new password" })).status).toBe(401);
      expect((await one.post("/account", { ...form, current: password, password: "short" })).status).toBe(400);
      const old = one.cookie;
      const changed = await one.post("/account", { ...form, current: password, password: "a new password" });
      expect(changed.html).toContain("The password is changed");
      expect(one.cookie).not.toBe(old);
      expect((await one.get(base + "/devices")).status).toBe(200);
      expect((await two.get(base + "/devices")).status).toBe(303);
      expect(await new Person(hub.url).signIn(user.email)).toBe(401);
      expect(await two.signIn(user.email, "a new password")).toBe(303);
      const leaving = two.cookie;
      const out = await two.formOf("/account", "/sign-out");
      expect((await two.post("/sign-out", out)).headers.get("location")).toBe("/sign-in");
      expect(two.cookie).toBeUndefined();
      two.cookie = leaving;
      expect((await two.get(base + "/devices")).status).toBe(303);
    });

    it("end a session that is idle, and any session in the end", async () => {
      const person = new Person(hub.url);
      await person.signIn(hub.admin.email);
      hub.clock.offset = 479 * 60_000;
      expect((await person.get(base + "/devices")).status).toBe(200);
      hub.clock.offset += 480 * 60_000;
      expect((await person.get(base + "/devices")).status).toBe(303);
      hub.clock.offset = 0;
      await person.signIn(hub.admin.email);
      for (let hours = 0; hours < 168; hours += 7) {
        hub.clock.offset = hours * 3600_000;
        expect((await person.get(base + "/devices")).status).toBe(200);
      }
      hub.clock.offset = 168 * 3600_000 + 1;
      expect((await person.get(base + "/devices")).status).toBe(303);
      hub.clock.offset = 0;
    });

    it("set a cookie that only this host gets, over TLS, and no script sees", async () => {
      const answer = await new Person(hub.url).post("/sign-in", { email: hub.admin.email, password });
      const [cookie = ""] = answer.headers.getSetCookie();
      expect(cookie).toMatch(/^__Host-hub_session=[\w-]{43};/);
      for (const part of ["Path=/", "HttpOnly", "Secure", "SameSite=Lax", "Max-Age=604800"])
        expect(cookie).toContain(part);
      expect(cookie).not.toContain("Domain");
    });

    it("invite, join and remove members", async () => {
      const form = await admin.formOf(`${base}/members`, `${base}/members`);
      const made = await admin.post(`${base}/members`, { ...form, email: `New-${kind}@Example.org`, role: "member" });
      expect(made.status).toBe(201);
      const path = new URL(/value="(http[^"]*\/link\/[^"]*)"/.exec(made.html)![1]!).pathname;
      const guest = new Person(hub.url);
      const look = await guest.get(path);
      expect(look.html).toContain(`new-${kind}@example.org`);
      expect((await guest.post(path, { password: "short" })).status).toBe(400);
      expect((await guest.post(path, { password: "long enough password" })).headers.get("location")).toBe(
        `${base}/devices`,
      );
      expect((await guest.get(`${base}/devices`)).status).toBe(200);
      expect((await new Person(hub.url).get(path)).status).toBe(404);
      expect((await new Person(hub.url).post(path, { password: "long enough password" })).status).toBe(404);
      const theirs = await guest.formOf(`${base}/members`, "/sign-out");
      expect((await guest.post(`${base}/members`, { ...theirs, email: "x@example.org", role: "admin" })).status).toBe(
        403,
      );
      expect((await guest.post(`${base}/members/${hub.admin.id}/remove`, theirs)).status).toBe(403);
      const guestId = (await membersOf(hub.storage.db, hub.team.id)).find(
        (member) => member.email === `new-${kind}@example.org`,
      )!.user_id;
      expect((await admin.post(`${base}/members/${guestId}/remove`, form)).status).toBe(303);
      expect((await guest.get(`${base}/devices`)).status).toBe(404);
      expect((await admin.post(`${base}/members`, { ...form, email: "not an email", role: "member" })).status).toBe(
        400,
      );
      expect((await admin.post(`${base}/members`, { ...form, email: "x@example.org", role: "owner" })).status).toBe(
        400,
      );
    });

    it("want the password of an account that is invited into another team", async () => {
      const other = await hub.makeTeam("Second", []);
      const token = await invite(
        hub.storage.db,
        Date.now(),
        "test",
        undefined,
        other.team.id,
        hub.admin.email,
        "member",
      );
      const person = new Person(hub.url);
      expect((await person.post(`/link/${token}`, { password: "not the password" })).status).toBe(401);
      expect((await person.post(`/link/${token}`, { password })).status).toBe(303);
      expect((await person.get("/")).headers.get("location")).toBe("/teams");
      expect((await person.get("/teams")).html).toContain("Second");
    });

    it("let a forgotten password be replaced by a link of the operator", async () => {
      const user = await hub.makeUser(`forgot-${kind}@example.org`, hub.team.id, "member");
      const [first, second] = [
        await resetLink(hub.storage.db, Date.now(), "operator", user.email),
        await resetLink(hub.storage.db, Date.now(), "operator", user.email),
      ];
      const person = new Person(hub.url);
      expect((await person.post(`/link/${first}`, { password: "brand new password" })).status).toBe(303);
      expect(await new Person(hub.url).signIn(user.email, "brand new password")).toBe(303);
      expect(await new Person(hub.url).signIn(user.email)).toBe(401);
      expect((await new Person(hub.url).get(`/link/${second}`)).status).toBe(404);
    });

    it("keep the full key out of the database, logs, audit and backup (3)", async () => {
      const key = keyOn((await admin.post(`${base}/keys`, await newKey(admin))).html)!;
      await hub.query(LIST, key);
      await hub.running.app.flush();
      const secret = key.slice(17);
      const folder = temporaryFolder();
      await backup(hub.storage.db, Date.now(), join(folder.path, "b.gz"));
      expect(gunzipSync(readFileSync(join(folder.path, "b.gz"))).includes(secret)).toBe(false);
      folder.remove();
      expect(hub.logs()).not.toContain(secret);
      expect(JSON.stringify(await readAudit(hub.storage.db, 1000))).not.toContain(secret);
      if (kind === "sqlite") {
        const at = dirname(hub.storage.config.databaseFile);
        const files = readdirSync(at);
        expect(files).toContain("hub.db-wal");
        for (const file of files) expect(readFileSync(join(at, file)).includes(secret)).toBe(false);
      } else {
        for (const { name } of await hub.storage.db.all<{ name: string }>(
          "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
        )) {
          expect(JSON.stringify(await hub.storage.db.all(`SELECT * FROM ${name}`))).not.toContain(secret);
        }
      }
    });

    it("say what is missing, without a stack", async () => {
      expect((await admin.get("/no/such/page")).status).toBe(404);
      expect((await admin.get("/teams/none/devices")).status).toBe(404);
      const form = await admin.formOf(`${base}/devices`, `${base}/devices`);
      expect((await admin.get(`${base}/devices?after=%00`)).status).toBe(404);
      for (const path of ["devices/%00/rename", "devices/%00/remove", "members/%00/remove"])
        expect([path, (await admin.post(`${base}/${path}`, { ...form, name: "x" })).status]).toEqual([path, 404]);
    });

    it("take GET, HEAD and POST, and call other methods by their name", async () => {
      for (const [method, path, allow] of [
        ["PUT", "/sign-in", "GET, HEAD, POST"],
        ["OPTIONS", "/", "GET, HEAD, POST"],
        // Not a method that a Request can be made of.
        ["TRACE", "/sign-in", "GET, HEAD, POST"],
        ["POST", "/app.css", "GET, HEAD"],
      ] as const) {
        const answer = await new Promise<{ status: number | undefined; allow: string | undefined; text: string }>(
          (resolve, reject) => {
            const sent = request(hub.url + path, { method }, (response) => {
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
}

describe("forms", () => {
  let hub: TestHub;
  beforeAll(async () => void (hub = await startHub()));
  afterAll(() => hub.stop());

  /** Announces a form, sends none of it, and returns the answer. */
  const announce = (path: string, length: number, cookie = "x=y"): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(hub.running.port, "127.0.0.1", () =>
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nOrigin: ${hub.url}\r\nCookie: ${cookie}\r\n` +
            `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${length}\r\n\r\n`,
        ),
      );
      socket.setEncoding("utf8").on("error", reject);
      socket.once("data", (text: string) => {
        socket.destroy();
        resolve(text);
      });
    });

  it("are not read before their sender has a session", async () => {
    for (const path of ["/account", "/sign-out", `/teams/${hub.team.id}/keys`, "/no/such/page"]) {
      expect([path, await announce(path, 60_000)]).toEqual([
        path,
        expect.stringMatching(/^HTTP\/1\.1 303 .*location: \/sign-in/is),
      ]);
      const invented = await announce(path, 60_000, "__Host-hub_session=invented");
      expect([path, invented]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 303 .*location: \/sign-in/is)]);
    }
    expect(await announce("/link/invented", 60_000)).toMatch(/^HTTP\/1\.1 404 /);
  });

  it("are at most 8 KiB", async () => {
    const person = new Person(hub.url);
    await person.signIn(hub.admin.email);
    const path = `/teams/${hub.team.id}/devices`;
    const form = await person.formOf(path, path);
    const fill = (size: number) => {
      const start = new URLSearchParams({ ...form, name: "filled", rest: "" }).toString();
      return { ...form, name: "filled", rest: "x".repeat(size - start.length) };
    };
    expect((await person.post(path, fill(MAX_FORM))).status).toBe(303);
    const over = await person.post(path, fill(MAX_FORM + 1));
    expect(over.status).toBe(413);
    expect(over.html).toContain(`got a form of more than ${MAX_FORM} bytes, expected less`);
    const fields = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`a${i}`, ""]));
    expect((await person.post(path, { ...form, ...fields })).status).toBe(413);
    expect(
      (await new Person(hub.url).post("/sign-in", { email: hub.admin.email, password: "x".repeat(MAX_FORM) })).status,
    ).toBe(413);
  });

  it("hold the longest passwords and the longest email that an account may have", async () => {
    const email = `${"ü".repeat(100)}@${"ö".repeat(140)}.example.org`;
    await hub.makeUser(email, hub.team.id, "member");
    const person = new Person(hub.url);
    expect(await person.signIn(email)).toBe(303);
    const form = await person.formOf("/account", "/account");
    const long = "\u4e00".repeat(200);
    expect((await person.post("/account", { ...form, email, current: password, password: long })).status).toBe(200);
    const again = await person.formOf("/account", "/account");
    expect(
      (await person.post("/account", { ...again, email, current: long, password: "\u4e8c".repeat(200) })).status,
    ).toBe(200);
  });
});

describe("sign-in", () => {
  it("is taken from the address before its form is read, also where the form holds no email", async () => {
    const hub = await startHub({ env: { HUB_SIGN_INS_PER_MINUTE: "1", HUB_SIGN_IN_BURST: "2" } });
    const person = new Person(hub.url);
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await person.post("/sign-in", { nothing: "here" })).status);
    expect(statuses).toEqual([401, 401, 429, 429]);
    await hub.stop();
  });

  it("does the same work for a user that does not exist (17)", async () => {
    const passwords = new Passwords();
    const hub = await startHub({ passwords });
    const person = new Person(hub.url);
    const before = passwords.derivations;
    const known = await person.post("/sign-in", { email: hub.admin.email, password: "wrong" });
    expect(passwords.derivations - before).toBe(1);
    const unknown = await person.post("/sign-in", { email: "nobody@example.org", password: "wrong" });
    expect(passwords.derivations - before).toBe(2);
    expect([known.status, unknown.status]).toEqual([401, 401]);
    expect(unknown.html.replace("nobody@example.org", hub.admin.email)).toBe(known.html);
    await hub.stop();
  });

  it("waits for no write that only someone with an account causes (17)", async () => {
    const hub = await startHub();
    hub.db.failing = /INSERT INTO audit/;
    hub.db.failure = new Error("the audit cannot be written");
    const refused = await new Person(hub.url).post("/sign-in", { email: hub.admin.email, password: "wrong" });
    expect(refused.status).toBe(401);
    await vi.waitFor(() => expect(hub.logs()).toContain("the audit cannot be written"), { timeout: 20_000 });
    hub.db.failure = undefined;
    await new Person(hub.url).post("/sign-in", { email: hub.admin.email, password: "wrong" });
    const failed = async () =>
      (await readAudit(hub.storage.db, 10)).filter(
        (row) => row.action === "sign_in_failed" && row.subject === hub.admin.email,
      );
    await vi.waitFor(async () => expect(await failed()).toHaveLength(1), { timeout: 20_000 });
    // Nor is it forgotten where nobody waits for the answer.
    const body = new URLSearchParams({ email: hub.admin.email, password: "wrong" }).toString();
    const socket = connect(hub.running.port, "127.0.0.1", () => {
      socket.write(
        `POST /sign-in HTTP/1.1\r\nHost: x\r\nOrigin: ${hub.url}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        () => setTimeout(() => socket.destroy(), 50),
      );
    });
    await vi.waitFor(async () => expect(await failed()).toHaveLength(2), { timeout: 20_000 });
    await hub.stop();
  });

  it("is limited per address and per account, before any password work (12)", async () => {
    const passwords = new Passwords();
    const hub = await startHub({
      passwords,
      env: {
        HUB_SIGN_INS_PER_MINUTE: "1",
        HUB_SIGN_IN_BURST: "3",
        HUB_PROXY_HOPS: "1",
        HUB_BASE_URL: "https://hub.example.org",
      },
    });
    const before = passwords.derivations;
    const attempt = async (address: string, email: string) =>
      (
        await fetch(`http://127.0.0.1:${hub.running.port}/sign-in`, {
          method: "POST",
          redirect: "manual",
          body: new URLSearchParams({ email, password: "wrong" }),
          headers: { origin: "https://hub.example.org", "x-forwarded-for": address },
        })
      ).status;
    const sameAddress = [];
    for (let i = 0; i < 5; i++) sameAddress.push(await attempt("198.51.100.1", `user${i}@example.org`));
    expect(sameAddress).toEqual([401, 401, 401, 429, 429]);
    const sameAccount = [];
    for (let i = 0; i < 5; i++) sameAccount.push(await attempt(`203.0.113.${i}`, hub.admin.email));
    expect(sameAccount).toEqual([401, 401, 401, 429, 429]);
    expect(passwords.derivations - before).toBe(6);
    await hub.stop();
  });

  it("is refused before its body is read while the queue is full, whoever asks, and a good client goes on", async () => {
    // The first works, one waits, and nobody is let in before both are through.
    const passwords = new Passwords(1);
    const hub = await startHub({ passwords, env: { HUB_PROXY_HOPS: "1", HUB_BASE_URL: "https://hub.example.org" } });
    const held = [passwords.hash("a long password"), passwords.hash("another password")];
    expect(passwords.full).toBe(true);
    const before = { derivations: passwords.derivations, queries: hub.db.queries };
    const attempt = (address: string, query = "") =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(hub.running.port, "127.0.0.1", () =>
          // A body is announced and never sent.
          socket.write(
            `POST /sign-in${query} HTTP/1.1\r\nHost: x\r\nOrigin: https://hub.example.org\r\nX-Forwarded-For: ${address}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n`,
          ),
        );
        socket.setEncoding("utf8").on("error", reject);
        socket.once("data", (text: string) => {
          socket.destroy();
          resolve(text);
        });
      });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => attempt(`198.51.100.${i}`, i % 2 === 0 ? "" : "?x=1")),
    );
    for (const answer of answers)
      expect(answer).toMatch(/^HTTP\/1\.1 503 .*retry-after: 5\r\n.*Too many people are signing in/is);
    expect([passwords.derivations, hub.db.queries]).toEqual([before.derivations, before.queries]);
    // A link is looked at first, and then says the same.
    const token = await invite(
      hub.storage.db,
      Date.now(),
      "test",
      undefined,
      hub.team.id,
      "late@example.org",
      "member",
    );
    const late = await fetch(`http://127.0.0.1:${hub.running.port}/link/${token}`, {
      method: "POST",
      headers: { origin: "https://hub.example.org" },
      body: new URLSearchParams({ password }),
    });
    expect([late.status, late.headers.get("retry-after")]).toEqual([503, "5"]);
    const { status } = await fetch(`http://127.0.0.1:${hub.running.port}/graphql`, {
      method: "POST",
      headers: { authorization: `Bearer ${hub.key}`, "content-type": "application/json" },
      body: JSON.stringify({ query: LIST }),
    });
    expect(status).toBe(200);
    await Promise.all(held);
    await hub.stop();
  });

  it("works at one password at a time, in the order they came", async () => {
    const passwords = new Passwords(5);
    const order: number[] = [];
    await Promise.all([1, 2, 3].map(async (n) => (await passwords.hash(`a long password ${n}`), order.push(n))));
    expect(order).toEqual([1, 2, 3]);
    expect([passwords.derivations, passwords.full]).toEqual([3, false]);
  });

  it("runs few at once, queues few, and turns the rest away before they cost anything", async () => {
    const passwords = new Passwords(2);
    const hub = await startHub({ passwords });
    const before = passwords.derivations;
    const person = new Person(hub.url);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => person.post("/sign-in", { email: `u${i}@example.org`, password: "wrong" })),
    );
    const statuses = answers.map((answer) => answer.status);
    expect(statuses.filter((status) => status === 401).length).toBe(passwords.derivations - before);
    expect(statuses.filter((status) => status === 503).length).toBe(12 - (passwords.derivations - before));
    expect(passwords.derivations - before).toBeLessThan(12);
    await hub.stop();
  });
});
