/** Candidates that the kernel dropped. */
import * as A from "../core/abi.ts";
import type { Ready } from "../decode/loop.ts";

/** Returns a note if the clamp dropped candidates because they lie outside the image, else null. */
export function noteOfEmptied({ engine: { memory } }: Ready, block: number, frame: number): string | null {
  const count = memory.i32[(block >> 2) + A.P_EMPTY];
  return count > 0
    ? `all ${count} candidates of frame ${frame} lie outside the image, and are dropped: are boxFormat, ` +
        "coordinates and inputSize those of the network?"
    : null;
}

/** Returns a note if candidates were dropped because their box, score or class id is NaN or infinite, else null. */
export function noteOfNotFinite({ engine: { memory } }: Ready, block: number, frame: number): string | null {
  const count = memory.i32[(block >> 2) + A.P_NOT_FINITE];
  return count > 0
    ? `candidates of frame ${frame} whose box, score or class id is NaN or infinite are dropped: ${count}`
    : null;
}
