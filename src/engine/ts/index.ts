/**
 * The engine in TypeScript, for runtimes without WebAssembly. Its files and functions are twins of those in
 * `assembly/`. Both are tuned for speed; `spec/` is the plain specification.
 *
 * Only here: tsEngine. It passes the memory to the functions, while a kernel imports its memory.
 */
import { compare, within } from "./checks.ts";
import { nms } from "./nms.ts";
import { scan } from "./scan.ts";
import { sort } from "./sort.ts";
import type { Engine } from "../engine.ts";
import type { Memory } from "../../core/memory.ts";

/** Returns an engine over this memory. */
export function tsEngine(memory: Memory): Engine {
  return {
    name: "ts",
    memory,
    scan: (plan) => scan(memory, plan),
    sort: (plan) => sort(memory, plan),
    nms: (plan) => nms(memory, plan),
    decode: (plan) => decode(memory, plan),
    within: (column, from) => within(memory, column, from),
    compare: (column) => compare(memory, column),
  };
}

function decode(memory: Memory, plan: number): number {
  scan(memory, plan);
  sort(memory, plan);
  return nms(memory, plan);
}
