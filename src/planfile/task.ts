/** Writes a task's record and head table into a plan file. */
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
import { type PosePlan, pointHeadOf } from "../tasks/pose/plan.ts";
import {
  CELLS,
  EXTRA,
  type Field,
  type Fields,
  HEAD,
  MASKS,
  ORIENTED,
  POSE,
  type TaskFields,
} from "./fields.ts";
import * as F from "./format.ts";

/** Offsets of the task record and its tables in the file. */
interface TaskOffsets {
  readonly task: number;
  readonly headTable: number;
  readonly nameTable: number;
  readonly edgeTable: number;
}

const poseOf = ({ task }: Plan): PosePlan | null => (task?.name === "pose" ? (task as PosePlan) : null);

/** Returns the names of the keypoints. Returns none if the plan has no keypoints or no names. */
export const namesOfPoints = (plan: Plan): readonly string[] => poseOf(plan)?.names ?? [];

/** Returns the edges of the skeleton. Returns none if the plan has no keypoints or no edges. */
export const edgesOf = (plan: Plan): Edges => poseOf(plan)?.edges ?? [];

/** The file that gets a task section, its offsets, and the plan. */
interface Target {
  readonly view: DataView;
  readonly offsets: TaskOffsets;
  readonly plan: Plan;
}

/** Writes the section of the plan's task: the task record, the head table and, for keypoints, the edge table. */
export function putTask(target: Target, layout: MemoryLayout, iou: number): void {
  const { view, offsets, plan } = target;
  const { task, heads, inputSize } = plan;
  const counts = { count: 1, values: 1, heads: heads.length, headTable: offsets.headTable };
  switch (task?.name) {
    case "pose": {
      const pose = task as PosePlan;
      const [names, edges] = [namesOfPoints(plan), edgesOf(plan)];
      putSection(
        target,
        POSE,
        {
          ...counts,
          ...pose,
          yFirst: pose.yFirst ?? false,
          clamp: clampOf(plan.rules),
          names: names.length,
          nameTable: offsets.nameTable,
          edges: edges.length,
          edgeTable: offsets.edgeTable,
        },
        (head, i) => ({ ...pointHeadOf(plan, pose, head), table: head.priors ? layout.priors[i] : 0 }),
      );
      edges.flat().forEach((k, i) => view.setUint32(offsets.edgeTable + i * 4, k, true));
      break;
    }
    case "oriented": {
      const { rules, range, ...oriented } = task as OrientedPlan;
      const suppress = rules?.suppress;
      const suppression = suppress === "none" ? suppress : oriented.suppression;
      putSection(
        target,
        ORIENTED,
        {
          ...counts,
          ...oriented,
          rule: "decoded",
          suppression,
          iou,
          perClass: suppress === "class",
          halfTurn: range !== null,
        },
        (head) => {
          const row = orientedHeadOf(head, inputSize as readonly [number, number]);
          return { ...row, turns: Number(row.rotatesCentre) };
        },
      );
      break;
    }
    case "peaks": {
      const { groups, clamp } = cellTaskOf(plan, task as PeakPlan);
      putSection(target, CELLS, { ...counts, groups, clamp: clampOf({ clamp }) }, ({ unit }) => ({ unit }));
      break;
    }
    case "segment":
      putSection(target, MASKS, { ...counts, ...prototypesIn(plan, task as SegmentPlan) }, () => ({}));
  }
}

/**
 * Writes the task record, and a row of the head table for each head. A row locates the extra channels. FOMO has none:
 * its task reads the scores, so the row locates the scores.
 */
function putSection<R, H>(
  { view, offsets, plan }: Target,
  { kind, record, head: fields }: TaskFields<R, H>,
  values: NoInfer<R>,
  rowOf: (head: Head, index: number) => NoInfer<H>,
): void {
  view.setUint32(offsets.task + F.T_KIND * 4, kind, true);
  putFields(view, offsets.task, record, values);
  let source = 0;
  plan.heads.forEach((head, i) => {
    const row = offsets.headTable + i * F.EXTRA_WORDS * 4;
    const extra = kind === F.TASK_CELLS ? head.score : (head.extra as Column);
    putFields(view, row, HEAD, { ...head, source, image: imageStart(plan, extra, 1) });
    putFields(view, row, EXTRA, extra);
    putFields(view, row, fields, rowOf(head, i));
    source += head.cells;
  });
}

/**
 * Returns the clamp for points or cells. The rule "centre" exists only for boxes. In its place, points and cells are
 * clamped at the end.
 */
const clampOf = ({ clamp }: Pick<Rules, "clamp">) => (clamp === "centre" ? "after" : clamp);

/** Returns the slot and size of the prototypes, with the steps in elements instead of bytes. */
function prototypesIn({ tensors, batch }: Plan, { prototypes, tensors: [slot] }: SegmentPlan) {
  const { count, width, height, column, row, plane } = prototypes;
  const { dims, type } = tensors[slot];
  const { bytes } = ELEMENTS[type];
  if (count > F.MAX_COEFFICIENTS)
    refuse("masks", `${count} coefficients`, `at most ${F.MAX_COEFFICIENTS}: a plan file has no more`);
  const steps = { column: column / bytes, row: row / bytes, plane: plane / bytes };
  return { count, slot, width, height, ...steps, image: volume(dims) / batch };
}

/** Writes a record. Its words must be 0 before the call. */
function putFields<T>(view: DataView, row: number, fields: Fields<T>, values: NoInfer<T>): void {
  for (const [name, { at, mask, to, codes, doubles }] of Object.entries<Field<string>>(fields)) {
    const value = values[name as keyof T] as unknown;
    const first = row + at * 4;
    const put = (bits: number): void => view.setUint32(first, view.getUint32(first, true) | bits, true);
    if (doubles) [value].flat().forEach((x, k) => view.setFloat64(first + 8 * k, x as number, true));
    else if (codes) put(codes[value as string]);
    else put(to === undefined ? Number(value) && mask : (value as number));
  }
}
