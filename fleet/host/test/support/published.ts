/** Frames that are published until the broker has acknowledged them, and the check of what became of them. */
import { createHash } from "node:crypto";
import { type JetStreamClient, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { messageOf } from "boxwright-service/errors";
import type { Broker } from "boxwright-service/testing/broker";
import { sleep, until } from "boxwright-service/testing/wait";
import { expect } from "vitest";
import { configBody, decoder, detectionPacket, frameSize, hash, outputsOf, rawPacket } from "./frames.ts";

const CAMERAS = ["door", "yard", "gate"];

export interface Line {
  readonly source: string;
  readonly id: string;
  readonly subject: string;
  readonly time: string;
  readonly sequence: number;
  readonly detections: unknown[];
  readonly storedAt: string;
}

export async function readAll(url: string): Promise<Line[]> {
  const all: Line[] = [];
  for (let after = ""; ;) {
    const text = await (await fetch(`${url}/v1/detections?limit=10000${after}`)).text();
    const lines = text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line & { cursor: string });
    all.push(...lines);
    if (lines.length < 10_000) return all;
    after = `&after=${lines.at(-1)!.cursor}`;
  }
}

/** Frame n, of one of the cameras; every other one is raw. */
export const packetOf = (n: number): Uint8Array => {
  const given = { subject: CAMERAS[n % CAMERAS.length]!, sequence: Math.floor(n / CAMERAS.length) };
  return n % 2 ? rawPacket(n, given) : detectionPacket(n, given);
};

/** Checks what is stored against what was acknowledged, and returns the figures. */
export async function check(url: string, acknowledged: ReadonlySet<string>): Promise<{ lost: number; twice: number }> {
  const lines = await readAll(url);
  const ids = lines.map(({ id }) => id);
  const lost = [...acknowledged].filter((id) => !ids.includes(id)).length;
  const twice = ids.length - new Set(ids).size;
  for (const camera of CAMERAS) {
    const sequences = lines.filter(({ subject }) => subject === camera).map(({ sequence }) => sequence);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
  }
  for (const { id, detections } of lines.filter((_, i) => i % 37 === 0)) {
    const n = Number(id.replace("frame-", ""));
    expect(detections).toEqual(JSON.parse(JSON.stringify(decoder.decode(outputsOf(n), frameSize).toArray())));
  }
  const { cameras } = (await (await fetch(`${url}/v1/cameras`)).json()) as { cameras: { frames: number }[] };
  expect(cameras.reduce((sum, { frames }) => sum + frames, 0)).toBe(ids.length);
  return { lost, twice };
}

/** Publishes frames until told to stop, each again until the broker has acknowledged it. */
export class Publisher {
  readonly acknowledged = new Set<string>();
  /** True if the broker did not take the last try. */
  isRefused = false;
  lastError = "";
  readonly #client: JetStreamClient;
  #isOver = false;
  readonly #work: Promise<void>;

  constructor(client: JetStreamClient, pause: number) {
    this.#client = client;
    this.#work = this.#run(pause);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  async #run(pause: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const id = `frame-${n}`;
      const msgID = createHash("sha256").update(`/devices/1\n${id}`).digest("hex");
      const subject = `boxwright.packets.0.${CAMERAS[n % CAMERAS.length]}`;
      for (;;)
        try {
          await this.#client.publish(subject, packetOf(n), { msgID, timeout: 1000 });
          this.acknowledged.add(id);
          this.isRefused = false;
          break;
        } catch (error) {
          this.isRefused = true;
          this.lastError = messageOf(error);
          await sleep(50);
        }
      await sleep(pause);
    }
  }
}

export interface Publishing {
  readonly publisher: Publisher;
  /** Version of the broker. */
  readonly version: string;
  /** Waits until hosts have emptied the stream. Its error contains the state of stream and consumer. */
  readonly emptied: () => Promise<void>;
  readonly end: () => Promise<void>;
}

export async function publishing(broker: Broker): Promise<Publishing> {
  const connection = await broker.connect();
  await (await new Kvm(connection).create("boxwright-configs")).put(hash, configBody);
  const manager = await jetstreamManager(connection);
  const emptied = async (): Promise<void> => {
    // The connection may be lost for a moment, as that of a host.
    const ask = <T>(answer: Promise<T>): Promise<T | string> => answer.catch(messageOf);
    const state = (): Promise<unknown> => ask(manager.streams.info("BOXWRIGHT").then(({ state }) => state));
    const isEmpty = async (): Promise<boolean> => ((await state()) as { messages?: number }).messages === 0;
    await until(isEmpty, "empty stream").catch(async (error: unknown) => {
      const facts = [await state(), await ask(manager.consumers.info("BOXWRIGHT", "host-0"))];
      throw new Error([messageOf(error), ...facts.map((fact) => JSON.stringify(fact))].join("\n"));
    });
  };
  const version = connection.info!.version;
  return { publisher: new Publisher(jetstream(connection), 3), version, emptied, end: () => connection.close() };
}
