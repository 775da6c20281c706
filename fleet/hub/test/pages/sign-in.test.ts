/** Signing in: equal work for everybody, limits before any work. */
import { connect } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { untilPasses } from "boxwright-service/testing/wait";
import { Passwords } from "../../src/auth/derive.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { invite } from "../../src/nouns/user.ts";
import { LIST, password, Person, startHub } from "../support/hub.ts";

const gate = vi.hoisted(() => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
});

/** Work on a password that begins with "held" ends once the gate is open. */
vi.mock("node:crypto", async (original) => {
  const real = await original<typeof import("node:crypto")>();
  const scrypt = (...given: Parameters<typeof real.scrypt>): void => {
    if ((given[0] as string).startsWith("held")) void gate.opened.then(() => real.scrypt(...given));
    else real.scrypt(...given);
  };
  return { ...real, scrypt };
});

describe("sign-in", () => {
  it("is taken from the address before its form is read, also where the form holds no email", async () => {
    const hub = await startHub({
      isClockStopped: true,
      env: { HUB_SIGN_INS_PER_MINUTE: "1", HUB_SIGN_IN_BURST: "2" },
    });
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
    await untilPasses(() => expect(hub.logs()).toContain("the audit cannot be written"));
    hub.db.failure = undefined;
    await new Person(hub.url).post("/sign-in", { email: hub.admin.email, password: "wrong" });
    const failed = async () =>
      (await readAudit(hub.storage.db, 10)).filter(
        (row) => row.action === "sign_in_failed" && row.subject === hub.admin.email,
      );
    await untilPasses(async () => expect(await failed()).toHaveLength(1));
    // The failure is written also if the caller hangs up before the answer.
    const body = new URLSearchParams({ email: hub.admin.email, password: "wrong" }).toString();
    const socket = connect(hub.running.port, "127.0.0.1", () => {
      socket.write(
        `POST /sign-in HTTP/1.1\r\nHost: x\r\nOrigin: ${hub.url}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        () => setTimeout(() => socket.destroy(), 50),
      );
    });
    await untilPasses(async () => expect(await failed()).toHaveLength(2));
    await hub.stop();
  });

  it("is limited per address and per account, before any password work (12)", async () => {
    const passwords = new Passwords();
    const hub = await startHub({
      passwords,
      isClockStopped: true,
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

  it("stays open to a known browser while others guess, and not to a cookie that is made up", async () => {
    const passwords = new Passwords();
    const hub = await startHub({
      passwords,
      isClockStopped: true,
      env: { HUB_SIGN_INS_PER_MINUTE: "1", HUB_SIGN_IN_BURST: "3" },
    });
    const own = new Person(hub.url);
    expect(await own.signIn(hub.admin.email)).toBe(303);
    const stranger = new Person(hub.url);
    for (const status of [401, 401, 429]) expect(await stranger.signIn(hub.admin.email, "guess")).toBe(status);
    // The right password of a stranger is not looked at any more. The known browser gets in, signed out or not.
    expect(await stranger.signIn(hub.admin.email)).toBe(429);
    own.cookie = undefined;
    expect(await own.signIn(hub.admin.email)).toBe(303);
    // Made up, of another account, or of an account that does not exist: a stranger.
    const other = await hub.makeUser("other@example.org", hub.team.id, "member");
    for (const browser of ["x.y", own.browser!.slice(0, -3), undefined]) {
      stranger.browser = browser && `__Host-hub_browser=${browser.replace(/^.*=/, "")}`;
      expect(await stranger.signIn(hub.admin.email)).toBe(429);
    }
    const derivations = passwords.derivations;
    stranger.browser = own.browser;
    expect(await stranger.signIn(other.email)).toBe(429);
    expect(await stranger.signIn("nobody@example.org")).toBe(429);
    expect(passwords.derivations).toBe(derivations);
    // A known browser has a limit of its own: its owner may be another by now.
    for (const status of [401, 401, 401, 429]) expect(await own.signIn(hub.admin.email, "guess")).toBe(status);
    await hub.stop();
  });

  it("is refused before its body is read while the queue is full, whoever asks, and a good client goes on", async () => {
    // The first works, one waits, and nobody is let in before the gate is open.
    const passwords = new Passwords(1);
    const hub = await startHub({ passwords, env: { HUB_PROXY_HOPS: "1", HUB_BASE_URL: "https://hub.example.org" } });
    const held = [passwords.hash("held at the gate"), passwords.hash("held behind it")];
    expect(passwords.full).toBe(true);
    const before = { derivations: passwords.derivations, requests: hub.requests.length };
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
    expect(passwords.derivations).toBe(before.derivations);
    const requests = hub.requests.slice(before.requests);
    expect(requests.map(({ queries }) => queries)).toEqual(answers.map(() => 0));
    // A link is looked at first, and then says the same.
    const token = await invite(
      hub.storage.db,
      { now: Date.now(), actor: "test", teamId: hub.team.id },
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
    gate.open();
    await Promise.all(held);
    await hub.stop();
  });
});
