/**
 * Assigns rows to columns, one to one, so that the weights of the chosen pairs have the largest sum. Pairs without a
 * positive weight are never chosen, so the pairs fall into small groups that share no row and no column. Each group is
 * solved by shortest augmenting paths.
 */
import { IndexList, room } from "./lists.ts";

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
  private edgeRow = new Int32Array(0);
  private edgeColumn = new Int32Array(0);

  /** Parent of each row, then of each column, in a forest whose trees are the groups. */
  private parent = new Int32Array(0);
  /** Edges of a group as a list: the first by its root, each next by the one before. -1 ends it. */
  private firstEdge = new Int32Array(0);
  private nextEdge = new Int32Array(0);
  /** Place of each row and column in its group. */
  private place = new Int32Array(0);
  private readonly groupRows = new IndexList();
  private readonly groupColumns = new IndexList();
  private readonly solver = new Solver();

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
    if (i >= this.edgeRow.length) {
      this.edgeRow = room(this.edgeRow, i + 1);
      this.edgeColumn = room(this.edgeColumn, i + 1);
      this.weights = room(this.weights, i + 1);
    }
    this.edgeRow[i] = row;
    this.edgeColumn[i] = column;
    return i;
  }

  /** Chooses every pair whose weight is above the threshold. No two of them may share a row or a column. */
  takeAbove(threshold: number): void {
    for (let e = 0; e < this.count; e++)
      if (this.weights[e] > threshold) this.choose(this.edgeRow[e], this.edgeColumn[e]);
  }

  /** Chooses the pairs with the largest sum. */
  solve(): void {
    this.findGroups();
    for (let root = 0; root < this.rows + this.columns; root++) {
      const first = this.firstEdge[root];
      if (first < 0) continue;
      if (this.nextEdge[first] < 0) this.choose(this.edgeRow[first], this.edgeColumn[first]);
      else this.solveGroup(first);
    }
  }

  private choose(row: number, column: number): void {
    this.columnOf[row] = column;
    this.rowOf[column] = row;
  }

  private rootOf(node: number): number {
    const { parent } = this;
    while (parent[node] !== node) node = parent[node] = parent[parent[node]];
    return node;
  }

  /** Joins what a pair joins, and lists the edges of each group at its root. */
  private findGroups(): void {
    const nodes = this.rows + this.columns;
    this.parent = room(this.parent, nodes);
    this.place = room(this.place, nodes);
    this.firstEdge = room(this.firstEdge, nodes);
    this.nextEdge = room(this.nextEdge, this.count);
    for (let i = 0; i < nodes; i++) this.parent[i] = i;
    this.place.fill(-1, 0, nodes);
    this.firstEdge.fill(-1, 0, nodes);
    for (let e = 0; e < this.count; e++) {
      const a = this.rootOf(this.edgeRow[e]);
      const b = this.rootOf(this.rows + this.edgeColumn[e]);
      if (a !== b) this.parent[b] = a;
    }
    for (let e = this.count - 1; e >= 0; e--) {
      const root = this.rootOf(this.edgeRow[e]);
      this.nextEdge[e] = this.firstEdge[root];
      this.firstEdge[root] = e;
    }
  }

  private solveGroup(first: number): void {
    const { groupRows, groupColumns, place, nextEdge, edgeRow, edgeColumn, weights, solver } = this;
    groupRows.length = groupColumns.length = 0;
    for (let e = first; e >= 0; e = nextEdge[e]) {
      const column = this.rows + edgeColumn[e];
      if (place[edgeRow[e]] < 0) place[edgeRow[e]] = groupRows.push(edgeRow[e]);
      if (place[column] < 0) place[column] = groupColumns.push(edgeColumn[e]);
    }
    // The solver wants at least as many columns as rows.
    const isTurned = groupRows.length > groupColumns.length;
    const short = isTurned ? groupColumns : groupRows;
    const long = isTurned ? groupRows : groupColumns;
    solver.begin(short.length, long.length);
    for (let e = first; e >= 0; e = nextEdge[e]) {
      const row = place[edgeRow[e]];
      const column = place[this.rows + edgeColumn[e]];
      solver.cost[(isTurned ? column : row) * long.length + (isTurned ? row : column)] = -weights[e];
    }
    solver.solve();
    for (let i = 0; i < short.length; i++) {
      const j = solver.columnOf(i);
      if (solver.cost[i * long.length + j] < 0)
        this.choose(
          (isTurned ? long : short).at(isTurned ? j : i),
          (isTurned ? short : long).at(isTurned ? i : j),
        );
    }
  }
}

