/**
 * Public names. Their order matters for size: the decoder first, and among its imports the packed kernel. gzip looks 32 KB back, and
 * a text that does not compress is then not in the middle of the code.
 */
export {
  type Decoder,
  type Outputs,
  type Slot,
  type Stats,
  type Update,
  createDecoder,
  createDecoderSync,
} from "./decoder.ts";
export type { FileConfig } from "./decoder.ts";
export { type AnchorSet, type Config, type OutputSpec, type Roles, parseConfig } from "./config.ts";
export { CONVENTIONS, type Conventions, type ConventionSet } from "./conventions.ts";
export type { Description } from "./describe.ts";
export { type Detection, Detections, toPixels } from "./detections.ts";
export type { EngineName } from "./engine.ts";
export { ConfigError, type ConfigProblem, TensorError } from "./errors.ts";
export { FAMILIES, type Activation, type Family } from "./families.ts";
export type { Frame } from "./letterbox.ts";
export { type NmsOptions, nms } from "./nms.ts";
export type { DecoderOptions, TypedOptions } from "./options.ts";
export type { Plan } from "./plan.ts";
export type { Head, Reading, ReadingName } from "./reading.ts";
export type {
  ElementType,
  SlotArray,
  TensorData,
  TensorInput,
  TensorSpec,
  TensorSpecInput,
} from "./tensor.ts";
