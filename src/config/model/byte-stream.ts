/** Takes and skips bytes of a stream of chunks. Copies only the bytes that the caller takes. */
export class ByteStream {
  /** Count of the bytes taken or skipped so far. */
  passed = 0;
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** The unread bytes of the current chunk. */
  #rest: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Ends the stream early, which also stops the unpacking that feeds it. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** Returns a copy of the next `count` bytes, or of fewer at the end of the stream. */
  async take(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    await this.#walk(count, (part) => parts.push(part.slice()));
    const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const part of parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }

  async skip(count: number): Promise<void> {
    await this.#walk(count, () => undefined);
  }

  /** Reads to the end, where packed data have a checksum. Returns false if there are more than `most` bytes. */
  async readToEnd(most: number): Promise<boolean> {
    await this.skip(most - this.passed + 1);
    return this.passed <= most;
  }

  async #walk(count: number, visit: (part: Uint8Array) => void): Promise<void> {
    let remaining = count;
    while (remaining > 0) {
      if (this.#rest.length === 0) {
        const next = await this.#chunks.next();
        if (next.done) return;
        // Make a plain Uint8Array: the chunk may be a Buffer, whose slice() does not copy.
        this.#rest = new Uint8Array(next.value.buffer, next.value.byteOffset, next.value.byteLength);
        continue;
      }
      const part = this.#rest.subarray(0, remaining);
      this.#rest = this.#rest.subarray(part.length);
      this.passed += part.length;
      remaining -= part.length;
      visit(part);
    }
  }
}
