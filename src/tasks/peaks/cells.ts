/**
 * Groups touching cells into boxes, for networks that mark the centres of objects on a coarse map. Two published rules:
 *
 * - `edge-impulse`: the cubes of Edge Impulse's C++ SDK (`ei_cube_check_overlap`, `ei_handle_cube` and
 *   `fill_result_struct_from_cubes` of `ei_fill_result_struct.h`). A cell joins the first cube of its class that it
 *   touches. A cube that grows to the left or upwards moves, but keeps its width and height.
 * - `enclosing`: the box around all cells of a class that touch each other at an edge or a corner.
 */

/** Names of the rules. */
export const CELL_GROUPS = ["edge-impulse", "enclosing"] as const;
export type CellGroups = (typeof CELL_GROUPS)[number];

/** Cells above the threshold, in rows from top to bottom. Classes of one cell are adjacent, in order. */
export interface Cells {
  readonly x: Int32Array;
  readonly y: Int32Array;
  readonly classIds: Int32Array;
  readonly scores: Float32Array;
  count: number;
}

/** A box around cells. `first` is the index of the first cell in the box. */
export interface CellBox {
  x: number;
  y: number;
  width: number;
  height: number;
  classId: number;
  score: number;
  first: number;
}

/** Largest number of cubes for the rule "edge-impulse": each cell is compared with every cube of its class. */
export const MOST_CUBES = 4096;

/** Returns the boxes around the groups of cells, in the order of their first cells. */
export const groupCells = (cells: Cells, groups: CellGroups): CellBox[] =>
  groups === "edge-impulse" ? cubesOf(cells) : enclosingBoxes(cells);

const boxOf = ({ x, y, classIds, scores }: Cells, i: number): CellBox => ({
  x: x[i],
  y: y[i],
  width: 1,
  height: 1,
  classId: classIds[i],
  score: scores[i],
  first: i,
});

/** Merges a part into a cube if both touch, else returns false. Moves left and upper edges first, as Edge Impulse. */
function takeUp(cube: CellBox, x: number, y: number, width: number, height: number, score: number): boolean {
  if (cube.x + cube.width < x || cube.y + cube.height < y || cube.x > x + width || cube.y > y + height)
    return false;
  if (x < cube.x) cube.x = x;
  if (y < cube.y) cube.y = y;
  if (x + width > cube.x + cube.width) cube.width = x + width - cube.x;
  if (y + height > cube.y + cube.height) cube.height = y + height - cube.y;
  if (score > cube.score) cube.score = score;
  return true;
}

/**
 * The cubes of each class that later parts may touch, in the order in which they began. A part is a cell, or in the
 * second loop of `cubesOf` a cube. Parts come row by row, so no later part touches a cube that ends two rows or more
 * above the current row. If each part were compared with all cubes, 30,000 cells that do not touch would take seconds.
 */
class OpenCubes {
  readonly #byClass = new Map<number, CellBox[]>();

  /** Merges a part into the first cube that it touches. Returns false if there is none. Removes cubes out of reach. */
  takeUp({ x, y, width, height, classId, score }: Omit<CellBox, "first">): boolean {
    const open = this.#byClass.get(classId);
    if (!open) return false;
    let left = 0;
    for (let i = 0; i < open.length; i++) {
      const cube = open[i];
      if (cube.y + cube.height < y) continue;
      if (takeUp(cube, x, y, width, height, score)) {
        // Close the gap that removed cubes left. A later call removes cubes out of reach after this one.
        if (left < i) open.splice(left, i - left);
        return true;
      }
      open[left++] = cube;
    }
    open.length = left;
    return false;
  }

  add(cube: CellBox): void {
    const open = this.#byClass.get(cube.classId);
    if (open) open.push(cube);
    else this.#byClass.set(cube.classId, [cube]);
  }
}

/**
 * Returns the boxes (cubes) that Edge Impulse's SDK makes. The first loop merges cells into cubes. The second loop
 * drops a cube that touches an earlier one. The earlier cube then grows in `kept`, but its copy in the results stays.
 */
function cubesOf(cells: Cells): CellBox[] {
  const cubes: CellBox[] = [];
  const open = new OpenCubes();
  for (let i = 0; i < cells.count; i++) {
    const cell = boxOf(cells, i);
    if (open.takeUp(cell) || cubes.length >= MOST_CUBES) continue;
    cubes.push(cell);
    open.add(cell);
  }
  const kept = new OpenCubes();
  const results: CellBox[] = [];
  for (const cube of cubes) {
    if (kept.takeUp(cube)) continue;
    kept.add(cube);
    results.push({ ...cube });
  }
  return results;
}

/** Returns the box around each group of touching cells of a class. Joins each cell with cells above and to the left. */
function enclosingBoxes(cells: Cells): CellBox[] {
  const { x, y, classIds, scores, count } = cells;
  const parent = Int32Array.from({ length: count }, (_, i) => i);
  const rootOf = (i: number): number => {
    let root = i;
    while (parent[root] !== root) root = parent[root];
    while (parent[i] !== root) [parent[i], i] = [root, parent[i]];
    return root;
  };
  // `above` holds the row before the current one, `here` the current row: for each class and column, the cell's index +
  // 1, or 0 if there is no cell. Rows have a spare column at each end.
  let [across, classes] = [0, 0];
  for (let i = 0; i < count; i++) {
    across = Math.max(across, x[i] + 3);
    classes = Math.max(classes, classIds[i] + 1);
  }
  let above = new Int32Array(across * classes);
  let here = new Int32Array(across * classes);
  for (let i = 0, row = -1; i < count; i++) {
    if (y[i] !== row) {
      [above, here] = [here, above];
      if (y[i] !== row + 1) above.fill(0);
      here.fill(0);
      row = y[i];
    }
    const at = classIds[i] * across + x[i] + 1;
    here[at] = i + 1;
    for (const other of [above[at - 1], above[at], above[at + 1], here[at - 1]]) {
      if (other === 0) continue;
      const [a, b] = [rootOf(other - 1), rootOf(i)];
      // Keep the smaller index. It belongs to the first cell of the group.
      parent[Math.max(a, b)] = Math.min(a, b);
    }
  }
  const boxes = new Map<number, CellBox>();
  for (let i = 0; i < count; i++) {
    const root = rootOf(i);
    const box = boxes.get(root);
    if (!box) {
      boxes.set(root, boxOf(cells, i));
      continue;
    }
    const right = Math.max(box.x + box.width, x[i] + 1);
    box.x = Math.min(box.x, x[i]);
    box.width = right - box.x;
    box.height = y[i] + 1 - box.y;
    box.score = Math.max(box.score, scores[i]);
  }
  return [...boxes.values()];
}
