/**
 * The time by which old rows are deleted. A wrong clock must not cause deletions, so the database remembers the last
 * trusted time. From there the trusted time advances with the clock, but at most twice as fast as the process runs:
 *
 *     trusted = min(clock, last trusted time + 2 * time that the process has run)
 *
 * So the trusted time does not follow a clock that jumps ahead, before or after a start, nor rows with wrong times.
 * After a pause of the service the trusted time is behind, and catches up while the process runs.
 */
import type { Database } from "./database.ts";
import type { Logger } from "./log.ts";

const HOUR_MS = 3_600_000;
/** Factor by which the trusted time may run faster than the process. */
const CATCH_UP = 2;
/** Difference between clock and trusted time, in milliseconds, above which the log reports it. */
const JUMP_MS = 60_000;
/** Earliest plausible time. The clocks of machines without a battery start near 1970. */
const FIRST_PLAUSIBLE = Date.UTC(2001, 0, 1);

export interface TrustedClockOptions {
  readonly db: Database;
  /** Returns the time of the newest row; null if there is none. Called if the database remembers no time yet. */
  readonly newest: () => Promise<number | null>;
  /** Returns the clock's milliseconds since 1970. */
  readonly now: () => number;
  /** Returns a monotonic time in milliseconds. */
  readonly elapsed?: () => number;
  readonly log: Logger;
}

export class TrustedClock {
  readonly #options: Required<TrustedClockOptions>;
  #base: number;
  #since: number;
  /** Monotonic time since which the clock is more than an hour behind the stored time; null if it is not. */
  #behindSince: number | null = null;
  #isAhead = false;

  private constructor(options: Required<TrustedClockOptions>, base: number) {
    this.#options = options;
    this.#base = base;
    this.#since = options.elapsed();
  }

  /** Reads the last trusted time. Call this before rows with a wrong time can be written. */
  static async open(given: TrustedClockOptions): Promise<TrustedClock> {
    const options = { elapsed: () => performance.now(), ...given };
    const { db, newest, now } = options;
    const [row] = await db.all<{ value: number }>("SELECT value FROM service_state WHERE name = 'time'");
    const clock = new TrustedClock(options, row?.value ?? Math.min(now(), (await newest()) ?? now()));
    await clock.#save();
    return clock;
  }

  /**
   * Returns the trusted time, and stores it. Returns whole milliseconds, since the column of PostgreSQL takes no
   * fraction.
   */
  async time(): Promise<number> {
    await this.#save();
    return this.#time();
  }

  #time(): number {
    const { now, elapsed, log } = this.#options;
    const clock = now();
    const trusted = Math.floor(this.#base + CATCH_UP * (elapsed() - this.#since));
    const ahead = clock - trusted;
    if (ahead > JUMP_MS !== this.#isAhead) {
      this.#isAhead = ahead > JUMP_MS;
      if (this.#isAhead)
        log.warn(
          `the clock is ${Math.round(ahead / 1000)} s ahead of the last time that this database trusts: old rows stay longer`,
        );
      else log.info("the clock agrees with the trusted time again");
    }
    return Math.min(Math.floor(clock), trusted);
  }

  async #save(): Promise<void> {
    const { db } = this.#options;
    const isSetBack = this.#isSetBack();
    const time = this.#time();
    if (isSetBack) [this.#base, this.#since] = [time, this.#options.elapsed()];
    if (time < FIRST_PLAUSIBLE) return;
    const which = isSetBack ? "" : " WHERE excluded.value > service_state.value";
    await db.write(
      (tx) =>
        tx.all(
          `INSERT INTO service_state (name, value) VALUES ('time', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value${which}`,
          [time],
        ),
      { durable: false },
    );
  }

  /**
   * True if the clock has been more than an hour behind the stored time for more than an hour, so that the stored time
   * must be wrong.
   */
  #isSetBack(): boolean {
    const { now, elapsed } = this.#options;
    const clock = now();
    const isBehind = clock >= FIRST_PLAUSIBLE && clock < this.#base - HOUR_MS;
    if (!isBehind) this.#behindSince = null;
    else this.#behindSince ??= elapsed();
    return this.#behindSince !== null && elapsed() - this.#behindSince > HOUR_MS;
  }
}
