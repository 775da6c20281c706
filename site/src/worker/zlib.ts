/** Replaces `node:zlib` for the readers of files: a page has no synchronous inflate. */
import { inflateSync } from "fflate";

/** Returns unpacked deflate data, `maxOutputLength` bytes at most. */
export function inflateRawSync(
  data: Uint8Array,
  { maxOutputLength }: { maxOutputLength: number },
): Uint8Array {
  return inflateSync(data, { out: new Uint8Array(maxOutputLength) });
}
