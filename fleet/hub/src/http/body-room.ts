/** Limits how many requests with bodies from devices and of model files may run at the same time. */
import { keepPace } from "boxwright-service/pace";
import { NoRoomError } from "boxwright-service/room";
import { type Exchange, hasBody } from "boxwright-service/http/exchange";
import { refuse } from "./refusals.ts";
import type { Services } from "./services.ts";

/**
 * Slowest allowed pace of an upload: a file of N bytes may take N / `rate` seconds. A slower request ends as if its
 * sender had closed the connection.
 */
const UPLOAD_PACE = { rate: 4096, window: 15_000 } as const;

/**
 * Returns true if the request has no body, or may send its body now. Otherwise answers with a refusal. The slot is free
 * again after the answer.
 */
export function admitBody({ bodies, metrics }: Services, exchange: Exchange, sender: string): boolean {
  if (!hasBody(exchange.request)) return true;
  try {
    const visit = (exchange.visit = bodies.enter(sender));
    exchange.afterAnswer(() => visit.leave());
    visit.take(1);
    return true;
  } catch (error) {
    if (!(error instanceof NoRoomError)) throw error;
    metrics.limited.inc({ limit: "bodies" });
    refuse(exchange, "too_many_bodies", `: ${error.message}`, { "retry-after": "1" });
    return false;
  }
}

/**
 * Yields the bytes of a file. Ends early if the bytes come too slowly, or if slow files already use half of the slots.
 */
export async function* fileBody(exchange: Exchange): AsyncGenerator<Buffer, void> {
  for await (const bytes of keepPace(exchange.openBody(), UPLOAD_PACE)) {
    if (!mayGoOn(exchange)) return;
    yield bytes;
  }
}

function mayGoOn({ visit }: Exchange): boolean {
  try {
    visit?.take(0);
    return true;
  } catch (error) {
    if (error instanceof NoRoomError) return false;
    throw error;
  }
}
