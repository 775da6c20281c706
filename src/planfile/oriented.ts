/** Reads the oriented boxes of a plan file. */
import * as A from "../core/abi.ts";
import { readOrientedRows } from "../tasks/oriented/rows.ts";
import { attachOriented } from "../tasks/oriented/attach.ts";
import {
  ANGLE_FORMS,
  ORIENTED_NMS,
  type OrientedHead,
  type OrientedNms,
  SIGMOID_RANGE,
} from "../tasks/oriented/plan.ts";
import { refusePlan, within } from "./bytes.ts";
import * as F from "./format.ts";
import { type HeadInFile, openSection } from "./section.ts";
import type { FileTask } from "./tasks.ts";

/** T_SUPPRESSION less 1 is the index of a method in this list. */
const SUPPRESSIONS = /* @__PURE__ */ Object.keys(ORIENTED_NMS) as readonly OrientedNms[];

const ALL_FLAGS =
  F.TASK_FLAG_REGULAR + F.TASK_FLAG_AT_THRESHOLD + F.TASK_FLAG_PER_CLASS + F.TASK_FLAG_HALF_TURN;

/** The task "oriented" of plan files. */
export const oriented: FileTask<"oriented"> = {
  task: "oriented",
  readRows: readOrientedRows,

  attachFile(loaded) {
    const { plan } = loaded;
    const { file, images } = plan;
    const { work, heads, word } = openSection(loaded);
    const view = new DataView(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length);
    const flags = word(F.T_FLAGS);
    if (flags & ~ALL_FLAGS) refusePlan(`flags ${flags}`, `some of ${ALL_FLAGS}`);
    const has = (flag: number): boolean => (flags & flag) > 0;
    const checkThreshold = (iou: number): unknown =>
      (iou >= 0 && iou <= 1) || refusePlan(`an IoU threshold of ${iou}`, "0..1");
    for (const { plan: block } of images) {
      const rules = file.word(block, A.P_FLAGS) & (A.FLAG_NMS_CLASS | A.FLAG_NMS_ALL);
      // Refuse suppression by the kernel: it would compare upright boxes.
      if (rules !== 0) refusePlan("suppression by the kernel", "none in a plan of oriented boxes");
      checkThreshold(file.float(block, A.P_IOU));
    }
    const planned = view.getFloat64(plan.image.length + F.T_IOU * 4, true);
    checkThreshold(planned);
    const { f32 } = work.memory;
    const iouAt = images[0].plan / 4 + A.P_IOU;
    const headOf = ({ row, cells, gridWidth, extra }: HeadInFile): OrientedHead => {
      const double = (index: number): number => view.getFloat64(row + index * 4, true);
      return {
        cells,
        gridWidth,
        extra,
        rotatesCentre: within(file.word(row, F.E_TURNS), 0, 1, 0) === 1,
        bias: double(F.E_ADD),
        cell: [double(F.E_UNIT_X), double(F.E_UNIT_Y)],
      };
    };
    const suppression = word(F.T_SUPPRESSION);
    return {
      known: { name: "oriented" },
      afterImage: attachOriented(work, {
        about: "oriented boxes",
        angle: ANGLE_FORMS[word(F.T_ANGLE)],
        range: has(F.TASK_FLAG_HALF_TURN) ? SIGMOID_RANGE : null,
        regular: has(F.TASK_FLAG_REGULAR),
        suppression: SUPPRESSIONS[Math.max(F.ORIENTED_ULTRALYTICS, suppression) - 1],
        orEqual: has(F.TASK_FLAG_AT_THRESHOLD),
        nms: suppression === F.ORIENTED_NONE ? "none" : has(F.TASK_FLAG_PER_CLASS) ? "class" : "all",
        // The threshold in memory is an f32. Return the double that it was made of, or else round it to 7 digits:
        // overlaps are doubles, and the f32 of 0.7 is below 0.7.
        iouThreshold: () =>
          f32[iouAt] === Math.fround(planned) ? planned : Number(f32[iouAt].toPrecision(7)),
        heads: heads.map(headOf),
      }),
    };
  },
};
