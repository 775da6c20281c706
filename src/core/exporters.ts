/**
 * Exporters of model files, and where the files state what a decoder needs. A file that matches no row gets no family.
 */
import type { Family } from "./family.ts";

/** Program that wrote a model file. "tensorflow": the network ends with TensorFlow's operator for detections. */
export type Exporter =
  "ultralytics" | "yolox" | "nanodet" | "tensorflow" | "rfdetr" | "dfine" | "libreyolo" | NamedExporter;

/** Projects whose files are recognised by the names of the outputs. */
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

/** Strides of a network's feature maps in pixels, the largest map first. */
type Strides = readonly number[];

const USUAL: readonly Strides[] = [[8, 16, 32]];
const ANY: readonly Strides[] = [
  [8, 16, 32],
  [4, 8, 16, 32],
  [8, 16, 32, 64],
  [16, 32],
];

/** Form of a file with one output: rows of box channels and one score per class, for each cell or detection. */
export interface RowsForm {
  readonly exporter: Exporter;
  /** Family of the file, unless its description names another family with the same head. */
  readonly family: Family;
  /** Name of the image input. Absent: any name, because the exporter writes metadata. */
  readonly input?: string;
  /** Name of the output. Absent: any name. */
  readonly output?: string;
  readonly boxChannels: number;
  /** True: a row has only `boxChannels` channels, with score and class id. Only for files stated as end-to-end. */
  readonly endToEnd?: true;
  /** Rows per cell of the feature maps. Absent: the row count does not depend on the feature maps. */
  readonly rowsPerCell?: number;
  readonly strides: readonly Strides[];
  /** Pattern that the file's description must match. */
  readonly word?: RegExp;
  /** Operator in the graph of a network that decodes its boxes. Networks with raw boxes lack the operator. */
  readonly decoder?: string;
  /** True: the strides become an option of the decoder. */
  readonly statesStrides?: true;
}

export const ROWS_FORMS: readonly RowsForm[] = [
  { exporter: "ultralytics", family: "yolov8", boxChannels: 6, endToEnd: true, strides: ANY },
  // Keep this row before that of YOLOv8, whose rows have the same channels.
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
    // The operator Exp computes width and height from the raw values.
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

/** Form of a file without metadata. The names of its outputs show that one family's exporter wrote it. */
export interface NamesForm {
  readonly exporter: Exporter;
  readonly family: Family;
  /** Size of the last of the three dimensions of each output. `null`: any dimensions. */
  readonly outputs: { readonly [name: string]: number | null };
  /** Names of inputs that the file must have besides the picture. Absent: none. */
  readonly inputs?: readonly string[];
  /** Task that these outputs show. Absent: the family's task, or boxes only. */
  readonly task?: "segment";
  /** True if the class count must come from the caller. */
  readonly needsClasses?: true;
  /** True if the file must have no other outputs. A file with more outputs holds another network. */
  readonly isWhole?: true;
  /** Name of the output that holds a small square mask for each box. */
  readonly boxMasks?: string;
  /** Name of an output [1,N,K,3]. K is the count of keypoints of an object. */
  readonly points?: string;
}

/** Largest allowed width of a box's mask in cells. Published networks have 14 to 33 cells. */
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
  // RT-DETR, D-FINE and DEIM with their post-processor. torchvision's networks have outputs of the same names, but only
  // one input.
  {
    exporter: "dfine",
    family: "rtdetr",
    outputs: { labels: null, boxes: 4, scores: null },
    inputs: ["orig_target_sizes"],
    isWhole: true,
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
  { exporter: "paddle", family: "dbnet", outputs: { "sigmoid_0.tmp_0": null }, isWhole: true },
];

/** Form of a file whose metadata have the key `key`. The value is JSON that describes the network. */
export interface MetadataForm {
  readonly exporter: Exporter;
  readonly family: Family;
  readonly key: string;
  /** Task for each task name in the JSON. Networks of all tasks output boxes. For some, only boxes are read. */
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

/** Form of a file with a tensor of scores and a tensor of boxes per feature map. Tensor names end with the stride. */
export interface PairsForm {
  readonly exporter: Exporter;
  readonly family: Family;
  /** Prefix of the names of score tensors. */
  readonly scores: string;
  /** Prefix of the names of box tensors. */
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

/** Form of a file with a custom operator that outputs finished detections. */
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

/** Ultralytics' classifiers: the graph ends with a softmax. Pillow resizes, bytes are divided by 255. */
export const ULTRALYTICS_CLASSIFIER = {
  exporter: "ultralytics",
  options: { family: "classifier", prepare: { resample: "pillow", mean: 0, std: 255 } },
} as const;
