/** The option `--masks rle`: masks in the JSON of results. */
import { type Detection, type Detections, type MaskRle, extrasOf } from "../../decode/detections.ts";
import { UsageError, type Values } from "./options.ts";
import { textOf } from "./values.ts";

/** A detection with its mask, as runs over the photo or, without one, over the network's input. */
export interface MaskedDetection extends Detection {
  readonly mask?: MaskRle;
}

/** True if the option asks for masks. With JSON it says which anchors a map has. */
export const wantsMasks = (values: Values): boolean => textOf(values, "masks") === "rle";

/** Returns the rows of detections, with their masks if the option asks for them. */
export function withMasks(found: Detections, values: Values): MaskedDetection[] {
  const rows: MaskedDetection[] = found.toArray();
  if (!wantsMasks(values)) return rows;
  if (!extrasOf(found)?.mask)
    throw new UsageError("--masks rle: this network gives no masks. Name the task: --task segment.");
  return rows.map((row, i) => Object.assign(row, { mask: found.mask(i).toRle() }));
}
