/** Reads the options of networks that mark the centres of objects in one map. */
import { oneOf } from "../core/options.ts";
import type { TaskOptions } from "./task-options.ts";

export const PEAK_OPTIONS: TaskOptions = {
  options: ["cellGroups"],
  readOptions: (r) => {
    const cellGroups = r.take("cellGroups", oneOf(["edge-impulse", "enclosing"] as const));
    return { name: "peaks", ...(cellGroups && { cellGroups }) };
  },
};
