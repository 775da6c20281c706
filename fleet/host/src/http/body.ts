/** Reads the body of a request into memory of its own, up to a limit. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal } from "../core/errors.ts";

const tooLarge = (most: number, got: number | string): Refusal =>
  new Refusal("too large", `body: got ${got} bytes, expected at most ${most}`);

/**
 * Returns the body. Refuses a body that is too large by its stated length, or at the first byte above the limit. After
 * the answer @hono/node-server discards the rest for up to 500 ms: a sender that writes all before it reads gets the
 * answer too.
 * @throws Refusal if the body is too large, encoded or cut off
 */
export async function readBody(
  incoming: IncomingMessage,
  outgoing: Pick<ServerResponse, "writeContinue">,
  most: number,
): Promise<Uint8Array> {
  const { "content-length": length, "content-encoding": encoding = "identity", expect } = incoming.headers;
  if (encoding.toLowerCase() !== "identity")
    throw new Refusal("foreign", `content-encoding: got ${encoding.slice(0, 40)}, expected none`);
  const stated = length === undefined ? null : Number(length);
  if (stated !== null && stated > most) throw tooLarge(most, stated);
  // Send 100 Continue only here: the body is not refused by its stated length.
  if (expect?.toLowerCase() === "100-continue") outgoing.writeContinue();
  return stated === null ? readChunks(incoming, most) : readStated(incoming, stated);
}

/** Reads a body of known length into memory of its own, which can go to a thread without a copy. */
async function readStated(incoming: IncomingMessage, length: number): Promise<Uint8Array> {
  const body = new Uint8Array(length);
  let at = 0;
  await read(incoming, (chunk) => {
    body.set(chunk, at);
    at += chunk.length;
  });
  if (at !== length) throw new Refusal("cut off", `body: got ${at} bytes, expected ${length}`);
  return body;
}

async function readChunks(incoming: IncomingMessage, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  await read(incoming, (chunk) => {
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

/** Gives each chunk to `take`. Pauses the request if `take` throws. */
function read(incoming: IncomingMessage, take: (chunk: Uint8Array) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const cut = (): void => reject(new Refusal("cut off", "body: the sender hung up"));
    incoming.on("data", (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        incoming.removeAllListeners("data").pause();
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    incoming.once("end", resolve);
    incoming.once("error", cut);
    incoming.once("close", cut);
  });
}
