/** Matrix suppression: every better box lowers the scores of the boxes that it overlaps, but drops none. */
import { type Candidates, type Outcome, iouOf } from "./candidates.ts";
import type { Decay } from "./soft.ts";
import { Strips } from "./strips.ts";

/** Function by which matrix suppression lowers scores. */
export interface MatrixKernel {
  readonly decay: Decay;
  /** Sigma of a Gaussian decay, exp(-IoU^2 / sigma). Null for a linear decay. */
  readonly sigma: number | null;
}

/**
 * Matrix suppression of SOLOv2. A score is multiplied by the smallest value of decay(a) / decay(b) over all better
 * boxes. a is the IoU with the better box. b is the largest IoU of that box with boxes that are better still. Only
 * boxes whose lowered score fails the threshold are dropped.
 */
export function keepByMatrix(
  c: Candidates,
  kernel: MatrixKernel,
  passes: (score: number) => boolean,
  max: number,
): Outcome {
  const factors = new MatrixFactors(c, kernel);
  const classes = ranksByClass(c);
  const near = new Strips(
    c,
    c.order.map((_, rank) => rank),
  );
  if (isCrowded(c, near, classes)) for (const ranks of classes) compareAll(c, ranks, factors);
  else compareNear(c, near, factors);
  const remaining: [row: number, score: number][] = [];
  for (const [rank, row] of c.order.entries()) {
    const score = c.scores[row] * factors.factors[rank];
    if (passes(score)) remaining.push([row, score]);
  }
  const kept = remaining.sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, max);
  return {
    rows: kept.map(([row]) => row),
    scores: kept.map(([, score]) => score),
    corners: null,
    members: null,
  };
}

function ranksByClass({ order, classIds }: Candidates): number[][] {
  const classes = new Map<number, number[]>();
  for (const [rank, row] of order.entries()) {
    const ranks = classes.get(classIds[row]);
    if (ranks) ranks.push(rank);
    else classes.set(classIds[row], [rank]);
  }
  return [...classes.values()];
}

/** Count of boxes whose neighbours are counted, to decide between grid and loop. */
const SAMPLE = 256;
/** Count of pairs that a loop over all pairs compares while a grid finds one neighbour. */
const QUICKER = 4;

/** True if comparing all boxes of a class takes less time than finding the neighbours of each box. */
function isCrowded({ order }: Candidates, near: Strips, classes: readonly number[][]): boolean {
  const step = Math.max(1, Math.floor(order.length / SAMPLE));
  let found = 0;
  for (let rank = 0; rank < order.length; rank += step) {
    near.find(rank);
    found += near.count * step;
  }
  const pairs = classes.reduce((sum, { length }) => sum + (length * length) / 2, 0);
  return pairs < QUICKER * found;
}

/** Compares each box with the better boxes of its class that a grid finds. */
function compareNear(c: Candidates, near: Strips, factors: MatrixFactors): void {
  const { ranks, overlaps } = near;
  for (let rank = 0; rank < c.order.length; rank++) {
    near.find(rank);
    factors.begin();
    for (let k = 0; k < near.count; k++) if (ranks[k] < rank) factors.compare(ranks[k], overlaps[k]);
    factors.end(rank);
  }
}

/** Factor on the sides of a box, so that rounding makes no estimate of an IoU smaller than the exact IoU. */
const SLACK = 1 + 1e-12;

/**
 * Compares each box with all better boxes of a class. The loop makes one estimate per pair. It has no branch that
 * depends on which side is larger: such a branch would be mispredicted half of the time. min(a, b) is (a + b - |a - b|)
 * / 2. Pairs are calculated exactly, as by `iouOf`, only if the estimate may change a result.
 */
