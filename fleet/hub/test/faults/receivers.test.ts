/**
 * Receivers of alerts that take a connection and then hang: a webhook and a mail server that never answer, or go on to
 * send a little. Each attempt ends in time with its reason, other channels get theirs meanwhile, and the hub ends.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { until } from "boxwright-service/testing/wait";
import { listChannels } from "../../src/nouns/alert-channel.ts";
import { openTestDatabase } from "../support/hub.ts";
import { webReceiver } from "../support/receiver.ts";
import { MINUTE, watchedTeam } from "../support/watched-team.ts";

/** Milliseconds for an answer: a busy machine must not make a good receiver late. */
const PATIENCE = 500;

/** A server that takes connections. It sends `start`, then `drip` again and again, and never the end of an answer. */
async function hangingServer(start = "", drip = ""): Promise<{ port: number; open: Set<Socket>; count: () => number }> {
  const open = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    count++;
    open.add(socket);
    if (start !== "") socket.write(start);
    const timer = setInterval(() => drip !== "" && socket.write(drip), 5);
    socket.resume().on("error", () => undefined);
    socket.on("close", () => (clearInterval(timer), open.delete(socket)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, open, count: () => count };
}

it.each([
  { kind: "a webhook that never answers", drip: "", isMail: false },
  { kind: "a webhook that sends headers without end", drip: "x: y\r\n", isMail: false },
  { kind: "a mail server that never greets", drip: "", isMail: true },
  { kind: "a mail server that greets without end", drip: "220-wait\r\n", isMail: true },
])("$kind is given up, others get their messages, and the hub ends", async ({ drip, isMail }) => {
  const storage = await openTestDatabase("sqlite");
  onTestFinished(() => storage.remove());
  const start = isMail || drip === "" ? "" : "HTTP/1.1 200 OK\r\n";
  const hanging = await hangingServer(start, drip);
  const well = await webReceiver();
  const env = isMail
    ? { HUB_SMTP_URL: `smtp://hub:secret@127.0.0.1:${hanging.port}`, HUB_MAIL_FROM: "hub@example.org" }
    : {};
  const site = await watchedTeam(storage, env, { patienceMs: PATIENCE });
  await site.devices(["a"]);
  await site.channel(
    isMail ? { email: "a@example.org", name: "a" } : { webhook: `http://127.0.0.1:${hanging.port}/`, name: "a" },
  );
  await site.channel({ webhook: well.url, name: "b" });
  await site.rule({ kind: "version_failed" });
  await site.set(["a"], { application_state: "failed" });
  await site.pass(MINUTE);
  site.start();
  await until(() => well.got.length > 0 && hanging.count() > 2, "the message of the other, and more attempts");
  await until(async () => {
    const channels = await listChannels(storage.db, site.team.id);
    const problems = Object.fromEntries(channels.map(({ name, problem }) => [name, problem]));
    return problems["a"] === `no answer within ${PATIENCE / 1000} s` && problems["b"] === null;
  }, "the reason");
  // An attempt without end would hold this up.
  await site.restart();
  await until(() => hanging.open.size === 0, "closed connections");
  expect(await site.queued()).toHaveLength(1);
});

it("a hub that stops does not wait for receivers that hang", async () => {
  const storage = await openTestDatabase("sqlite");
  onTestFinished(() => storage.remove());
  const [web, mail] = [await hangingServer(), await hangingServer()];
  const env = { HUB_SMTP_URL: `smtp://127.0.0.1:${mail.port}`, HUB_MAIL_FROM: "hub@example.org" };
  // Longer than the test may take.
  const site = await watchedTeam(storage, env, { patienceMs: 3_600_000 });
  await site.devices(["a"]);
  await site.channel({ webhook: `http://127.0.0.1:${web.port}/`, name: "a" });
  await site.channel({ email: "a@example.org", name: "b" });
  await site.rule({ kind: "version_failed" });
  await site.set(["a"], { application_state: "failed" });
  await site.pass(MINUTE);
  site.start();
  await until(() => web.open.size > 0 && mail.open.size > 0, "connections");
  await site.restart();
  await until(() => web.open.size + mail.open.size === 0, "closed connections");
  expect(await site.queued()).toHaveLength(2);
});
