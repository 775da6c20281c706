/** Takes one packet from a broker, and decides what the broker should do with the packet. */
import { messageOf } from "boxwright-service/errors";
import { Refusal } from "../core/errors.ts";
import type { Transport } from "../core/metrics.ts";
import type { Logger } from "boxwright-service/log";
import { pauseAfter } from "boxwright-service/retry";
import { type Intake, refusalOf } from "./intake.ts";
import type { Database } from "boxwright-service/database";
import { recordRefused } from "../store/refused.ts";

export interface TakeOptions {
  readonly intake: Intake;
  readonly db: Database;
  readonly log: Logger;
  readonly now: () => number;
}

/** A packet from a broker. */
export interface BrokerPacket {
  readonly way: Transport;
  readonly bytes: Uint8Array;
  /** Origin of the packet at the broker: NATS subject and stream sequence, or MQTT topic. */
  readonly place: string;
  /** Number of deliveries so far. */
  readonly deliveries: number;
  /** Number of tries after which a packet with an unknown config is refused. */
  readonly mostTries?: number;
  /** Called with the reason after the packet is recorded as refused. */
  readonly onRefused?: (reason: string) => void;
  /** Reads a header. */
  readonly header: (name: string) => string | undefined;
}

/**
 * "stored": the frame is durable. "refused": the host can never store the packet, and has recorded the refusal. A
 * number: milliseconds after which the packet must be tried again.
 */
export type Verdict = "stored" | "refused" | number;

/**
 * Number of tries after which a packet with an unknown config is recorded as refused. The pauses grow from 1 to 60 s,
 * half an hour in total.
 */
const MOST_TRIES = 36;
const LONGEST_SECONDS = 60;
const PAUSES = { first: 1000, most: 1000 * LONGEST_SECONDS } as const;

export async function takePacket(options: TakeOptions, packet: BrokerPacket): Promise<Verdict> {
  // Read the length now, since decoding may transfer the bytes to a thread.
  const { length } = packet.bytes;
  try {
    await options.intake.receive(packet.bytes, packet.way, true, { traceparent: packet.header("traceparent") });
    return "stored";
  } catch (error) {
    return verdictOn(options, packet, length, refusalOf(error));
  }
}

/** Returns when to retry a refused packet. Records a packet that is refused permanently. */
async function verdictOn(
  { db, log, now }: TakeOptions,
  packet: BrokerPacket,
  length: number,
  refusal: Refusal,
): Promise<Verdict> {
  const { way, bytes: content, place, deliveries, mostTries = MOST_TRIES, header } = packet;
  const { reason, message, retryAfter, cause } = refusal;
  if (cause !== undefined) log.error({ error: messageOf(cause) }, "packet failed");
  const isHopeless = reason === "unknown config" && deliveries >= mostTries;
  if (!refusal.isForGood && !isHopeless)
    return Math.max(1000 * Math.min(retryAfter ?? 0, LONGEST_SECONDS), pauseAfter(deliveries, PAUSES));
  log.warn({ place, reason, message: message.slice(0, 300) }, "packet refused for good");
  const names = { source: header("ce-source") || null, id: header("ce-id") || null };
  try {
    await recordRefused(db, { way, place, content, bytes: length, ...names, reason, message }, now());
    packet.onRefused?.(message);
    return "refused";
  } catch (failure) {
    // Retry: without a record, the reason for the missing packet would be lost.
    log.error({ error: messageOf(failure) }, "cannot record a refused packet");
    return 5000;
  }
}
