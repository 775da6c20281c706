import { type Server, createServer } from "node:http";
import { type CryptoKey, SignJWT, exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "boxwright-service/testing/folder";
import { freePort } from "boxwright-service/testing/free-port";
import { until } from "boxwright-service/testing/wait";
import { DeviceTokens } from "../../src/access/device-tokens.ts";
import { pauseOf } from "../../src/access/hub-document.ts";
import { detectionPacket } from "../support/frames.ts";
import { type TestHost, testHost } from "../support/host.ts";
import { colourPng } from "../support/pixels.ts";

const agentToken = "agent-token-0123456789";
const HOUR = 3600;

/** A hub that has nothing but its document. */
class FakeHub {
  readonly revoked: { device_id: string; before: number }[] = [];
  keys: Record<string, unknown>[] = [];
  reads = 0;
  #server: Server | null = null;
  /** Stays the hub's while the hub is away. */
  #port = 0;
  #key!: CryptoKey;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      this.reads++;
      if (request.url !== "/.well-known/boxwright-hub.json") return response.writeHead(404).end();
      const text = JSON.stringify({ issuer: "https://hub.example.org", keys: this.keys, revoked: this.revoked });
      const etag = `"${this.revoked.length} ${this.keys.length}"`;
      if (request.headers["if-none-match"] === etag) return response.writeHead(304).end();
      return response.writeHead(200, { etag }).end(text);
    });
    this.#port ||= await freePort();
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#server = server;
    return this;
  }

  async newKey(kid: string): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
    this.keys.push({ ...(await exportJWK(publicKey)), kid, alg: "EdDSA" });
    this.#key = privateKey;
  }

  stop(): Promise<void> {
    this.#server?.closeAllConnections();
    return new Promise((resolve) => void (this.#server ? this.#server.close(() => resolve()) : resolve()));
  }

  /** Signs a token. @param more claims that differ */
  sign(device: string, more: Record<string, unknown> = {}, kid = "1", key = this.#key): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: "https://hub.example.org", sub: device, team: "t", iat: now, exp: now + 24 * HOUR, ...more };
    return new SignJWT(claims).setProtectedHeader({ alg: "EdDSA", kid }).sign(key);
  }
}

let count = 0;
const packetOf = (source: string): Uint8Array => detectionPacket(count++, { source });

describe("a host with a hub", () => {
  const folder = temporaryFolder();
  const database = `${folder.path}/host.db`;
  let hub: FakeHub;
  let host: TestHost;
  const start = (): Promise<TestHost> =>
    testHost({ hub: hub.url, hubSeconds: 0.2, agentToken, database, logLevel: "warn" });

  beforeAll(async () => {
    hub = await new FakeHub().start();
    await hub.newKey("1");
    host = await start();
  });
  afterAll(async () => {
    await host.end();
    await hub.stop();
  });

  const send = (token: string, packet: Uint8Array): Promise<Response> =>
    host.post(packet, { Authorization: `Bearer ${token}` });

  test("takes packets and previews of a device under its own token, and those of nobody else", async () => {
    const token = await hub.sign("a1");
    for (const source of ["device:a1", "device:a1/door"])
      expect((await send(token, packetOf(source))).status).toBe(204);
    for (const source of ["device:a2", "device:a1x", "device:a", "/devices/a1"]) {
      const answer = await send(token, packetOf(source));
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ reason: "source", error: expect.stringContaining("device:a1") });
    }
    const preview = (source: string): Promise<Response> =>
      fetch(`${host.url}/v1/previews`, {
        method: "POST",
        body: colourPng(8, 8, new Uint8Array(192)) as Uint8Array<ArrayBuffer>,
        headers: {
          ...{ authorization: `Bearer ${token}`, "ce-source": source, "ce-id": "1", "ce-subject": "c" },
          "ce-time": new Date().toISOString(),
        },
      });
    expect((await preview("device:a1")).status).toBe(204);
    expect((await preview("device:a2")).status).toBe(403);
  });

  test("shows the name that the token brings, and a new one", async () => {
    const shown = async (source: string): Promise<unknown> => {
      const { cameras } = await (await fetch(`${host.url}/v1/cameras`)).json();
      return (cameras as { source: string; name: string | null }[]).find((camera) => camera.source === source)?.name;
    };
    await send(await hub.sign("n1", { name: "Front door" }), packetOf("device:n1"));
    await send(await hub.sign("n2"), packetOf("device:n2"));
    expect([await shown("device:n1"), await shown("device:n2")]).toEqual(["Front door", null]);
    await send(await hub.sign("n1", { name: "Back <b>door</b>" }), packetOf("device:n1"));
    expect(await shown("device:n1")).toBe("Back <b>door</b>");
    // A name that cannot be written costs no packet.
    await host.db.write((tx) => tx.all("ALTER TABLE device_names RENAME TO away"));
    const third = await hub.sign("n1", { name: "Side door" });
    const { status } = await send(third, packetOf("device:n1"));
    await host.db.write((tx) => tx.all("ALTER TABLE away RENAME TO device_names"));
    expect(status).toBe(204);
    await send(third, packetOf("device:n1"));
    expect(await shown("device:n1")).toBe("Side door");
  });

  test("still takes the token that all agents share, of any source", async () => {
    expect((await send(agentToken, packetOf("/devices/7"))).status).toBe(204);
    expect((await send(agentToken, packetOf("device:a2"))).status).toBe(204);
  });

  test("refuses tokens that no hub signed, that have run out, and that are of another issuer", async () => {
    const now = Math.floor(Date.now() / 1000);
    const foreign = await generateKeyPair("EdDSA");
    const none = `${btoa('{"alg":"none"}')}.${btoa(`{"sub":"a1","iat":1,"exp":${now + HOUR}}`)}.x`.replaceAll("=", "");
    const wrong = {
      "another key": await hub.sign("a1", {}, "1", foreign.privateKey),
      "another kid": await hub.sign("a1", {}, "9"),
      "no algorithm": none,
      expired: await hub.sign("a1", { iat: now - 3 * HOUR, exp: now - HOUR }),
      "another issuer": await hub.sign("a1", { iss: "https://other.example.org" }),
      "no device": await hub.sign("a1", { sub: undefined }),
      "never ends": await hub.sign("a1", { exp: undefined }),
    };
    for (const [name, token] of Object.entries(wrong))
      expect((await send(token, packetOf("device:a1"))).status, name).toBe(401);
    // A device token reads nothing, and the page has no token here: it is for this machine.
    expect((await fetch(`${host.url}/v1/cameras`)).status).toBe(200);
    expect((await host.post(packetOf("device:a1"), { Authorization: "" })).status).toBe(401);
  });

  test("says that a token is of another hub, and still takes those of its own from the same address", async () => {
    const stale = await hub.sign("a1", {}, "of a hub before");
    for (let time = 0; time < 30; time++) {
      const answer = await send(stale, packetOf("device:a1"));
      expect(answer.status).toBe(401);
      expect(await answer.json()).toEqual({ error: expect.stringContaining("enrol the device again") });
    }
    expect((await send(await hub.sign("a1"), packetOf("device:a1"))).status).toBe(204);
  });

  test("refuses a revoked device by name, though its token was used before, and takes a token from after that", async () => {
    const now = Math.floor(Date.now() / 1000);
    const old = await hub.sign("b1", { iat: now - 10 });
    expect((await send(old, packetOf("device:b1"))).status).toBe(204);
    hub.revoked.push({ device_id: "b1", before: now - 5 });
    await until(async () => (await send(old, packetOf("device:b1"))).status === 401, "the revocation");
    expect(await (await send(old, packetOf("device:b1"))).json()).toEqual({
      error: "Authorization: the hub has revoked device b1",
    });
    expect((await send(await hub.sign("b1"), packetOf("device:b1"))).status).toBe(204);
    expect(await host.metric('boxwright_host_denied_total{what="device"}')).toBeGreaterThan(1);
  });

  test("takes a new key of the hub", async () => {
    await hub.newKey("2");
    const token = await hub.sign("c1", {}, "2");
    await until(async () => (await send(token, packetOf("device:c1"))).status === 204, "the new key");
  });

  test("starts without the hub by what it read last, and health says that the hub is away", async () => {
    const token = await hub.sign("d1", {}, "2");
    await hub.stop();
    await host.stop();
    host = await start();
    expect((await send(token, packetOf("device:d1"))).status).toBe(204);
    const old = await hub.sign("b1", { iat: Math.floor(Date.now() / 1000) - 100 }, "2");
    expect((await send(old, packetOf("device:b1"))).status).toBe(401);
    const health = (await (await fetch(`${host.url}/healthz`)).json()) as { ok: boolean; hub: string };
    expect(health).toMatchObject({ ok: true, hub: expect.stringMatching(/fetch failed/) });
    await hub.start();
    await until(async () => {
      const { hub: state } = (await (await fetch(`${host.url}/healthz`)).json()) as { hub: string };
      return state === "ok";
    });
  });

  test("its pages may be framed by the hub alone", async () => {
    const policy = (await fetch(`${host.url}/?source=device:a1&framed`)).headers.get("content-security-policy");
    // The host asks the hub at one address, and browsers have its pages from another one.
    expect(policy).toMatch(new RegExp(`frame-ancestors ${hub.url} https://hub\\.example\\.org$`));
  });
});

