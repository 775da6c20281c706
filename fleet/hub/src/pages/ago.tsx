/** Shows how long ago a time was. The title has the exact time. */
const STEPS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** Returns a count with its unit: "1 device", "1,200 devices". */
export const countText = (count: number, unit: string): string =>
  `${count.toLocaleString("en")} ${unit}${count === 1 ? "" : "s"}`;

/** Returns a length of time in its largest unit: "3 minutes". Less than a minute is "less than a minute". */
export function durationText(ms: number): string {
  for (const [unit, size] of STEPS) {
    const count = Math.floor(ms / size);
    if (count > 0) return countText(count, unit);
  }
  return "less than a minute";
}

/** Shows how long ago a time was, or how far ahead. A begun minute ahead counts, so that a fresh hour is one hour. */
export function Ago({ at, now }: { at: number; now: number }) {
  const iso = new Date(at).toISOString();
  return (
    <time datetime={iso} title={`${iso.slice(0, 19).replace("T", " ")} UTC`}>
      {at > now ? `in ${durationText(at - now + 59_999)}` : `${durationText(now - at)} ago`}
    </time>
  );
}
