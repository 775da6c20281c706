/** A binary heap of ranks, best score first, ties by row. Scores may fall while ranks are in the heap. */

/** Share of the remaining ranks from which on ordering all of them anew is quicker than moving each. */
const MANY = 1 / 8;

export class ScoreHeap {
  length: number;
  readonly #scores: Float64Array;
  readonly #order: Int32Array;
  /** Node i has the children 2 i + 1 and 2 i + 2. */
  readonly #tree: Int32Array;
  /** Node of each rank; -1 for one that was taken. */
  readonly #nodeOf: Int32Array;

  /**
   * @param scores score of each rank, best first. Only `lower` changes them
   * @param order row of each rank
   */
  constructor(scores: Float64Array, order: Int32Array) {
    this.#scores = scores;
    this.#order = order;
    this.length = order.length;
    this.#tree = order.map((_, rank) => rank);
    this.#nodeOf = order.map((_, rank) => rank);
  }

  get best(): number {
    return this.#tree[0];
  }

  has(rank: number): boolean {
    return this.#nodeOf[rank] >= 0;
  }

  /** Returns all ranks in the heap, in no order. */
  ranks(): Int32Array {
    return this.#tree.slice(0, this.length);
  }

  takeBest(): void {
    const last = this.#tree[--this.length];
    this.#nodeOf[this.#tree[0]] = -1;
    if (this.length === 0) return;
    this.#tree[0] = last;
    this.#sink(0);
  }

  /** Lowers the scores of ranks in the heap. */
  lower(ranks: Int32Array, to: Float64Array, count: number): void {
    const scores = this.#scores;
    if (count > MANY * this.length) {
      for (let i = 0; i < count; i++) scores[ranks[i]] = to[i];
      for (let node = (this.length >> 1) - 1; node >= 0; node--) this.#sink(node);
      return;
    }
    // One by one: a node sinks to its place only among nodes that stand in theirs.
    for (let i = 0; i < count; i++) {
      scores[ranks[i]] = to[i];
      this.#sink(this.#nodeOf[ranks[i]]);
    }
  }

  #sink(node: number): void {
    const tree = this.#tree;
    const { length } = this;
    const rank = tree[node];
    for (;;) {
      let child = 2 * node + 1;
      if (child >= length) break;
      if (child + 1 < length && this.#isBetter(tree[child + 1], tree[child])) child++;
      if (!this.#isBetter(tree[child], rank)) break;
      this.#nodeOf[(tree[node] = tree[child])] = node;
      node = child;
    }
    this.#nodeOf[(tree[node] = rank)] = node;
  }

  #isBetter(a: number, b: number): boolean {
    const difference = this.#scores[a] - this.#scores[b];
    return difference > 0 || (difference === 0 && this.#order[a] < this.#order[b]);
  }
}