test("a token whose signature is checked while the hub replaces its key is void", async () => {
  const hub = new FakeHub();
  await hub.newKey("1");
  const token = await hub.sign("a1");
  const document = { issuer: "https://hub.example.org", revoked: [] };
  const tokens = new DeviceTokens(Date.now);
  tokens.use({ ...document, keys: hub.keys });
  hub.keys = [];
  await hub.newKey("2");
  // The check takes the old key at once, and goes on no sooner than this test awaits it: the key is replaced by then.
  const checking = tokens.check(token);
  tokens.use({ ...document, keys: hub.keys });
  expect([(await checking).kind, (await tokens.check(token)).kind]).toEqual(["void", "void"]);
});

test("a host that never reached its hub puts tokens of devices off", async () => {
  const hub = await new FakeHub().start();
  await hub.newKey("1");
  await hub.stop();
  const host = await testHost({ hub: hub.url, hubSeconds: 0.2 });
  const answer = await host.post(packetOf("device:a1"), { authorization: `Bearer ${await hub.sign("a1")}` });
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("5");
  await host.end();
});

describe("a token whose signature was checked before", () => {
  const HUB = "https://hub.example.org";
  /** Returns tokens of a hub with one key, a token of a device, and a document with another key. */
  async function known(now: () => number) {
    const made = await Promise.all(["1", "2"].map(() => generateKeyPair("EdDSA", { extractable: true })));
    const documents = await Promise.all(
      made.map(async ({ publicKey }, i) => ({
        issuer: HUB,
        keys: [{ ...(await exportJWK(publicKey)), kid: `${i + 1}`, alg: "EdDSA" }],
        revoked: [],
      })),
    );
    const issuedAt = Math.floor(now() / 1000);
    const claims = { iss: HUB, sub: "d", team: "t", iat: issuedAt, exp: issuedAt + HOUR };
    const token = await new SignJWT(claims).setProtectedHeader({ alg: "EdDSA", kid: "1" }).sign(made[0]!.privateKey);
    const tokens = new DeviceTokens(now);
    const [first, second] = documents as unknown as Parameters<DeviceTokens["use"]>[0][];
    tokens.use(first!);
    expect(await tokens.check(token)).toMatchObject({ kind: "device", device: "d" });
    return { tokens, token, second: second! };
  }

  test("is void once the hub has replaced the key", async () => {
    const { tokens, token, second } = await known(() => 1.8e12);
    tokens.use(second);
    expect(await tokens.check(token)).toMatchObject({ kind: "void" });
  });

  test("is good for a minute beyond its end, by which clocks may differ", async () => {
    let now = 1.8e12;
    const { tokens, token } = await known(() => now);
    now += (HOUR + 60) * 1000;
    expect(await tokens.check(token)).toMatchObject({ kind: "device" });
    now += 1000;
    expect(await tokens.check(token)).toMatchObject({ kind: "void" });
  });
});

test("a host reads so often that a revocation arrives within hubSeconds, though the hub's document is behind", () => {
  expect([30, 5, 1.5, 0.2].map(pauseOf)).toEqual([29, 4, 0.75, 0.1]);
});
