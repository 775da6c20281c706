/** Makes the stream of packets and the consumers that hosts share. Agents use the same names. */
import {
  AckPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { UserError } from "boxwright-service/errors";
import type { Logger } from "boxwright-service/log";

export const STREAM = "BOXWRIGHT";
export const subjectsOf = (partition: number): string => `boxwright.packets.${partition}.>`;
export const consumerOf = (partition: number): string => `host-${partition}`;

const NANOS_A_SECOND = 1e9;
/**
 * Seconds for which the broker remembers ids of packets, to drop duplicates. Most agents empty their spools sooner. The
 * database drops later duplicates.
 */
const DUPLICATE_SECONDS = 600;
/** Largest number of unacknowledged packets per partition, over all hosts. */
const MOST_PENDING = 256;
/** The broker's error code for a missing stream. */
const STREAM_NOT_FOUND = 10059;
const isMissing = (error: unknown): boolean => error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND;

export interface StreamSettings {
  readonly streamBytes: number;
  readonly partitions: number;
  readonly ackWait: number;
}

/**
 * Makes the stream if it is missing. An existing stream belongs to the operator, and is only checked. The stream's
 * subjects list its partitions, so that the broker refuses packets of a partition that no host takes.
 * @throws UserError if the stream has other partitions than the settings, or loses packets while no host runs
 */
export async function ensureStream(
  manager: JetStreamManager,
  { streamBytes, partitions }: StreamSettings,
  log: Logger,
): Promise<void> {
  const subjects = Array.from({ length: partitions }, (_, partition) => subjectsOf(partition));
  const { config } = await manager.streams.info(STREAM).catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    log.info({ stream: STREAM, bytes: streamBytes }, "making the stream");
    return manager.streams.add({
      name: STREAM,
      subjects,
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      // Refuse new packets when the stream is full, since agents keep them. The other policy silently drops the oldest.
      discard: DiscardPolicy.New,
      max_bytes: streamBytes,
      duplicate_window: DUPLICATE_SECONDS * NANOS_A_SECOND,
    });
  });
  if (subjects.length !== config.subjects.length || subjects.some((subject) => !config.subjects.includes(subject)))
    throw new UserError(
      `stream ${STREAM}: got ${config.subjects.length} subjects (${config.subjects.slice(0, 3).join(", ")}), expected ` +
        `${partitions}, ${subjects[0]} to ${subjects.at(-1)}, as "partitions" says: change "partitions", or the stream ` +
        `(nats stream edit ${STREAM} --subjects=...)`,
    );
  if (config.retention === RetentionPolicy.Interest)
    throw new UserError(
      `stream ${STREAM}: got retention "interest", which drops packets while no host runs; expected "workqueue" or "limits"`,
    );
  if (config.discard !== DiscardPolicy.New)
    log.warn(
      { stream: STREAM, got: config.discard, expected: "new" },
      "a full stream drops its oldest packets without a word",
    );
}

/** Makes the consumer of a partition, or updates its settings. All hosts share this consumer. */
export async function ensureConsumer(
  manager: JetStreamManager,
  partition: number,
  { ackWait }: StreamSettings,
): Promise<void> {
  await manager.consumers.add(STREAM, {
    durable_name: consumerOf(partition),
    filter_subject: subjectsOf(partition),
    ack_policy: AckPolicy.Explicit,
    ack_wait: Math.round(ackWait * NANOS_A_SECOND),
    max_deliver: -1,
    max_ack_pending: MOST_PENDING,
  });
}
