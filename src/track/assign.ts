/**
 * Assigns rows to columns, one to one, with the largest sum of the chosen pairs' weights. Only pairs that were added
 * can be chosen, so a row may end up without a column.
 *
 * The smaller side is placed: its members get partners one after the other, each along the shortest augmenting path.
 * The cost of a pair is its negative weight. Dijkstra's algorithm finds the path, with dual prices of the other side. A
 * search reaches only connected pairs. If there are many pairs, it uses only the core: the best few pairs of each
 * member.
 */
import { CorePairs, PairList } from "./core-pairs.ts";
import { IndexList, room } from "./lists.ts";
import { DistanceHeap } from "./heap.ts";

/** Count of pairs and of visits per placed member above which only the core is searched. */
const MANY_PAIRS = 64;
const MANY_VISITS = 2;
/** Largest count of rounds over a growing core. After that, searching all pairs is faster. Crowds take 2 to 6. */
const MOST_ROUNDS = 24;
/**
 * Largest count of pairs that one assignment may examine. Crowds of 2,000 boxes need a few million. If all boxes
 * overlap each other about equally, billions would be needed.
 */
const MOST_LOOKS = 12e6;
/** Difference below which weights count as equal. */
export const ROUNDING = 1e-12;

export class Assignment {
  columnOf = new Int32Array(0);
  rowOf = new Int32Array(0);

  weights = new Float64Array(0);

  private rows = 0;
  private columns = 0;
  private count = 0;
  private pairRow = new Int32Array(0);
  private pairColumn = new Int32Array(0);

  /** True if there are fewer columns than rows. Columns are then placed, and rows have prices. */
  private isTurned = false;
  /** For each pair, its member of the placed side (`own`) and of the other. For each member, its partner or -1. */
  private own = this.pairRow;
  private other = this.pairColumn;
  private otherOf = this.columnOf;
  private ownOf = this.rowOf;
  /** All pairs, and the smaller set in the core. */
  private readonly all = new PairList();
  private readonly core = new CorePairs();
  /** The pairs to search. Those of member i are at `first[i]` to `first[i + 1]`. */
  private first = this.all.first;
  private listedWeights = this.weights;
  /** Counts of visited placed members, and of examined pairs. */
  private visits = 0;
  private looks = 0;
  /**
   * True if `solve` stopped after too many pairs. The remaining members then took their best free partner, so the sum
   * may not be the largest.
   */
  isCut = false;
  /** True if any call of `solve` stopped early. */
  wasCut = false;
  /** Dual price of each member of the other side, at most 0. No pair costs less than its members' prices. */
  private price = new Float64Array(0);
  private chosen = new Int32Array(0);
  /** Pair by which the search reached each member of the other side. */
  private reachedBy = new Int32Array(0);
  private readonly reached = new DistanceHeap();
  private readonly settled = new IndexList();
  /** The cheapest end of a path: its cost, and the pair with a free partner, or -1: then `endOwn` loses its partner. */
  private endCost = 0;
  private endPair = -1;
  private endOwn = -1;

  begin(rows: number, columns: number): void {
    this.rows = rows;
    this.columns = columns;
    this.count = 0;
    this.columnOf = room(this.columnOf, rows);
    this.rowOf = room(this.rowOf, columns);
    this.columnOf.fill(-1, 0, rows);
    this.rowOf.fill(-1, 0, columns);
  }

  /**
   * Adds a pair. Returns an index: the caller must write the pair's weight, a positive number, to `weights` at this
   * index. V8 may allocate a heap object for a double passed as an argument.
   */
  add(row: number, column: number): number {
    const i = this.count++;
    if (i >= this.pairRow.length) {
      this.pairRow = room(this.pairRow, i + 1);
      this.pairColumn = room(this.pairColumn, i + 1);
      this.weights = room(this.weights, i + 1);
    }
    this.pairRow[i] = row;
    this.pairColumn[i] = column;
    return i;
  }

