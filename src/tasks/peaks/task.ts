import type { NetworkTask } from "../../decode/tasks.ts";
import { attachPeaks } from "./attach.ts";
import { readPeaks } from "./read.ts";

/**
 * Networks that mark the centres of objects in one map: FOMO, CenterNet and face_det_lite.
 * @example
 * import { createDecoderSync, peaks } from "boxwright/core";
 *
 * const decoder = createDecoderSync({ family: "fomo", labels: ["face"], inputSize: [32, 8] }, { tasks: [peaks] });
 * // Background and face of 4 x 1 cells.
 * const data = [1, 0, 0.1, 0.9, 1, 0, 1, 0];
 * for (const d of decoder.decode({ map: { data, dims: [1, 1, 4, 2] } }))
 *   console.log(d.label, d.x_min, d.y_min, d.x_max, d.y_max); // face 0.25 0 0.5 1
 */
export const peaks: NetworkTask<"peaks"> = {
  task: "peaks",
  read: readPeaks,
  // The kernel only finds candidates. The task keeps peaks, groups cells, suppresses and clamps.
  rules: { suppress: "none", clamp: "none" },
  attach: attachPeaks,
};
