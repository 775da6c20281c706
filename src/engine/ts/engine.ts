/** Engine in plain TypeScript: for runtimes without WebAssembly, and the readable specification of the kernel. */
import { nms } from "./nms.ts";
import { scan } from "./scan.ts";
import { sort } from "./sort.ts";
import type { Engine } from "../engine.ts";
import type { Memory } from "../../core/memory.ts";

export function tsEngine(memory: Memory): Engine {
  return {
    name: "ts",
    memory,
    scan: (plan) => scan(memory, plan),
    sort: (plan) => sort(memory, plan),
    nms: (plan) => nms(memory, plan),
    decode: (plan) => {
      scan(memory, plan);
      sort(memory, plan);
      return nms(memory, plan);
    },
  };
}
