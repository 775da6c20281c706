/** Measuring in turns: what slows the machine for a while slows both sides. */

/** Calls the two sides one after the other, the other one first in every second round. */
export async function inTurn<T>(
  round: number,
  ours: () => Promise<T>,
  theirs: () => Promise<T>,
): Promise<{ ours: T; theirs: T }> {
  if (round % 2 === 0) return { ours: await ours(), theirs: await theirs() };
  const first = await theirs();
  return { ours: await ours(), theirs: first };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

export interface Comparison {
  /** Time of ours divided by theirs: above 1, ours is slower. */
  readonly ratio: number;
  /** Lowest and highest ratio of a round. */
  readonly low: number;
  readonly high: number;
}

/** Compares the medians of rounds that were measured in turns. The ratio is the median of the rounds' ratios. */
export function compare(ours: readonly number[], theirs: readonly number[]): Comparison {
  const ratios = ours.map((time, round) => time / theirs[round]);
  return { ratio: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) };
}
