/** `boxwright`: every function that runs in any environment. Bundlers drop unused functions. */
export * from "./shared.ts";
export { parseConfig } from "../config/config.ts";
export { createDecoder, createDecoderSync } from "../whole/decoder.ts";
export type { MaskedFields } from "../decode/detections.ts";
export type { ClonedDetections, DetectionList } from "../decode/rows.ts";

// Detectors: from an image to detections, by an inference runtime that the user installs.
export { createDetector } from "../detect/detector.ts";
export type { DetectorOptions, DetectorSource, ModelSource, PointsSource } from "../detect/source.ts";
export type { Detector, Timings } from "../detect/types.ts";
export type { DetectorImage, Drawable, PhotoFile } from "../detect/image.ts";
export type { DetectorFrames, PlayingVideo } from "../detect/iterate.ts";
export { liteRt } from "../detect/litert.ts";
export { type OrtOptions, onnxRuntime } from "../detect/onnxruntime.ts";
export type {
  ConstantInput,
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

// Pictures: input tensors and drawing.
export { prepareImage } from "../picture/prepare/prepare.ts";
export { type CanvasContext, type CanvasOptions, drawCanvas } from "../picture/canvas.ts";
export { DrawError, type Drawn, type DrawnPoint } from "../picture/drawn.ts";
export { type DrawOptions, drawSvg } from "../picture/svg.ts";
export type { Area } from "../picture/tags.ts";

// Facts about networks: model files, labels, keypoints, prior boxes.
export { type ReadModelOptions, readModel } from "../config/model/model.ts";
export type { Unxz } from "../config/model/archive.ts";
export type { Model, ModelFormat, ModelInput, ModelTensor, Quantisation } from "../config/model/types.ts";
export type { Exporter, Task } from "../core/exporters.ts";
export { COCO80, COCO91, type LabelSet, VOC20, VOC21, labelsOf } from "../core/labels.ts";
export {
  BLAZEFACE6_NAMES,
  BODY33_EDGES,
  BODY33_NAMES,
  COCO17_EDGES,
  COCO17_NAMES,
  type Edges,
  FACE5_NAMES,
  HAND21_EDGES,
  HAND21_NAMES,
  PALM7_NAMES,
  PERSON4_NAMES,
} from "../core/keypoints.ts";
export type { Crop } from "../core/crop.ts";
export { cropOf, nextCropOf } from "../tasks/pose/crop/of.ts";
export {
  type CaffePriorLayer,
  type SsdAnchorOptions,
  blazefaceAnchors,
  caffePriors,
  efficientdetPriors,
  ssdAnchors,
  ssdMobilenetAnchors,
  ultrafacePriors,
} from "../heads/priors.ts";

// Suppression without a decoder.
export { type NmsOptions, nms } from "../decode/nms.ts";
export { type Suppressed, suppress } from "../tasks/suppression/suppress.ts";
export { type SuppressDetectionsOptions, suppressDetections } from "../tasks/suppression/detections.ts";
export { type FuseOptions, type Fused, type ModelBoxes, fuse } from "../tasks/suppression/fuse.ts";
export { type OrientedOptions, nmsOriented, orientedIou } from "../tasks/suppression/oriented.ts";
export type {
  CommonSuppressOptions,
  DiouOptions,
  HardOptions,
  MatrixOptions,
  MergeOptions,
  SoftGaussianOptions,
  SoftLinearOptions,
  SoftTensorflowOptions,
  SuppressBoxFormat,
  SuppressOptions,
} from "../core/suppression.ts";

// Oriented boxes and masks without a decoder.
export { type OrientedBox, cornersOf, fitCorners, regularise } from "../tasks/oriented/geometry.ts";
export { masksOf, type MaskInputs } from "../tasks/masks/from.ts";
export { classMap, type ClassMap, type ClassMapOptions } from "../tasks/masks/semantic.ts";
export { mapOptions, type ArchiveMap } from "../tasks/masks/archive-map.ts";
export { valueMap, type ValueMap, type ValueMapOptions } from "../tasks/masks/values.ts";
export { labelMap, type LabelMap, type LabelMapOptions } from "../tasks/masks/labels.ts";

// Tiles of large pictures, and tracking over frames.
export { type Tile, type TileOptions, tiles } from "../tiles/plan.ts";
export { type MergeTilesOptions, type TileMerger, createTileMerger, mergeTiles } from "../tiles/merge.ts";
export { type Tracker, createTracker } from "../track/tracker.ts";
export type { TrackerDetections, TrackerInput } from "../track/frame.ts";
export type { ByteTrackOptions, OcSortOptions, SortOptions, TrackerOptions } from "../track/options.ts";

// Packets, which carry raw or decoded frames from a device to a host, and export to formats of other projects.
export { toPacket } from "../packet/write.ts";
export { type PacketOptions, fromPacket } from "../packet/read.ts";
export { type DetectionsOf, Packet, type PacketContent, type PacketDecoder } from "../packet/packet.ts";
export { packetHeaders } from "../packet/headers.ts";
export {
  type CocoImage,
  type CocoResult,
  type ImageSize,
  type RoboflowPrediction,
  type RoboflowPredictions,
  type SupervisionFrame,
  toCoco,
  toRoboflow,
  toSupervision,
} from "../packet/export.ts";
export { PacketError, type PacketErrorKind } from "../packet/error.ts";
export type { Envelope, PacketAbout, PacketKind } from "../packet/envelope.ts";
export type { PacketTensor, WireArray, WireType } from "../packet/wire.ts";
