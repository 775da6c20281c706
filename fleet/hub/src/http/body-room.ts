/** Admits bodies to the room that devices and senders of model files share. */
import { keepPace } from "boxwright-service/pace";
import { NoRoomError } from "boxwright-service/room";
import { type Exchange, hasBody } from "boxwright-service/http/exchange";
import { refuse } from "./refusals.ts";
import type { Services } from "./services.ts";

/**
 * A file takes as long as its bytes keep this pace: at most its size divided by `rate`. Where they do not, the request
 * ends as if its sender had hung up.
 */
const UPLOAD_PACE = { rate: 4096, window: 15_000 } as const;

/**
 * Returns true if the body of a request may come, or has none. Otherwise answers with a refusal. The room is free again
 * after the answer.
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

/** Returns the bytes of a file. They end early where they are too slow, and where slow files have their half. */
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
