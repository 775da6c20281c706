/** Methods that lower scores: soft suppression and matrix suppression. */
import { type Candidates, type Outcome, iouOf, isSameClass } from "./candidates.ts";
import { Neighbours } from "./near.ts";
import { Crowd, type RankedBoxes } from "./ranked.ts";
import { ScoreHeap } from "./score-heap.ts";

/** Returns the factor for the score of a box from its IoU with a better one. */
export type Decay = (iou: number) => number;

/** Bodla's linear form: 1 - IoU above the threshold, else 1. */
export const linearDecay =
  (threshold: number): Decay =>
  (iou) =>
    iou > threshold ? 1 - iou : 1;

/** Bodla's Gaussian form: exp(-IoU^2 / sigma), at any IoU. */
export const gaussianDecay =
  (sigma: number): Decay =>
  (iou) =>
    Math.exp((-iou * iou) / sigma);

/** TensorFlow's Gaussian form: exp(-IoU^2 / (2 sigma)), and 0 above the threshold. */
export const tensorflowDecay =
  (sigma: number, threshold: number): Decay =>
  (iou) =>
    iou > threshold ? 0 : Math.exp((-0.5 * iou * iou) / sigma);

/**
 * Keeps the best remaining box and lowers the scores of the boxes that it overlaps, again and again. Ends when the best
 * remaining score does not pass, or when `max` boxes are kept.
 */
export function keepSoftly(
  c: Candidates,
  decay: Decay,
  passes: (score: number) => boolean,
  max: number,
): Outcome {
  const { order } = c;
  const near = new Neighbours(c);
  const scores = Float64Array.from(order, (row) => c.scores[row]);
  const remaining = new ScoreHeap(scores, order);
  const lowered = new Int32Array(order.length);
  const loweredTo = new Float64Array(order.length);
  const rows: number[] = [];
  const keptScores: number[] = [];
  while (remaining.length > 0 && rows.length < max) {
    const rank = remaining.best;
    const row = order[rank];
    const score = scores[rank];
    if (!passes(score)) break;
    if (score === 0) {
      // All remaining scores are 0 and stay so: boxes on one spot come here after a few hundred rounds. Ties go by row.
      const rest = remaining
        .ranks()
        .map((other) => order[other])
        .sort();
      for (const other of rest.subarray(0, max - rows.length)) {
        rows.push(other);
        keptScores.push(0);
      }
      break;
    }
    rows.push(row);
    keptScores.push(score);
    remaining.takeBest();
    near.find(rank);
    let count = 0;
    for (let k = 0; k < near.count; k++) {
      const other = near.ranks[k];
      if (!remaining.has(other) || !isSameClass(c, row, order[other])) continue;
      // Scores only fall: a score that does not pass any more, or is 0, need not be exact.
      if (scores[other] === 0 || !passes(scores[other])) continue;
      const overlap = iouOf(c, row, order[other]);
      // Every decay is 1 without overlap.
      if (overlap === 0) continue;
      loweredTo[count] = scores[other] * decay(overlap);
      lowered[count++] = other;
    }
    remaining.lower(lowered, loweredTo, count);
  }
  return { rows, scores: keptScores, corners: null, members: null };
}

/**
 * Matrix suppression of SOLOv2. The factor of a score is the smallest decay(IoU with a better box) / decay(largest IoU
 * of that box with a box better still). Drops only boxes whose lowered score does not pass.
 */
