/**
 * Kills with SIGKILL in the middle of work. No acknowledged frame may be lost, none stored twice, and
 * the stored output of each camera has to be in order.
 */
import { type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { fromPacket } from "boxwright";
import { afterAll, describe, expect, inject, test } from "vitest";
import { Broker } from "boxwright-service/testing/broker";
import { emptyDatabase, kinds, temporaryFolder } from "../support/host.ts";
import { configBody, hash } from "../support/frames.ts";
import { check, packetOf, publishing, readAll } from "../support/published.ts";
import { Child } from "boxwright-service/testing/child";
import { KILLS } from "boxwright-service/testing/kills";
import { HostProcess } from "../support/process.ts";
import { sleep, until } from "boxwright-service/testing/wait";

afterAll(() => Child.killAll());

/** Numbers of the packets that are left in the stream. */
async function leftIn(manager: JetStreamManager): Promise<string[]> {
  const { state } = await manager.streams.info("BOXWRIGHT");
  const ids: string[] = [];
  for (let seq = state.first_seq; state.messages > 0 && seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage("BOXWRIGHT", { seq });
    if (message) ids.push(fromPacket(message.data).id!);
  }
  return ids;
}

describe.skipIf(!inject("nats"))("with the broker", () => {
  const brokers: Broker[] = [];
  const newBroker = async (): Promise<Broker> => {
    const broker = await Broker.start();
    brokers.push(broker);
    return broker;
  };
  afterAll(() => Promise.all(brokers.map((broker) => broker.remove())));

  test.each(kinds.map(({ kind, skip }) => ({ kind, hosts: kind === "postgres" ? 2 : 1, skip })))(
    `a host is killed ${KILLS} times: $hosts on $kind`,
    async ({ kind, hosts, skip }) => {
      if (skip) return;
      const broker = await newBroker();
      const database = await emptyDatabase(kind, temporaryFolder().path);
      const options = { nats: broker.url, database, "ack-wait": 2 };
      const running = await Promise.all(Array.from({ length: hosts }, () => HostProcess.start(options)));
      const { publisher, emptied, end } = await publishing(broker);
      for (let kill = 0; kill < KILLS; kill++) {
        await sleep(150 + (kill % 5) * 60);
        await running[kill % hosts]!.end("SIGKILL");
        running[kill % hosts] = await HostProcess.start(options);
      }
      await publisher.stop();
      const stoppedAt = Date.now();
      await emptied();
      const after = Date.now() - stoppedAt;
      const { acknowledged } = publisher;
      const found = await check(running[0]!.url, acknowledged);
      console.log(
        `host killed ${KILLS} times (${hosts} on ${kind}): ${acknowledged.size} acknowledged, ${found.lost} lost, ${found.twice} twice, stream empty ${after} ms after the last`,
      );
      expect(found).toEqual({ lost: 0, twice: 0 });
      await end();
      await Promise.all(running.map((host) => host.end("SIGTERM")));
    },
  );

  test("packets that a killed host had go to the other one: the time of each", async () => {
    const broker = await newBroker();
    const database = await emptyDatabase("sqlite", temporaryFolder().path);
    const options = { nats: broker.url, database, "ack-wait": 2 };
    const start = async (): Promise<HostProcess> => {
      const host = await HostProcess.start(options);
      await host.says(/taking packets/);
      return host;
    };
    const running = [await start(), await start()];
    const connection = await broker.connect();
    const client = jetstream(connection);
    const manager = await jetstreamManager(connection);
    await (await new Kvm(connection).create("boxwright-configs")).put(hash, configBody);
    const killedAt = new Map<string, number>();
    for (let kill = 0; kill < KILLS; kill++) {
      // Stop the host first: what the broker gives to it is with it when it is killed.
      running[kill % 2]!.kill("SIGSTOP");
      const burst = Array.from({ length: 64 }, (_, i) => kill * 64 + i);
      await Promise.all(burst.map((n) => client.publish("boxwright.packets.0.door", packetOf(n))));
      await running[kill % 2]!.end("SIGKILL");
      const now = Date.now();
      // The other host needs a moment for its own packets. What is left then was with the killed one.
      await sleep(500);
      for (const id of await leftIn(manager)) killedAt.set(id, now);
      await until(async () => (await leftIn(manager)).length === 0, "empty stream");
      running[kill % 2] = await start();
    }
    const lines = await readAll(running[0]!.url);
    expect(lines).toHaveLength(KILLS * 64);
    const times = lines
      .filter(({ id }) => killedAt.has(id))
      .map(({ id, storedAt }) => Date.parse(storedAt) - killedAt.get(id)!)
      .sort((a, b) => a - b);
    expect(times.length).toBeGreaterThan(KILLS);
    console.log(
      `${times.length} packets of ${KILLS} killed hosts, ackWait 2 s: stored by the other host after ${times[times.length >> 1]} ms (p50), ${times.at(-1)} ms (max)`,
    );
    await connection.close();
    await Promise.all(running.map((host) => host.end("SIGTERM")));
  });

  test(`the broker is killed ${KILLS} times`, async () => {
    const broker = await newBroker();
    const database = await emptyDatabase("sqlite", temporaryFolder().path);
    const host = await HostProcess.start({ nats: broker.url, database, "ack-wait": 2 });
    const { publisher, emptied, end } = await publishing(broker);
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(300 + (kill % 5) * 60);
      await broker.kill();
      await broker.start();
    }
    await sleep(1000);
    await publisher.stop();
    const stoppedAt = Date.now();
    await emptied();
    const after = Date.now() - stoppedAt;
    const found = await check(host.url, publisher.acknowledged);
    console.log(
      `broker killed ${KILLS} times: ${publisher.acknowledged.size} acknowledged, ${found.lost} lost, ${found.twice} twice, stream empty ${after} ms after the last`,
    );
    expect(found).toEqual({ lost: 0, twice: 0 });
    await end();
    expect(await host.end("SIGTERM")).toBe(0);
  });
});

test(`a host is killed ${KILLS} times under a sender over HTTP that sends again`, async () => {
  const database = await emptyDatabase("sqlite", temporaryFolder().path);
  let host = await HostProcess.start({ database });
  const acknowledged = new Set<string>();
  let isOver = false;
  let next = 0;
  let again = 0;
  const send = async (): Promise<void> => {
    while (!isOver) {
      const n = next++;
      // As an agent does: the same packet until the host has it, and its config when the host asks for it.
      for (let isStored = false; !isStored;) {
        try {
          const body = packetOf(n) as Uint8Array<ArrayBuffer>;
          const { status } = await fetch(`${host.url}/v1/packets`, { method: "POST", body });
          isStored = status === 204;
          if (status === 409) await fetch(`${host.url}/v1/configs/${hash}`, { method: "PUT", body: configBody });
          else if (!isStored) throw new Error(String(status));
        } catch {
          again++;
          await sleep(30);
        }
      }
      acknowledged.add(`frame-${n}`);
    }
  };
  const senders = Array.from({ length: 4 }, send);
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(500 + (kill % 5) * 60);
    await host.end("SIGKILL");
    host = await HostProcess.start({ database });
  }
  isOver = true;
  await Promise.all(senders);
  const found = await check(host.url, acknowledged);
  console.log(
    `host killed ${KILLS} times (HTTP): ${acknowledged.size} acknowledged, ${found.lost} lost, ${found.twice} twice, ${again} sent again`,
  );
  expect(found).toEqual({ lost: 0, twice: 0 });
  expect(await host.end("SIGTERM")).toBe(0);
});
