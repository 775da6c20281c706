/** The recorded networks, each with the line of config that its user writes. */
import type { DecoderOptions } from "../../src/config/types.ts";
import type { Recording, Row } from "./shared-data.ts";

export interface Network {
  /** Folder of its recordings. */
  readonly folder: string;
  /** Which of its outputs, where it was recorded in more than one form. */
  readonly form: string;
  /** Names of the outputs to decode; by default all. */
  readonly outputs?: readonly string[];
  /** What a user writes. Anchors that came with the recording are read from it. */
  readonly config: (recording: Recording) => unknown;
  readonly labels: "coco80" | "coco91" | "coco90" | "oidv4" | "face";
  /** What the network takes its photo for, where that is not what the photo shows. */
  readonly mistakes?: readonly string[];
}

const mean = [10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119, 116, 90, 156, 198, 373, 326];
const coco = (
  family: string,
  side: number,
): { family: string; classes: number; inputSize: [number, number] } => ({
  family,
  classes: 80,
  inputSize: [side, side],
});

export const networks: readonly Network[] = [
  {
    folder: "yolo-fastest-1.1",
    form: "raw YOLOv3 maps",
    outputs: ["raw_conv_120", "raw_conv_129"],
    config: () => ({
      ...coco("yolov3", 320),
      anchors: [12, 18, 37, 49, 52, 132, 115, 73, 119, 199, 242, 238],
      anchorMasks: { side20: [0, 1, 2], side10: [3, 4, 5] },
    }),
    labels: "coco80",
  },
  {
    folder: "yolov5n_320",
    form: "rows",
    outputs: ["output"],
    config: () => coco("yolov5", 320),
    labels: "coco80",
  },
  {
    folder: "yolov5n_320",
    form: "raw maps",
    outputs: ["head_p3", "head_p4", "head_p5"],
    config: () => ({ ...coco("yolov5", 320), anchors: mean }),
    labels: "coco80",
  },
  {
    folder: "yolov8n_320_rawheads",
    form: "planes",
    outputs: ["output0"],
    config: () => coco("yolov8", 320),
    labels: "coco80",
  },
  {
    folder: "yolov8n_320_rawheads",
    form: "raw DFL maps",
    outputs: ["box_p3", "cls_p3", "box_p4", "cls_p4", "box_p5", "cls_p5"],
    config: () => coco("yolov8", 320),
    labels: "coco80",
  },
  { folder: "yolo26n_640", form: "end to end", config: () => coco("yolo26", 640), labels: "coco80" },
  { folder: "yolox_nano", form: "undecoded rows", config: () => coco("yolox", 416), labels: "coco80" },
  {
    folder: "nanodet_m_320",
    form: "DFL rows per stride",
    config: () => coco("nanodet", 320),
    labels: "coco80",
    // it is surer of a dog; the cat is its third detection
    mistakes: ["chelsea"],
  },
  { folder: "FastestDet", form: "one map", config: () => coco("fastestdet", 352), labels: "coco80" },
  {
    folder: "faceapi_tiny_yolov2_face",
    form: "NHWC map, no class channel",
    config: () => ({
      family: "yolov2",
      classes: 1,
      inputSize: [416, 416],
      anchors: [
        1.603231, 2.094468, 6.041143, 7.080126, 2.882459, 3.518061, 4.266906, 5.178857, 9.041765, 10.66308,
      ],
      strides: [32],
    }),
    labels: "face",
  },
  {
    folder: "coco_ssd_mobilenet_v1.raw",
    form: "TensorFlow offsets, probabilities and anchors",
    outputs: ["Squeeze", "convert_scores"],
    config: (r) => ({
      family: "ssd",
      classes: 90,
      scales: [10, 10, 5, 5],
      priors: r.tensors["anchors"].data,
    }),
    labels: "coco91",
  },
  {
    folder: "coco_ssd_mobilenet_v1.postprocess",
    form: "four outputs",
    config: () => ({ family: "tflite-postprocess" }),
    labels: "coco90",
  },
  {
    folder: "mobilenet_ssd_detection_output",
    form: "[1,1,N,7]",
    config: () => ({
      NN_config: { output_format: "detection", NN_family: "mobilenet", confidence_threshold: 0.5 },
    }),
    labels: "coco91",
  },
  {
    folder: "mediapipe_ssd_mobilenetv2_oidv4",
    form: "TensorFlow offsets and logits, anchors among the outputs",
    config: () => ({ family: "ssd", scales: [10, 10, 5, 5], scores: "logits", priorFormat: "cxcywh" }),
    labels: "oidv4",
  },
  {
    folder: "blazeface_short",
    form: "offsets and logits",
    outputs: ["regressors", "classificators"],
    config: () => ({ family: "blazeface", classes: 1, inputSize: [128, 128] }),
    labels: "face",
  },
  {
    folder: "version-RFB-320",
    form: "decoded boxes",
    config: () => ({ family: "ultraface", classes: 1, inputSize: [320, 240], boxFormat: "xyxy" }),
    labels: "face",
  },
  {
    folder: "version-RFB-320_without_postprocessing",
    form: "offsets",
    config: () => ({
      family: "ultraface",
      classes: 1,
      inputSize: [320, 240],
      variances: [0.1, 0.1, 0.2, 0.2],
    }),
    labels: "face",
  },
];

/** The rule of every expected.json: score above 0.26, IoU above 0.45 within a class, no clamp, no cap. */
export const uniformRule: DecoderOptions = {
  confidenceThreshold: 0.26,
  iouThreshold: 0.45,
  rules: { set: "ultralytics", clamp: "none", maxCandidates: 0 },
  maxDetections: 1000,
};

/** What the three photos show, in pixels, as a person sees it. */
const seen: Record<string, { readonly words: readonly string[]; readonly box: readonly number[] }[]> = {
  astronaut: [
    { words: ["person", "Person"], box: [18, 14, 370, 512] },
    { words: ["face"], box: [174, 62, 276, 180] },
  ],
  chelsea: [{ words: ["cat", "Cat"], box: [0, 0, 405, 300] }],
  coffee: [{ words: ["cup", "Coffee cup"], box: [170, 18, 412, 308] }],
};

/** The thing on the photo that a network of these labels knows, with corners normalised to the photo. */
export function objectOn(
  photo: string,
  labels: readonly string[],
  width: number,
  height: number,
): { readonly class_id: number; readonly box: Row } {
  for (const { words, box } of seen[photo] ?? []) {
    const class_id = labels.findIndex((l) => words.includes(l));
    if (class_id >= 0)
      return {
        class_id,
        box: {
          class_id,
          confidence: 1,
          x_min: box[0] / width,
          y_min: box[1] / height,
          x_max: box[2] / width,
          y_max: box[3] / height,
        },
      };
  }
  throw new Error(
    `got photo ${photo}, expected one that shows something of ${labels.slice(0, 5).join(", ")}`,
  );
}
