/** `boxwright/detect`: from an image to detections, by a runtime that is installed. */
export {
  type Detector,
  type DetectorOptions,
  type DetectorSource,
  type ModelSource,
  type Timings,
  createDetector,
} from "../detect/detector.ts";
export type { DetectorImage, Drawable } from "../detect/image.ts";
export { liteRt } from "../detect/litert.ts";
export { onnxRuntime } from "../detect/onnxruntime.ts";
export type {
  InputSpec,
  InputType,
  Lane,
  Runtime,
  Session,
  SessionTensor,
  Slots,
} from "../detect/session.ts";
export { tfjs } from "../detect/tfjs.ts";
export { tflite } from "../detect/tflite.ts";
export { type WebNnGraph, webnn } from "../detect/webnn.ts";
export { ConfigError, TensorError } from "../core/errors.ts";
export type { Suppression } from "../config/types.ts";
