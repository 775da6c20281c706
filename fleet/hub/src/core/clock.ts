/**
 * Clocks of several hubs may differ by so much. A row from further in the future was made under a wrong clock that has
 * been set right since. Its time limits would hold for as long as that clock was ahead, so the row is void.
 */
export const CLOCK_SKEW_MS = 5 * 60_000;