  /** Chooses every pair whose weight is above the threshold. These pairs must not share rows or columns. */
  takeAbove(threshold: number): void {
    this.takeSides(false);
    for (let pair = 0; pair < this.count; pair++) if (this.weights[pair] > threshold) this.choose(pair);
  }

  /** Chooses the pairs with the largest sum. */
  solve(): void {
    this.takeSides(this.columns < this.rows);
    const count = this.isTurned ? this.columns : this.rows;
    const others = this.isTurned ? this.rows : this.columns;
    this.price = room(this.price, others);
    this.reachedBy = room(this.reachedBy, others);
    this.reached.begin(others);
    this.listPairs(count);
    this.looks = 0;
    this.isCut = false;
    this.search(this.all);
    const most = this.count > MANY_PAIRS * count ? MANY_VISITS * count : Infinity;
    if (!this.placeAll(count, others, most)) this.solveByCore(count, others);
  }

  /**
   * Returns what a row adds to the sum, by the prices of `solve`. A missing pair could not change the result if its
   * weight is at most the sum of both members' values.
   */
  worthOfRow(row: number): number {
    return this.isTurned ? -this.price[row] : this.worthOfPlaced(row);
  }

  /** Returns what a column adds to the sum: see `worthOfRow`. */
  worthOfColumn(column: number): number {
    return this.isTurned ? this.worthOfPlaced(column) : -this.price[column];
  }

  private worthOfPlaced(own: number): number {
    const partner = this.otherOf[own];
    return partner < 0 ? 0 : this.listedWeights[this.chosen[own]] + this.price[partner];
  }

  private takeSides(isTurned: boolean): void {
    this.isTurned = isTurned;
    this.own = isTurned ? this.pairColumn : this.pairRow;
    this.other = isTurned ? this.pairRow : this.pairColumn;
    this.ownOf = isTurned ? this.columnOf : this.rowOf;
    this.otherOf = isTurned ? this.rowOf : this.columnOf;
    this.chosen = room(this.chosen, isTurned ? this.columns : this.rows);
  }

  /** Sorts all pairs by their placed member. The pairs of one member keep the order in which they were added. */
  private listPairs(count: number): void {
    const { all, own, other, weights } = this;
    all.begin(count, this.count);
    const { first } = all;
    first.fill(0, 0, count + 1);
    for (let pair = 0; pair < this.count; pair++) first[own[pair] + 1]++;
    for (let i = 0; i < count; i++) first[i + 1] += first[i];
    for (let pair = 0; pair < this.count; pair++) {
      const to = first[own[pair]]++;
      all.own[to] = own[pair];
      all.other[to] = other[pair];
      all.weights[to] = weights[pair];
    }
    // Each entry of `first` has advanced to the start of the next group: shift the entries back.
    first.copyWithin(1, 0, count);
    first[0] = 0;
  }

  private search({ first, own, other, weights }: PairList): void {
    this.first = first;
    this.own = own;
    this.other = other;
    this.listedWeights = weights;
  }

  /** Places all members again. Returns false if the searches made more than `most` visits. */
  private placeAll(count: number, others: number, most: number): boolean {
    this.price.fill(0, 0, others);
    this.otherOf.fill(-1, 0, count);
    this.ownOf.fill(-1, 0, others);
    this.visits = 0;
    for (let own = 0; own < count; own++) {
      if (this.visits > most) return false;
      if (this.looks > MOST_LOOKS) this.isCut = this.wasCut = true;
      if (this.isCut) this.takeBestFree(own);
      else this.place(own);
    }
    return true;
  }

  /** Solves over the core, which grows until no pair outside it would raise the sum. */
  private solveByCore(count: number, others: number): void {
    const { core, all } = this;
    core.begin(count + others, all.length);
    this.offerAll(count, false);
    // Offer the best pairs of the other side too, since a member without a pair in the core would keep the price 0.
    for (let pair = 0; pair < all.length; pair++) {
      const member = count + all.other[pair];
      if (all.weights[pair] > core.least[member]) core.offer(member, all.weights[pair], pair);
    }
    core.take(count + others);
    for (let round = 0; round < MOST_ROUNDS; round++) {
      this.search(core.collect(all, count));
      this.placeAll(count, others, Infinity);
      if (this.isCut) return;
      this.offerAll(count, true);
      if (!core.take(count)) return;
    }
    this.search(all);
    this.placeAll(count, others, Infinity);
  }

