/**
 * Splits a stream of PPM pictures into frames. A PPM picture is rgb24 with its size in a header, so a camera may change
 * its size without a restart.
 */

/** One frame in rgb24, without gaps between rows. */
export interface PpmFrame {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** A frame whose bytes have not all arrived. */
interface Filling extends PpmFrame {
  filled: number;
}

/** Largest number of bytes of a header: "P6\n65535 65535\n255\n". */
const MOST_HEADER = 24;

export class PpmReader {
  readonly #mostPixels: number;
  readonly #onFrame: (frame: PpmFrame) => void;
  #header = Buffer.alloc(0);
  #frame: Filling | null = null;
  /** Index of the first pixel byte in the chunk with the end of a header. */
  #bodyAt = 0;

  constructor(mostPixels: number, onFrame: (frame: PpmFrame) => void) {
    this.#mostPixels = mostPixels;
    this.#onFrame = onFrame;
  }

  /**
   * Processes the next bytes.
   * @throws Error if the bytes are not PPM, or a frame has too many pixels
   */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      this.#frame ??= this.#start(chunk, at);
      if (!this.#frame) return;
      at = Math.max(at, this.#bodyAt);
      this.#bodyAt = 0;
      const { data, filled } = this.#frame;
      const count = Math.min(data.length - filled, chunk.length - at);
      data.set(chunk.subarray(at, at + count), filled);
      this.#frame.filled += count;
      at += count;
      if (this.#frame.filled < data.length) return;
      const { width, height } = this.#frame;
      this.#frame = null;
      this.#onFrame({ data, width, height });
    }
  }

  /** Reads a header, whose first part may be in the previous chunk. Returns null if more bytes are needed. */
  #start(chunk: Buffer, at: number): Filling | null {
    const known = this.#header.length;
    const head = Buffer.concat([this.#header, chunk.subarray(at, at + MOST_HEADER)]);
    const match = /^P6\s(\d{1,6})\s(\d{1,6})\s255\s/.exec(head.toString("latin1"));
    if (!match) {
      if (head.length >= MOST_HEADER) throw new Error("got bytes that are no PPM, expected frames of ffmpeg");
      this.#header = head;
      return null;
    }
    const [text, width, height] = [match[0], Number(match[1]), Number(match[2])];
    if (width * height === 0 || width * height > this.#mostPixels)
      throw new Error(`got ${width} x ${height} pixels, expected at most ${this.#mostPixels / 1e6} million`);
    this.#header = Buffer.alloc(0);
    this.#bodyAt = at + text.length - known;
    return { data: new Uint8Array(width * height * 3), width, height, filled: 0 };
  }
}
