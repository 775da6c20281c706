/**
 * `boxwright/suppress`: suppression by name, fusion of several models, oriented boxes. The import lets every decoder
 * read the option `suppression`.
 */
import { provideSuppressor } from "../decode/tasks.ts";
import { SUPPRESSOR } from "../suppress/attach.ts";

provideSuppressor(SUPPRESSOR);

export { type Suppressed, nms, suppress } from "../suppress/suppress.ts";
export { type SuppressDetectionsOptions, suppressDetections } from "../suppress/detections.ts";
export { type FuseOptions, type Fused, type ModelBoxes, fuse } from "../suppress/fuse.ts";
export { type OrientedOptions, nmsOriented, orientedIou } from "../suppress/oriented.ts";
export type { SuppressBoxFormat } from "../suppress/candidates.ts";
export type {
  CommonSuppressOptions,
  DiouOptions,
  HardOptions,
  MatrixOptions,
  MergeOptions,
  SoftGaussianOptions,
  SoftLinearOptions,
  SoftTensorflowOptions,
  SuppressOptions,
} from "../suppress/options.ts";
export { type Detection, Detections } from "../decode/detections.ts";
