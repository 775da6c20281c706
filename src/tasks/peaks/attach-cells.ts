/** Groups FOMO's cells above the threshold into detections, for decoders made from configs or plan files. */
import * as A from "../../core/abi.ts";
import type { Rules } from "../../core/rules.ts";
import { setLength } from "../../decode/detections.ts";
import { placeInFrame } from "../../decode/frame.ts";
import type { AfterImageOfTask, TaskMemory } from "../../decode/tasks.ts";
import { type CellGroups, type Cells, MOST_CUBES, groupCells } from "./cells.ts";

/** Facts about a map that the grouping of cells needs. */
export interface CellTask {
  readonly groups: CellGroups;
  /** Width of the map in cells. */
  readonly gridWidth: number;
  /** Width and height of a cell, normalised. */
  readonly unit: readonly [number, number];
  /** Largest count of candidates in an image. */
  readonly capacity: number;
  readonly clamp: Rules["clamp"];
}

/** Returns the function that groups the cells of an image into detections. */
export function attachCells(
  { memory, detections, note }: TaskMemory,
  { groups, gridWidth, unit, capacity, clamp }: CellTask,
): AfterImageOfTask {
  const order = new Int32Array(capacity);
  const cells: Cells = {
    x: new Int32Array(capacity),
    y: new Int32Array(capacity),
    classIds: new Int32Array(capacity),
    scores: new Float32Array(capacity),
    count: 0,
  };
  return (image, block) => {
    const { i32, f32 } = memory;
    const plan = block >> 2;
    const result = detections[image];
    const count = i32[plan + A.P_CANDIDATES];
    const [sources, classIds, scores] = [A.P_SOURCES, A.P_CLASS_IDS, A.P_SCORES].map(
      (column) => i32[plan + column] >> 2,
    );
    const compare = (a: number, b: number): number =>
      i32[sources + a] - i32[sources + b] || i32[classIds + a] - i32[classIds + b];
    let isOrdered = true;
    for (let i = 0; i < count; i++) {
      order[i] = i;
      if (i > 0 && compare(i - 1, i) > 0) isOrdered = false;
    }
    if (!isOrdered) order.subarray(0, count).sort(compare);
    for (let i = 0; i < count; i++) {
      const cell = i32[sources + order[i]];
      cells.x[i] = cell % gridWidth;
      cells.y[i] = Math.floor(cell / gridWidth);
      cells.classIds[i] = i32[classIds + order[i]];
      cells.scores[i] = f32[scores + order[i]];
    }
    cells.count = count;
    const boxes = groupCells(cells, groups);
    if (boxes.length >= MOST_CUBES && groups === "edge-impulse")
      note(`the map has ${MOST_CUBES} groups of cells or more: the others are left out`);
    boxes.sort((a, b) => b.score - a.score || a.first - b.first);
    const length = Math.min(boxes.length, i32[plan + A.P_MAX_DETECTIONS]);
    for (let row = 0; row < length; row++) {
      const { x, y, width, height, classId, score } = boxes[row];
      const box = [x * unit[0], y * unit[1], (x + width) * unit[0], (y + height) * unit[1]];
      box.forEach((edge, k) => {
        result.boxes[4 * row + k] = placeInFrame(edge, k & 1, clamp, f32, plan);
      });
      result.scores[row] = score;
      result.classIds[row] = classId;
      result.sources[row] = y * gridWidth + x;
    }
    setLength(result, length);
  };
}
