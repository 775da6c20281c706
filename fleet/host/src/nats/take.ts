/** Takes one packet of the stream, and decides what the broker has to do with it. */
import { messageOf } from "boxwright-service/errors";
import { Refusal } from "../core/errors.ts";
import type { Logger } from "boxwright-service/log";
import { type Intake, refusalOf } from "../intake/intake.ts";
import type { Database } from "boxwright-service/database";
import { recordRefused } from "../store/refused.ts";

export interface TakeOptions {
  readonly intake: Intake;
  readonly db: Database;
  readonly log: Logger;
  readonly now: () => number;
}

/** A packet in the stream. */
export interface StreamPacket {
  readonly bytes: Uint8Array;
  readonly subject: string;
  /** Sequence in the stream. */
  readonly seq: number;
  /** How often the broker has delivered it. */
  readonly deliveries: number;
  /** Reads a header. */
  readonly header: (name: string) => string | undefined;
}

/**
 * "stored": the frame is durable. "refused": the host can never store the packet, and has recorded that. A number:
 * milliseconds until the broker has to deliver the packet again.
 */
export type Verdict = "stored" | "refused" | number;

/**
 * Count of tries of a packet of an unknown config before it is recorded as refused. The delays between them grow from 1
 * to 60 s and add up to 33 minutes.
 */
const MOST_TRIES = 64;
const LONGEST_DELAY_MS = 60_000;

export async function takePacket(options: TakeOptions, packet: StreamPacket): Promise<Verdict> {
  try {
    await options.intake.receive(packet.bytes, "nats", true);
    return "stored";
  } catch (error) {
    return verdictOn(options, packet, refusalOf(error));
  }
}

/** Returns when to try a refused packet again. Records a packet that is refused for good. */
async function verdictOn({ db, log, now }: TakeOptions, packet: StreamPacket, refusal: Refusal): Promise<Verdict> {
  const { bytes, subject, seq, deliveries, header } = packet;
  const { reason, message, retryAfter, cause } = refusal;
  if (cause !== undefined) log.error({ error: messageOf(cause) }, "packet failed");
  const isHopeless = reason === "unknown config" && deliveries >= MOST_TRIES;
  if (!refusal.isForGood && !isHopeless)
    return Math.min(1000 * Math.max(retryAfter ?? 1, deliveries), LONGEST_DELAY_MS);
  const place = `${subject} ${seq}`;
  log.warn({ place, reason, message: message.slice(0, 300) }, "packet refused for good");
  // Cut the headers: they come from a packet that was refused, and may hold anything.
  const read = (name: string): string | null => header(name)?.slice(0, 512) || null;
  const names = { source: read("ce-source"), id: read("ce-id") };
  try {
    await recordRefused(db, { way: "nats", place, bytes, ...names, reason, message }, now());
    return "refused";
  } catch (failure) {
    // Try again: without a record nobody could find out what became of the packet.
    log.error({ error: messageOf(failure) }, "cannot record a refused packet");
    return 5000;
  }
}
