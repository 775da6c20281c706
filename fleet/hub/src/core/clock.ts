/**
 * Largest difference between the clocks of several hub processes. A row with a time further in the future was written
 * under a wrong clock. Its time limits would last too long, so the hub ignores the row.
 */
export const CLOCK_SKEW_MS = 5 * 60_000;