  /** Offers the best pairs of each placed member to the core. If `isPriced`, offers only pairs that raise the sum. */
  private offerAll(count: number, isPriced: boolean): void {
    const { core, price } = this;
    const { first, other, weights } = this.all;
    const { least } = core;
    for (let own = 0; own < count; own++) {
      const worth = isPriced ? this.worthOfPlaced(own) + ROUNDING : 0;
      const from = first[own];
      const to = first[own + 1];
      // Begin at a different pair for each member. Members whose pairs are equal then offer different pairs.
      let pair = from + Math.floor((own / count) * (to - from));
      for (let k = from; k < to; k++) {
        const value = isPriced ? weights[pair] + price[other[pair]] - worth : weights[pair];
        if (value > least[own]) core.offer(own, value, pair);
        if (++pair === to) pair = from;
      }
    }
  }

  /** Gives a placed member the free partner with the largest weight, if any. Used after searches stopped early. */
  private takeBestFree(own: number): void {
    const { first, other, weights } = this.all;
    let best = -1;
    let largest = 0;
    for (let pair = first[own]; pair < first[own + 1]; pair++) {
      if (weights[pair] <= largest || this.ownOf[other[pair]] >= 0) continue;
      best = other[pair];
      largest = weights[pair];
    }
    if (best < 0) return;
    this.otherOf[own] = best;
    this.ownOf[best] = own;
  }

  private choose(pair: number): void {
    this.otherOf[this.own[pair]] = this.other[pair];
    this.ownOf[this.other[pair]] = this.own[pair];
    this.chosen[this.own[pair]] = pair;
  }

  /** Finds the shortest path to a free partner, or to a member that loses its own. Exchanges the path's pairs. */
  private place(own: number): void {
    const { reached, settled, price, listedWeights, ownOf, chosen } = this;
    settled.length = 0;
    this.endCost = Infinity;
    this.leave(own, 0);
    // Stop at an end of equal cost. For boxes at the same place, a further search would take the cube of their count.
    while (reached.length > 0 && reached.least() < this.endCost) {
      const other = reached.take();
      settled.push(other);
      const next = ownOf[other];
      this.leave(next, -listedWeights[chosen[next]] - price[other] - reached.distance[other]);
    }
    for (let i = 0; i < settled.length; i++) {
      const other = settled.at(i);
      price[other] += reached.distance[other] - this.endCost;
    }
    reached.clear();
    this.moveUp(own);
  }

  /** Extends the search from a placed member. `before`: the member's price, less the cost of the path to the member. */
  private leave(own: number, before: number): void {
    const { reached, price, listedWeights, ownOf, other, reachedBy } = this;
    this.visits++;
    if (-before < this.endCost) {
      this.endCost = -before;
      this.endPair = -1;
      this.endOwn = own;
    }
    const end = this.first[own + 1];
    this.looks += end - this.first[own];
    for (let pair = this.first[own]; pair < end; pair++) {
      const partner = other[pair];
      const cost = -listedWeights[pair] - price[partner] - before;
      if (cost >= this.endCost) continue;
      if (ownOf[partner] < 0) {
        this.endCost = cost;
        this.endPair = pair;
      } else if (cost < reached.distance[partner] && reached.put(partner, cost)) reachedBy[partner] = pair;
    }
  }

  /** Chooses the pairs along the path that was found. */
  private moveUp(placed: number): void {
    const { otherOf, own } = this;
    let at = this.endPair < 0 ? this.endOwn : own[this.endPair];
    let left = otherOf[at];
    if (this.endPair < 0) otherOf[at] = -1;
    else this.choose(this.endPair);
    while (at !== placed) {
      const pair = this.reachedBy[left];
      at = own[pair];
      left = otherOf[at];
      this.choose(pair);
    }
  }
}
