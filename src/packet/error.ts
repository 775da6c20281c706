/** The one error of packets, and the check that throws it. Kept apart from `core/errors.ts`: readers stay small. */

/**
 * Reason of a refusal. `"cut off"`: bytes are missing at the end. `"foreign"`: the bytes are no packet, or a field of
 * one is wrong. `"other config"`: the packet was made with another config. `"too large"`: more bytes than allowed.
 */
export type PacketErrorKind = "cut off" | "foreign" | "other config" | "too large";

/** A packet cannot be read, or belongs to another config. */
export class PacketError extends Error {
  override readonly name = "PacketError";
  readonly kind: PacketErrorKind;

  constructor(kind: PacketErrorKind, message: string) {
    super(`packet is ${kind}: ${message}`);
    this.kind = kind;
  }
}

/**
 * Throws unless `holds`: a PacketError of that kind, or a RangeError if `kind` is null, for what a caller gave.
 * @param where path of the value
 * @param found what stands there
 */
export function need(
  holds: unknown,
  where: string,
  found: unknown,
  expected: unknown,
  kind: PacketErrorKind | null = "foreign",
): asserts holds {
  if (holds) return;
  const text = JSON.stringify(typeof found === "bigint" ? String(found) : found) ?? "nothing";
  const short = text.replace(/^([^]{57})[^]{4,}/, "$1...");
  const message = `${where}: got ${short}, expected ${String(expected)}`;
  throw kind === null ? new RangeError(message) : new PacketError(kind, message);
}
