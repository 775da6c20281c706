/** Writes what a task reads besides boxes: the task record and the head table of a plan file. */
import { refuse } from "../core/errors.ts";
import type { Edges } from "../core/keypoints.ts";
import type { Rules } from "../core/rules.ts";
import { ELEMENTS, volume } from "../core/tensor.ts";
import type { Column } from "../heads/channels.ts";
import type { Head } from "../heads/head.ts";
import type { SegmentPlan } from "../tasks/masks/plan.ts";
import type { MemoryLayout } from "../memory/layout.ts";
import { imageStart } from "../memory/write.ts";
import type { Plan } from "../plan/plan.ts";
import { type OrientedPlan, orientedHeadOf } from "../tasks/oriented/plan.ts";
import { type PeakPlan, cellTaskOf } from "../tasks/peaks/plan.ts";
import { type PointRule, type PosePlan, pointHeadOf } from "../tasks/pose/plan.ts";
import * as F from "./format.ts";
import { putOriented } from "./put-oriented.ts";

/** A head that a task reads. */
type ExtraHead = Head & { readonly extra: Column };

const POINT_RULE_CODES: { readonly [R in PointRule]: number } = {
  decoded: F.POINTS_DECODED,
  grid: F.POINTS_GRID,
  prior: F.POINTS_PRIOR,
};

/** Offsets of the record and the tables in the file. */
interface TaskOffsets {
  readonly task: number;
  readonly headTable: number;
  readonly nameTable: number;
  readonly edgeTable: number;
}

const poseOf = ({ task }: Plan): PosePlan | null => (task?.name === "pose" ? (task as PosePlan) : null);

/** Returns the names of the keypoints; none if the plan has no keypoints, or no names for them. */
export const namesOfPoints = (plan: Plan): readonly string[] => poseOf(plan)?.names ?? [];

/** Returns the edges of the skeleton; none if the plan has no keypoints, or no edges between them. */
export const edgesOf = (plan: Plan): Edges => poseOf(plan)?.edges ?? [];

/** Writes the task record, a row for each head, and the edges of the skeleton. */
export function putTask(
  view: DataView,
  { task, headTable, nameTable, edgeTable }: TaskOffsets,
  plan: Plan,
  layout: MemoryLayout,
  iouThreshold: number,
): void {
  const put = (row: number, index: number, value: number): void =>
    view.setUint32(row + index * 4, value, true);
  if (!plan.task) return;
  const isPose = plan.task.name === "pose";
  const isOriented = plan.task.name === "oriented";
  const isCells = plan.task.name === "peaks";
  put(task, F.T_HEADS, plan.heads.length);
  put(task, F.T_HEAD_TABLE, headTable);
  if (isPose) {
    putPose(put, task, plan, plan.task as PosePlan);
    put(task, F.T_NAMES, namesOfPoints(plan).length);
    put(task, F.T_NAME_TABLE, nameTable);
    put(task, F.T_EDGES, edgesOf(plan).length);
    put(task, F.T_EDGE_TABLE, edgeTable);
    edgesOf(plan)
      .flat()
      .forEach((k, i) => put(edgeTable, i, k));
  } else if (isOriented) {
    putOriented(put, task, plan.task as OrientedPlan);
    view.setFloat64(task + F.T_IOU * 4, iouThreshold, true);
  } else if (isCells) putCells(put, task, plan);
  else putMasks(put, task, plan, plan.task as SegmentPlan);
  let source = 0;
  (plan.heads as readonly ExtraHead[]).forEach((head, i) => {
    const row = headTable + i * F.EXTRA_WORDS * 4;
    const { cells, gridWidth } = head;
    // Cells have no extra channels: describe the scores of the cells.
    const extra = isCells ? head.score : head.extra;
    put(row, F.E_SOURCE, source);
    put(row, F.E_CELLS, cells);
    put(row, F.E_SLOT, extra.tensor);
    put(row, F.E_OFFSET, extra.offset);
    put(row, F.E_CHANNEL, extra.channel);
    put(row, F.E_CELL, extra.cell);
    put(row, F.E_IMAGE, imageStart(plan, extra, 1));
    put(row, F.E_GRID_W, gridWidth);
    put(row, F.E_TABLE, isPose && head.priors ? layout.priors[i] : 0);
    const putDoubles = (doubles: readonly number[]): void =>
      doubles.forEach((x, k) => view.setFloat64(row + (F.E_SCALE_X + 2 * k) * 4, x, true));
    if (isPose) putDoubles(doublesOf(plan, plan.task as PosePlan, head));
    if (isCells) putDoubles([0, 0, ...head.unit]);
    if (isOriented) {
      const { rotatesCentre, cell, bias } = orientedHeadOf(head, plan.inputSize as readonly [number, number]);
      put(row, F.E_TURNS, Number(rotatesCentre));
      putDoubles([0, 0, ...cell, bias]);
    }
    source += cells;
  });
}

