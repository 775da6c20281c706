import type { EngineName } from "../core/engine-name.ts";
import type { Memory } from "../core/memory.ts";

/**
 * The functions of a kernel over one memory image. `plan` is the byte address of a plan block (see core/abi.ts).
 * Each returns a count; none reports an error.
 */
export interface KernelExports {
  /** Finds the candidates of one image. Returns how many stand in the candidate columns. */
  scan(plan: number): number;
  /** Orders the candidates, best first. Returns how many may be looked at by `nms`. */
  sort(plan: number): number;
  /** Suppresses overlapping candidates and writes the detections. Returns how many there are. */
  nms(plan: number): number;
  /** Runs scan, sort and nms. Returns the number of detections. */
  decode(plan: number): number;
  /**
   * Returns the index of the first value, from index `from` on, that lies outside of the range of a column record;
   * the count of values if none does. `column` is the record's byte address.
   */
  within(column: number, from: number): number;
  /** Compares the values of a column record with their neighbours in two orders. Returns how many differ. */
  compare(column: number): number;
}

/** One engine together with the memory it works on. */
export interface Engine extends KernelExports {
  readonly name: EngineName;
  readonly memory: Memory;
  /** The `WebAssembly.Memory` that `memory` shows, for the kernel of a task. An `object`: see `provideKernel`. */
  readonly wasm?: object;
}
