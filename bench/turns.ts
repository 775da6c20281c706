/** Measures two packages alternately, so that a slow phase of the machine slows both. */

/** A package and its measurements, round by round. */
export interface Side<T> {
  readonly entry: string;
  readonly rounds: T[];
}

/** Returns the sides to measure: this package, and the other one if given. */
export const sidesOf = <T>(entry: string, other: string | undefined): Side<T>[] =>
  [entry, ...(other === undefined ? [] : [other])].map((url) => ({ entry: url, rounds: [] }));

/** Measures one round of each side, the other package first in every second round. */
export async function measureRound<T>(
  round: number,
  sides: readonly Side<T>[],
  measure: (entry: string) => Promise<T>,
): Promise<void> {
  for (const side of round % 2 === 0 ? sides : [...sides].reverse())
    side.rounds.push(await measure(side.entry));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

export interface Comparison {
  /** Our time divided by the time of the other package. Above 1, ours is slower. */
  readonly ratio: number;
  /** Lowest and highest ratio of all rounds. */
  readonly low: number;
  readonly high: number;
}

/** Compares medians of alternately measured rounds. The ratio is the median of the rounds' ratios. */
export function compare(ours: readonly number[], theirs: readonly number[]): Comparison {
  const ratios = ours.map((time, round) => time / theirs[round]);
  return { ratio: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) };
}
