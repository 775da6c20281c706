/** The hub's own client. */
import { print } from "graphql";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import {
  createHubClient,
  HubAuthError,
  HubError,
  HubMutationError,
  HubQueryError,
  HubRateLimitError,
  HubRequestError,
  HubUnavailableError,
} from "../../client/index.ts";
import { queryCodes } from "../../src/graphql/errors.ts";
import { LIST, startHub, type TestHub } from "../support/hub.ts";
import { Agent } from "../support/agent.ts";
import { namesIn, typedPage, type List } from "../support/queries.ts";

let hub: TestHub;
beforeAll(async () => void (hub = await startHub({ devices: ["north", "south"] })));
afterAll(() => hub.stop());

/** A server that answers what it is told, and keeps what it was asked. */
async function pretend(
  listener: RequestListener,
): Promise<{ url: string; requests: { url: string; authorization: string | undefined }[]; close: () => void }> {
  const requests: { url: string; authorization: string | undefined }[] = [];
  const server: Server = createServer((request, response) => {
    requests.push({ url: request.url ?? "", authorization: request.headers.authorization });
    request.resume();
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe("the hub's client", () => {
  it("lists devices, and types what it is asked", async () => {
    await expect(createHubClient({ baseUrl: hub.url, apiKey: hub.key }).query(typedPage)).rejects.toThrow(
      "expected a text, a document parsed with locations, or the option `print`",
    );
    const client = createHubClient({ baseUrl: hub.url, apiKey: hub.key, print });
    const devices = await client.devices();
    expectTypeOf(devices).toEqualTypeOf<{ readonly id: string; readonly name: string }[]>();
    expect(devices.map((device) => device.name)).toEqual(["north", "south"]);
    expect(namesIn(await client.query<List>(LIST))).toEqual(["north", "south"]);
    const page = await client.query(typedPage, { first: 1 });
    expectTypeOf(page.team.devices.pageInfo.endCursor).toEqualTypeOf<string | null>();
    expect(page.team.devices.nodes).toHaveLength(1);
    // @ts-expect-error -- a variable of the wrong type
    await expect(client.query(typedPage, { first: "x" })).rejects.toThrow(HubQueryError);
  });

  it("has a method for each documented operation of devices, groups and adopt keys", async () => {
    const { key } = await hub.makeTeam("Operated", ["gate"]);
    const client = createHubClient({ baseUrl: hub.url, apiKey: key });
    const group = await client.createDeviceGroup("walls");
    const made = await client.createAdoptKey({ name: "autumn", maxDevices: 2, deviceGroupIds: [group.id] });
    expect(made.adoptKey).toMatchObject({ name: "autumn", status: "ACTIVE", usedCount: 0, maxDevices: 2 });
    const agent = await Agent.enrol(hub, made.key, { name: "by key" });
    await agent.beat();
    await hub.running.app.heartbeats.flush(hub.storage.db);
    expect(await client.device(agent.id)).toMatchObject({ name: "by key", status: "ONLINE", application: null });
    expect(await client.device("nothing")).toBeNull();
    expect((await client.deviceDetails({ status: "OFFLINE" })).map(({ name }) => name)).toEqual(["gate"]);
    expect((await client.devices({ deviceGroupId: group.id })).map(({ id }) => id)).toEqual([agent.id]);
    await client.deviceGroupRemoveDevice(group.id, agent.id);
    await client.deviceGroupAddDevice(group.id, agent.id);
    expect((await client.renameDeviceGroup(group.id, "towers")).name).toBe("towers");
    expect(await client.deviceGroups()).toMatchObject([{ name: "towers" }]);
    expect((await client.renameDevice(agent.id, "north")).name).toBe("north");
    await client.revokeDeviceCredential(agent.id);
    expect((await agent.beat()).status).toBe(401);
    expect((await client.revokeAdoptKey(made.adoptKey.id)).status).toBe("REVOKED");
    expect(await client.adoptKeys()).toMatchObject([{ usedCount: 1 }]);
    await client.deleteAdoptKey(made.adoptKey.id);
    await client.deleteDeviceGroup(group.id);
    expect((await client.deleteDevice(agent.id)).id).toBe(agent.id);
    await expect(client.deleteDevice(agent.id)).rejects.toThrow(HubMutationError);
    // A change whose answer was lost may be there: it is not sent again.
    let sent = 0;
    const broken: typeof fetch = () => (sent++, Promise.reject(new Error("reset")));
    const other = createHubClient({ baseUrl: hub.url, apiKey: key, fetch: broken });
    await expect(other.createDeviceGroup("x")).rejects.toThrow(HubUnavailableError);
    expect(sent).toBe(1);
  });

  it("reads all devices in pages, in the order of their ids", async () => {
    const many = Array.from({ length: 2345 }, (_, i) => `device ${String(i).padStart(4, "0")}`);
    const { key } = await hub.makeTeam("Many", many);
    let requests = 0;
    const counting: typeof fetch = (...args) => (requests++, fetch(...args));
    const client = createHubClient({ baseUrl: hub.url, apiKey: key, fetch: counting });
    expect((await client.devices()).map(({ name }) => name)).toEqual(many);
    expect(requests).toBe(3);
  });

  it("tells an error of the query from a refusal of the request, whatever the status", async () => {
    for (const code of Object.keys(queryCodes)) {
      const body = JSON.stringify({ errors: [{ message: "no", extensions: { code } }] });
      const server = await pretend((_request, response) => response.writeHead(400).end(body));
      const client = createHubClient({ baseUrl: server.url, apiKey: hub.key, retries: 0 });
      await expect(client.devices()).rejects.toThrow(HubQueryError);
      server.close();
    }
  });

  it("throws by status", async () => {
    const client = createHubClient({ baseUrl: hub.url, apiKey: hub.key, retries: 0 });
    const wrong = await client.query("{ nothing }").catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(HubQueryError);
    expect((wrong as HubQueryError).errors[0]?.message).toContain('Cannot query field "nothing"');
    const other = createHubClient({
      baseUrl: hub.url,
      apiKey: hub.key.slice(0, -1) + (hub.key.endsWith("A") ? "B" : "A"),
    });
    await expect(other.devices()).rejects.toThrow(HubAuthError);
    await expect(client.query(`{ team { id } } # ${"x".repeat(70_000)}`)).rejects.toThrow(HubRequestError);
    for (const [status, type] of [
      [400, HubRequestError],
      [403, HubRequestError],
      [404, HubRequestError],
      [429, HubRateLimitError],
      [500, HubUnavailableError],
      [502, HubUnavailableError],
      [200, HubUnavailableError],
    ] as const) {
      const server = await pretend((_request, response) =>
        response.writeHead(status, { "retry-after": "7", "x-request-id": "abc" }).end("<html>"),
      );
      const error = (await createHubClient({ baseUrl: server.url, apiKey: hub.key, retries: 0 })
        .devices()
        .catch((caught: unknown) => caught)) as HubError;
      expect([status, error.name]).toEqual([status, type.name]);
      expect(error).toBeInstanceOf(type);
      expect(error.requestId).toBe("abc");
      if (error instanceof HubRateLimitError) expect(error.retryAfterSeconds).toBe(7);
      server.close();
    }
  });

  it("tries again after 429, 503 and a broken connection, with pauses that grow, and after nothing else", async () => {
    const sleeps: number[] = [];
    const sleep = (ms: number): Promise<void> => {
      sleeps.push(ms);
      return Promise.resolve();
    };
    let count = 0;
    const flaky = await pretend((request, response) => {
      count++;
      if (count === 1) response.writeHead(503, { "retry-after": "1" }).end();
      else if (count === 2) request.socket.destroy();
      else if (count === 3) response.writeHead(429, { "retry-after": "3" }).end();
      else
        response
          .setHeader("content-type", "application/json")
          .end('{"data":{"team":{"devices":{"nodes":[],"pageInfo":{"hasNextPage":false}}}}}');
    });
    expect(await createHubClient({ baseUrl: flaky.url, apiKey: hub.key, sleep }).devices()).toEqual([]);
    expect(flaky.requests).toHaveLength(4);
    expect(sleeps).toHaveLength(3);
    expect(sleeps[0]).toBe(1000);
    expect(sleeps[1]).toBeGreaterThanOrEqual(250);
    expect(sleeps[1]).toBeLessThanOrEqual(500);
    expect(sleeps[2]).toBe(3000);
    flaky.close();
    for (const [status, after, tries] of [
      [401, "0", 1],
      [500, "0", 1],
      [400, "0", 1],
      [429, "3600", 1],
      [503, "0", 3],
    ] as const) {
      const server = await pretend((_request, response) =>
        response.writeHead(status, { "retry-after": after }).end("{}"),
      );
      await expect(
        createHubClient({ baseUrl: server.url, apiKey: hub.key, sleep, retries: 2 }).devices(),
      ).rejects.toThrow(HubError);
      expect([status, after, server.requests.length]).toEqual([status, after, tries]);
      server.close();
    }
  });

  it("follows no redirect with the key", async () => {
    const thief = await pretend((_request, response) => response.end("{}"));
    const server = await pretend((_request, response) =>
      response.writeHead(307, { location: `${thief.url}/graphql` }).end(),
    );
    await expect(createHubClient({ baseUrl: server.url, apiKey: hub.key, retries: 0 }).devices()).rejects.toThrow(
      /redirect/,
    );
    expect(thief.requests).toEqual([]);
    server.close();
    thief.close();
    // An address that only sounds like one is no redirect, and may answer later.
    const nowhere = createHubClient({ baseUrl: "https://redirect.invalid", apiKey: hub.key, retries: 0 });
    await expect(nowhere.devices()).rejects.toThrow(HubUnavailableError);
  });

  it("knows errors that are not the hub's", async () => {
    for (const errors of [{ detail: "x" }, "x", [null], [{ title: "x" }]]) {
      const server = await pretend((_request, response) => response.writeHead(400).end(JSON.stringify({ errors })));
      const client = createHubClient({ baseUrl: server.url, apiKey: hub.key, retries: 0 });
      await expect(client.devices()).rejects.toThrow(HubRequestError);
      server.close();
    }
  });

  it("shows the key nowhere", async () => {
    const client = createHubClient({ baseUrl: hub.url, apiKey: hub.key });
    // eslint-disable-next-line @typescript-eslint/no-base-to-string -- what a careless log line would do
    const shown = [inspect(client, { depth: 10, showHidden: true }), JSON.stringify(client), String(client)];
    const echo =
      (message: string): typeof fetch =>
      () =>
        Promise.reject(new TypeError(message, { cause: new Error(`while sending Bearer ${hub.key}`) }));
    const failing = await createHubClient({
      baseUrl: hub.url,
      apiKey: hub.key,
      retries: 0,
      fetch: echo(`bad header ${hub.key}`),
    })
      .devices()
      .catch((error: unknown) => error);
    shown.push(inspect(failing, { depth: 10, showHidden: true }), String((failing as Error).stack));
    for (const bad of [`${hub.key}x`, hub.key.slice(1)]) {
      try {
        createHubClient({ baseUrl: hub.url, apiKey: bad });
      } catch (error) {
        shown.push(inspect(error));
      }
    }
    // A wrong address, where somebody answers with what was sent.
    for (const status of [200, 400, 500]) {
      const mirror = await pretend((request, response) =>
        response.writeHead(status).end(JSON.stringify({ authorization: request.headers.authorization })),
      );
      const client = createHubClient({ baseUrl: mirror.url, apiKey: hub.key, retries: 0 });
      const error: unknown = await client.devices().catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(HubError);
      shown.push(inspect(error, { depth: 10, showHidden: true }));
      mirror.close();
    }
    expect(shown).toHaveLength(10);
    for (const text of shown) expect(text).not.toContain(hub.key.slice(20, 40));
  });

  it("refuses a browser, an open connection to another machine, and what is no key", () => {
    for (const name of ["window", "document", "importScripts"]) {
      Object.defineProperty(globalThis, name, { value: () => undefined, configurable: true });
      try {
        expect(() => createHubClient({ baseUrl: hub.url, apiKey: hub.key })).toThrow(
          "got a browser, expected a server",
        );
      } finally {
        Reflect.deleteProperty(globalThis, name);
      }
    }
    for (const baseUrl of [
      "http://hub.example.org",
      "ftp://x",
      "hub",
      "https://user@hub.example.org",
      "https://hub.example.org/?a",
    ]) {
      expect(() => createHubClient({ baseUrl, apiKey: hub.key })).toThrow(/got .*, expected/);
    }
    expect(() => createHubClient({ baseUrl: hub.url, apiKey: undefined })).toThrow(
      "apiKey: got undefined, expected a key",
    );
    expect(createHubClient({ baseUrl: "https://hub.example.org/", apiKey: hub.key })).toBeDefined();
  });

  it("depends on nothing", () => {
    const folder = new URL("../../client/", import.meta.url);
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as {
      dependencies?: unknown;
      peerDependencies?: unknown;
    };
    expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".ts"))) {
      const text = readFileSync(new URL(file, folder), "utf8");
      expect([file, text.match(/^(import|export) .* from "(?!\.\/)|require\(|import\(/gm)]).toEqual([file, null]);
    }
  });
});
