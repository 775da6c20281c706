/**
 * The time by which rows are deleted for their age. A wrong clock must not delete anything, so this time never runs
 * faster than the process does:
 *
 *     trusted = min(clock, start + time that the process has run)
 *     start   = min(clock at start, time of the newest row + one day)
 *
 * A clock that jumps ahead does not move it. After a long pause the trusted time is behind, and rows stay longer.
 */
import type { Logger } from "./log.ts";

const DAY_MS = 24 * 3_600_000;
/** Clock difference that is worth a line in the log. */
const JUMP_MS = 60_000;

export interface TrustedClockOptions {
  /** Time of the newest row, in milliseconds since 1970; null: there is none. */
  readonly newest: number | null;
  /** Returns the clock in milliseconds since 1970. */
  readonly now: () => number;
  /** Returns milliseconds that never jump. */
  readonly elapsed?: () => number;
  readonly log: Logger;
}

export class TrustedClock {
  readonly #now: () => number;
  readonly #elapsed: () => number;
  readonly #log: Logger;
  readonly #startTime: number;
  readonly #startElapsed: number;
  #isAhead = false;

  constructor({ newest, now, elapsed = () => performance.now(), log }: TrustedClockOptions) {
    this.#now = now;
    this.#elapsed = elapsed;
    this.#log = log;
    this.#startTime = Math.min(now(), (newest ?? now()) + DAY_MS);
    this.#startElapsed = elapsed();
  }

  /**
   * Returns the trusted time in whole milliseconds, since PostgreSQL takes no fraction. Logs when the clock begins or
   * ends to run ahead of it.
   */
  time(): number {
    const now = this.#now();
    const trusted = Math.floor(this.#startTime + this.#elapsed() - this.#startElapsed);
    const ahead = now - trusted;
    if (ahead > JUMP_MS !== this.#isAhead) {
      this.#isAhead = ahead > JUMP_MS;
      const text = `the clock is ${Math.round(ahead / 1000)} s ahead of the time that this process has run since the newest row`;
      if (this.#isAhead) this.#log.warn(`${text}: old rows stay longer. If the clock is right, a restart catches up`);
      else this.#log.info("the clock agrees with the running time again");
    }
    return Math.min(now, trusted);
  }
}
