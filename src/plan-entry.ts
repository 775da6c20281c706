/** `boxwright/plan`: decodes by a plan file, which `boxwright compile` makes; without config and shapes it is half as large. */
export { type LoadOptions, type PlanDecoder, loadPlan, loadPlanSync } from "./load.ts";
export { type Detection, Detections, toPixels } from "./detections.ts";
export type { EngineName } from "./engine.ts";
export { ConfigError, type ConfigProblem, TensorError } from "./errors.ts";
export type { Frame } from "./letterbox.ts";
export type { Outputs, Slot } from "./slots.ts";
export type { Stats } from "./stats.ts";
export type { ElementType, SlotArray, TensorData, TensorInput } from "./tensor.ts";
