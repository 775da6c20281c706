import * as A from "../core/abi.ts";
import type { Memory } from "../core/memory.ts";

/** Counters of a decoder, kept up to date in place. */
export interface Stats {
  /** Number of frames decoded. */
  readonly frames: number;
  /** Candidates of the last frame, over all its images. */
  readonly candidates: number;
  /**
   * Candidates of the last frame that were dropped. `capped`: for lack of room, or because `maxDetections` were kept
   * before their turn. `notFinite`: their box, score or class id was NaN or infinite. `empty`: nothing of their box was
   * left inside the image, under rules that clamp before suppression.
   */
  readonly dropped: { readonly capped: number; readonly notFinite: number; readonly empty: number };
  /** Bytes of memory that the decoder holds. */
  readonly bytes: number;
  /** Number of plans made. More than one: shapes changed, and the slots were made anew. */
  readonly plans: number;
}

/** The counters as the decoder writes them. */
export interface Counters {
  frames: number;
  candidates: number;
  readonly dropped: { capped: number; notFinite: number; empty: number };
}

/** Begins a frame: sets the counters of the last one to 0. */
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
