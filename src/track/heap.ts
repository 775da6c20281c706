/** A binary heap of indices, ordered by distance, the least first. Allocates only in `begin`. */
import { room } from "./lists.ts";

/** Position of an index that was removed. */
const TAKEN = -2;

export class DistanceHeap {
  length = 0;
  /** Distance of each index. Infinity before `put`. Kept after the index is removed. */
  distance = new Float64Array(0);
  /** The heap as a binary tree. Node `i` has the children `2 i + 1` and `2 i + 2`. */
  private tree = new Int32Array(0);
  /** Position of each index in the tree; -1 before `put`, TAKEN after `take`. */
  private placeOf = new Int32Array(0);
  /** Indices put since `clear`. */
  private touched = new Int32Array(0);
  private touchedCount = 0;

  /** Makes room for this many indices. */
  begin(count: number): void {
    const from = this.distance.length;
    this.tree = room(this.tree, count);
    this.touched = room(this.touched, count);
    this.placeOf = room(this.placeOf, count);
    this.distance = room(this.distance, count);
    this.placeOf.fill(-1, from);
    this.distance.fill(Infinity, from);
  }

  /** Removes all indices and their distances. */
  clear(): void {
    for (let i = 0; i < this.touchedCount; i++) {
      this.distance[this.touched[i]] = Infinity;
      this.placeOf[this.touched[i]] = -1;
    }
    this.touchedCount = this.length = 0;
  }

  least(): number {
    return this.distance[this.tree[0]];
  }

  /**
   * Adds an index, or lowers its distance. Returns false for an index that was removed before, which is not added
   * again.
   */
  put(index: number, distance: number): boolean {
    const { placeOf } = this;
    if (placeOf[index] === TAKEN) return false;
    if (placeOf[index] < 0) {
      this.touched[this.touchedCount++] = index;
      placeOf[index] = this.length++;
    }
    this.distance[index] = distance;
    this.rise(index);
    return true;
  }

  take(): number {
    const { tree } = this;
    const first = tree[0];
    const last = tree[--this.length];
    this.placeOf[first] = TAKEN;
    if (this.length > 0) this.sink(last);
    return first;
  }

  private rise(index: number): void {
    const { tree, placeOf, distance } = this;
    let at = placeOf[index];
    while (at > 0) {
      const parent = tree[(at - 1) >> 1];
      if (distance[parent] <= distance[index]) break;
      placeOf[(tree[at] = parent)] = at;
      at = (at - 1) >> 1;
    }
    placeOf[(tree[at] = index)] = at;
  }

  private sink(index: number): void {
    const { tree, placeOf, distance, length } = this;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && distance[tree[child + 1]] < distance[tree[child]]) child++;
      if (distance[index] <= distance[tree[child]]) break;
      placeOf[(tree[at] = tree[child])] = at;
      at = child;
    }
    placeOf[(tree[at] = index)] = at;
  }
}
