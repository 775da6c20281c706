/** Checks that the options of a task agree with each other. */
import type { TaskName } from "../core/tasks.ts";
import type { FieldReader } from "./fields.ts";
import type { TaskConfig } from "./types.ts";

/** Checks of tasks whose options can contradict each other. */
export const TASK_CHECKS: { readonly [T in TaskName]?: (r: FieldReader, task: TaskConfig) => void } = {
  pose: (r, task) => checkCounts(r, task, { names: "keypointNames", edges: "edges" }),

  text(r, { textRule, unclipRatio }) {
    if (textRule === "depthai" && unclipRatio !== undefined)
      r.report(
        "unclipRatio",
        `${unclipRatio} with textRule "depthai"`,
        'textRule "paddleocr" beside it: the other rule has none',
      );
  },
};

/** Reports keypoint names and edges that do not match the keypoint count. */
export function checkCounts(
  r: FieldReader,
  { keypoints, keypointNames: names, edges }: TaskConfig,
  keys: { readonly names: string; readonly edges: string },
): void {
  const count = keypoints?.[0] ?? names?.length;
  if (count === undefined) return;
  if (names && names.length !== count)
    r.report(keys.names, `${names.length} names`, `${count}, one per keypoint`);
  const wrong = edges?.flat().find((k) => k >= count);
  if (wrong !== undefined)
    r.report(keys.edges, `keypoint ${wrong}`, `one of 0..${count - 1}: edges count from 0`);
}
