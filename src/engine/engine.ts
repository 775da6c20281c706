import type { EngineName } from "../core/engine-name.ts";
import type { Memory } from "../core/memory.ts";

/**
 * The functions of the decoder's kernel over one memory. `plan` is the byte address of a plan block (core/abi.ts). Each
 * function returns a count. None reports an error.
 */
export interface KernelExports {
  /** Finds the candidates of an image. Returns the count of rows in the candidate columns. */
  scan(plan: number): number;
  /** Orders the candidates, best first. Returns how many of them `nms` may read. */
  sort(plan: number): number;
  /** Suppresses overlapping candidates and writes the detections. Returns their count. */
  nms(plan: number): number;
  /** Runs scan, sort and nms. Returns the number of detections. */
  decode(plan: number): number;
  /**
   * Returns the index of the first value outside the range of a column record, searched from `from` on. Returns the
   * count of values if all are inside. `column` is the record's byte address.
   */
  within(column: number, from: number): number;
  /**
   * Compares each value of a column record with its neighbours in two storage orders. Returns the count of values that
   * differ from at least one neighbour.
   */
  compare(column: number): number;
}

/** An engine and its memory. */
export interface Engine extends KernelExports {
  readonly name: EngineName;
  readonly memory: Memory;
  /**
   * The `WebAssembly.Memory` behind `memory`, for kernels of tasks. Typed `object` for the reason in `provideKernel`.
   */
  readonly wasm?: object;
}
