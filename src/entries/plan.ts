/**
 * `boxwright/plan`: decodes with a plan file that `boxwright compile` made. The entry is half as large as
 * `boxwright/core`, since it reads no configs.
 */
export {
  type LoadOptions,
  type PlanDecoder,
  type PlanReceivable,
  loadPlan,
  loadPlanSync,
} from "../planfile/decoder.ts";
export { masks } from "../planfile/masks.ts";
export { oriented } from "../planfile/oriented.ts";
export { peaks } from "../planfile/peaks.ts";
export { pose } from "../planfile/pose.ts";
export type { FileTask } from "../planfile/tasks.ts";
export type { Best } from "../decode/best.ts";
export { type Detection, type DetectionFields, Detections } from "../decode/detections.ts";
export { toPixels } from "../decode/pixels.ts";
export type { EngineName } from "../core/engine-name.ts";
export { ConfigError, type ConfigProblem, TensorError } from "../core/errors.ts";
export type { Frame } from "../decode/frame.ts";
export type { Outputs, Slot } from "../decode/inputs.ts";
export type { Stats } from "../decode/stats.ts";
export type { ElementType, SlotArray, TensorData, TensorInput } from "../core/tensor.ts";
export type { WasmKind } from "../kernels/kernel.ts";
export { provideKernel } from "../kernels/kernel.ts";