export function keepByMatrix(
  c: Candidates,
  kernel: MatrixKernel,
  passes: (score: number) => boolean,
  max: number,
): Outcome {
  const n = c.order.length;
  const overlaps = new BetterOverlaps(c);
  const factors = new MatrixFactors(n, kernel);
  const remaining: [row: number, score: number][] = [];
  for (let j = 0; j < n; j++) {
    const row = c.order[j];
    overlaps.find(j);
    const score = c.scores[row] * factors.factorOf(j, overlaps);
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

/** The IoUs of a box with the better ones of its class. */
class BetterOverlaps {
  /** Ranks of better boxes, and the IoU with each. The first `count` are valid. */
  readonly ranks: Int32Array;
  readonly ious: Float64Array;
  count = 0;
  /** The largest IoU. */
  most = 0;
  readonly #c: Candidates;
  readonly #near: Neighbours;
  /** Made once boxes turn out to be crowded: then all better boxes are compared. */
  #ranked: RankedBoxes | null = null;
  readonly #all: Int32Array;
  readonly #crowd: Crowd;

  constructor(c: Candidates) {
    this.#c = c;
    this.#near = new Neighbours(c);
    this.#crowd = new Crowd(c);
    this.#all = c.order.map((_, rank) => rank);
    this.ious = new Float64Array(c.order.length);
    this.ranks = this.#all.slice();
  }

  find(j: number): void {
    const c = this.#c;
    if (this.#ranked) {
      if (this.count < j) this.ranks.set(this.#all);
      this.count = j;
      this.most = this.#ranked.overlapsWith(j, this.ranks, j, "iou", this.ious);
      return;
    }
    const near = this.#near;
    const row = c.order[j];
    near.find(j);
    this.count = this.most = 0;
    for (let k = 0; k < near.count; k++) {
      const i = near.ranks[k];
      const iou = i < j && isSameClass(c, c.order[i], row) ? iouOf(c, c.order[i], row) : 0;
      if (iou === 0) continue;
      if (iou > this.most) this.most = iou;
      this.ranks[this.count] = i;
      this.ious[this.count++] = iou;
    }
    this.#ranked = this.#crowd.count(near.count);
  }
}

/** The decay of matrix suppression. */
export interface MatrixKernel {
  readonly decay: Decay;
  /** Gaussian: the logarithm of a decay is -IoU^2 / sigma. Null for the linear decay. */
  readonly sigma: number | null;
}

/** Below this sigma a decay may be so small that it has too few digits for its logarithm to tell. */
const LEAST_SIGMA = 1 / 600;
/** How far apart two values may be that rounding exchanges, as a share. */
const ROUNDING = 1e-12;

/** Computes the factors of matrix suppression, best box first. */
class MatrixFactors {
  /** Decay of each box by its largest IoU with a better one, and the square of that IoU. */
  readonly #decays: Float64Array;
  readonly #squares: Float64Array;
  readonly #kernel: MatrixKernel;

  constructor(n: number, kernel: MatrixKernel) {
    this.#decays = new Float64Array(n);
    this.#squares = new Float64Array(n);
    this.#kernel = kernel;
  }

  factorOf(j: number, overlaps: BetterOverlaps): number {
    const { decay, sigma } = this.#kernel;
    this.#decays[j] = decay(overlaps.most);
    this.#squares[j] = overlaps.most * overlaps.most;
    if (sigma === null) return this.#linear(overlaps);
    return sigma < LEAST_SIGMA ? this.#each(overlaps) : this.#gaussian(overlaps, sigma);
  }

  /** Returns the least quotient, 1 at most. */
  #each({ ranks, ious, count }: BetterOverlaps): number {
    let factor = 1;
    for (let k = 0; k < count; k++) factor = this.#smaller(factor, ious[k], ranks[k]);
    return factor;
  }

  /** The same. An exponential for each pair would take most of the time: few pairs may lower the factor. */
  #gaussian({ ranks, ious, count }: BetterOverlaps, sigma: number): number {
    const squares = this.#squares;
    const slack = ROUNDING * (1 + sigma);
    // The logarithm of the factor, times sigma.
    let least = 0;
    let factor = 1;
    for (let k = 0; k < count; k++) {
      const key = squares[ranks[k]] - ious[k] * ious[k];
      if (key > least + slack || !(ious[k] > 0)) continue;
      if (key < least) least = key;
      factor = this.#smaller(factor, ious[k], ranks[k]);
    }
    return factor;
  }

  /** The same, with a product before the quotient. */
  #linear({ ranks, ious, count }: BetterOverlaps): number {
    const decays = this.#decays;
    let factor = 1;
    for (let k = 0; k < count; k++)
      if (1 - ious[k] <= factor * decays[ranks[k]] * (1 + ROUNDING))
        factor = this.#smaller(factor, ious[k], ranks[k]);
    return factor;
  }

  /** Returns the smaller of a factor and the quotient of two boxes. */
  #smaller(factor: number, iou: number, better: number): number {
    // Without overlap the factor is 1 or more. Skip a better box whose own decay is 0: the quotient would be undefined,
    // and its own score is lowered to 0.
    if (!(iou > 0 && this.#decays[better] > 0)) return factor;
    return Math.min(factor, this.#kernel.decay(iou) / this.#decays[better]);
  }
}
