/**
 * Finds packets that a broker kept although they were acknowledged. A broker that is killed may come back with them.
 * Its consumers count them as done, so nobody gets them, and they fill the stream. They are taken like any other
 * packet, since the database knows which frames it has, and then deleted.
 */
import { type JetStreamManager, type MsgRequest, RetentionPolicy } from "@nats-io/jetstream";
import type { Logger } from "../core/log.ts";
import { STREAM, consumerOf, subjectsOf } from "./stream.ts";
import { type TakeOptions, takePacket } from "./take.ts";

/** Packets of one sweep. The next one takes the rest. */
const AT_ONCE = 1000;

/** Asks for the first packet of a partition from a number on. The client's types lack this form, servers have it. */
const nextOf = (partition: number, seq: number): MsgRequest => {
  const query: { seq: number; next_by_subj: string } = { seq, next_by_subj: subjectsOf(partition) };
  return query;
};

/** Takes what was left behind in a partition. Returns its count. */
export async function sweep(
  manager: JetStreamManager,
  partition: number,
  options: TakeOptions & { readonly log: Logger },
): Promise<number> {
  const { config, state } = await manager.streams.info(STREAM);
  // With another retention, packets stay in the stream on purpose.
  if (config.retention !== RetentionPolicy.Workqueue || state.messages === 0) return 0;
  const consumer = await manager.consumers.info(STREAM, consumerOf(partition));
  const done = consumer.ack_floor.stream_seq;
  let count = 0;
  for (let seq = state.first_seq; seq <= done && count < AT_ONCE;) {
    const found = await manager.streams.getMessage(STREAM, nextOf(partition, seq));
    if (found === null || found.seq > done) break;
    // Bytes that belong to the client are a part of larger memory: the pool copies those.
    const { data: bytes, subject, header } = found;
    const read = (name: string): string | undefined => header.get(name);
    const verdict = await takePacket(options, { bytes, subject, seq: found.seq, deliveries: 1, header: read });
    if (typeof verdict === "number") break;
    await manager.streams.deleteMessage(STREAM, found.seq, false);
    seq = found.seq + 1;
    count++;
  }
  if (count > 0) options.log.warn({ partition, count }, "took packets that the broker had left behind");
  return count;
}
