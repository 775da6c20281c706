/**
 * The core of many pairs: the best few pairs of each member, which nearly always contain the best assignment. Method:
 * Volgenant, "selecting a core" (1996). Solve over the core, use the prices to find the pairs outside that would raise
 * the sum, add these pairs, and solve again.
 */
import { room } from "./lists.ts";

/** Pairs in the order of their placed members. Those of member i are at `first[i]` to `first[i + 1]`. */
export class PairList {
  length = 0;
  first = new Int32Array(0);
  own = new Int32Array(0);
  other = new Int32Array(0);
  weights = new Float64Array(0);

  /** Makes room for this many members and pairs. */
  begin(members: number, length: number): void {
    this.length = length;
    this.first = room(this.first, members + 1);
    this.own = room(this.own, length);
    this.other = room(this.other, length);
    this.weights = room(this.weights, length);
  }
}

/** Count of pairs that each member offers at a time. With 8, 2,000 boxes at the same place took two more rounds. */
const BEST = 16;

export class CorePairs {
  readonly list = new PairList();
  /** Value that a pair must exceed to be offered for a member. */
  least = new Float64Array(0);
  private isIn = new Uint8Array(0);
  private length = 0;
  /** Pairs offered for each member, best first, their values and their count. */
  private offered = new Int32Array(0);
  private value = new Float64Array(0);
  private count = new Int32Array(0);

  /** Begins an empty core. Members of both sides offer pairs. */
  begin(members: number, pairs: number): void {
    this.isIn = room(this.isIn, pairs);
    this.isIn.fill(0, 0, pairs);
    this.length = 0;
    this.least = room(this.least, members);
    this.count = room(this.count, members);
    this.offered = room(this.offered, members * BEST);
    this.value = room(this.value, members * BEST);
    this.least.fill(0, 0, members);
    this.count.fill(0, 0, members);
  }

  /** Offers a pair for a member. The caller must check that the value is above `least`. */
  offer(member: number, value: number, pair: number): void {
    const { offered, value: values, count } = this;
    const from = member * BEST;
    let i = from + (count[member] < BEST ? count[member]++ : BEST - 1);
    for (; i > from && values[i - 1] < value; i--) {
      values[i] = values[i - 1];
      offered[i] = offered[i - 1];
    }
    values[i] = value;
    offered[i] = pair;
    if (count[member] === BEST) this.least[member] = values[from + BEST - 1];
  }

  /** Adds the pairs that the first `members` members offered, and clears the offers. Returns true if the core grew. */
  take(members: number): boolean {
    const before = this.length;
    for (let member = 0; member < members; member++) {
      for (let i = 0; i < this.count[member]; i++) {
        const pair = this.offered[member * BEST + i];
        this.length += 1 - this.isIn[pair];
        this.isIn[pair] = 1;
      }
      this.count[member] = this.least[member] = 0;
    }
    return this.length > before;
  }

  /** Lists the pairs of the core in the order of members. */
  collect(all: PairList, members: number): PairList {
    const { list, isIn } = this;
    list.begin(members, this.length);
    let n = 0;
    for (let member = 0; member < members; member++) {
      list.first[member] = n;
      const end = all.first[member + 1];
      for (let pair = all.first[member]; pair < end; pair++) {
        if (isIn[pair] === 0) continue;
        list.own[n] = member;
        list.other[n] = all.other[pair];
        list.weights[n++] = all.weights[pair];
      }
    }
    list.first[members] = n;
    return list;
  }
}
