/** Takes a packet from any protocol: parses it, decodes raw tensors, and stores the frame once. */
import { ConfigError, type Packet, PacketError, TensorError, fromPacket } from "boxwright";
import { BodyError, type BodyErrorKind } from "boxwright-service/http/body";
import { type Reason, Refusal } from "../core/errors.ts";
import type { Metrics, Transport } from "../core/metrics.ts";
import { millisecondsOf, sortableNow, sortableTime } from "../core/time.ts";
import type { Decoding } from "../decode/decoding.ts";
import type { Registry } from "../decode/registry.ts";
import { type OpenSpan, readTraceparent, type Traces } from "boxwright-service/traces";
import { UnavailableError } from "boxwright-service/errors";
import { labelCounts } from "../store/count-seen.ts";
import { CLOCK_SLACK_MS, type NewFrame } from "../store/frames.ts";
import type { Writer } from "../store/writer.ts";

export interface IntakeOptions {
  readonly decoding: Decoding;
  readonly registry: Registry;
  readonly writer: Writer;
  readonly metrics: Metrics;
  readonly maxPacketBytes: number;
  readonly now: () => number;
  /** Traces of frames; null if the host does not trace. */
  readonly traces: Traces | null;
}

/** Throws a Refusal if the sender may not send frames with this source. */
export type CheckSource = (source: string) => void;

/** Facts about a packet's sender that the packet itself does not state. */
export interface Sender {
  /** Checks the packet's source. Absent: any source is allowed. */
  readonly checkSource?: CheckSource | undefined;
  /** Header `traceparent` of W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

/** Result of a packet that was not refused. */
export interface Receipt {
  readonly source: string;
  readonly id: string;
  /** True if the frame was stored before. */
  readonly isDuplicate: boolean;
}

/**
 * Largest number of bytes of `id`, `source` and `subject` together. PostgreSQL indexes all three, up to 2,700 bytes.
 */
const NAME_BYTES = 512;

export class Intake {
  readonly #options: IntakeOptions;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /**
   * Takes a packet. Resolves once its detections are durable.
   * @param bytes packet, which the caller must not use again
   * @param mayWait true: waits for room in the camera's queue. False: refuses if the queue is full
   * @throws Refusal
   */
  async receive(bytes: Uint8Array, way: Transport, mayWait: boolean, sender: Sender): Promise<Receipt> {
    const { metrics, traces } = this.#options;
    metrics.received.inc({ way });
    metrics.totals.received++;
    const parent = traces === null ? null : readTraceparent(sender.traceparent);
    const span = traces === null || parent === null ? null : traces.follow(parent, "receive", "server");
    try {
      const receipt = await this.#receive(bytes, way, mayWait, sender, span);
      span?.end({ "boxwright.way": way, "boxwright.duplicate": receipt.isDuplicate });
      return receipt;
    } catch (error) {
      const refusal = refusalOf(error);
      metrics.countRefusal(refusal, way);
      span?.end({ "boxwright.way": way, "boxwright.refused": refusal.reason }, refusal.message);
      throw refusal;
    }
  }

  async #receive(
    bytes: Uint8Array,
    way: Transport,
    mayWait: boolean,
    { checkSource }: Sender,
    span: OpenSpan | null,
  ): Promise<Receipt> {
    const { writer, metrics, maxPacketBytes, now } = this.#options;
    const packet = fromPacket(bytes, { maxBytes: maxPacketBytes });
    const names = namesOf(packet);
    checkSource?.(names.source);
    const time = packet.time === null ? sortableNow(now()) : sortableTime(packet.time);
    if (time === undefined)
      throw new Refusal("foreign", `time: got ${packet.time}, expected a time between the years 0000 and 9999`);
    // Read these fields now: decoding transfers the packet's bytes to a thread, and the tensors become empty.
    const { kind, frame, config } = packet;
    const find = () => this.#detectionsOf(packet, bytes, names, mayWait);
    const found = await (span === null || kind === "detection" ? find() : span.time("decode", find));
    const storedAt = now();
    const row: NewFrame = {
      ...names,
      time,
      sequence: packet.sequence ?? -1,
      config: config ?? (kind === "raw" ? this.#options.registry.fallback : null),
      kind,
      frame: frame === null ? null : JSON.stringify(frame),
      count: found.length,
      detections: JSON.stringify(found),
      labels: labelCounts(found),
      stored_at: storedAt,
    };
    const isNew = await (span === null ? writer.store(row) : span.time("store", () => writer.store(row)));
    if (isNew) {
      metrics.stored.inc({ kind });
      metrics.totals.stored++;
      this.#observe(storedAt - millisecondsOf(time));
    } else {
      metrics.duplicates.inc({ way });
      metrics.totals.duplicates++;
    }
    return { source: names.source, id: names.id, isDuplicate: !isNew };
  }

  /** Counts the latency of a new frame. Ignores a frame from the future, whose device has a wrong clock. */
  #observe(latency: number): void {
    const { metrics } = this.#options;
    if (latency < -CLOCK_SLACK_MS) metrics.future.inc();
    else metrics.latency.observe(Math.max(0, latency) / 1000);
  }

  /** Returns the detections of a packet, sent by the device or decoded by the pool. */
  async #detectionsOf(packet: Packet, bytes: Uint8Array, names: Names, mayWait: boolean): Promise<readonly object[]> {
    if (packet.detections !== null) return packet.detections;
    const { registry, decoding } = this.#options;
    const hash = packet.config ?? registry.fallback;
    if (hash === null)
      throw new Refusal(
        "unknown config",
        "config: got none, and the host has no config of its own. Name one in its option `configs`",
      );
    await registry.need(hash);
    const stream = `${names.source}\n${names.subject}`;
    const frame = `${names.source}\n${names.id}`;
    const { detections } = await decoding.decode(stream, bytes, { hash, mayWait, frame });
    return detections.toArray();
  }
}

interface Names {
  readonly source: string;
  readonly id: string;
  readonly subject: string;
}

/** Returns the names in a packet. Names are used only as database values, never as a path or a metrics label. */
function namesOf({ source, id, subject }: Packet): Names {
  if (source === null || id === null)
    throw new Refusal("no name", `got source ${source} and id ${id}, expected both: they name the frame`);
  const names = { source, id, subject: subject ?? "" };
  for (const [name, value] of Object.entries(names)) {
    const length = Buffer.byteLength(value);
    if (length > NAME_BYTES)
      throw new Refusal("no name", `${name}: got ${length} bytes, expected at most ${NAME_BYTES}`);
  }
  return names;
}

/** Reason of the refusal for each kind of BodyError. */
const OF_BODIES = {
  encoded: "foreign",
  "not text": "foreign",
  "too large": "too large",
  "cut off": "cut off",
  share: "busy",
  slow: "slow",
  full: "unavailable",
} as const satisfies Record<BodyErrorKind, Reason>;

/** Converts an error to the Refusal that the sender gets. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof BodyError) return new Refusal(OF_BODIES[error.kind], error.message);
  if (error instanceof PacketError) return new Refusal(error.kind, error.message);
  if (error instanceof TensorError || error instanceof ConfigError || error instanceof RangeError)
    return new Refusal("tensors", error.message);
  if (error instanceof UnavailableError) return new Refusal("unavailable", error.message, { retryAfter: 5 });
  const refusal = new Refusal("unavailable", "the host failed. Its log says why", { retryAfter: 5 });
  refusal.cause = error;
  return refusal;
}
