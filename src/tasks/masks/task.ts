import type { NetworkTask } from "../../decode/tasks.ts";
import type { HeadQuery } from "../../heads/query.ts";
import { attachRowMasks } from "./attach-rows.ts";
import { attachPlan } from "./attach.ts";
import { readSegment } from "./plan.ts";
import { readQueryMasks } from "./query-masks.ts";
import { hasRowMasks, readRowMasks } from "./rows-of-masks.ts";

/**
 * Instance masks: task "segment".
 * @example
 * import { createDecoderSync, masks } from "boxwright/core";
 *
 * const config = { family: "yolov8", task: "segment", classes: 80, inputSize: [640, 640] };
 * const decoder = createDecoderSync(config, { tasks: [masks] });
 * console.log(decoder.config.task?.name); // segment
 */
export const masks: NetworkTask<"segment"> = {
  task: "segment",
  read: (query, specs) => readerOf(query)(query, specs),
  attach: (work) => (work.plan.task && hasRowMasks(work.plan.task) ? attachRowMasks : attachPlan)(work),
};

function readerOf({ traits: { rowMasks } }: HeadQuery): typeof readSegment {
  if (rowMasks === undefined) return readSegment;
  return rowMasks === "queries" ? readQueryMasks : readRowMasks;
}
