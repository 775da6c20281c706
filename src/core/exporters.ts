/**
 * Programs that write model files, and how their files state what a decoder needs. Each kind of file is a row. A file
 * that matches no row gets no family, since shapes alone are not enough evidence.
 */
import type { Family } from "./family.ts";

/** Names the program that wrote a model file. "tensorflow": the file ends in TensorFlow's operator for detections. */
export type Exporter =
  "ultralytics" | "yolox" | "nanodet" | "tensorflow" | "rfdetr" | "dfine" | "libreyolo" | NamedExporter;

/** Projects whose files are known by the names of their outputs. */
type NamedExporter = "centernet" | "qualcomm" | "torchvision" | "mmdeploy" | "paddle";

/** Task that a network was trained for. */
export type Task = "detect" | "pose" | "segment" | "oriented" | "classify";

/** Ultralytics' names of tasks. */
export const ULTRALYTICS_TASKS: { readonly [name: string]: Task } = {
  detect: "detect",
  pose: "pose",
  segment: "segment",
  obb: "oriented",
  classify: "classify",
};

/** Strides of the feature maps that networks of one kind have, in pixels, the largest map first. */
type Strides = readonly number[];

const USUAL: readonly Strides[] = [[8, 16, 32]];
const ANY: readonly Strides[] = [
  [8, 16, 32],
  [4, 8, 16, 32],
  [8, 16, 32, 64],
  [16, 32],
];

/** A file whose single output has rows: box channels and one score per class, for each cell or for each detection. */
export interface RowsForm {
  readonly exporter: Exporter;
  /** Family of the file, unless its description names another family with the same kind of head. */
  readonly family: Family;
  /** Name of the image input. Absent: any, since the exporter writes metadata. */
  readonly input?: string;
  /** Name of the output. Absent: any. */
  readonly output?: string;
  /** Channels besides those of the classes. */
  readonly boxChannels: number;
  /** True: a row has only `boxChannels` channels, one of them the class id. The file states that it is end-to-end. */
  readonly endToEnd?: true;
  /** Rows per cell of the feature maps. Absent: the network gives a list of another length. */
  readonly rowsPerCell?: number;
  readonly strides: readonly Strides[];
  /** Word that the file's description must contain. */
  readonly word?: RegExp;
  /** Operator that the graph contains if the network decodes its boxes. Without it the boxes are raw. */
  readonly decoder?: string;
  /** True if the decoder must be given the strides. */
  readonly statesStrides?: true;
}

export const ROWS_FORMS: readonly RowsForm[] = [
  { exporter: "ultralytics", family: "yolov8", boxChannels: 6, endToEnd: true, strides: ANY },
  // Keep this row before YOLOv8, whose rows have the same channels.
  { exporter: "ultralytics", family: "rtdetr", boxChannels: 4, strides: ANY, word: /detr/i },
  { exporter: "ultralytics", family: "yolov8", boxChannels: 4, rowsPerCell: 1, strides: ANY },
  { exporter: "ultralytics", family: "yolov5", boxChannels: 5, rowsPerCell: 3, strides: ANY },
  {
    exporter: "yolox",
    family: "yolox",
    input: "images",
    output: "output",
    boxChannels: 5,
    rowsPerCell: 1,
    strides: USUAL,
    // width and height are e to the power of the raw values
    decoder: "Exp",
  },
  {
    exporter: "nanodet",
    family: "nanodet",
    input: "data",
    output: "output",
    boxChannels: 32,
    rowsPerCell: 1,
    strides: [
      [8, 16, 32],
      [8, 16, 32, 64],
    ],
    statesStrides: true,
  },
];

/** A file without metadata, known by the output names of one family's exporter. */
export interface NamesForm {
  readonly exporter: Exporter;
  readonly family: Family;
  /** Last of the three dimensions of each output. `null`: dimensions are not checked. */
  readonly outputs: { readonly [name: string]: number | null };
  /** Names of the inputs besides the picture. Absent: any. */
  readonly inputs?: readonly string[];
  /** Task that these outputs show. Absent: the task of the family, or boxes only. */
  readonly task?: "segment";
  /** True if a decoder must be given the class count. */
  readonly needsClasses?: true;
  /** True if the file may have no other outputs: more outputs of the same names are another network. */
  readonly isWhole?: true;
  /** Name of the output with a small square mask for each box. */
  readonly boxMasks?: string;
  /** Output [1,N,K,3] whose dimensions tell the keypoints of an object. */
  readonly points?: string;
}

