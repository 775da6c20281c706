/**
 * Faults around an agent: names that lead nowhere, certificates that have ended, descriptors that run out, and a spool
 * that is damaged in every file. No captured frame is lost but those whose bytes are gone, and these are counted.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { canMount, NAMESPACE } from "boxwright-service/testing/mount";
import { makeCertificates } from "boxwright-service/testing/tls";
import { until } from "boxwright-service/testing/wait";
import { MODEL } from "../support/echo.ts";
import { photoFolder, temporaryFolder, writePhotos } from "../support/folder.ts";
import { readerOf } from "../support/health.ts";
import { FakeHost } from "../support/host.ts";
import { startProcess, writeSettings } from "../support/process.ts";

const has = (command: string): boolean => spawnSync("which", [command]).status === 0;

interface Setup {
  readonly host: FakeHost;
  readonly folder: string;
  readonly photos: string;
  /** Writes settings with the address of the sink. Returns the path of the file. */
  readonly settingsFor: (url: string) => string;
}

async function setUp(count: number, host = new FakeHost()): Promise<Setup> {
  await host.start();
  onTestFinished(() => host.stop());
  const { folder, photos, settings } = await photoFolder(count, {}, null);
  const network = { model: MODEL, output_format: "detection", threads: 1 };
  const sources = [{ kind: "folder", camera: "door", path: "photos", watch: true }];
  const settingsFor = (url: string): string =>
    writeSettings(folder, {
      ...{ ...settings, network, sources, health: { port: 0 }, log: "info" },
      sinks: [{ kind: "http", url }],
    });
  return { host, folder, photos, settingsFor };
}

it.skipIf(!canMount)("a name that leads nowhere, and then to the host: packets wait, and all arrive", async () => {
  const { host, folder, settingsFor } = await setUp(20);
  const hosts = join(folder, "hosts");
  writeFileSync(hosts, "127.0.0.1 localhost\n");
  const path = settingsFor(`http://yard.invalid:${new URL(host.url).port}`);
  const script = 'mount --bind "$1" /etc/hosts && shift && exec "$@"';
  const agent = startProcess([path], {}, ["unshare", ...NAMESPACE, "sh", "-c", script, "sh", hosts]);
  await agent.says(/packets wait: .*yard\.invalid/);
  // The same file, as the mount knows it.
  writeFileSync(hosts, "127.0.0.1 localhost yard.invalid\n");
  await until(() => host.stored.size === 20, "all packets");
  // The name is lost again in the middle, while connections live on or are made anew.
  writeFileSync(hosts, "127.0.0.1 localhost\n");
  await host.stop();
  await writePhotos(join(folder, "photos"), 20, 20);
  await host.start();
  writeFileSync(hosts, "127.0.0.1 localhost yard.invalid\n");
  await until(() => host.stored.size === 40, "the later packets");
  expect(await agent.end("SIGTERM")).toBe(0);
});

it.skipIf(!has("openssl"))(
  "a certificate that has ended: the reason is told, and packets go once it is new",
  async () => {
    const folder = temporaryFolder();
    const files = makeCertificates(folder);
    // -days 0: it ends in the second in which it is made.
    const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "0", "-extfile", "names"];
    spawnSync("openssl", ["x509", "-req", "-in", "request.pem", ...signing, "-out", "ended.pem"], { cwd: folder });
    const key = readFileSync(files.key);
    const ended = new FakeHost({ key, cert: readFileSync(join(folder, "ended.pem")) });
    const { settingsFor, host } = await setUp(10, ended);
    const path = settingsFor(host.url);
    const agent = startProcess([path], { NODE_EXTRA_CA_CERTS: files.ca });
    await agent.says(/packets wait: .*certificate has expired.*Set the clock of this machine/);
    expect(ended.stored.size).toBe(0);
    const { port } = new URL(ended.url);
    await ended.stop();
    const renewed = new FakeHost({ key, cert: readFileSync(files.cert) });
    await renewed.start(Number(port));
    onTestFinished(() => renewed.stop());
    await until(() => renewed.stored.size === 10, "all packets");
    expect(await agent.end("SIGTERM")).toBe(0);
  },
);

it.skipIf(!has("prlimit"))("no descriptors are left: packets wait, and all arrive once there are some", async () => {
  const { host, photos, settingsFor } = await setUp(5);
  const agent = startProcess([settingsFor(host.url)]);
  await until(() => host.stored.size === 5, "the first packets");
  const limit = (count: number): void => {
    expect(spawnSync("prlimit", ["--pid", String(agent.pid), `--nofile=${count}:4096`]).status).toBe(0);
  };
  // Fewer than are open: neither file nor connection can be opened any more.
  limit(4);
  // Connections that live on would carry the packets.
  await host.stop();
  await writePhotos(photos, 10, 5);
  await agent.says(/EMFILE/);
  await host.start();
  limit(4096);
  await until(() => host.stored.size === 15, "all packets");
  expect(await agent.end("SIGTERM")).toBe(0);
});

it("a spool that is damaged in every file: what is gone is counted, the rest arrives, and new frames too", async () => {
  const { host, folder, photos, settingsFor } = await setUp(60);
  await host.stop();
  const path = settingsFor(host.url);
  const first = startProcess([path]);
  const reader = await readerOf(first);
  await until(async () => (await reader.health()).spool.packets === 60, "packets on disk");
  await first.end("SIGKILL");
  const spool = join(folder, "state", "spool");
  const files = readdirSync(spool, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(0);
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name);
    const bytes = readFileSync(file);
    for (let at = bytes.length >> 1; at < (bytes.length >> 1) + 8 && at < bytes.length; at++) bytes[at]! ^= 0xff;
    writeFileSync(file, bytes);
  }
  await host.start();
  const agent = startProcess([path]);
  const { health } = await readerOf(agent);
  await until(async () => (await health()).spool.packets === 0, "an empty spool");
  const { spool: state } = await health();
  expect(state.damaged).toBeGreaterThan(0);
  // Half of the bytes come before the first damage.
  expect(host.stored.size).toBeGreaterThan(20);
  expect(host.stored.size).toBeLessThan(60);
  const before = host.stored.size;
  mkdirSync(photos, { recursive: true });
  await writePhotos(photos, 5, 60);
  await until(() => host.stored.size === before + 5, "the new frames");
  expect(await agent.end("SIGTERM")).toBe(0);
});
