/** An orderly end on SIGTERM. */
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "boxwright-service/testing/wait";
import { LIST, ask, temporaryFolder } from "../support/hub.ts";
import { HubProcess, makeKey, run, useLinkAt } from "../support/process.ts";

let folder: { path: string; remove: () => void };
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

describe("SIGTERM", () => {
  const LIST_BODY = JSON.stringify({ query: LIST });

  /** A request whose last bytes are still to come. `underWay`: the hub has read its headers, and says so. */
  function slowRequest(
    port: number,
    key: string,
  ): { underWay: Promise<void>; finish: () => void; done: Promise<string> } {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    const underWay = new Promise<void>((resolve, reject) => {
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (text.startsWith("HTTP/1.1 100 Continue")) resolve();
      });
      socket.on("close", () => reject(new Error(`got ${JSON.stringify(text)}, expected 100 Continue`)));
    });
    const done = new Promise<string>((resolve, reject) => {
      socket.on("close", () => resolve(text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "")));
      socket.on("error", reject);
    });
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${LIST_BODY.length}\r\n\r\n${LIST_BODY.slice(0, 10)}`,
    );
    return { underWay, finish: () => void socket.write(LIST_BODY.slice(10)), done };
  }

  const refuses = (hub: HubProcess): Promise<boolean> =>
    fetch(`${hub.url}/healthz`).then(
      () => false,
      () => true,
    );

  it("waits for a request under way, and not for connections that ask for nothing", async () => {
    const busyEnv = { HUB_DATABASE_FILE: join(folder.path, "busy.db") };
    const init = await run(["init", "--email", "root@example.org"], busyEnv);
    const busy = await HubProcess.start(busyEnv);
    const key = await makeKey(await useLinkAt(busy.url, init.json.link as string), init.json.team.id as string);
    const hub = await HubProcess.start({ HUB_DATABASE_FILE: join(folder.path, "hub.db") });
    const silent = ["", "GET /healthz HT"].map((start) => {
      const socket = connect(hub.port, "127.0.0.1");
      const open = new Promise<void>((resolve) => socket.on("connect", () => socket.write(start, () => resolve())));
      return { open, closed: new Promise((resolve) => socket.on("error", () => undefined).on("close", resolve)) };
    });
    await Promise.all(silent.map(({ open }) => open));
    // The hub accepts connections in order: after this answer, it has accepted the silent ones.
    expect((await fetch(`${hub.url}/healthz`)).status).toBe(200);

    // Another hub is the measure: it is told to end first, and waits for its request as long as any hub waits.
    const slow = slowRequest(busy.port, key);
    await slow.underWay;
    busy.kill("SIGTERM");
    await until(() => refuses(busy), "the end of the port");
    hub.kill("SIGTERM");
    expect(
      await Promise.race([
        hub.ended.then(({ code }) => ["the silent one", code]),
        busy.ended.then(({ code }) => ["the busy one", code]),
      ]),
    ).toEqual(["the silent one", 0]);
    expect(hub.output).toContain('"msg":"stopped"');
    await Promise.all(silent.map(({ closed }) => closed));

    expect(busy.output).not.toContain('"msg":"stopped"');
    slow.finish();
    expect(await slow.done).toMatch(/^HTTP\/1\.1 200 .*"devices"/is);
    expect((await busy.ended).code).toBe(0);
  });

  it("answers what is under way, says so on /readyz, then ends with 0", async () => {
    // Long enough for three requests on a busy machine. A request that began before is within its own limit after.
    const env = { HUB_DATABASE_FILE: join(folder.path, "hub.db"), HUB_DRAIN_SECONDS: "10" };
    const init = await run(["init", "--email", "root@example.org"], env);
    const hub = await HubProcess.start(env);
    const key = await makeKey(await useLinkAt(hub.url, init.json.link as string), init.json.team.id as string);
    const slow = Array.from({ length: 64 }, () => slowRequest(hub.port, key));
    await Promise.all(slow.map(({ underWay }) => underWay));
    hub.kill("SIGTERM");
    await hub.says(/"msg":"draining"/);
    expect((await fetch(`${hub.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${hub.url}/healthz`)).status).toBe(200);
    expect(await ask(hub.url, key)).toBe(200);
    await until(() => refuses(hub), "the end of the port");
    for (const { finish } of slow) finish();
    const answers = await Promise.all(slow.map(({ done }) => done));
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 .*connection: close.*"devices"/is);
    expect((await hub.ended).code).toBe(0);
    expect(hub.output).toContain('"msg":"stopped"');
    expect((await run(["audit", "--limit", "1"], env)).code).toBe(0);
  });
});
