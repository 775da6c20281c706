/** The CloudEvents 1.0 envelope: where a frame comes from, when it was taken, and which config it belongs to. */
import { namesFor } from "../core/names.ts";
import { PacketError, type PacketErrorKind, need } from "./error.ts";

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

/** A form of text: the words for an error, and the test. */
interface Form {
  readonly 0: string;
  readonly 1: RegExp;
}

/** Text without control characters, which could begin another header, and without halves of a pair. */
const TEXT: Form = ["text of 1 to 1024 characters", /^[^\0-\x1f\x7f-\x9f\ud800-\udfff]{1,1024}$/u];

/** Names of what a sender says about a frame. */
const NAMES: { readonly [K in keyof Required<PacketAbout>]: true } = {
  id: true,
  source: true,
  subject: true,
  time: true,
  sequence: true,
  traceparent: true,
};

/** The form of each attribute. Those after `source` may be absent. */
const FORMS: { readonly [name: string]: Form } = {
  id: TEXT,
  source: TEXT,
  subject: TEXT,
  // RFC 3339. A minute may have a leap second.
  time: [
    'a Date, or text in RFC 3339: "2026-01-31T12:00:00Z"',
    /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i,
  ],
  // As many digits as the largest safe integer, so that texts sort like the numbers (CloudEvents "sequence").
  sequence: ["a whole number from 0 up", /^\d{16}$/],
  traceparent: ["55 characters, as in W3C Trace Context", /^[\da-f-]{55}$/],
  config: ["16 hexadecimal digits", /^[\da-f]{16}$/],
};

/** Returns the CloudEvents type of a kind. */
export const eventType = (kind: PacketKind): string => `boxwright.${kind}.v1`;

/**
 * Returns the CloudEvents attributes of a new packet. Undefined ones are left out by JSON.
 * @param prefix stands before each name
 * @throws PacketError for an attribute that a reader would refuse
 */
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
    // toJSON of a Date that is none gives null, which would pass for no time.
    time: time instanceof Date ? String(time.toJSON()) : time,
    // The message about a wrong number shows what the caller gave.
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

/** Attributes as text; null if they are absent. */
type Attributes = { readonly [K in keyof Envelope]: string | null };

/**
 * Checks attributes.
 * @param prefix stands before each name in `given`
 * @param kind of the PacketError; null for an argument
 * @param isNamed refuses attributes without id and source
 * @param where goes before the name of a wrong one in the message
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

/** Returns the fields of a packet. */
export const envelopeOf = (attributes: Attributes): Envelope =>
  ({ ...attributes, sequence: attributes.sequence && Number(attributes.sequence) }) as Envelope;
