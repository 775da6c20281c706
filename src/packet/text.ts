/** JSON as bytes and back, in runtimes without TextEncoder and TextDecoder too. */

/** Returns a number in hexadecimal, with as many digits as `above` has zeros there. */
const hex = (n: number, above: number): string => (n + above).toString(16).slice(1);

/** Returns JSON in ASCII, with spaces up to a multiple of 8. Other characters are escaped. */
export function asciiJson(value: unknown): string {
  const json = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (c) => `\\u${hex(c.charCodeAt(0), 0x10000)}`,
  );
  return json.padEnd(padded(json.length));
}

/** Returns the next multiple of 8. */
export const padded = (length: number): number => Math.ceil(length / 8) * 8;

/** Kept: making one costs as much as reading a packet. */
let decoder: InstanceType<typeof TextDecoder> | undefined;

/**
 * Returns UTF-8 bytes as text.
 * @throws an error of the runtime if the bytes are not UTF-8
 */
export function textOf(bytes: Uint8Array): string {
  // Decode a copy: browsers refuse shared memory.
  if (typeof TextDecoder === "function")
    return (decoder ??= new TextDecoder("utf-8", { fatal: true })).decode(bytes.slice());
  let escaped = "";
  for (const b of bytes) escaped += `%${hex(b, 0x100)}`;
  return decodeURIComponent(escaped);
}

/** Returns what JSON says, or undefined for text that is none. */
export function parse(text: () => string): unknown {
  try {
    return JSON.parse(text());
  } catch {
    return undefined;
  }
}

/** Returns the index behind the JSON object that the bytes begin with: 0 if there is none, -1 if it does not end. */
export function endOfObject(bytes: Uint8Array): number {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i];
    // Quote, backslash, braces.
    if (c === 34) isText = !isText;
    else if (isText) i += c === 92 ? 1 : 0;
    else if (c === 123) depth++;
    else if (c === 125) depth--;
    if (depth === 0) return i > 0 ? i + 1 : 0;
  }
  return -1;
}
