/** Decodes FOMO by a plan file. */
import * as A from "../core/abi.ts";
import { attachCells } from "../tasks/peaks/attach-cells.ts";
import { refusePlan, within } from "./bytes.ts";
import * as F from "./format.ts";
import { openSection } from "./section.ts";
import type { FileTask } from "./tasks.ts";

const ALL_FLAGS = F.TASK_FLAG_CLAMP_BEFORE + F.TASK_FLAG_CLAMP_AFTER;

/** The task "peaks" of plan files. Of its networks a plan file holds only those whose cells are grouped: FOMO. */
export const peaks: FileTask<"peaks"> = {
  task: "peaks",

  attachFile(loaded) {
    const { file, images } = loaded.plan;
    const { work, heads, word } = openSection(loaded);
    const view = new DataView(file.bytes.buffer, file.bytes.byteOffset, file.bytes.length);
    const flags = word(F.T_FLAGS);
    if (flags & ~ALL_FLAGS) refusePlan(`flags ${flags}`, `some of ${ALL_FLAGS}`);
    for (const { plan: block } of images) {
      const rules = file.word(block, A.P_FLAGS) & (A.FLAG_NMS_CLASS | A.FLAG_NMS_ALL);
      // The kernel's candidates are cells, and suppression would drop cells that belong to a group.
      if (rules !== 0) refusePlan("suppression by the kernel", "none in a plan of cells");
    }
    const [{ row, cells, gridWidth }] = heads;
    within(gridWidth, 0, cells, 1);
    const double = (index: number): number => view.getFloat64(row + index * 4, true);
    return {
      known: { name: "peaks" },
      afterImage: attachCells(work, {
        groups: word(F.T_RULE) === F.CELLS_ENCLOSING ? "enclosing" : "edge-impulse",
        gridWidth,
        unit: [double(F.E_UNIT_X), double(F.E_UNIT_Y)],
        capacity: Math.max(...images.map((image) => file.word(image.plan, A.P_CAPACITY))),
        clamp:
          flags & F.TASK_FLAG_CLAMP_BEFORE ? "before" : flags & F.TASK_FLAG_CLAMP_AFTER ? "after" : "none",
      }),
    };
  },
};
