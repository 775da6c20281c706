/** Lists the rows that a row may suppress or merge with: rows whose boxes overlap its box. */
import { BoxGrid } from "../../core/box-grid.ts";
import type { Candidates } from "./candidates.ts";

/** Count of rows below which all are compared, since a grid takes longer. */
const FEW = 64;

/** Finds the neighbours of rows. A rank is a row's position in the order of scores. */
export class Neighbours {
  /** Ranks that the last call found. The first `count` are valid. */
  ranks: Int32Array;
  count: number;
  private readonly grid: BoxGrid | null;
  private readonly corners: Float64Array;
  private readonly order: Int32Array;

  /** @param matchApart true if rows can match without overlap. Each search then finds all rows */
  constructor({ corners, order, offset }: Candidates, matchApart = false) {
    this.corners = corners;
    this.order = order;
    this.grid = matchApart || order.length < FEW ? null : new BoxGrid();
    this.grid?.fill(corners, order, order.length, offset);
    this.ranks = this.grid?.places ?? order.map((_, rank) => rank);
    this.count = this.ranks.length;
  }

  /** Finds the ranks whose boxes overlap the box of a rank, in no order. The rank itself is among them. */
  find(rank: number): void {
    this.grid?.find(this.corners, this.order[rank] * 4);
    this.count = this.grid?.count ?? this.count;
  }

  /** Finds the same ranks as `find`, best first. */
  findBestFirst(rank: number): void {
    this.grid?.findInOrder(this.corners, this.order[rank] * 4);
    this.count = this.grid?.count ?? this.count;
  }
}
