/** Limits the duration of a task, whatever its receiver does. */
import type { Attempt, AttemptOptions } from "./delivery.ts";
import { messageOf } from "./errors.ts";

/**
 * Runs a task with a signal that aborts when the given signal does, or after the timeout. The timer keeps the signal
 * alive. The garbage collector may remove `AbortSignal.any([signal, AbortSignal.timeout(...)])` before it fires, and a
 * request to a hanging receiver would wait for 300 s, the timeout of `fetch` itself.
 */
export async function runWithin<R>(
  milliseconds: number,
  signal: AbortSignal,
  task: (signal: AbortSignal) => Promise<R>,
): Promise<R> {
  const end = new AbortController();
  const abort = (): void => end.abort(signal.reason);
  const late = (): void => end.abort(new Error(`no answer within ${milliseconds / 1000} s`));
  const timer = setTimeout(late, milliseconds);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    return await task(end.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Tries to deliver a message. Aborts the signal of the attempt if the receiver takes too long or the service stops.
 * @param explain returns why the attempt failed
 */
export async function attemptInTime(
  { signal, patience }: AttemptOptions,
  attempt: (signal: AbortSignal) => Promise<Attempt>,
  explain: (error: unknown) => string,
): Promise<Attempt> {
  if (signal.aborted) return "ended";
  return runWithin(patience, signal, async (both) => {
    try {
      return await attempt(both);
    } catch (error) {
      if (signal.aborted) return "ended";
      return { reason: both.aborted ? messageOf(both.reason) : explain(error), after: null };
    }
  });
}
