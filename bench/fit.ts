/** How fast time grows with the work: the exponent over a whole sweep, and the steps where it jumps. */

export interface Point {
  /** What the point is called in the table. */
  readonly label: string;
  /** Where it stands on the axis. */
  readonly x: number;
  /** What there is to do at this point, in any unit; only ratios between neighbours count. */
  readonly work: number;
  readonly us: number;
  readonly found: number;
  /** Of the boxes found. */
  readonly digest?: string;
}

export interface Step {
  readonly from: string;
  readonly to: string;
  /** How many times more the time grew than the work did. */
  readonly excess: number;
}

/** A step is a cliff where time grows by more than twice what the work does. */
export const CLIFF = 2;

/**
 * Least-squares slope of log(time) over log(x): 1 is linear, 2 quadratic. NaN where all points stand at the
 * same x.
 */
export function exponentOf(points: readonly Pick<Point, "x" | "us">[]): number {
  const xs = points.map((p) => Math.log(p.x));
  const ys = points.map((p) => Math.log(p.us));
  const mean = (values: number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  const [mx, my] = [mean(xs), mean(ys)];
  const spread = xs.reduce((sum, x) => sum + (x - mx) ** 2, 0);
  if (spread === 0) return NaN;
  return xs.reduce((sum, x, i) => sum + (x - mx) * (ys[i] - my), 0) / spread;
}

/**
 * From each point to the next, in order of x. Work that shrinks along the axis counts as unchanged: an engine
 * that does not get faster by it has no cliff.
 */
export function stepsOf(points: readonly Point[]): Step[] {
  const order = [...points].sort((a, b) => a.x - b.x);
  return order.slice(1).map((point, i) => {
    const before = order[i];
    const grown = Math.max(1, point.work / before.work);
    return { from: before.label, to: point.label, excess: point.us / before.us / grown };
  });
}

/** The step that outgrows its work most; undefined for fewer than two points. */
export function steepestOf(points: readonly Point[]): Step | undefined {
  return stepsOf(points).reduce<Step | undefined>(
    (worst, step) => (worst === undefined || step.excess > worst.excess ? step : worst),
    undefined,
  );
}

export const cliffsOf = (points: readonly Point[]): Step[] =>
  stepsOf(points).filter(({ excess }) => excess > CLIFF);

/** Of two runs of a sweep, the less disturbed of each point. A cliff that the machine made stands in one of them only. */
export function leastOf(before: readonly Point[], now: readonly Point[]): Point[] {
  return now.map((point, i) => {
    const { label, found, us } = before[i];
    if (label !== point.label || found !== point.found)
      throw new Error(`sweep: got ${point.found} at ${point.label}, expected ${found} at ${label} as before`);
    return us < point.us ? before[i] : point;
  });
}
