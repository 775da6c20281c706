/**
 * Assigns rows to columns, one to one, so that the weights of the chosen pairs have the largest sum. Only pairs that
 * were added can be chosen, and a row may stay without a column.
 *
 * The smaller side is placed: its members get partners one after the other, each along the shortest augmenting path.
 * The cost of a pair is its negative weight. Dijkstra's algorithm finds the path, with dual prices of the other side. A
 * search reaches only pairs that are connected, so a crowd costs little more than its count of pairs.
 */
import { IndexList, room } from "./lists.ts";
import { DistanceHeap } from "./heap.ts";

export class Assignment {
  /** Column of each row, -1 for a row without one. */
  columnOf = new Int32Array(0);
  /** Row of each column, -1 for a column without one. */
  rowOf = new Int32Array(0);

  /** Weight of each pair that was added. */
  weights = new Float64Array(0);

  private rows = 0;
  private columns = 0;
  private count = 0;
  private pairRow = new Int32Array(0);
  private pairColumn = new Int32Array(0);

  /** True if columns are placed and rows have prices, because there are fewer columns than rows. */
  private isTurned = false;
  /**
   * Member of the placed side (`own`) and of the other side in each pair, and the partner of each member, -1 for none.
   */
  private own = this.pairRow;
  private other = this.pairColumn;
  private otherOf = this.columnOf;
  private ownOf = this.rowOf;
  /** Pairs grouped by their placed member: those of member i stand in `listed` from `first[i]` to `first[i + 1]`. */
  private first = new Int32Array(0);
  private listed = new Int32Array(0);
  /** Dual prices of the other side, at most 0. No pair costs less than the prices of its two members together. */
  private price = new Float64Array(0);
  /** Chosen pair of each placed member. */
  private chosen = new Int32Array(0);
  /** Pair by which the search reached each member of the other side. */
  private reachedBy = new Int32Array(0);
  private readonly reached = new DistanceHeap();
  private readonly settled = new IndexList();
  /**
   * The cheapest end of the path so far: its cost, and the pair with a free partner. If the pair is -1, the path ends
   * at `endOwn`, which gives up its partner.
   */
  private endCost = 0;
  private endPair = -1;
  private endOwn = -1;

  /** Begins with so many rows and columns and no pairs. */
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
   * Adds a pair, once. Returns the place in `weights` for its weight, which has to be positive: as an argument, a
   * double may become a heap object.
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

  /** Chooses every pair whose weight is above the threshold. No two of them may share a row or a column. */
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
    this.price.fill(0, 0, others);
    this.reached.begin(others);
    this.listPairs(count);
    for (let own = 0; own < count; own++) this.place(own);
  }

  /**
   * Returns what a row adds to the sum, by the prices that `solve` found. A pair that was not added would change
   * nothing if its weight is at most the worth of its row and of its column together.
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
    return partner < 0 ? 0 : this.weights[this.chosen[own]] + this.price[partner];
  }

  private takeSides(isTurned: boolean): void {
    this.isTurned = isTurned;
    this.own = isTurned ? this.pairColumn : this.pairRow;
    this.other = isTurned ? this.pairRow : this.pairColumn;
    this.ownOf = isTurned ? this.columnOf : this.rowOf;
    this.otherOf = isTurned ? this.rowOf : this.columnOf;
    this.chosen = room(this.chosen, isTurned ? this.columns : this.rows);
  }

  /** Groups the pairs by their placed member, in the order in which they were added. */
  private listPairs(count: number): void {
    this.first = room(this.first, count + 1);
    this.listed = room(this.listed, this.count);
    const { first, listed, own } = this;
    first.fill(0, 0, count + 1);
    for (let pair = 0; pair < this.count; pair++) first[own[pair] + 1]++;
    for (let i = 0; i < count; i++) first[i + 1] += first[i];
    for (let pair = 0; pair < this.count; pair++) listed[first[own[pair]]++] = pair;
    // Each entry of `first` has advanced to where the next group begins: shift them back.
    first.copyWithin(1, 0, count);
    first[0] = 0;
  }

  private choose(pair: number): void {
    this.otherOf[this.own[pair]] = this.other[pair];
    this.ownOf[this.other[pair]] = this.own[pair];
    this.chosen[this.own[pair]] = pair;
  }

  /**
   * Finds the shortest path to a free partner, or to a member that gives up its partner. Exchanges pairs along the
   * path.
   */
  private place(own: number): void {
    const { reached, settled, price, weights, ownOf, chosen } = this;
    settled.length = 0;
    this.endCost = Infinity;
    this.leave(own, 0);
    // Stop at an end of equal cost. Searching on would take the cube of the count for boxes on one spot.
    while (reached.length > 0 && reached.least() < this.endCost) {
      const other = reached.take();
      settled.push(other);
      const next = ownOf[other];
      this.leave(next, -weights[chosen[next]] - price[other] - reached.distance[other]);
    }
    for (let i = 0; i < settled.length; i++) {
      const other = settled.at(i);
      price[other] += reached.distance[other] - this.endCost;
    }
    reached.clear();
    this.moveUp(own);
  }

  /**
   * Extends the search from a placed member to its possible partners.
   * @param before price of the member, less the cost of the path to it
   */
  private leave(own: number, before: number): void {
    const { reached, price, weights, ownOf, other, listed, reachedBy } = this;
    if (-before < this.endCost) {
      this.endCost = -before;
      this.endPair = -1;
      this.endOwn = own;
    }
    const end = this.first[own + 1];
    for (let i = this.first[own]; i < end; i++) {
      const pair = listed[i];
      const partner = other[pair];
      const cost = -weights[pair] - price[partner] - before;
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
