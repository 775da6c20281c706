/** The CloudEvents 1.0 envelope: where a frame comes from, when it was taken, and which config it belongs to. */
import { type PacketErrorKind, need } from "./error.ts";

/** Kind of a packet, by the words of a config's `output_format`. */
export type PacketKind = "raw" | "detection";

/** Attributes that a sender gives to a frame. `source` and `id` together name the frame for good. */
export interface PacketAbout {
  /** Name of the frame, unique within its source. */
  readonly id: string;
  /** The device, a URI or a path such as "/devices/7". */
  readonly source: string;
  /** The camera of the device. */
  readonly subject?: string | null;
  /** Time of capture: a Date, or text in RFC 3339. */
  readonly time?: Date | string | null;
  /** Count of frames of the camera so far: a receiver sorts by it. */
  readonly sequence?: number | null;
  /** Trace that the frame belongs to (W3C Trace Context). */
  readonly traceparent?: string | null;
}

/** Attributes of a packet as they were read. Null: the packet does not say. */
export interface Envelope {
  readonly id: string | null;
  readonly source: string | null;
  readonly subject: string | null;
  /** Time of capture in RFC 3339. */
  readonly time: string | null;
  readonly sequence: number | null;
  readonly traceparent: string | null;
  /** Hash of the config that the packet was made with. */
  readonly config: string | null;
}

/** CloudEvents attributes by name. All values are text. */
export type Attributes = Record<string, string>;

/** Text without control characters, which could begin another header, and without halves of a pair. */
const TEXT = /^[^\0-\x1f\x7f-\x9f\ud800-\udfff]{1,1024}$/u;

/** The form of each attribute. Those after `source` may be absent. */
const FORMS: { readonly [name: string]: RegExp } = {
  id: TEXT,
  source: TEXT,
  subject: TEXT,
  time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i,
  // As many digits as the largest safe integer, so that texts sort like the numbers (CloudEvents "sequence").
  sequence: /^\d{16}$/,
  traceparent: /^[\da-f-]{55}$/,
  config: /^[\da-f]{16}$/,
};

/** Returns the CloudEvents type of a kind. */
export const eventType = (kind: PacketKind): string => `boxwright.${kind}.v1`;

/**
 * Returns the attributes of a new packet.
 * @throws RangeError for an attribute that a reader would refuse
 */
export function attributesOf(kind: PacketKind, about: PacketAbout, config: string | null): Attributes {
  const { time, sequence } = about ?? {};
  const given = {
    ...about,
    // toJSON of a Date that is none gives null, which would pass for no time.
    time: time instanceof Date ? String(time.toJSON()) : time,
    sequence: typeof sequence === "number" ? String(sequence).padStart(16, "0") : sequence,
    config,
  };
  return { specversion: "1.0", type: eventType(kind), ...checkAttributes(given, "about.", null, true) };
}

/**
 * Returns the attributes that are there.
 * @param prefix goes before the name of a wrong one in the message
 * @param kind of the PacketError; null throws a RangeError
 * @param isNamed refuses attributes without id and source
 */
export function checkAttributes(
  given: Record<string, unknown>,
  prefix: string,
  kind: PacketErrorKind | null,
  isNamed: boolean,
): Attributes {
  const found: Attributes = {};
  for (const name in FORMS) {
    const form = FORMS[name];
    const value = given[name] ?? null;
    if (value === null && !(isNamed && /^id|^so/.test(name))) continue;
    need(
      typeof value === "string" &&
        form.test(value) &&
        // Date knows no leap second: 60 is tried as 59.
        (name !== "time" || Date.parse(value.replace(/:60(?=[.Z+-])/, ":59")) > -Infinity),
      prefix + name,
      value,
      form === TEXT ? "text of 1 to 1024 characters" : form,
      kind,
    );
    found[name] = value;
  }
  return found;
}

/** Returns checked attributes as the fields of a packet. */
export function envelopeOf(found: Attributes): Envelope {
  const envelope: Record<string, string | number | null> = {};
  for (const name in FORMS) envelope[name] = found[name] ?? null;
  if (found.sequence) envelope.sequence = Number(found.sequence);
  return envelope as unknown as Envelope;
}
