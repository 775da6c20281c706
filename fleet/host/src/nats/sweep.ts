/**
 * Finds packets that are still in the stream although they were acknowledged: a killed broker may restore them.
 * Consumers skip such packets, so the stream would fill up. The sweeper processes them like new packets and deletes
 * them. The database drops frames that it already has.
 */
import { type ConsumerInfo, type JetStreamClient, type JetStreamManager, RetentionPolicy } from "@nats-io/jetstream";
import { messageOf } from "boxwright-service/errors";
import { STREAM } from "./stream.ts";
import { type TakeOptions, takePacket } from "../intake/take.ts";

/** Number of stream sequences that one sweep reads. The next sweep continues after them. */
const AT_ONCE = 2000;

export class Sweeper {
  readonly #client: JetStreamClient;
  readonly #options: TakeOptions;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | null = null;
  /** Next stream sequence to read. */
  #next = 0;

  constructor(client: JetStreamClient, seconds: number, options: TakeOptions) {
    this.#client = client;
    this.#options = options;
    this.#timer = setInterval(() => void (this.#running ??= this.#run()), seconds * 1000);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    try {
      const count = await this.#sweep(await this.#client.jetstreamManager());
      if (count > 0) log.warn({ count }, "took packets that the broker no longer delivered");
    } catch (error) {
      log.debug({ error: messageOf(error) }, "cannot look for packets that the broker no longer delivers");
    }
    this.#running = null;
  }

  /** Takes and deletes packets that consumers skip. Returns the number of these packets. */
  async #sweep(manager: JetStreamManager): Promise<number> {
    const { config, state } = await manager.streams.info(STREAM);
    // Do nothing with another retention policy: acknowledged packets stay in the stream on purpose.
    if (config.retention !== RetentionPolicy.Workqueue || state.messages === 0) return 0;
    const consumers: ConsumerInfo[] = [];
    for await (const consumer of manager.consumers.list(STREAM)) consumers.push(consumer);
    const end = doneUpTo(consumers, state.last_seq);
    if (this.#next < state.first_seq || this.#next > end) this.#next = state.first_seq;
    const isOurs = (subject: string): boolean =>
      consumers.some(({ config }) => subject.startsWith((config.filter_subject ?? "").replace(/>$/, "")));
    let count = 0;
    for (let looks = 0; this.#next <= end && looks < AT_ONCE; looks++) {
      // Read packets one by one by sequence: after a kill, the broker's index by subject is wrong.
      const found = await manager.streams.getMessage(STREAM, { seq: this.#next });
      if (found && isOurs(found.subject)) {
        const { data: bytes, subject, seq, header } = found;
        const read = (name: string): string | undefined => header.get(name);
        const packet = { way: "nats", bytes, place: `${subject} ${seq}`, deliveries: 1, header: read } as const;
        const verdict = await takePacket(this.#options, packet);
        if (typeof verdict === "number") break;
        await manager.streams.deleteMessage(STREAM, seq, false);
        count++;
      }
      this.#next++;
    }
    return count;
  }
}

/**
 * Returns the stream sequence up to which all consumers are done. No packet up to this sequence should remain.
 * @param last sequence of the newest packet, which was read before the consumers
 */
function doneUpTo(consumers: readonly ConsumerInfo[], last: number): number {
  const ends = consumers.map(({ num_pending, num_ack_pending, ack_floor }) =>
    num_pending + num_ack_pending === 0 ? last : ack_floor.stream_seq,
  );
  return ends.length > 0 ? Math.min(...ends) : 0;
}
