import * as A from "../core/abi.ts";
import type { Memory } from "../core/memory.ts";

/** Counters of a decoder. The object is updated in place. */
export interface Stats {
  /** Count of decoded frames. */
  readonly frames: number;
  /** Count of the last frame's candidates, in all its images. */
  readonly candidates: number;
  /**
   * Counts of dropped candidates in the last frame. `capped`: the columns were full, or `maxDetections` were already
   * kept. `notFinite`: box, score or class id was NaN or infinite. `empty`: no part of the box was inside the image,
   * under rules that clamp before suppression.
   */
  readonly dropped: { readonly capped: number; readonly notFinite: number; readonly empty: number };
  /** Byte length of the decoder's memory. */
  readonly bytes: number;
  /** Count of plans that were made. Each plan after the first means that shapes have changed and the slots are new. */
  readonly plans: number;
}

/** The counters, writable for the decoder. */
export interface Counters {
  frames: number;
  candidates: number;
  readonly dropped: { capped: number; notFinite: number; empty: number };
}

/** Begins a frame: resets the counters of the last frame. */
export function countFrame(stats: Counters): void {
  stats.frames++;
  stats.candidates = 0;
  stats.dropped.capped = 0;
  stats.dropped.notFinite = 0;
  stats.dropped.empty = 0;
}

/** Adds the counts that the kernel wrote to the plan block at byte address `at`. */
export function countImage(stats: Counters, { i32 }: Memory, at: number): void {
  const p = at >> 2;
  const candidates = i32[p + A.P_CANDIDATES];
  stats.candidates += candidates;
  stats.dropped.capped += i32[p + A.P_OVERFLOW] + candidates - i32[p + A.P_VISITED];
  stats.dropped.notFinite += i32[p + A.P_NOT_FINITE];
  stats.dropped.empty += i32[p + A.P_EMPTY];
}
