/** Decodes networks of the family `fomo` by a plan file. */
import * as A from "../core/abi.ts";
import { attachCells } from "../tasks/peaks/attach-cells.ts";
import { CELLS } from "./fields.ts";
import { openSection, refuseKernelNms } from "./section.ts";
import type { FileTask } from "./tasks.ts";

/** The task "peaks" of plan files. Supports only FOMO, whose cells are grouped. */
export const peaks: FileTask<"peaks"> = {
  task: "peaks",

  attachFile(loaded) {
    const { file, images } = loaded.plan;
    const { work, task, heads } = openSection(loaded, CELLS);
    // Refuse a plan with suppression: the kernel's candidates are cells, and a suppressed cell would be missing from
    // its group.
    refuseKernelNms(loaded, "cells");
    const capacity = Math.max(...images.map(({ plan }) => file.word(plan, A.P_CAPACITY)));
    return { known: { name: "peaks" }, afterImage: attachCells(work, { ...heads[0], ...task, capacity }) };
  },
};
