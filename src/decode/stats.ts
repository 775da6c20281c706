import * as A from "../core/abi.ts";
import type { Memory } from "../core/memory.ts";

/** Counters of a decoder. The object is updated in place. */
export interface Stats {
  /** Count of decoded frames. */
  readonly frames: number;
  /** Candidates of the last frame, over all its images. */
  readonly candidates: number;
  /**
   * Dropped candidates of the last frame. `capped`: no room, or `maxDetections` were kept before their turn.
   * `notFinite`: box, score or class id was NaN or infinite. `empty`: nothing of the box was left inside the image,
   * under rules that clamp before suppression.
   */
  readonly dropped: { readonly capped: number; readonly notFinite: number; readonly empty: number };
  /** Bytes of the decoder's memory. */
  readonly bytes: number;
  /** Count of plans made. A second plan means that shapes changed, and that the slots are new. */
  readonly plans: number;
}

/** The counters, writable for the decoder. */
export interface Counters {
  frames: number;
  candidates: number;
  readonly dropped: { capped: number; notFinite: number; empty: number };
}

/** Begins a frame: resets the counters of the last one. */
export function countFrame(stats: Counters): void {
  stats.frames++;
  stats.candidates = 0;
  stats.dropped.capped = 0;
  stats.dropped.notFinite = 0;
  stats.dropped.empty = 0;
}

/** Adds the counts that the kernel left in the plan block at byte address `at`. */
export function countImage(stats: Counters, { i32 }: Memory, at: number): void {
  const p = at >> 2;
  const candidates = i32[p + A.P_CANDIDATES];
  stats.candidates += candidates;
  stats.dropped.capped += i32[p + A.P_OVERFLOW] + candidates - i32[p + A.P_VISITED];
  stats.dropped.notFinite += i32[p + A.P_NOT_FINITE];
  stats.dropped.empty += i32[p + A.P_EMPTY];
}
