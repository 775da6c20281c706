/**
 * `boxwright/suppress`: suppression by name, fusion of several models, oriented boxes. The import lets every decoder
 * read the option `suppression`.
 */
import { provideSuppressor } from "../decode/tasks.ts";
import { SUPPRESSOR } from "../tasks/suppression/attach.ts";

provideSuppressor(SUPPRESSOR);

export { type Suppressed, nms, suppress } from "../tasks/suppression/suppress.ts";
export { type SuppressDetectionsOptions, suppressDetections } from "../tasks/suppression/detections.ts";
export { type FuseOptions, type Fused, type ModelBoxes, fuse } from "../tasks/suppression/fuse.ts";
export { type OrientedOptions, nmsOriented, orientedIou } from "../tasks/suppression/oriented.ts";
export type { SuppressBoxFormat } from "../tasks/suppression/candidates.ts";
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
} from "../tasks/suppression/options.ts";
export { type Detection, Detections } from "../decode/detections.ts";
