/** Counters of a decoder. */
import * as A from "../core/abi.ts";
import type { Memory } from "../core/memory.ts";

/** Counters of a decoder, kept up to date in place. */
export interface Stats {
  /** Calls of `decode`. */
  readonly frames: number;
  /** Candidates of the last frame, over all its images. */
  readonly candidates: number;
  /**
   * Of the last frame. `capped`: candidates for which there was no room, and those that were not looked at any more once `maxDetections` were
   * kept (suppression might have taken some of them anyway). `notFinite`: candidates whose box or score was not finite.
   */
  readonly dropped: { readonly capped: number; readonly notFinite: number };
  /** Bytes of memory held. */
  readonly bytes: number;
  /** Plans made so far: more than one means that shapes changed and slots were made anew. */
  readonly plans: number;
}

/** The same as the decoder writes it. */
export interface Counters {
  frames: number;
  candidates: number;
  readonly dropped: { capped: number; notFinite: number };
}

/** Another frame begins. */
export function countFrame(stats: Counters): void {
  stats.frames++;
  stats.candidates = 0;
  stats.dropped.capped = 0;
  stats.dropped.notFinite = 0;
}

/** Adds what the plan block at `at` holds of an image that was decoded; returns its candidates. */
export function countImage(stats: Counters, { i32 }: Memory, at: number): number {
  const p = at >> 2;
  const candidates = i32[p + A.P_CANDIDATES];
  stats.candidates += candidates;
  stats.dropped.capped += i32[p + A.P_OVERFLOW] + candidates - i32[p + A.P_VISITED];
  stats.dropped.notFinite += i32[p + A.P_NOT_FINITE];
  return candidates;
}
