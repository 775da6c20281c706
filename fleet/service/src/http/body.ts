/** Reads a request's body into memory, within limits on bytes, pace and shared room. */
import type { IncomingMessage } from "node:http";
import { type Pace, watchPace } from "../pace.ts";
import { NoRoomError, type NoRoomKind, type Visit } from "../room.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Reason why a body was not read.
 * - "encoded": the body has a content-encoding
 * - "too large": the body exceeds the limit of bytes
 * - "cut off": the sender closed the connection, and gets no answer
 * - "not text": the body is not UTF-8
 * - "slow": the body is too slow, or other slow bodies already use half of the room
 * - "share", "full": there is no room for the body (room.ts)
 */
export type BodyErrorKind = NoRoomKind | "encoded" | "too large" | "cut off" | "not text";

export class BodyError extends Error {
  override readonly name = "BodyError";
  readonly kind: BodyErrorKind;

  constructor(kind: BodyErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface BodyLimits {
  /** Largest number of bytes of a body. */
  readonly most: number;
  /** Smallest allowed pace. Default: any pace, but at most `bodyMs` of the exchange for the whole body. */
  readonly pace?: Pace;
  /** Visit that counts the body's bytes in the room that all bodies share (room.ts). */
  readonly visit?: Visit | undefined;
}

/** Milliseconds over which a pace is measured. */
const WINDOW_MS = 5000;

const tooLarge = (most: number, got: number | string): BodyError =>
  new BodyError("too large", `body: got ${got} bytes, expected at most ${most}`);

export const noRoom = ({ kind, message }: NoRoomError): BodyError => new BodyError(kind, `body: ${message}`);

/**
 * Returns the body. Refuses a body whose stated length is too large. Without a stated length, refuses at the first byte
 * above the limit. listen.ts discards the rest for a second after the answer, for senders that read only after writing
 * everything.
 * @throws BodyError
 */
export async function readBytes(exchange: Exchange, limits: BodyLimits): Promise<Uint8Array> {
  const { most, pace = { rate: 0, window: WINDOW_MS, most: exchange.bodyMs }, visit } = limits;
  const { "content-length": length, "content-encoding": encoding = "identity" } = exchange.request.headers;
  if (encoding.toLowerCase() !== "identity")
    throw new BodyError("encoded", `content-encoding: got ${encoding.slice(0, 40)}, expected none`);
  const stated = length === undefined ? null : Number(length);
  if (stated !== null && stated > most) throw tooLarge(most, stated);
  const body = new Body(stated, most, visit);
  await read(exchange.openBody(), pace, (chunk) => body.add(chunk));
  return body.whole();
}

/**
 * Returns a body of UTF-8 as a text.
 * @throws BodyError
 */
export async function readText(exchange: Exchange, limits: BodyLimits): Promise<string> {
  const { buffer, byteOffset, length } = await readBytes(exchange, limits);
  const bytes = Buffer.from(buffer, byteOffset, length);
  const text = bytes.toString("utf8");
  // Compare the bytes: the decoder replaces invalid UTF-8 by U+FFFD, but a valid text may contain U+FFFD too.
  if (text.includes("\ufffd") && !Buffer.from(text).equals(bytes))
    throw new BodyError("not text", "body: got bytes that are not UTF-8, expected UTF-8");
  return text;
}

/**
 * Collects the bytes of a body. The memory grows with the bytes, since a sender may state a large length and send
 * little.
 */
class Body {
  readonly #stated: number | null;
  readonly #most: number;
  readonly #visit: Visit | undefined;
  #chunks: Uint8Array[] = [];
  /**
   * Buffer of the stated length, which can be transferred to a thread. Null until a quarter of the bytes has arrived.
   */
  #memory: Uint8Array | null = null;
  #length = 0;

  constructor(stated: number | null, most: number, visit: Visit | undefined) {
    this.#stated = stated;
    this.#most = most;
    this.#visit = visit;
  }

  add(chunk: Uint8Array): void {
    const before = this.#length;
    this.#length += chunk.length;
    if (this.#length > this.#most) throw tooLarge(this.#most, `more than ${this.#most}`);
    if (this.#memory === null) {
      this.#take(chunk.length);
      if (this.#stated === null || this.#length < this.#stated / 4) return void this.#chunks.push(chunk);
      this.#take(this.#stated - this.#length);
      this.#memory = joined(this.#chunks, this.#stated);
      this.#chunks = [];
    }
    this.#memory.set(chunk, before);
  }

  whole(): Uint8Array {
    if (this.#stated !== null && this.#length !== this.#stated)
      throw new BodyError("cut off", `body: got ${this.#length} bytes, expected ${this.#stated}`);
    return this.#memory ?? joined(this.#chunks, this.#length);
  }

  #take(bytes: number): void {
    try {
      this.#visit?.take(bytes);
    } catch (error) {
      throw error instanceof NoRoomError ? noRoom(error) : error;
    }
  }
}

/** Returns a buffer of `length` bytes that starts with the chunks. */
function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const memory = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    memory.set(chunk, at);
    at += chunk.length;
  }
  return memory;
}

/** Passes each chunk to `take`. Pauses the request and rejects if `take` throws, or if the body is too slow. */
function read(incoming: IncomingMessage, pace: Pace, take: (chunk: Uint8Array) => void): Promise<void> {
  let end = (): void => undefined;
  const reading = new Promise<void>((resolve, reject) => {
    const stop = (error: unknown): void => {
      incoming.removeAllListeners("data").pause();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const cut = (): void => {
      // Make no error for a whole body: every request is closed in the end, and an error with its trace takes 10 µs.
      if (!incoming.readableEnded) reject(new BodyError("cut off", "body: the sender hung up"));
    };
    if (incoming.destroyed && !incoming.readableEnded) return cut();
    const watch = watchPace(pace, (reason) => stop(new BodyError("slow", `body: ${reason}`)));
    end = () => watch.end();
    incoming.on("data", (chunk: Buffer) => {
      watch.count(chunk.length);
      try {
        take(chunk);
      } catch (error) {
        stop(error);
      }
    });
    incoming.once("end", resolve);
    incoming.once("error", cut);
    incoming.once("close", cut);
  });
  return reading.finally(() => end());
}
