/** Converts JSON to bytes and back, also in runtimes without TextEncoder and TextDecoder. */
import { classOf, need } from "./error.ts";

/** Reused: making an encoder takes as long as reading a packet. */
let encoder: InstanceType<typeof TextEncoder> | undefined;
let decoder: InstanceType<typeof TextDecoder> | undefined;

/** Returns a value as JSON in UTF-8. */
export function bytesOf(value: object): Uint8Array {
  const json = JSON.stringify(value);
  return globalThis.TextEncoder
    ? (encoder ??= new TextEncoder()).encode(json)
    : Uint8Array.from(unescape(encodeURIComponent(json)), (c) => c.charCodeAt(0));
}

/** Returns UTF-8 bytes as text. For invalid UTF-8, throws the error of the runtime. */
function textOf(bytes: Uint8Array): string {
  // Decode a copy, since TextDecoder refuses shared memory in browsers.
  if (globalThis.TextDecoder)
    return (decoder ??= new TextDecoder("utf-8", { fatal: true })).decode(bytes.slice());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return decodeURIComponent(escape(text));
}

/** Returns the length rounded up to a multiple of 8. */
export const padded = (length: number): number => (length + 7) & -8;

/** Returns the parsed JSON, or undefined if the text is not JSON. */
export function parse(text: () => string): unknown {
  try {
    return JSON.parse(text());
  } catch {
    return undefined;
  }
}

/** Returns the JSON at the start of a packet, and the index after the JSON. Throws a PacketError if it is cut off. */
export function readHead(
  bytes: Uint8Array,
  maxBytes: number,
): readonly [head: Record<string, unknown>, end: number] {
  const name = classOf(bytes);
  need(name === "Uint8Array", "bytes", name, "a Uint8Array, such as new Uint8Array(buffer)");
  const { length } = bytes;
  need(length <= maxBytes, "length", length, `at most ${maxBytes} bytes`, "too large");
  const end = endOfObject(bytes);
  need(end !== 0, "first byte", bytes[0], "{ of JSON");
  need(end > 0, "length", length, "the whole packet", "cut off");
  const head = (parse(() => textOf(bytes.subarray(0, end))) ?? {}) as Record<string, unknown>;
  need("specversion" in head || Array.isArray(head.outputs), "JSON", head, "an event or outputs");
  return [head, end];
}

/**
 * Returns the index after the JSON object at the start of the bytes. Returns 0 if the bytes begin otherwise, -1 if the
 * object does not end.
 */
function endOfObject(bytes: Uint8Array): number {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i];
    // 34 is a quote, 92 a backslash, 123 and 125 are braces.
    if (c === 34) isText = !isText;
    else if (isText) i += c === 92 ? 1 : 0;
    else if (c === 123 || c === 125) depth += 124 - c;
    if (depth === 0) return i > 0 ? i + 1 : 0;
  }
  return -1;
}
