/** The broker goes away while the host is on its way back to it: the host begins anew, whatever it was asking. */
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { jetstream } from "@nats-io/jetstream";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { Broker } from "boxwright-service/testing/broker";
import { until } from "boxwright-service/testing/wait";
import { detectionPacket } from "../support/frames.ts";
import { type TestHost, testHost } from "../support/host.ts";

/** Stands between a host and its broker, and cuts connections. */
class Proxy {
  /** Cuts the connection in place of a message that has this text; then null. */
  cutsAt: string | null = null;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((outer) => {
    const inner = connect(this.#port, "127.0.0.1");
    for (const socket of [outer, inner]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => [outer, inner].forEach((one) => one.destroy()));
    }
    outer.on("data", (bytes) => {
      if (this.cutsAt === null || !bytes.includes(this.cutsAt)) return void inner.write(bytes);
      this.cutsAt = null;
      this.cut();
    });
    inner.on("data", (bytes) => outer.write(bytes));
  });
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  stop(): void {
    this.#server.close();
    this.cut();
  }
}

/** Number of times that a host has begun to take packets. */
const beginningsOf = (host: TestHost): number => host.logs().split('"taking packets"').length - 1;

describe.skipIf(!inject("nats"))("a host that comes back to its broker", () => {
  let broker: Broker;
  beforeAll(async () => void (broker = await Broker.start()));
  afterAll(() => broker.remove());

  test.each([
    ["STREAM.INFO.BOXWRIGHT", 2],
    ["CONSUMER.INFO.BOXWRIGHT", 2],
    ["CONSUMER.MSG.NEXT.BOXWRIGHT", 3],
  ])("and loses it again at %s takes packets at its beginning %i", async (request, beginnings) => {
    const proxy = new Proxy(broker.port);
    onTestFinished(() => proxy.stop());
    const host = await testHost({ nats: await proxy.start() });
    onTestFinished(() => host.end());
    await until(() => beginningsOf(host) === 1, "the consumer");
    proxy.cutsAt = `$JS.API.${request}`;
    proxy.cut();
    await until(() => proxy.cutsAt === null, "the second cut");
    const connection = await broker.connect();
    onTestFinished(() => connection.close());
    await jetstream(connection).publish("boxwright.packets.0.door", detectionPacket(1, { id: request }));
    // The library would look for its consumer once, and then after 15 to 45 s: the host has to begin anew.
    await until(() => beginningsOf(host) === beginnings, "a new beginning");
    await until(async () => (await host.lines()).length === 1, "the packet");
  });
});

test.skipIf(!inject("nats"))("a host whose password the broker refuses for a while comes back", async () => {
  const login = { user: "host", pass: "right" };
  const broker = await Broker.start({ login });
  const { port } = broker;
  onTestFinished(() => broker.remove());
  const host = await testHost({ nats: `nats://host:right@127.0.0.1:${port}` });
  onTestFinished(() => host.end());
  await until(() => beginningsOf(host) === 1, "the consumer");
  await broker.kill();
  const other = await Broker.start({ port, login: { ...login, pass: "another" } });
  onTestFinished(() => other.remove());
  await until(() => other.output.split("authentication error").length > 3, "three refusals");
  await other.kill();
  await broker.start();
  await until(() => beginningsOf(host) === 2, "a new beginning");
  expect((await fetch(`${host.url}/healthz`)).status).toBe(200);
});
