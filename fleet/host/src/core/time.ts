/** Writes times as texts whose order as texts is the order of the times. */

const RFC3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i;

/**
 * Returns an RFC 3339 time in UTC with nine fractional digits, so that texts sort like times. Returns undefined for a
 * text that is no time, or a time outside the years 0000 to 9999.
 */
export function sortableTime(time: string): string | undefined {
  const [, seconds, fraction = "", zone] = RFC3339.exec(time) ?? [];
  const at = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(at)) return undefined;
  const utc = new Date(at).toISOString();
  return utc.length === 24 ? `${utc.slice(0, 19)}.${fraction.padEnd(9, "0")}Z` : undefined;
}

/** Returns a time of this machine's clock as a sortable text. */
export const sortableNow = (now: number): string => sortableTime(new Date(now).toISOString())!;

/** Returns the milliseconds since 1970 of a time in RFC 3339. */
export const millisecondsOf = (time: string): number => Date.parse(time);
