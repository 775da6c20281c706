/** TLS around the host: a proxy in front of its HTTP, and a broker that asks for it. */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { createServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { jetstream } from "@nats-io/jetstream";
import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { Broker } from "boxwright-service/testing/broker";
import { detectionPacket } from "../support/frames.ts";
import { temporaryFolder, testHost } from "../support/host.ts";
import { Child } from "boxwright-service/testing/child";
import { HostProcess } from "../support/process.ts";
import { startNginx } from "boxwright-service/testing/nginx";
import { makeCertificates } from "boxwright-service/testing/tls";
import { until } from "boxwright-service/testing/wait";

afterAll(() => Child.killAll());

interface Proxy {
  readonly port: number;
  readonly ca: string;
}

/** Starts a proxy that passes bytes on as they are. */
async function startPlainProxy(target: number): Promise<Proxy> {
  const { ca, cert, key } = makeCertificates(temporaryFolder().path, "DNS:host.example.org");
  const proxy = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (socket) => {
    const inner = connect(target, "127.0.0.1");
    socket.on("error", () => inner.destroy()).pipe(inner);
    inner.on("error", () => socket.destroy()).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  return { port: (proxy.address() as AddressInfo).port, ca };
}

/** Starts nginx with the example of `deploy/`. */
async function startExample(target: number): Promise<Proxy> {
  const nginx = await startNginx(fileURLToPath(new URL("../../deploy/nginx.conf", import.meta.url)), target);
  onTestFinished(() => nginx.stop());
  return nginx;
}

const proxies = [
  { name: "a proxy", start: startPlainProxy, skip: false },
  { name: "nginx", start: startExample, skip: !inject("nginx") },
];

test.for(proxies)("behind $name with TLS, a host takes packets and streams its page", async ({ start, skip }, t) => {
  t.skip(skip);
  const [agentToken, pageToken] = ["agent-token-0123456789", "page-token-0123456789"];
  const host = await testHost({ agentToken, pageToken, address: "127.0.0.1", proxyHops: 1 });
  const { port, ca } = await start(host.port);

  /** Asks under the name of the certificate. Returns the status and the first bytes of the answer. */
  const ask = (
    method: string,
    path: string,
    token: string,
    body: Uint8Array = new Uint8Array(0),
  ): Promise<[number, string]> =>
    new Promise((resolve, reject) => {
      const headers = { host: "host.example.org", authorization: `Bearer ${token}` };
      const address = { host: "127.0.0.1", port, servername: "host.example.org", ca: readFileSync(ca) };
      const asked = request({ ...address, method, path, headers, agent: false }, (answer) => {
        const end = (text = ""): void => {
          resolve([answer.statusCode!, text]);
          asked.destroy();
        };
        answer.once("data", (chunk: Buffer) => end(chunk.toString())).once("end", end);
      });
      asked.once("error", reject).end(body);
    });

  expect(await ask("POST", "/v1/packets", agentToken, detectionPacket(1))).toEqual([204, ""]);
  expect((await ask("POST", "/v1/packets", pageToken, detectionPacket(2)))[0]).toBe(401);
  // A large packet reaches the host, which says what is wrong with it.
  const large = await ask("POST", "/v1/packets", agentToken, Buffer.alloc(7 * 2 ** 20));
  expect(large).toEqual([400, expect.stringContaining("reason")]);
  expect((await ask("GET", "/", pageToken))[1]).toContain("<!doctype html>");
  expect((await ask("GET", "/events", pageToken))[1]).toContain("event: state");
  expect(await host.lines()).toMatchObject([{ id: "frame-1" }]);
  await host.end();
});

test.skipIf(!inject("nats"))("a broker with TLS is used once its authority is named", async () => {
  const certificates = makeCertificates(temporaryFolder().path);
  const broker = await Broker.start({ tls: certificates });
  const database = `${temporaryFolder().path}/host.db`;
  const stranger = await HostProcess.start({ database, nats: broker.url });
  await until(() => stranger.output.includes("cannot use the broker"), "reason");
  expect(stranger.output).toMatch(/unable to verify .*NODE_EXTRA_CA_CERTS/);
  expect((await fetch(`${stranger.url}/healthz`)).status).toBe(503);
  expect(await stranger.end("SIGTERM")).toBe(0);

  const env = { NODE_EXTRA_CA_CERTS: certificates.ca };
  const host = await HostProcess.start({ database, nats: broker.url }, [], env);
  await until(async () => (await fetch(`${host.url}/healthz`)).status === 200, "health");
  await until(() => host.output.includes("taking packets"), "consumer");
  const connection = await broker.connect();
  await jetstream(connection).publish("boxwright.packets.0.door", detectionPacket(1));
  await until(
    async () => (await (await fetch(`${host.url}/v1/detections`)).text()).includes('"id":"frame-1"'),
    "stored frame",
  );
  await connection.close();
  expect(await host.end("SIGTERM")).toBe(0);
  await broker.remove();
});
