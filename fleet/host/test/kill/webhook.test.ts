/** A host is killed while it sends messages to a webhook: no stored frame goes undelivered. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { sleep, until } from "boxwright-service/testing/wait";
import { detectionPacket } from "../support/frames.ts";
import { emptyDatabase, kinds, temporaryFolder } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";
import { readAll } from "../support/published.ts";

afterAll(() => Child.killAll());

interface Receiver {
  readonly url: string;
  readonly delivered: Map<string, number>;
  /** True: it fails always. */
  isAway: boolean;
}

/** A receiver that takes a while, and fails now and then. */
async function startReceiver(): Promise<Receiver> {
  const delivered = new Map<string, number>();
  let count = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const { id } = (JSON.parse(body) as { data: { id: string } }).data;
      const isTaken = ++count % 100 !== 0 && !receiver.isAway;
      if (isTaken) delivered.set(id, (delivered.get(id) ?? 0) + 1);
      setTimeout(() => response.writeHead(isTaken ? 204 : 503).end(), 10);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const receiver = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, delivered, isAway: false };
  return receiver;
}

test.each(kinds.filter(({ skip }) => !skip))(
  `a host is killed ${KILLS} times between a frame and its message, on $kind`,
  async ({ kind }) => {
    const receiver = await startReceiver();
    const { url, delivered } = receiver;
    const folder = temporaryFolder().path;
    const config = join(folder, "host.json");
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    writeFileSync(config, JSON.stringify({ webhooks: [{ url, secret }] }));
    const options = { database: await emptyDatabase(kind, folder), config };
    let [next, taken] = [0, 0];
    for (let kill = 0; kill < KILLS; kill++) {
      const host = await HostProcess.start(options);
      const send = (async () => {
        for (;;) {
          const body = detectionPacket(next++) as Uint8Array<ArrayBuffer>;
          const answer = await fetch(`${host.url}/v1/packets`, { method: "POST", body }).catch(() => null);
          if (answer === null) return;
          if (answer.status === 204) taken++;
        }
      })();
      const before = delivered.size;
      await until(() => delivered.size > before + 20, "messages");
      // At the last kill a message waits for certain.
      receiver.isAway = kill === KILLS - 1;
      await until(() => !receiver.isAway || taken > delivered.size, "a message that waits");
      await sleep(kill % 7);
      await host.end("SIGKILL");
      await send;
    }
    const host = await HostProcess.start(options);
    const stored = (await readAll(host.url)).map(({ id }) => id);
    const waiting = stored.filter((id) => !delivered.has(id)).length;
    receiver.isAway = false;
    await until(() => stored.every((id) => delivered.has(id)), "all messages", 120);
    const again = [...delivered.values()].filter((times) => times > 1).length;
    console.log(
      `host killed ${KILLS} times while sending to a webhook (${kind}): ${stored.length} stored, ${waiting} undelivered after the last kill, 0 in the end, ${again} sent twice`,
    );
    expect(waiting).toBeGreaterThan(0);
    expect([...delivered.keys()].filter((id) => !stored.includes(id))).toEqual([]);
    expect(await host.end("SIGTERM")).toBe(0);
  },
  KILLS_TIMEOUT,
);