function compareAll(c: Candidates, ranks: readonly number[], factors: MatrixFactors): void {
  const { corners, offset } = c;
  const n = ranks.length;
  const column = (k: number): Float64Array =>
    Float64Array.from(ranks, (rank) => corners[c.order[rank] * 4 + k]);
  const [x1, y1, x2, y2] = [column(0), column(1), column(2), column(3)];
  const widths = x1.map((x, i) => (x2[i] - x + offset) * SLACK);
  const heights = y1.map((y, i) => (y2[i] - y + offset) * SLACK);
  const areas = x1.map((x, i) => (x2[i] - x + offset) * (y2[i] - y1[i] + offset));
  const reaches = new Float64Array(n);
  const { isSquared } = factors;
  for (let j = 0; j < n; j++) {
    factors.begin();
    let { most, slope, least } = factors;
    const [left, top, right, bottom] = [x1[j], y1[j], x2[j], y2[j]];
    const [ownWidth, ownHeight, ownArea] = [widths[j], heights[j], areas[j]];
    for (let i = 0; i < j; i++) {
      const width = widths[i] + ownWidth - Math.abs(x1[i] - left) - Math.abs(x2[i] - right);
      const height = heights[i] + ownHeight - Math.abs(y1[i] - top) - Math.abs(y2[i] - bottom);
      if (!(width > 0 && height > 0)) continue;
      const shared = 0.25 * width * height;
      const iou = shared / (areas[i] + ownArea - shared);
      const value = isSquared ? iou * iou : iou;
      if (!(iou > most || value >= slope * reaches[i] + least)) continue;
      factors.compare(ranks[i], iouOf(c, c.order[ranks[i]], c.order[ranks[j]]));
      ({ most, slope, least } = factors);
    }
    factors.end(ranks[j]);
    reaches[j] = factors.reaches[ranks[j]];
  }
}

/** With a smaller sigma, decays are so small that their logarithm is inexact. */
const LEAST_SIGMA = 1 / 600;
/** Relative difference of two values below which rounding may exchange their order. */
const ROUNDING = 1e-12;

/**
 * Computes the factors of matrix suppression, best box first. An exponential per pair would take most of the time, so
 * most pairs are skipped. A pair can lower the factor only if its IoU is at least `slope` x reach of the better box +
 * `least`. For the Gaussian, this holds for the square of the IoU. `#limit` derives `slope` and `least` from the pairs
 * that lowered the factor so far.
 */
class MatrixFactors {
  /** Number that multiplies the score of each box, indexed by rank. */
  readonly factors: Float64Array;
  /** Reach of each rank. Linear: the box's decay. Gaussian: the square of its largest IoU with a better box. */
  readonly reaches: Float64Array;
  readonly isSquared: boolean;
  /** Largest IoU of the current box with a better box. */
  most = 0;
  slope = 0;
  least = 0;
  /** Decay of each rank, calculated from its largest IoU with a better box. */
  readonly #decays: Float64Array;
  readonly #kernel: MatrixKernel;
  /** True: skip no pair, because the limit for skipping is inexact with this sigma. */
  readonly #isEach: boolean;
  #factor = 1;

  constructor({ order: { length } }: Candidates, kernel: MatrixKernel) {
    this.factors = new Float64Array(length);
    this.reaches = new Float64Array(length);
    this.#decays = new Float64Array(length);
    this.#kernel = kernel;
    this.isSquared = kernel.sigma !== null;
    this.#isEach = kernel.sigma !== null && kernel.sigma < LEAST_SIGMA;
  }

  /** Begins the comparisons for the next box. */
  begin(): void {
    this.#factor = 1;
    this.most = 0;
    this.least = -Infinity;
    this.#limit(0);
  }

  /** Compares the current box with a better box. */
  compare(better: number, iou: number): void {
    // Skip a pair without overlap: its factor is 1 or more.
    if (!(iou > 0)) return;
    if (iou > this.most) this.most = iou;
    const reach = this.reaches[better];
    const square = iou * iou;
    if (!((this.isSquared ? square : iou) >= this.slope * reach + this.least)) return;
    // Skip a better box whose own decay is 0: the quotient is undefined. The current score becomes 0 anyway.
    if (!(this.#decays[better] > 0)) return;
    this.#factor = Math.min(this.#factor, this.#kernel.decay(iou) / this.#decays[better]);
    this.#limit(reach - square);
  }

  /** Stores the results for a rank, after the box was compared with all better boxes. */
  end(rank: number): void {
    this.factors[rank] = this.#factor;
    this.#decays[rank] = this.#kernel.decay(this.most);
    this.reaches[rank] = this.isSquared ? this.most * this.most : this.#decays[rank];
  }

  /**
   * Calculates `slope` and `least` for the next pairs. `key`: for the Gaussian, sigma x the logarithm of the last
   * decay(a) / decay(b), see `keepByMatrix`.
   */
  #limit(key: number): void {
    const { sigma } = this.#kernel;
    if (this.#isEach) this.least = -1;
    else if (sigma === null) {
      this.slope = -this.#factor * (1 + ROUNDING);
      this.least = 1;
    } else {
      this.slope = 1;
      this.least = Math.max(this.least, -key - ROUNDING * (1 + sigma));
    }
  }
}
