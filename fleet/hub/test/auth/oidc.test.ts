/** Sign-in by a real OpenID provider: who gets in, as whom, and what is refused. */
import { createServer } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/core/config.ts";
import { readAudit } from "../../src/nouns/audit.ts";
import { invite, removeUser } from "../../src/nouns/user.ts";
import { membersOf } from "../../src/nouns/team.ts";
import { onDatabases, Person, startHub, type TestHub } from "../support/hub.ts";
import { Browser, CLIENT, listenLocal, openProvider, type TestProvider } from "../support/provider.ts";

const envOf = (issuer: string): Record<string, string> => ({
  HUB_OIDC_ISSUER: issuer,
  HUB_OIDC_CLIENT_ID: CLIENT.client_id,
  HUB_OIDC_CLIENT_SECRET: CLIENT.client_secret,
  HUB_OIDC_NAME: "Example Inc.",
});

onDatabases("sign-in by OpenID Connect", (kind) => {
  let provider: TestProvider;
  let hub: TestHub;
  beforeAll(async () => {
    provider = await openProvider();
    hub = await startHub({ kind, env: envOf(provider.issuer) });
    provider.serve(hub.url);
  });
  afterAll(async () => {
    provider.stop();
    await hub.stop();
  });

  /** Goes to the provider and back as one of its accounts. Returns the browser and the address that leads back. */
  const goThrough = async (sub: string, account = {}, at = hub): Promise<[Browser, string]> => {
    provider.accounts.set(sub, { email: `${sub}@example.org`, email_verified: true, ...account });
    provider.current = sub;
    const browser = new Browser();
    return [browser, await browser.followTo(`${at.url}/sign-in/oidc`, `${at.url}/sign-in/oidc/callback`)];
  };
  const signIn = async (sub: string, account = {}): Promise<[Browser, Response]> => {
    const [browser, back] = await goThrough(sub, account);
    return [browser, await browser.get(back)];
  };
  const sessionOf = (browser: Browser): string | undefined => browser.cookiesOf(hub.url).get("__Host-hub_session");

  it("lets an account in by its verified email, and knows it by its subject from then on", async () => {
    expect(await (await fetch(`${hub.url}/sign-in`)).text()).toContain(
      'href="/sign-in/oidc">Sign in with Example Inc.',
    );
    const user = await hub.makeUser(`known-${kind}@example.org`, hub.team.id, "viewer");
    const [browser, response] = await signIn(`known-${kind}`);
    expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
    expect(browser.cookiesOf(hub.url).has("__Host-hub_oidc")).toBe(false);
    expect(await (await browser.get(`${hub.url}/account`)).text()).toContain(user.email);
    // Another email at the provider changes nothing: the subject says who it is.
    const [renamed] = await signIn(`known-${kind}`, { email: "renamed@example.org" });
    expect(await (await renamed.get(`${hub.url}/account`)).text()).toContain(user.email);
    // Another account of the provider that takes the email over is somebody else.
    const [other, refused] = await signIn(`other-${kind}`, { email: user.email });
    expect([refused.status, sessionOf(other)]).toEqual([403, undefined]);
    const rows = (await readAudit(hub.storage.db, 100)).filter(({ actor }) => actor === user.email);
    expect(rows.filter(({ action }) => action === "identity.linked")).toHaveLength(1);
    expect(rows.filter(({ action }) => action === "signed_in")).toHaveLength(2);
  });

  it("makes an account for somebody who is invited, with the role of the invitation and no password", async () => {
    const email = `invited-${kind}@example.org`;
    const [, stranger] = await signIn(`invited-${kind}`);
    expect(stranger.status).toBe(403);
    expect(await stranger.text()).toContain("has no account here, and no invitation");
    await invite(hub.storage.db, { now: Date.now(), actor: "test", teamId: hub.team.id }, email, "member");
    const [browser, response] = await signIn(`invited-${kind}`);
    expect([response.status, sessionOf(browser)]).toEqual([303, expect.any(String)]);
    expect(await membersOf(hub.storage.db, hub.team.id)).toContainEqual(
      expect.objectContaining({ email, role: "member" }),
    );
    for (const password of ["", "none", "correct horse battery"])
      expect(await new Person(hub.url).signIn(email, password)).toBe(401);
    await removeUser(hub.storage.db, Date.now(), "operator", email);
    const [, gone] = await signIn(`invited-${kind}`);
    expect(gone.status).toBe(403);
  });

  it("puts a new person into the team and the role of the configuration", async () => {
    const env = { ...envOf(provider.issuer), HUB_OIDC_TEAM: hub.team.id, HUB_OIDC_ROLE: "member" };
    const second = await startHub({ kind, env, storage: { ...hub.storage, db: hub.storage.again() } });
    provider.serve(second.url);
    const [browser, back] = await goThrough(`new-${kind}`, {}, second);
    expect((await browser.get(back)).status).toBe(303);
    expect(await membersOf(hub.storage.db, hub.team.id)).toContainEqual(
      expect.objectContaining({ email: `new-${kind}@example.org`, role: "member" }),
    );
    await second.running.stop();
    provider.serve(hub.url);
  });

  it("refuses an email that is not verified, and an account without one", async () => {
    const user = await hub.makeUser(`victim-${kind}@example.org`, hub.team.id, "admin");
    for (const account of [{ email: user.email, email_verified: false }, { email: undefined }]) {
      const [browser, response] = await signIn(`liar-${kind}`, account);
      expect([response.status, sessionOf(browser)]).toEqual([403, undefined]);
    }
  });

  it("refuses an answer with another state, nonce or verifier, without a cookie, and a second time", async () => {
    await hub.makeUser(`exact-${kind}@example.org`, hub.team.id, "viewer");
    const NAME = "__Host-hub_oidc";
    for (const part of [0, 1, 2]) {
      const [browser, back] = await goThrough(`exact-${kind}`);
      const values = browser.cookiesOf(hub.url).get(NAME)!.split(".");
      values[part] = `${values[part]!.slice(0, -3)}abc`;
      browser.cookiesOf(hub.url).set(NAME, values.join("."));
      expect([part, (await browser.get(back)).status, sessionOf(browser)]).toEqual([part, 403, undefined]);
    }
    const [browser, back] = await goThrough(`exact-${kind}`);
    // A stranger's browser, into which the address was planted.
    const [planted] = await goThrough(`exact-${kind}`);
    expect([(await planted.get(back)).status, sessionOf(planted)]).toEqual([403, undefined]);
    expect((await new Browser().get(back)).status).toBe(400);
    const cookie = browser.cookiesOf(hub.url).get(NAME)!;
    expect((await browser.get(back)).status).toBe(303);
    const again = new Browser();
    again.cookiesOf(hub.url).set(NAME, cookie);
    expect([(await again.get(back)).status, sessionOf(again)]).toEqual([403, undefined]);
  });

  it("refuses a token of another provider, whose issuer is another one", async () => {
    await hub.makeUser(`mixed-${kind}@example.org`, hub.team.id, "admin");
    // The document of a provider that hands out the tokens of another one.
    const server = createServer((_request, response) => void answer().then((text) => response.end(text)));
    const own = await listenLocal(server);
    const answer = async (): Promise<string> => {
      const document = await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json();
      return JSON.stringify({
        ...(document as object),
        ...{ issuer: own, authorization_response_iss_parameter_supported: false },
      });
    };
    const storage = { ...hub.storage, db: hub.storage.again() };
    const mixed = await startHub({ kind, env: envOf(own), storage });
    provider.serve(mixed.url);
    const [browser, back] = await goThrough(`mixed-${kind}`, {}, mixed);
    const url = new URL(back);
    url.searchParams.delete("iss");
    const response = await browser.get(url.href);
    expect([response.status, browser.cookiesOf(mixed.url).has("__Host-hub_session")]).toEqual([403, false]);
    expect(mixed.logs()).toMatch(/a sign-in by OpenID Connect failed/);
    expect(mixed.logs()).toMatch(/unexpected JWT .{0,4}iss/);
    await mixed.running.stop();
    server.close();
    provider.serve(hub.url);
  });

  it("refuses a token that another key has signed", async () => {
    await hub.makeUser(`forged-${kind}@example.org`, hub.team.id, "admin");
    const forger = await openProvider();
    const storage = { ...hub.storage, db: hub.storage.again() };
    const deceived = await startHub({ kind, env: envOf(forger.issuer), storage });
    forger.serve(deceived.url);
    const real = (await (await fetch(`${forger.issuer}/jwks`)).json()) as { keys: { kid: string; alg?: string }[] };
    const { kid } = real.keys.find(({ alg = "RS256" }) => alg === "RS256")!;
    const { publicKey } = await generateKeyPair("RS256", { extractable: true });
    forger.keys = { keys: [{ ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" }] };
    forger.accounts.set("x", { email: `forged-${kind}@example.org`, email_verified: true });
    forger.current = "x";
    const browser = new Browser();
    const back = await browser.followTo(`${deceived.url}/sign-in/oidc`, `${deceived.url}/sign-in/oidc/callback`);
    expect((await browser.get(back)).status).toBe(403);
    expect(browser.cookiesOf(deceived.url).has("__Host-hub_session")).toBe(false);
    expect(deceived.logs()).toMatch(/signature/i);
    await deceived.running.stop();
    forger.stop();
  });
});

describe("settings of OpenID Connect", () => {
  it("are all there or none, over TLS, and make nobody an administrator", () => {
    const all = envOf("https://login.example.org");
    expect(readConfig(all)).toMatchObject({ oidcIssuer: "https://login.example.org/", oidcRole: "viewer" });
    expect(() => readConfig({ ...all, HUB_OIDC_CLIENT_SECRET: "" })).toThrow("expected all or none");
    expect(() => readConfig({ ...all, HUB_OIDC_ISSUER: "http://login.example.org" })).toThrow("expected an https");
    expect(() => readConfig({ ...all, HUB_OIDC_ROLE: "admin" })).toThrow("viewer or member");
  });
});