/** Largest count of cells across the mask of a box. Published networks have 14 to 33. */
export const MOST_BOX_CELLS = 33;

export const NAMES_FORMS: readonly NamesForm[] = [
  {
    exporter: "rfdetr",
    family: "rfdetr",
    outputs: { dets: 4, labels: null, masks: null },
    task: "segment",
    needsClasses: true,
  },
  { exporter: "rfdetr", family: "rfdetr", outputs: { dets: 4, labels: null }, needsClasses: true },
  // RT-DETR, D-FINE and DEIM with their post-processor. torchvision's networks have the same outputs and one input.
  {
    exporter: "dfine",
    family: "rtdetr",
    outputs: { labels: null, boxes: 4, scores: null },
    inputs: ["orig_target_sizes"],
  },
  { exporter: "centernet", family: "centernet", outputs: { hm: null, wh: null, reg: null }, isWhole: true },
  {
    exporter: "qualcomm",
    family: "face-det-lite",
    outputs: { heatmap: null, bbox: null, landmark: null },
    isWhole: true,
  },
  {
    exporter: "torchvision",
    family: "mask-rcnn",
    outputs: { boxes: null, labels: null, scores: null, masks: null },
  },
  {
    exporter: "mmdeploy",
    family: "mask-rcnn",
    outputs: { dets: 5, labels: null, masks: null },
    boxMasks: "masks",
  },
  { exporter: "mmdeploy", family: "rtmdet-ins", outputs: { dets: 5, labels: null, masks: null } },
  { exporter: "mmdeploy", family: "rtmo", outputs: { dets: 5, keypoints: null }, points: "keypoints" },
  { exporter: "mmdeploy", family: "rtmpose", outputs: { simcc_x: null, simcc_y: null } },
  { exporter: "paddle", family: "dbnet", outputs: { "sigmoid_0.tmp_0": null } },
];

/** A file with a metadata key whose value says, as JSON, what the network is. */
export interface MetadataForm {
  readonly exporter: Exporter;
  readonly family: Family;
  readonly key: string;
  /** Task of each name in the file. All of them give boxes; what some give besides is not read. */
  readonly tasks: { readonly [name: string]: Task };
}

export const METADATA_FORMS: readonly MetadataForm[] = [
  {
    exporter: "rfdetr",
    family: "rfdetr",
    key: "rfdetr_inference",
    tasks: {
      detect: "detect",
      detection: "detect",
      segment: "segment",
      segmentation: "segment",
      pose: "pose",
      keypoint: "pose",
      keypoints: "pose",
    },
  },
];

/** A file with two tensors per feature map, whose names end in the stride. */
export interface PairsForm {
  readonly exporter: Exporter;
  readonly family: Family;
  /** Beginning of the names of class scores. */
  readonly scores: string;
  /** Beginning of the names of boxes. */
  readonly boxes: string;
  readonly boxChannels: number;
}

export const PAIRS_FORMS: readonly PairsForm[] = [
  {
    exporter: "nanodet",
    family: "nanodet",
    scores: "cls_pred_stride_",
    boxes: "dis_pred_stride_",
    boxChannels: 32,
  },
];

/** A file with a custom operator that outputs finished detections. */
export interface OperatorForm {
  readonly exporter: Exporter;
  readonly family: Family;
  readonly operator: string;
  /** Roles of the operator's outputs, in order. */
  readonly roles: readonly string[];
}

export const OPERATOR_FORMS: readonly OperatorForm[] = [
  {
    exporter: "tensorflow",
    family: "tflite-postprocess",
    operator: "TFLite_Detection_PostProcess",
    roles: ["boxes", "classIds", "scores", "count"],
  },
];

/**
 * Ultralytics' classifiers: the graph ends in a softmax. Pillow resizes the picture, and bytes are only divided by 255.
 */
export const ULTRALYTICS_CLASSIFIER = {
  exporter: "ultralytics",
  options: { family: "classifier", prepare: { resample: "pillow", mean: 0, std: 255 } },
} as const;
