/**
 * The error that packet code throws, and the function `need` that throws it. Separate from `core/errors.ts`, so that
 * readers of packets stay small.
 */
import { showJson } from "../core/json.ts";

/**
 * Reason of the error. `"cut off"`: bytes are missing at the end. `"foreign"`: the bytes are no packet, or a field or
 * an argument is wrong. `"other config"`: the packet was made with another config. `"too large"`: the packet has more
 * bytes than allowed.
 */
export type PacketErrorKind = "cut off" | "foreign" | "other config" | "too large";

/** Thrown if a packet cannot be made or read, or belongs to another config. */
export class PacketError extends RangeError {
  static override readonly name = "PacketError";
  override readonly name = "PacketError";
  readonly kind: PacketErrorKind;

  /** @param kind null if an argument is wrong. The message names it */
  constructor(kind: PacketErrorKind | null, message: string) {
    super(kind ? `packet is ${kind}: ${message}` : message);
    this.kind = kind ?? "foreign";
  }
}

/** Returns the name of a value's class, such as "Float32Array" or "Null". Works for values of other iframes. */
export const classOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/**
 * Throws a PacketError unless `holds` is true.
 * @param where path of the value
 * @param found the value
 * @param kind kind of the error; null if an argument is checked
 */
export function need(
  holds: unknown,
  where: string,
  found: unknown,
  expected: unknown,
  kind: PacketErrorKind | null = "foreign",
): asserts holds {
  if (holds) return;
  throw new PacketError(kind, `${where}: got ${showJson(found)}, expected ${expected}`);
}
