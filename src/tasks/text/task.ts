/** The task "text". */
import type { NetworkTask } from "../../decode/tasks.ts";
import { readOrientedRows } from "../oriented/rows.ts";
import { attachText } from "./attach.ts";
import { readText } from "./read.ts";

/**
 * Text detection: DBNet and PaddleOCR. Detections have `corners` and `angle`, as oriented boxes do.
 * @example
 * import { createDecoderSync, text } from "boxwright/core";
 *
 * const decoder = createDecoderSync({ family: "dbnet" }, { tasks: [text] });
 * const data = new Float32Array(32 * 64);
 * for (let y = 12; y < 20; y++) data.fill(0.9, y * 64 + 10, y * 64 + 50); // a line of text
 * for (const d of decoder.decode({ map: { data, dims: [1, 1, 32, 64] } }))
 *   console.log(
 *     d.confidence.toFixed(2),
 *     d.corners?.map((p) => [Math.round(p.x * 64), Math.round(p.y * 32)]).join(" "),
 *   );
 * // 0.90 6,8 53,8 53,23 6,23
 */
export const text: NetworkTask<"text"> = {
  task: "text",
  read: readText,
  rules: { suppress: "none", clamp: "none" },
  attach: attachText,
  // Handle only frames without records here. The oriented task reads records with corners.
  readRows: (detections, rows, task) => {
    if (rows.length === 0 && task?.name === "text") readOrientedRows(detections, rows, { name: "oriented" });
  },
};
