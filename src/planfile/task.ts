/** Writes what a task reads besides boxes: the task record and the head table of a plan file. */
import { refuse } from "../core/errors.ts";
import { ELEMENTS, volume } from "../core/tensor.ts";
import type { Column } from "../heads/channels.ts";
import type { Head, TaskPlan } from "../heads/head.ts";
import type { Layout } from "../memory/layout.ts";
import { imageStart } from "../memory/write.ts";
import type { Plan } from "../plan/plan.ts";
import type { PointRule, PosePlan } from "../pose/plan.ts";
import * as F from "./format.ts";

/** The part of a plan of masks that a file needs. `masks/` stands above this folder. */
interface MasksPlan extends TaskPlan {
  readonly prototypes: {
    readonly count: number;
    readonly width: number;
    readonly height: number;
    /** Steps in bytes. */
    readonly column: number;
    readonly row: number;
    readonly plane: number;
  };
}

/** A head that a task reads. */
type ExtraHead = Head & { readonly extra: Column };

const RULES: { readonly [R in PointRule]: number } = {
  decoded: F.POINTS_DECODED,
  grid: F.POINTS_GRID,
  prior: F.POINTS_PRIOR,
};

/** Writes the task record, and a row for each head. */
export function putTask(
  view: DataView,
  { task, headTable }: { readonly task: number; readonly headTable: number },
  plan: Plan,
  layout: Layout,
): void {
  const put = (row: number, index: number, value: number): void =>
    view.setUint32(row + index * 4, value, true);
  if (!plan.task) return;
  const isPose = plan.task.name === "pose";
  put(task, F.T_HEADS, plan.heads.length);
  put(task, F.T_HEAD_TABLE, headTable);
  if (isPose) putPose(put, task, plan, plan.task as PosePlan);
  else putMasks(put, task, plan, plan.task as MasksPlan);
  let source = 0;
  (plan.heads as readonly ExtraHead[]).forEach((head, i) => {
    const row = headTable + i * F.EXTRA_WORDS * 4;
    const { extra, cells, gridWidth } = head;
    put(row, F.E_SOURCE, source);
    put(row, F.E_CELLS, cells);
    put(row, F.E_SLOT, extra.tensor);
    put(row, F.E_OFFSET, extra.offset);
    put(row, F.E_CHANNEL, extra.channel);
    put(row, F.E_CELL, extra.cell);
    put(row, F.E_IMAGE, imageStart(plan, extra, 1));
    put(row, F.E_GRID_W, gridWidth);
    put(row, F.E_TABLE, isPose && head.priors ? layout.priors[i] : 0);
    if (isPose)
      doublesOf(plan, plan.task as PosePlan, head).forEach((x, k) =>
        view.setFloat64(row + (F.E_SCALE_X + 2 * k) * 4, x, true),
      );
    source += cells;
  });
}

type Put = (row: number, index: number, value: number) => void;

function putPose(put: Put, row: number, { rules: { clamp } }: Plan, pose: PosePlan): void {
  put(row, F.T_KIND, F.TASK_KEYPOINTS);
  put(row, F.T_COUNT, pose.count);
  put(row, F.T_VALUES, pose.values);
  put(row, F.T_RULE, RULES[pose.rule]);
  put(
    row,
    F.T_FLAGS,
    (pose.yFirst ? F.TASK_FLAG_Y_FIRST : 0) |
      (pose.logits ? F.TASK_FLAG_LOGITS : 0) |
      (clamp === "before" ? F.TASK_FLAG_CLAMP_BEFORE : 0) |
      (clamp === "after" || clamp === "centre" ? F.TASK_FLAG_CLAMP_AFTER : 0),
  );
}

/** Returns scale of x and y, unit of x and y, and what is added to the cell, as pose/points.ts computes them. */
function doublesOf({ inputSize }: Plan, pose: PosePlan, { size, unit, variances }: Head): readonly number[] {
  const { rule, factor, offset, normalised, byAnchor } = pose;
  const [width, height] = byAnchor ? size : unit;
  if (rule === "grid") return [factor * width, factor * height, ...unit, offset];
  if (rule === "prior") return [variances[0], variances[1], 0, 0, 0];
  return inputSize && !normalised ? [1 / inputSize[0], 1 / inputSize[1], 0, 0, 0] : [1, 1, 0, 0, 0];
}

function putMasks(put: Put, row: number, { tensors, batch }: Plan, task: MasksPlan): void {
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
