/** The option `--masks`: "rle" adds masks to results in JSON, "png" writes label maps beside drawings. */
import { type Detection, type Detections, taskFunctionsOf } from "../../decode/detections.ts";
import type { MaskRle } from "../../decode/mask.ts";
import { labelMap } from "../../tasks/masks/labels.ts";
import { greyPng } from "../png.ts";
import { UsageError, type Values } from "./options.ts";
import { textOf, wrongValue } from "./values.ts";

/** A detection with its mask as run lengths, in the size of the photo, or of the network's input without a photo. */
export interface MaskedDetection extends Detection {
  readonly mask?: MaskRle;
}

/** True if the option asks for masks. */
export const wantsMasks = (values: Values): boolean => textOf(values, "masks") !== undefined;

/** Throws if the option has a wrong value. */
export function checkMasks(values: Values): void {
  const value = textOf(values, "masks");
  if (value === undefined || /^(rle|png)$/.test(value)) return;
  const advice = /^\s*[[{]/.test(value) ? ". Anchors of feature maps are given by --anchor-masks" : "";
  throw wrongValue("masks", value, `rle or png${advice}`);
}

/** True if the option asks for label maps as pictures. */
export const wantsLabelMaps = (values: Values): boolean => textOf(values, "masks") === "png";

function checkHasMasks(detections: Detections, values: Values): void {
  if (!taskFunctionsOf(detections)?.mask)
    throw new UsageError(
      `--masks ${textOf(values, "masks")}: this network gives no masks. Name the task: --task segment.`,
    );
}

/** Returns the rows of detections. Adds their masks if the option asks for masks. */
export function withMasks(detections: Detections, values: Values): MaskedDetection[] {
  const rows: MaskedDetection[] = detections.toArray();
  if (wantsMasks(values)) checkHasMasks(detections, values);
  if (!wantsMasks(values) || wantsLabelMaps(values)) return rows;
  return rows.map((row, i) => Object.assign(row, { mask: detections.mask(i).toRle() }));
}

/** Returns the label map of a photo as a grey PNG. A pixel is 0, or 1 plus the index of its detection. */
export function labelPng(detections: Detections): Uint8Array {
  const { width, height, data } = labelMap(detections, { size: "frame" });
  return greyPng(
    width,
    height,
    data.map((row) => row + 1),
  );
}
