/**
 * Largest difference between the clocks of several hubs. A row from further in the future was written under a wrong
 * clock, and its time limits would hold until that time. So the row is void.
 */
export const CLOCK_SKEW_MS = 5 * 60_000;
