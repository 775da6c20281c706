/** A binary heap of ranks, best score first. Scores may fall. A rank sinks only when it has reached the top. */

export class ScoreHeap {
  length: number;
  readonly #scores: Float64Array;
  readonly #order: Int32Array;
  /** Node i has the children 2 i + 1 and 2 i + 2. */
  readonly #tree: Int32Array;
  /** Score that each rank had when it reached its place. */
  readonly #keys: Float64Array;
  readonly #isTaken: Uint8Array;

  /**
   * @param scores score of each rank, best first. They may fall, and never rise
   * @param order row of each rank
   */
  constructor(scores: Float64Array, order: Int32Array) {
    this.#scores = scores;
    this.#order = order;
    this.length = order.length;
    this.#tree = order.map((_, rank) => rank);
    this.#keys = scores.slice();
    this.#isTaken = new Uint8Array(order.length);
  }

  get best(): number {
    for (;;) {
      const rank = this.#tree[0];
      if (this.#keys[rank] === this.#scores[rank]) return rank;
      this.#keys[rank] = this.#scores[rank];
      this.#sink(0);
    }
  }

  has(rank: number): boolean {
    return this.#isTaken[rank] === 0;
  }

  /** Returns all ranks in the heap, in no order. */
  ranks(): Int32Array {
    return this.#tree.slice(0, this.length);
  }

  takeBest(): void {
    this.#isTaken[this.best] = 1;
    const last = this.#tree[--this.length];
    if (this.length === 0) return;
    this.#tree[0] = last;
    this.#sink(0);
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
      tree[node] = tree[child];
      node = child;
    }
    tree[node] = rank;
  }

  #isBetter(a: number, b: number): boolean {
    const difference = this.#keys[a] - this.#keys[b];
    return difference > 0 || (difference === 0 && this.#order[a] < this.#order[b]);
  }
}
