import { FIRST_ADDRESS } from "../core/abi.ts";
import type { Edges } from "../core/keypoints.ts";
import { attachPoints } from "../tasks/pose/points.ts";
import { KEYPOINT_WIDTH, readPoseRows } from "../tasks/pose/rows.ts";
import { aligned, within } from "./bytes.ts";
import { POSE } from "./fields.ts";
import { openSection } from "./section.ts";
import type { FileTask } from "./tasks.ts";

/** Largest column of keypoints in bytes. */
const MOST_BYTES = 0x7fffffff;

/** The task "pose" of plan files. */
export const pose: FileTask<"pose"> = {
  task: "pose",
  readRows: readPoseRows,

  attachFile(loaded) {
    const { file, rows, image } = loaded.plan;
    const { work, task, heads } = openSection(loaded, POSE);
    const { count, rule } = task;
    within(rows * count * KEYPOINT_WIDTH * 4, 0, MOST_BYTES, 0);
    const names = file.rows(task.nameTable, task.names, 1).map((row) => file.text(file.word(row, 0)));
    if (names.length > 0) within(names.length, 0, count, count);
    const edges: Edges = file.rows(task.edgeTable, task.edges, 2).map((row) => {
      const end = (k: number): number => within(file.word(row, k), 0, count - 1, 0);
      return [end(0), end(1)];
    });
    const pointHeads = heads.map(({ table, ...head }) => ({
      ...head,
      priors:
        rule === "prior"
          ? new Float32Array(
              work.memory.buffer,
              aligned(table, head.cells * 16, image.length, FIRST_ADDRESS),
              head.cells * 4,
            )
          : null,
    }));
    return {
      known: { name: "pose", edges },
      afterImage: attachPoints(work, {
        ...task,
        about: `pose: ${count} keypoints`,
        values: task.values as 2 | 3,
        normalised: pointHeads[0].scale.join() === "1,1",
        names: names.length > 0 ? names : null,
        edges: edges.length > 0 ? edges : null,
        heads: pointHeads,
      }),
    };
  },
};
