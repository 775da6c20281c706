/** Reads the keypoints of a plan file. */
import { type Edges, MOST_POINTS } from "../core/keypoints.ts";
import type { PointRule } from "../tasks/pose/plan.ts";
import { attachPoints } from "../tasks/pose/points.ts";
import { KEYPOINT_WIDTH, readPoseRows } from "../tasks/pose/rows.ts";
import { within } from "./bytes.ts";
import * as F from "./format.ts";
import { type HeadInFile, openSection } from "./section.ts";
import type { FileTask } from "./tasks.ts";

/** T_RULE is the index of a rule in this list. */
const POINT_RULES: readonly PointRule[] = ["decoded", "grid", "prior"];

const ALL_FLAGS =
  F.TASK_FLAG_Y_FIRST + F.TASK_FLAG_LOGITS + F.TASK_FLAG_CLAMP_BEFORE + F.TASK_FLAG_CLAMP_AFTER;

/** Most bytes of a column. */
const MOST_BYTES = 0x7fffffff;

/** The task "pose" of plan files. */
export const pose: FileTask<"pose"> = {
  task: "pose",
  readRows: readPoseRows,

  attachFile(loaded) {
    const { plan, engine } = loaded;
    const { file, rows } = plan;
    const { work, heads, word, table } = openSection(loaded);
    const view = new DataView(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length);
    const count = within(word(F.T_COUNT), 0, MOST_POINTS, 1);
    within(rows * count * KEYPOINT_WIDTH * 4, 0, MOST_BYTES, 0);
    const rule = POINT_RULES[word(F.T_RULE)];
    const flags = within(word(F.T_FLAGS), 0, ALL_FLAGS, 0);
    const has = (flag: number): boolean => (flags & flag) > 0;
    const names = table(F.T_NAME_TABLE, F.T_NAMES, 1).map((row) => file.text(file.word(row, 0)));
    if (names.length > 0) within(names.length, 0, count, count);
    const edges: Edges = table(F.T_EDGE_TABLE, F.T_EDGES, 2).map((row) => {
      const end = (k: number): number => within(file.word(row, k), 0, count - 1, 0);
      return [end(0), end(1)];
    });
    const numbersOf = ({ row, ...head }: HeadInFile) => {
      const double = (index: number): number => view.getFloat64(row + index * 4, true);
      return {
        ...head,
        scale: [double(F.E_SCALE_X), double(F.E_SCALE_Y)],
        unit: [double(F.E_UNIT_X), double(F.E_UNIT_Y)],
        add: double(F.E_ADD),
        priors:
          rule === "prior"
            ? new Float32Array(engine.memory.buffer, file.word(row, F.E_TABLE), head.cells * 4)
            : null,
      } as const;
    };
    const pointHeads = heads.map(numbersOf);
    return {
      known: { name: "pose", edges },
      afterImage: attachPoints(work, {
        about: `pose: ${count} keypoints`,
        rule,
        count,
        values: word(F.T_VALUES) as 2 | 3,
        logits: has(F.TASK_FLAG_LOGITS),
        yFirst: has(F.TASK_FLAG_Y_FIRST),
        normalised: pointHeads[0].scale.join() === "1,1",
        names: names.length > 0 ? names : null,
        edges: edges.length > 0 ? edges : null,
        clamp: has(F.TASK_FLAG_CLAMP_BEFORE) ? "before" : has(F.TASK_FLAG_CLAMP_AFTER) ? "after" : "none",
        heads: pointHeads,
      }),
    };
  },
};
