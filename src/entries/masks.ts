/**
 * `boxwright/masks`: instance masks. Importing it lets decoders read networks of task "segment", whose detections then
 * have `mask`.
 */
import { provideTask } from "../decode/tasks.ts";
import { SEGMENT } from "../tasks/masks/reader.ts";
import { masksInFile } from "../planfile/masks.ts";

export { masksOf, type MaskInputs } from "../tasks/masks/from.ts";
export { classMap, type ClassMap, type ClassMapOptions } from "../tasks/masks/semantic.ts";
export { labelMap, type LabelMap, type LabelMapOptions } from "../tasks/masks/labels.ts";
export type { Mask, MaskOptions, MaskPolygon, MaskRle, MaskRule } from "../decode/detections.ts";

provideTask({ ...SEGMENT, ...masksInFile });
