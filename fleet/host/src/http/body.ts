/** Reads the body of a request into memory of its own, up to a limit. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal } from "../core/errors.ts";

const tooLarge = (most: number, got: number | string): Refusal =>
  new Refusal("too large", `body: got ${got} bytes, expected at most ${most}`);

/** The least pace of a body. A sender that trickles would keep its place, and 64 of them every place. */
export interface Pace {
  /** Bytes a second; 0: any pace. */
  readonly rate: number;
  /** Milliseconds over which the pace is measured. */
  readonly window: number;
}

/** Milliseconds over which the pace of a body is measured. A network that stalls for less does not matter. */
export const PACE_WINDOW_MS = 5000;

/**
 * Returns the body. Refuses a body that is too large by its stated length, or at the first byte above the limit. After
 * the answer @hono/node-server discards the rest for up to 500 ms: a sender that writes all before it reads gets the
 * answer too.
 * @throws Refusal if the body is too large, too slow, encoded or cut off
 */
export async function readBody(
  incoming: IncomingMessage,
  outgoing: Pick<ServerResponse, "writeContinue">,
  most: number,
  pace: Pace,
): Promise<Uint8Array> {
  const { "content-length": length, "content-encoding": encoding = "identity", expect } = incoming.headers;
  if (encoding.toLowerCase() !== "identity")
    throw new Refusal("foreign", `content-encoding: got ${encoding.slice(0, 40)}, expected none`);
  const stated = length === undefined ? null : Number(length);
  if (stated !== null && stated > most) throw tooLarge(most, stated);
  // Send 100 Continue only here: the body is not refused by its stated length.
  if (expect?.toLowerCase() === "100-continue") outgoing.writeContinue();
  return stated === null ? readChunks(incoming, most, pace) : readStated(incoming, stated, pace);
}

/** Reads a body of known length into memory of its own, which can go to a thread without a copy. */
async function readStated(incoming: IncomingMessage, length: number, pace: Pace): Promise<Uint8Array> {
  const body = new Uint8Array(length);
  let at = 0;
  await read(incoming, pace, (chunk) => {
    body.set(chunk, at);
    at += chunk.length;
  });
  if (at !== length) throw new Refusal("cut off", `body: got ${at} bytes, expected ${length}`);
  return body;
}

async function readChunks(incoming: IncomingMessage, most: number, pace: Pace): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  await read(incoming, pace, (chunk) => {
    length += chunk.length;
    if (length > most) throw tooLarge(most, `more than ${most}`);
    chunks.push(chunk);
  });
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

/** Gives each chunk to `take`. Pauses the request if `take` throws, or if the body is too slow. */
function read(incoming: IncomingMessage, { rate, window }: Pace, take: (chunk: Uint8Array) => void): Promise<void> {
  let inWindow = 0;
  let timer: NodeJS.Timeout | undefined;
  const reading = new Promise<void>((resolve, reject) => {
    const stop = (error: unknown): void => {
      incoming.removeAllListeners("data").pause();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const cut = (): void => reject(new Refusal("cut off", "body: the sender hung up"));
    const least = (rate * window) / 1000;
    const measure = (): void => {
      if (inWindow < least)
        stop(new Refusal("slow", `body: got ${inWindow} bytes in ${window / 1000} s, expected at least ${least}`));
      inWindow = 0;
    };
    if (rate > 0) timer = setInterval(measure, window);
    incoming.on("data", (chunk: Buffer) => {
      inWindow += chunk.length;
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
  return reading.finally(() => clearInterval(timer));
}
