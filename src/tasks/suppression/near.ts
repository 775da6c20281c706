/** Lists the rows that a row may suppress or join: those whose boxes overlap. */
import { BoxGrid } from "../../core/box-grid.ts";
import type { Candidates } from "./candidates.ts";

/** Fewer rows than this are compared with each other: the grid costs more. */
const FEW = 64;

/** Neighbours of rows. Rows are named by their rank: their place in the order of the scores. */
export class Neighbours {
  /** Ranks that the last call found. The first `count` are valid. */
  ranks: Int32Array;
  count: number;
  private readonly grid: BoxGrid | null;
  private readonly corners: Float64Array;
  private readonly order: Int32Array;

  /** @param matchApart true if rows can match without overlap. Then every row is found for every row */
  constructor({ corners, order, offset }: Candidates, matchApart = false) {
    this.corners = corners;
    this.order = order;
    this.grid = matchApart || order.length < FEW ? null : new BoxGrid();
    this.grid?.fill(corners, order, order.length, offset);
    this.ranks = this.grid?.places ?? order.map((_, rank) => rank);
    this.count = this.ranks.length;
  }

  /** Finds the ranks whose boxes overlap that of a rank, its own too, in no order. */
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
