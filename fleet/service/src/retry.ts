/** Rules for retries that hub, agent and host share. */

/**
 * Returns whole milliseconds with a random variation up or down by a share, so that devices that lost the same receiver
 * do not return at the same time.
 */
export const spreadOut = (milliseconds: number, share = 0.1): number =>
  Math.round(milliseconds * (1 + share * (2 * Math.random() - 1)));

/** First and largest pause in milliseconds, and the share by which a pause varies (default a tenth). */
export interface Pauses {
  readonly first: number;
  readonly most: number;
  readonly share?: number;
}

/**
 * Returns the milliseconds to wait after a number of consecutive failures (at least 1). Doubles from `first` to `most`.
 */
export const pauseAfter = (failures: number, { first, most, share }: Pauses): number =>
  spreadOut(Math.min(most, first * 2 ** (failures - 1)), share);

/** Counts consecutive failures. */
export class Backoff {
  readonly #pauses: Pauses;
  #failures = 0;

  constructor(first = 500, most = 30_000) {
    this.#pauses = { first, most };
  }

  /** Returns the milliseconds to wait after another failure. */
  next(): number {
    return pauseAfter(++this.#failures, this.#pauses);
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** Returns the milliseconds that a Retry-After header asks for, in seconds or as a date; null without the header. */
export function askedPause(header: string | null | undefined, now = Date.now()): number | null {
  if (header === null || header === undefined) return null;
  const milliseconds = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return milliseconds >= 0 ? milliseconds : null;
}
