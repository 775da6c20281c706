/**
 * How far the clocks of several hubs may be apart. What says it was made later than that was made under a wrong clock,
 * which has been set right since: its time limits would hold for as long as that clock was ahead.
 */
export const CLOCK_SKEW_MS = 5 * 60_000;