type Put = (row: number, index: number, value: number) => void;

function putPose(put: Put, row: number, { rules: { clamp } }: Plan, pose: PosePlan): void {
  put(row, F.T_KIND, F.TASK_KEYPOINTS);
  put(row, F.T_COUNT, pose.count);
  put(row, F.T_VALUES, pose.values);
  put(row, F.T_RULE, POINT_RULE_CODES[pose.rule]);
  put(
    row,
    F.T_FLAGS,
    (pose.yFirst ? F.TASK_FLAG_Y_FIRST : 0) | (pose.logits ? F.TASK_FLAG_LOGITS : 0) | clampFlags(clamp),
  );
}

/** Returns the doubles E_SCALE_X to E_ADD of a head's points. */
function doublesOf(plan: Plan, pose: PosePlan, head: Head): readonly number[] {
  const { scale, unit, add } = pointHeadOf(plan, pose, head);
  return [...scale, ...unit, add];
}

/** Writes how cells above the threshold are grouped. */
function putCells(put: Put, row: number, plan: Plan): void {
  const { groups, clamp } = cellTaskOf(plan, plan.task as PeakPlan);
  put(row, F.T_KIND, F.TASK_CELLS);
  put(row, F.T_COUNT, 1);
  put(row, F.T_VALUES, 1);
  put(row, F.T_RULE, groups === "enclosing" ? F.CELLS_ENCLOSING : F.CELLS_SDK);
  put(row, F.T_FLAGS, clampFlags(clamp));
}

/** Returns the flags of a clamp. */
const clampFlags = (clamp: Rules["clamp"]): number =>
  clamp === "before"
    ? F.TASK_FLAG_CLAMP_BEFORE
    : clamp === "after" || clamp === "centre"
      ? F.TASK_FLAG_CLAMP_AFTER
      : 0;

function putMasks(put: Put, row: number, { tensors, batch }: Plan, task: SegmentPlan): void {
  const { count, width, height, ...steps } = task.prototypes;
  const [slot] = task.tensors;
  const { dims, type } = tensors[slot];
  const { bytes } = ELEMENTS[type];
  if (count > F.MAX_COEFFICIENTS)
    refuse("masks", `${count} coefficients`, `at most ${F.MAX_COEFFICIENTS}: a plan file has no more`);
  put(row, F.T_KIND, F.TASK_MASKS);
  put(row, F.T_COUNT, count);
  put(row, F.T_VALUES, 1);
  put(row, F.T_SLOT, slot);
  put(row, F.T_WIDTH, width);
  put(row, F.T_HEIGHT, height);
  put(row, F.T_COLUMN, steps.column / bytes);
  put(row, F.T_ROW, steps.row / bytes);
  put(row, F.T_PLANE, steps.plane / bytes);
  put(row, F.T_IMAGE, volume(dims) / batch);
}
