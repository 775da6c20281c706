/** Limits the duration of one attempt to deliver a message, whatever the receiver does. */
import type { Attempt, AttemptOptions } from "./delivery.ts";

/**
 * Runs an attempt. Aborts the attempt's signal if the receiver takes too long or the service stops.
 * @param explain returns why the attempt failed
 */
export async function attemptInTime(
  { signal, patience }: AttemptOptions,
  attempt: (signal: AbortSignal) => Promise<Attempt>,
  explain: (error: unknown) => string,
): Promise<Attempt> {
  if (signal.aborted) return "ended";
  const end = new AbortController();
  const abort = (): void => end.abort();
  // The timer keeps the controller alive: a signal of AbortSignal.any can be garbage-collected before it fires.
  const timer = setTimeout(abort, patience);
  signal.addEventListener("abort", abort);
  try {
    return await attempt(end.signal);
  } catch (error) {
    if (signal.aborted) return "ended";
    return { reason: end.signal.aborted ? `no answer within ${patience / 1000} s` : explain(error), after: null };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}
