/**
 * The disk of the broker is full, the broker is killed, gets room, and starts again. Nothing that it acknowledged is
 * lost or stored twice. Host and agent say meanwhile what to look at.
 */
import { afterAll, expect, inject, test } from "vitest";
import { Broker } from "boxwright-service/testing/broker";
import { Child } from "boxwright-service/testing/child";
import { SmallDisk } from "boxwright-service/testing/disk";
import { KILLS, KILLS_TIMEOUT } from "boxwright-service/testing/kills";
import { sleep, until } from "boxwright-service/testing/wait";
import { temporaryFolder } from "../support/host.ts";
import { HostProcess } from "../support/process.ts";
import { check, publishing } from "../support/published.ts";

afterAll(() => Child.killAll());

test.skipIf(!inject("disk") || !inject("nats"))(
  `a broker whose disk fills up is killed ${KILLS} times, and gets room each time`,
  async () => {
    const disk = await SmallDisk.mount("48m");
    const broker = await Broker.start({ disk });
    const database = `${temporaryFolder().path}/host.db`;
    const host = await HostProcess.start({ nats: broker.url, database, "ack-wait": 2, "stream-bytes": 2 ** 26 });
    const { publisher, version, emptied, end } = await publishing(broker);
    const healthOf = async (): Promise<unknown[]> => {
      const answer = await fetch(`${host.url}/healthz`);
      return [answer.status, ((await answer.json()) as { broker: string }).broker];
    };
    let stuck = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(300 + (kill % 5) * 60);
      // The host takes packets out, which frees space: fill that too.
      const isFull = (): boolean => {
        if (!publisher.isRefused) disk.fill((kill % 3) * 10_000);
        return publisher.isRefused;
      };
      await until(isFull, "a full disk");
      if (/timeout/.test(publisher.lastError)) {
        stuck++;
        // Later versions go on to give out packets. The watch needs some seconds, which would be minutes in 20 rounds.
        if (stuck === 1 && version.startsWith("2.9.")) {
          await until(async () => String((await healthOf())[1]).includes("store_dir"), "the host's word");
          expect((await healthOf())[0]).toBe(503);
          await host.says(/cannot take packets: the broker is there, but its JetStream does not answer/);
        }
      }
      await broker.kill();
      disk.makeRoom();
      await broker.start();
      await until(() => !publisher.isRefused, "room");
    }
    await publisher.stop();
    await emptied();
    await until(async () => (await healthOf())[0] === 200, "a broker that answers");
    const found = await check(host.url, publisher.acknowledged);
    console.log(
      `broker's disk full, then killed ${KILLS} times (${stuck} times stuck): ${publisher.acknowledged.size} acknowledged, ${found.lost} lost, ${found.twice} twice`,
    );
    expect(found).toEqual({ lost: 0, twice: 0 });
    await end();
    expect(await host.end("SIGTERM")).toBe(0);
    await broker.remove();
    await disk.remove();
  },
  KILLS_TIMEOUT,
);