/** Assigns each row a column of its own, so that the sum of the costs is smallest. */
class Solver {
  private rows = 0;
  private columns = 0;
  /** Cost of each pair, row by row. `begin` sets all to 0. */
  cost = new Float64Array(0);
  /** Prices of rows and columns: no cost is below the sum of its two, and chosen costs equal it. */
  private rowPrice = new Float64Array(0);
  private columnPrice = new Float64Array(0);
  /** Row of each column, -1 for none. The column after the last one holds the row that is being placed. */
  private rowAt = new Int32Array(0);
  private columnAt = new Int32Array(0);
  /** Column before each column on the shortest path to it, and the length of that path. */
  private before = new Int32Array(0);
  private distance = new Float64Array(0);
  private isDone = new Uint8Array(0);

  begin(rows: number, columns: number): void {
    this.rows = rows;
    this.columns = columns;
    this.cost = room(this.cost, rows * columns);
    this.rowPrice = room(this.rowPrice, rows);
    this.columnAt = room(this.columnAt, rows);
    this.columnPrice = room(this.columnPrice, columns + 1);
    this.rowAt = room(this.rowAt, columns + 1);
    this.before = room(this.before, columns + 1);
    this.distance = room(this.distance, columns + 1);
    this.isDone = room(this.isDone, columns + 1);
    this.cost.fill(0, 0, rows * columns);
    this.rowPrice.fill(0, 0, rows);
    this.columnPrice.fill(0, 0, columns + 1);
    this.rowAt.fill(-1, 0, columns + 1);
  }

  columnOf(row: number): number {
    return this.columnAt[row];
  }

  solve(): void {
    for (let row = 0; row < this.rows; row++) this.place(row);
    for (let column = 0; column < this.columns; column++)
      if (this.rowAt[column] >= 0) this.columnAt[this.rowAt[column]] = column;
  }

  /** Finds a column for one more row: the shortest path to a free column, along which the rows move up. */
  private place(row: number): void {
    const { columns, rowAt, before, distance, isDone } = this;
    distance.fill(Infinity, 0, columns + 1);
    isDone.fill(0, 0, columns + 1);
    rowAt[columns] = row;
    let column = columns;
    while (rowAt[column] >= 0) column = this.reach(column);
    while (column !== columns) {
      rowAt[column] = rowAt[before[column]];
      column = before[column];
    }
  }

  /** Leaves from a column that the path has reached, and returns the next one. */
  private reach(from: number): number {
    const { columns, cost, rowPrice, columnPrice, rowAt, before, distance, isDone } = this;
    isDone[from] = 1;
    const row = rowAt[from];
    const price = rowPrice[row];
    let step = Infinity;
    let next = columns;
    for (let j = 0; j < columns; j++) {
      if (isDone[j] !== 0) continue;
      const rest = cost[row * columns + j] - price - columnPrice[j];
      if (rest < distance[j]) {
        distance[j] = rest;
        before[j] = from;
      }
      // Among equals take a free column, where the path ends. Else boxes on one spot cost the cube of their count.
      if (distance[j] < step || (distance[j] === step && rowAt[j] < 0 && rowAt[next] >= 0)) {
        step = distance[j];
        next = j;
      }
    }
    for (let j = 0; j <= columns; j++)
      if (isDone[j] !== 0) {
        rowPrice[rowAt[j]] += step;
        columnPrice[j] -= step;
      } else distance[j] -= step;
    return next;
  }
}
