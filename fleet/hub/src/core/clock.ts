/**
 * Largest difference between the clocks of several hubs. A row with a time further in the future was written under a
 * wrong clock, and its time limits would hold for too long. So the hub ignores such a row.
 */
export const CLOCK_SKEW_MS = 5 * 60_000;
