/** Notes on candidates that the kernel dropped. */
import type { Moment } from "./check.ts";
import * as A from "../core/abi.ts";
import { refuse } from "../core/errors.ts";
import { recordsOf } from "../decode/best.ts";
import { value } from "../engine/ts/value.ts";

/** Returns a note if the clamp dropped candidates that lie outside the image. Else returns null. */
export function noteOfEmptied({ work, block, frames: frame }: Moment): string | null {
  const count = work.engine.memory.i32[(block >> 2) + A.P_EMPTY];
  return count > 0
    ? `all ${count} candidates of frame ${frame} lie outside the image, and are dropped: are boxFormat, ` +
        "coordinates and inputSize those of the network?"
    : null;
}

/** Returns a note if candidates were dropped because their box, score or class id is NaN or infinite. */
export function noteOfNotFinite({ work, block, frames: frame }: Moment): string | null {
  const count = work.engine.memory.i32[(block >> 2) + A.P_NOT_FINITE];
  return count > 0
    ? `candidates of frame ${frame} whose box, score or class id is NaN or infinite are dropped: ${count}`
    : null;
}

/** Refuses a list with a row count whose scores lie in -1..0. EfficientNMS in FP16 writes such scores. */
export function checkMissingOne({ work, block }: Moment): null {
  const { memory } = work.engine;
  const { i32, f32 } = memory;
  for (const r of recordsOf(memory, block)) {
    const [type, first, step] = [A.H_SCORE_TYPE, A.H_SCORE, A.H_SCORE_CELL].map((word) => i32[r + word]);
    if (i32[r + A.H_COUNT] === 0 || type > A.TYPE_F16 || i32[r + A.H_SCORE_FN] !== A.FN_NONE) continue;
    const rows = value(memory, i32[r + A.H_COUNT_TYPE], i32[r + A.H_COUNT], 1, 0);
    let least = 0; // A row of -1 is padding.
    for (let row = 0; row < Math.min(rows, i32[r + A.H_CELLS]); row++) {
      const score = value(memory, type, first + row * step, f32[r + A.H_SCORE_SCALE], 0);
      if (!(score <= 0 && score >= -1)) return null;
      if (score > -1) least = Math.min(least, score);
    }
    if (least < 0)
      refuse(
        "",
        `a list of ${rows} scores in -1..0, the least ${Number(least.toPrecision(4))}`,
        "scores in 0..1. FP16 engines of TensorRT's EfficientNMS write them 1 too low: add 1 to each before decode(), " +
          "or use createDecoder, which does so",
      );
  }
  return null;
}
