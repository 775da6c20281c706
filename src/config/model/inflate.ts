/** Unpacks gzip and deflate with the runtime's DecompressionStream. */
import { refuseFile } from "./bytes.ts";

const streamOf = (chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

/** Yields the chunks that `unpacker` unpacks. If the caller stops early, ends the stream. Throws for damaged data. */
export async function* unpackChunks(
  where: string,
  packed: readonly Uint8Array[],
  unpacker: (stream: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const reader = unpacker(streamOf(packed)).getReader();
  try {
    for (;;) {
      const next = await reader.read().catch((e: unknown) => damaged(where, e));
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Ignore errors: to cancel a stream that has ended or failed may throw, after it delivered its data.
    await reader.cancel().catch(() => undefined);
  }
}

function damaged(where: string, e: unknown): never {
  // In Node 26, the error has no message, but its cause has one.
  const reasons = [e, e instanceof Error ? e.cause : undefined].map((one) =>
    one instanceof Error ? one.message : "",
  );
  const reason = reasons.find((text) => text !== "");
  refuseFile(where, reason === undefined ? "damaged data" : `damaged data (${reason})`, "a whole file");
}

/** Returns a stream that unpacks gzip. */
export function gunzip(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  if (typeof DecompressionStream === "undefined")
    refuseFile(
      "",
      "packed data in an engine without DecompressionStream",
      "an engine that has it, or a file that is not packed",
    );
  // TypeScript's type of the stream allows shared buffers. These chunks never have one.
  return stream.pipeThrough(
    new DecompressionStream("gzip") as unknown as TransformStream<Uint8Array, Uint8Array>,
  );
}

/** Header of a gzip file without a name and a time. */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/** Unpacks a deflated file of a zip. Throws a ConfigError if the data are damaged, or if size or checksum differ. */
export async function inflate(
  where: string,
  packed: Uint8Array,
  crc: number,
  size: number,
): Promise<Uint8Array> {
  // Wrap the data as gzip, since older runtimes lack "deflate-raw". The runtime then also checks the checksum and the
  // size.
  const trailer = new Uint8Array(8);
  const view = new DataView(trailer.buffer);
  view.setUint32(0, crc, true);
  view.setUint32(4, size, true);
  const out = new Uint8Array(size);
  let at = 0;
  for await (const chunk of unpackChunks(where, [GZIP_HEADER, packed, trailer], gunzip)) {
    if (at + chunk.length > size)
      refuseFile(where, `more than the ${size} bytes that the zip states`, "as many");
    out.set(chunk, at);
    at += chunk.length;
  }
  if (at < size) refuseFile(where, `${at} bytes`, `${size}, as the zip states`);
  return out;
}
