/** Writes how oriented boxes get their angles and are suppressed. `task.ts` writes where the angles are. */
import type { AngleForm, OrientedNms, OrientedPlan } from "../tasks/oriented/plan.ts";
import * as F from "./format.ts";

const ANGLES: { readonly [A in AngleForm]: number } = {
  radians: F.ANGLE_RADIANS,
  logits: F.ANGLE_LOGITS,
  fractions: F.ANGLE_SIGMOID,
};

const SUPPRESSIONS: { readonly [N in OrientedNms]: number } = {
  ultralytics: F.ORIENTED_ULTRALYTICS,
  probiou: F.ORIENTED_PROBIOU,
  opencv: F.ORIENTED_OPENCV,
};

/** Writes the words of the task record at `row`. */
export function putOriented(
  put: (row: number, index: number, value: number) => void,
  row: number,
  { angle, suppression, orEqual, regular, range, rules }: OrientedPlan,
): void {
  put(row, F.T_KIND, F.TASK_ORIENTED);
  put(row, F.T_COUNT, 1);
  put(row, F.T_VALUES, 1);
  put(row, F.T_ANGLE, ANGLES[angle]);
  put(row, F.T_SUPPRESSION, rules?.suppress === "none" ? F.ORIENTED_NONE : SUPPRESSIONS[suppression]);
  put(
    row,
    F.T_FLAGS,
    (regular ? F.TASK_FLAG_REGULAR : 0) |
      (orEqual ? F.TASK_FLAG_AT_THRESHOLD : 0) |
      (rules?.suppress === "class" ? F.TASK_FLAG_PER_CLASS : 0) |
      (range ? F.TASK_FLAG_HALF_TURN : 0),
  );
}
