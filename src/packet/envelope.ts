/** The CloudEvents 1.0 envelope of a packet: the frame's source, its time of capture, and the config's hash. */
import { namesFor } from "../core/names.ts";
import { PacketError, type PacketErrorKind, need } from "./error.ts";

/** Kind of a packet, spelt as in a config's `output_format`. */
export type PacketKind = "raw" | "detection";

/** A sender's statements about a frame. The pair of `source` and `id` must never occur again. */
export interface PacketAbout {
  /** Name of the frame, unique within its source. */
  readonly id: string;
  /** Device that took the frame: a URI or a path such as "/devices/7". */
  readonly source: string;
  /** Name of the camera on the device. */
  readonly subject?: string | null;
  /** Time of capture: a Date, or text in RFC 3339. */
  readonly time?: Date | string | null;
  /** Index of the frame in the camera's stream. Receivers sort by it. */
  readonly sequence?: number | null;
  /** Trace context of the frame (W3C Trace Context). */
  readonly traceparent?: string | null;
}

/** Attributes of a received packet. Null: the packet does not state the attribute. */
export interface Envelope {
  readonly id: string | null;
  readonly source: string | null;
  readonly subject: string | null;
  /** Time of capture in RFC 3339. */
  readonly time: string | null;
  readonly sequence: number | null;
  readonly traceparent: string | null;
  /** Hash of the sender's config. */
  readonly config: string | null;
}

/** A rule for text: its description in errors, and the test. */
interface Form {
  readonly 0: string;
  readonly 1: RegExp;
}

/** Rule for text without control characters, which could begin another header, and without lone surrogates. */
const TEXT: Form = ["text of 1 to 1024 characters", /^[^\0-\x1f\x7f-\x9f\ud800-\udfff]{1,1024}$/u];

/** Names of the fields of `PacketAbout`. */
const NAMES: { readonly [K in keyof Required<PacketAbout>]: true } = {
  id: true,
  source: true,
  subject: true,
  time: true,
  sequence: true,
  traceparent: true,
};

/** Rule of each attribute. `id` and `source` are required, the others are optional. */
const FORMS: { readonly [name: string]: Form } = {
  id: TEXT,
  source: TEXT,
  subject: TEXT,
  // A time in RFC 3339. Second 60, a leap second, is allowed.
  time: [
    'a Date, or text in RFC 3339: "2026-01-31T12:00:00Z"',
    /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i,
  ],
  // 16 digits, the length of the largest safe integer, so that texts sort like numbers (CloudEvents "sequence").
  sequence: ["a whole number from 0 up", /^\d{16}$/],
  traceparent: ["55 characters, as in W3C Trace Context", /^[\da-f-]{55}$/],
  config: ["16 hexadecimal digits", /^[\da-f]{16}$/],
};

/** Returns the CloudEvents type of a packet of this kind. */
export const eventType = (kind: PacketKind): string => `boxwright.${kind}.v1`;

/** Returns the CloudEvents attributes of a new packet. Throws a PacketError for one that readers would refuse. */
export function attributesOf(
  kind: PacketKind,
  about: PacketAbout,
  config: string | null,
  prefix: string,
): Record<string, unknown> {
  for (const name of Object.keys(about ?? {}))
    if (!Object.hasOwn(NAMES, name))
      throw new PacketError(
        null,
        `about.${name}: got an unknown name, expected ${namesFor(name, Object.keys(NAMES))}`,
      );
  const { time, sequence } = about ?? {};
  const given = {
    ...about,
    // Convert with String: an invalid Date then becomes "null", which is refused. The value null would mean that there
    // is no time.
    time: time instanceof Date ? String(time.toJSON()) : time,
    // Keep a wrong number unchanged, so that the error shows the caller's value.
    sequence:
      Number.isSafeInteger(sequence) && sequence! >= 0 ? String(sequence).padStart(16, "0") : sequence,
    config,
  };
  const checked = {
    specversion: "1.0",
    type: eventType(kind),
    ...readAttributes(given, "", null, true, "about."),
  };
  const attributes: Record<string, unknown> = {};
  for (const name in checked) attributes[prefix + name] = checked[name as keyof typeof checked] ?? undefined;
  return attributes;
}

/** Attributes as text. Null: the attribute is absent. */
type Attributes = { readonly [K in keyof Envelope]: string | null };

/**
 * Checks attributes and returns them.
 * @param prefix text before each attribute's name in the keys of `given`
 * @param kind kind of the PacketError; null if the attributes are an argument of a call
 * @param isNamed true: id and source are required
 * @param where text before the attribute's name in the message
 */
export function readAttributes(
  given: Record<string, unknown>,
  prefix: string,
  kind: PacketErrorKind | null,
  isNamed: boolean,
  where = prefix,
): Attributes {
  const attributes: Record<string, unknown> = {};
  for (const name in FORMS) {
    const [words, form] = [FORMS[name][0], FORMS[name][1]];
    const value = (attributes[name] = given[prefix + name] ?? null);
    need(
      value === null ? !(isNamed && /^id|^so/.test(name)) : typeof value === "string" && form.test(value),
      where + name,
      value,
      words,
      kind,
    );
  }
  return attributes as Attributes;
}

/** Returns the envelope of checked attributes. */
export const envelopeOf = (attributes: Attributes): Envelope =>
  ({ ...attributes, sequence: attributes.sequence && Number(attributes.sequence) }) as Envelope;
