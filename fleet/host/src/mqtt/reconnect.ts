/** Opens a connection to a broker again whenever it ends, after growing pauses while no attempt succeeds. */
import { setTimeout as sleep } from "node:timers/promises";
import { connectionProblem } from "boxwright-service/errors";
import { Backoff } from "boxwright-service/retry";

/** Largest number of milliseconds between two attempts to connect. */
const LONGEST_PAUSE_MS = 15_000;

/**
 * Stays connected until the signal aborts.
 * @param connect calls `onOpen` once the connection is in use, and returns the reason for its end
 * @param onEnd gets the reason, unless the signal has aborted
 */
export async function stayConnected(
  signal: AbortSignal,
  connect: (onOpen: () => void) => Promise<string>,
  onEnd: (reason: string) => void,
): Promise<void> {
  const backoff = new Backoff(500, LONGEST_PAUSE_MS);
  while (!signal.aborted) {
    const reason = await connect(() => backoff.reset()).catch(connectionProblem);
    if (signal.aborted) return;
    onEnd(reason);
    await sleep(backoff.next(), undefined, { signal }).catch(() => undefined);
  }
}
