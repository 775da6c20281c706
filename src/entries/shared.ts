/** The exports that `boxwright` and `boxwright/core` share. */
export type { Decoder } from "../decode/decoder.ts";
export type { Best } from "../decode/best.ts";
export type {
  DecoderOf,
  OrientedDecoder,
  OrientedDetection,
  OrientedDetections,
  PoseDecoder,
  PoseDetection,
  PoseDetections,
} from "../decode/by-task.ts";
export type { FileConfig, Receivable } from "../decode/decoder.ts";
export type { Outputs, Slot } from "../decode/inputs.ts";
export type { ImageFormat, ImageInput, PrepareOptions, Prepared, PreparedData } from "../decode/prepare.ts";
export type { PartialRule, PrepareResize, PrepareRule, Resample } from "../core/prepare-rule.ts";
export type { Stats } from "../decode/stats.ts";
export type { Update } from "../decode/update.ts";
export type {
  AnchorSet,
  BoxFormat,
  Config,
  DecoderOptions,
  OutputSpec,
  PriorFormat,
  Roles,
  Suppression,
  TaskConfig,
  TaskFields,
  TypedOptions,
} from "../config/types.ts";
export { RULE_SETS, type Rules, type RuleSet } from "../core/rules.ts";
export type { ConfigDescription, Description, HeadDescription, PlanDescription } from "../plan/describe.ts";
export {
  type Detection,
  type DetectionFields,
  Detections,
  type Keypoint,
  type Point,
  type ReusedDetections,
  type RowsAreReadByAt,
  type TaskColumns,
} from "../decode/detections.ts";
export { toPixels } from "../decode/pixels.ts";
export type { Mask, MaskOptions, MaskPolygon, MaskRle, MaskRule } from "../decode/mask.ts";
export type { EngineName } from "../core/engine-name.ts";
export {
  ConfigError,
  type ConfigProblem,
  type OptionHint,
  type OptionName,
  TensorError,
} from "../core/errors.ts";
export type { TaskName } from "../core/tasks.ts";
export { FAMILIES } from "../core/families.ts";
export type { ScoreForm, Family, PoseFamily } from "../core/family.ts";
export type { Frame } from "../decode/frame.ts";
export type { Plan, PlannedSuppression } from "../plan/plan.ts";
export type { Head, TaskPlan } from "../heads/head.ts";
export type { ReadingName } from "../core/readings.ts";
export type {
  Channels,
  ElementType,
  SlotArray,
  StorageOrder,
  TensorData,
  TensorInput,
  TensorSpec,
  TensorSpecInput,
  TypeName,
} from "../core/tensor.ts";
export type { WasmKind } from "../kernels/kernel.ts";
export { provideKernel } from "../kernels/kernel.ts";
