/** Connections of one address are capped. The good client comes from another address of this machine. */
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { untilPasses } from "boxwright-service/testing/wait";
import { startHub, type TestHub, type TestHubOptions } from "../support/hub.ts";
import { BODY, JSON_TYPE } from "../support/raw.ts";

let hub: TestHub;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await hub.stop();
});

async function start(options: TestHubOptions): Promise<void> {
  // No header times out while the test looks, and no connection stands still for too long.
  hub = await startHub({ timeouts: { headers: 600_000, request: 600_000, standstill: 600_000 }, ...options });
}

/** Opens connections from 127.0.0.1 that send half a header. Returns how many of them were closed again. */
async function openHalf(count: number): Promise<() => number> {
  let closed = 0;
  for (let i = 0; i < count; i++) {
    await new Promise<void>((resolve) => {
      const socket = connect({ port: hub.running.port, host: "127.0.0.1" });
      sockets.push(socket);
      socket.on("error", () => undefined).once("close", () => (closed++, resolve()));
      socket.once("connect", () => socket.write("POST /graphql HTTP/1.1\r\nHost: x\r\nX-Half: ", () => resolve()));
    });
  }
  return () => closed;
}

/** Asks for the devices from an address of its own. Returns the status, or the code of the error. */
function ask(localAddress: string): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = ["Host", "x", "Authorization", `Bearer ${hub.key}`, ...JSON_TYPE, "Connection", "close"];
    const options = { port: hub.running.port, host: "127.0.0.1", path: "/graphql", method: "POST", localAddress };
    request({ ...options, headers: headers as never, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    })
      // Written to after the end, a connection is broken or reset, as the system comes to it.
      .on("error", ({ code = "", message }: NodeJS.ErrnoException) =>
        resolve(code === "EPIPE" ? "ECONNRESET" : code || message),
      )
      .end(BODY);
  });
}

const lines = (): Record<string, unknown>[] =>
  hub
    .logs()
    .split("\n")
    .filter((line) => line.includes('"connections refused"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("connections of one address", () => {
  it("leave room for others, however many are tried", async () => {
    await start({});
    const closed = await openHalf(4200);
    await untilPasses(() => expect(closed()).toBe(4200 - 256));
    expect(await ask("127.0.0.2")).toBe(200);
    expect(await ask("127.0.0.1")).toBe("ECONNRESET");
    const { registry } = hub.running.app.metrics;
    expect(await registry.metrics()).toContain(`hub_connections_refused_total{limit="address"} ${4200 - 256 + 1}`);
    // One line for the first, and one for many: a flood of connections is no flood of lines.
    expect(lines()[0]).toMatchObject({ level: "warn", refused: 1, overAddressLimit: 1, last: "127.0.0.1" });
    expect(lines().length).toBeLessThan(50);
  });

  it("count again once they are closed", async () => {
    await start({ env: { HUB_ADDRESS_CONNECTIONS: "3" } });
    const closed = await openHalf(5);
    await untilPasses(() => expect(closed()).toBe(2));
    for (const socket of sockets.splice(0)) socket.destroy();
    await untilPasses(async () => expect(await ask("127.0.0.1")).toBe(200));
  });

  it("are counted apart from those over the limit of all", async () => {
    await start({ env: { HUB_ADDRESS_CONNECTIONS: "4096", HUB_CONNECTIONS: "4096" } });
    const closed = await openHalf(4100);
    await untilPasses(() => expect(closed()).toBe(4));
    expect(await ask("127.0.0.2")).toBe("ECONNRESET");
    expect(await hub.running.app.metrics.registry.metrics()).toContain(
      'hub_connections_refused_total{limit="total"} 5',
    );
    expect(lines()[0]).toMatchObject({ overTotalLimit: 1 });
  });

  it("are the proxy's to limit behind a declared proxy", async () => {
    await start({
      env: { HUB_ADDRESS_CONNECTIONS: "3", HUB_PROXY_HOPS: "1", HUB_BASE_URL: "https://hub.example.org" },
    });
    await openHalf(10);
    expect(await ask("127.0.0.1")).toBe(200);
  });
});
