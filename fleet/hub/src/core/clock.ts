/**
 * Largest difference between the clocks of several hubs. A row with a later time was written under a wrong clock. Its
 * time limits would last too long, so the hub ignores the row.
 */
export const CLOCK_SKEW_MS = 5 * 60_000;
