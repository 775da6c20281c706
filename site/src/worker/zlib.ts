/** Stands in for `node:zlib` where the readers of files need it: a page has no synchronous inflate of its own. */
import { inflateSync } from "fflate";

/** Returns unpacked deflate data of at most `maxOutputLength` bytes. */
export function inflateRawSync(
  data: Uint8Array,
  { maxOutputLength }: { maxOutputLength: number },
): Uint8Array {
  return inflateSync(data, { out: new Uint8Array(maxOutputLength) });
}
