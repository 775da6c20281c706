/** Reads the body of a request into memory of its own, up to a limit. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Pace, watchPace } from "boxwright-service/pace";
import { NoRoomError, type NoRoomKind, type Visit } from "boxwright-service/room";
import { type Reason, Refusal } from "../core/errors.ts";

const tooLarge = (most: number, got: number | string): Refusal =>
  new Refusal("too large", `body: got ${got} bytes, expected at most ${most}`);

/** Limits of a body. */
export interface Terms {
  readonly pace: Pace;
  /** Place of the body in the room that all bodies share. */
  readonly visit: Visit;
}

/**
 * Returns the body. Refuses a body that is too large by its stated length, or at the first byte above the limit. After
 * the answer @hono/node-server discards the rest for up to 500 ms: a sender that writes all before it reads gets the
 * answer too.
 * @throws Refusal if the body is too large, too slow, encoded or cut off, or finds no room
 */
export async function readBody(
  incoming: IncomingMessage,
  outgoing: Pick<ServerResponse, "writeContinue">,
  most: number,
  { pace, visit }: Terms,
): Promise<Uint8Array> {
  const { "content-length": length, "content-encoding": encoding = "identity", expect } = incoming.headers;
  if (encoding.toLowerCase() !== "identity")
    throw new Refusal("foreign", `content-encoding: got ${encoding.slice(0, 40)}, expected none`);
  const stated = length === undefined ? null : Number(length);
  if (stated !== null && stated > most) throw tooLarge(most, stated);
  // Send 100 Continue only here: the body is not refused by its stated length.
  if (expect?.toLowerCase() === "100-continue") outgoing.writeContinue();
  const body = new Body(stated, most, visit);
  await read(incoming, pace, (chunk) => body.add(chunk));
  return body.whole();
}

/** Bytes that have come. A stated length is no reason for memory: a sender may state much and send little. */
class Body {
  readonly #stated: number | null;
  readonly #most: number;
  readonly #visit: Visit;
  #chunks: Uint8Array[] = [];
  /** Memory of the stated length, which can go to a thread without a copy. Null until a quarter has come. */
  #memory: Uint8Array | null = null;
  #length = 0;

  constructor(stated: number | null, most: number, visit: Visit) {
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
      throw new Refusal("cut off", `body: got ${this.#length} bytes, expected ${this.#stated}`);
    return this.#memory ?? joined(this.#chunks, this.#length);
  }

  #take(bytes: number): void {
    try {
      this.#visit.take(bytes);
    } catch (error) {
      throw error instanceof NoRoomError ? noRoom(error) : error;
    }
  }
}

/** Reason of the refusal for each reason of the room. */
const REASONS = { share: "busy", slow: "slow", full: "unavailable" } as const satisfies Record<NoRoomKind, Reason>;

export const noRoom = ({ kind, message }: NoRoomError): Refusal => new Refusal(REASONS[kind], `body: ${message}`);

/** Returns memory of `length` bytes that begins with the chunks. */
function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const memory = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    memory.set(chunk, at);
    at += chunk.length;
  }
  return memory;
}

/** Gives each chunk to `take`. Pauses the request if `take` throws, or if the body is too slow. */
function read(incoming: IncomingMessage, pace: Pace, take: (chunk: Uint8Array) => void): Promise<void> {
  let end = (): void => undefined;
  const reading = new Promise<void>((resolve, reject) => {
    const stop = (error: unknown): void => {
      incoming.removeAllListeners("data").pause();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const cut = (): void => reject(new Refusal("cut off", "body: the sender hung up"));
    const watch = watchPace(pace, (reason) => stop(new Refusal("slow", `body: ${reason}`)));
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
