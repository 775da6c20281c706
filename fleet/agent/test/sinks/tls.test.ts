/** Receivers behind TLS, whose authority nobody knows until the operator names it. */
import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { photoFolder } from "../support/folder.ts";
import { readerOf } from "../support/health.ts";
import { FakeHost } from "../support/host.ts";
import { Broker, natsServer } from "boxwright-service/testing/broker";
import { startProcess, writeSettings } from "../support/process.ts";
import { until } from "boxwright-service/testing/wait";
import { makeCertificates } from "boxwright-service/testing/tls";

const COUNT = 5;

async function setUp(): Promise<{ folder: string; write: (sink: object) => string }> {
  const { folder, settings } = await photoFolder(COUNT, {});
  const write = (sink: object): string =>
    writeSettings(folder, { ...settings, sinks: [sink], health: { port: 0 }, log: "info" });
  return { folder, write };
}

/** Runs the agent until it says that packets wait for this reason. All packets stay in the spool. */
async function untilPacketsWait(reason: RegExp, path: string, env: Record<string, string> = {}): Promise<void> {
  const agent = startProcess([path], env);
  const { health } = await readerOf(agent);
  await until(async () => reason.test(String((await health()).sinks[0].waitsFor)), `packets that wait: ${reason}`);
  await until(async () => (await health()).spool.packets === COUNT, "packets in the spool");
  agent.kill("SIGTERM");
  await agent.ended;
}

it("a host behind HTTPS gets packets once its authority is named", async () => {
  const { folder, write } = await setUp();
  const { ca, cert, key } = makeCertificates(folder);
  const host = await new FakeHost({ key: readFileSync(key), cert: readFileSync(cert) }).start();
  onTestFinished(() => host.stop());
  const path = write({ kind: "http", url: host.url });
  await untilPacketsWait(/unable to verify .*NODE_EXTRA_CA_CERTS/, path);
  expect(host.count).toBe(0);
  const { code } = await startProcess([path], { NODE_EXTRA_CA_CERTS: ca }).ended;
  expect(code).toBe(0);
  expect(host.stored.size).toBe(COUNT);
});

it("a host with the certificate of another name gets none", async () => {
  const { folder, write } = await setUp();
  const { ca, cert, key } = makeCertificates(folder, "DNS:host.example.org");
  const host = await new FakeHost({ key: readFileSync(key), cert: readFileSync(cert) }).start();
  onTestFinished(() => host.stop());
  await untilPacketsWait(/altnames/, write({ kind: "http", url: host.url }), { NODE_EXTRA_CA_CERTS: ca });
  expect(host.count).toBe(0);
});

it.skipIf(natsServer === undefined)(
  "a broker with TLS gets packets once its authority is named; one without TLS gets none",
  async () => {
    const { folder, write } = await setUp();
    const tls = makeCertificates(folder);
    const broker = await Broker.start({ tls });
    onTestFinished(() => broker.remove());
    await broker.makeStream();
    const path = write({ kind: "nats", servers: [broker.url] });
    await untilPacketsWait(/unable to verify .*NODE_EXTRA_CA_CERTS/, path);
    const { code } = await startProcess([path], { NODE_EXTRA_CA_CERTS: tls.ca }).ended;
    expect(code).toBe(0);
    expect(await broker.messages()).toHaveLength(COUNT);

    // Somebody in between who takes TLS away hears nothing.
    await broker.kill();
    const plain = await Broker.start({ port: broker.port });
    onTestFinished(() => plain.remove());
    await plain.makeStream();
    await untilPacketsWait(/does not support 'tls'/, path, { NODE_EXTRA_CA_CERTS: tls.ca });
    expect(await plain.messages()).toEqual([]);
  },
);
