/**
 * Families of networks that give points, and facts about the points of all families. `boxwright/pose` brings this table
 * into the decoder.
 */
import { type Layer, blazeface, grid } from "./built-priors.ts";
import type { CropRule } from "./crop.ts";
import {
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
  type PointShape,
} from "./keypoints.ts";
import type { Family, FamilyTraits, PoseFamily } from "./families.ts";

/** Names a form of tensors that only networks with points have. `pose/forms.ts` reads each. */
export type PoseForm =
  "after-boxes" | "face" | "anchor-rows" | "yunet" | "one-pose" | "poses" | "boxes-and-points";

/**
 * How the maximum of a heat map becomes a point. Cells have x from 0 to w - 1.
 * - `none`: x / w; the confidence is clipped to 0..1 (HRNetParser of depthai-nodes)
 * - `centre`: (x + 0.5) / w (SuperAnimalParser of depthai-nodes)
 * - `quarter`: (x + a quarter towards the larger neighbour) / w (mmpose, MSRAHeatmap)
 * - `dark-udp`: one Newton step on the logarithm of the blurred map, then / (w - 1) (mmpose, UDPHeatmap)
 * - `heatmap`: the mean of the cells around the network's own point (MediaPipe's pose)
 */
export const REFINEMENTS = ["none", "centre", "quarter", "dark-udp", "heatmap"] as const;
export type Refinement = (typeof REFINEMENTS)[number];

/** The tensors of a network that gets a crop of one object, and gives its points but no box. */
export type CropNetwork =
  | { readonly kind: "simcc" }
  | { readonly kind: "heatmaps"; readonly refinement: Refinement }
  | { readonly kind: "vector" }
  | LandmarkFacts;

/** The tensors of MediaPipe's networks. Each row of the first is x, y, z in pixels of the input, and what follows. */
export interface LandmarkFacts {
  readonly kind: "landmarks";
  /** Counts of the rows that networks of the family have. */
  readonly rows: readonly number[];
  /** Values of a row: 5 with raw visibility and presence. */
  readonly values: 3 | 5;
  /** Rows that are points of the object; the others are left out. Usual: all. */
  readonly points?: number;
  /** Divisor of z besides the width of the input. Usual: 1. */
  readonly depth?: number;
  /** What the tensor of one value holds: the probability that the object is there, or its logit. */
  readonly presence: "sigmoid" | "logits";
  /** Names of two classes. The second tensor of one value is the probability of the second. */
  readonly sides?: readonly [string, string];
  /** The network has a tensor of points in metres, and one of heat maps. */
  readonly world?: true;
  readonly heat?: true;
}

/** Facts about the points of a family. A field that is absent has the value that its comment calls usual. */
export interface PointFacts {
  /**
   * How the tensors are read. Usual: boxes have the layout of a detector without points. The points follow the other
   * channels, or are in tensors of their own.
   */
  readonly form?: PoseForm;
  /**
   * Raw points of maps: x = (factor * raw + column + offset) cells. Usual: 2 and 0, which is Ultralytics' rule of
   * YOLOv8 to YOLO12.
   */
  readonly grid?: readonly [factor: number, offset: number];
  /** Factors on the offsets from priors. Usual: those of the config. */
  readonly variances?: readonly [number, number, number, number];
  /** Every network of the family has these points. Usual: the config has to say. */
  readonly keypoints?: PointShape;
  readonly names?: readonly string[];
  readonly edges?: Edges;
  /** The network gets a crop of one object. Usual: the whole picture. */
  readonly network?: CropNetwork;
  /** How a detection becomes the crop. Usual: `PERSON_CROP`. */
  readonly crop?: CropRule;
  /** How the rows of one frame become the crop of the next. Usual: they do not. */
  readonly next?: CropRule;
}

/** The crop of top-down pose networks: mmpose, GetBBoxCenterScale (padding 1.25) and TopdownAffine. */
export const PERSON_CROP: CropRule = { scale: 1.25, sides: "input" };

const PERSON = { names: COCO17_NAMES, edges: COCO17_EDGES } as const;
/** MediaPipe: the body's middle and its rim. The detector has them first, the network in rows 33 and 34. */
const circle = (middle: number): CropRule => ({
  scale: 1.25,
  sides: "square",
  circle: true,
  line: { from: [middle], to: [middle + 1], lies: "up" },
});

const FIVE = { keypoints: [5, 2], names: FACE5_NAMES } as const;
const COCO = { keypoints: [17, 3], names: COCO17_NAMES, edges: COCO17_EDGES } as const;

export const POINT_FACTS: { readonly [F in Family]?: PointFacts } = {
  // Raw maps with anchors: TexasInstruments/edgeai-yolov5 and WongKinYiu/yolov7 (branch pose), models/yolo.py. The size
  // of the anchor does not enter.
  yolov5: { grid: [2, -0.5] },
  yolov7: { grid: [2, -0.5] },
  // YOLO26 measures from the centre of the cell: head.py, Pose26.kpts_decode.
  yolo26: { grid: [1, 0.5] },
  blazeface: { form: "after-boxes", keypoints: [6, 2], names: BLAZEFACE6_NAMES },
  "mediapipe-palm": { form: "after-boxes", keypoints: [7, 2], names: PALM7_NAMES },
  // Raw points of maps are offsets in anchors: deepcam-cn/yolov5-face, models/yolo.py.
  "yolov5-face": { form: "face", grid: [1, 0], ...FIVE },
  retinaface: { variances: [0.1, 0.1, 0.2, 0.2], ...FIVE },
  scrfd: { form: "anchor-rows", grid: [1, 0], ...FIVE },
  yunet: { form: "yunet", grid: [1, 0], ...FIVE },
  movenet: { form: "one-pose", ...COCO },
  "movenet-multipose": { form: "poses", ...COCO },
  rtmo: { form: "boxes-and-points", ...COCO },
  "mediapipe-person": { form: "after-boxes", keypoints: [4, 2], names: PERSON4_NAMES },
  rtmpose: { network: { kind: "simcc" }, ...PERSON },
  hrnet: { network: { kind: "heatmaps", refinement: "quarter" }, ...PERSON },
  vitpose: { network: { kind: "heatmaps", refinement: "dark-udp" }, ...PERSON },
  superanimal: { network: { kind: "heatmaps", refinement: "centre" } },
  keypoints: { network: { kind: "vector" } },
  // MediaPipe's graphs: modules/face_landmark, hand_landmark, pose_landmark.
  "face-mesh": {
    network: { kind: "landmarks", rows: [468, 478], values: 3, presence: "logits" },
    crop: { scale: 1.5, sides: "square", line: { from: [0], to: [1], lies: "right" } },
    next: { scale: 1.5, sides: "square", around: "all", line: { from: [33], to: [263], lies: "right" } },
  },
  "hand-landmarks": {
    network: {
      kind: "landmarks",
      rows: [21],
      values: 3,
      depth: 0.4,
      presence: "sigmoid",
      sides: ["left", "right"],
      world: true,
    },
    names: HAND21_NAMES,
    edges: HAND21_EDGES,
    crop: { scale: 2.6, sides: "square", shift: -0.5, line: { from: [0], to: [2], lies: "up" } },
    next: {
      scale: 2,
      sides: "square",
      shift: -0.1,
      around: [0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18],
      turned: true,
      // The mean of point 9 and of the mean of 5 and 13.
      line: { from: [0], to: [9, 9, 5, 13], lies: "up" },
    },
  },
  "pose-landmarks": {
    network: {
      kind: "landmarks",
      rows: [39],
      points: 33,
      values: 5,
      presence: "sigmoid",
      world: true,
      heat: true,
    },
    names: BODY33_NAMES,
    edges: BODY33_EDGES,
    crop: circle(0),
    next: circle(33),
  },
};

/** Pictures of mmpose: Config data_preprocessor of RTMPose, HRNet and ViTPose. Outside of the photo stands black. */
const OPENMMLAB = { pad: 0, mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375] } as const;

const TOP_LEFT = { resize: "letterbox-topleft", pad: 0 } as const;
const MEDIAPIPE: FamilyTraits = {
  head: "prior",
  exports: ["prior-rows"],
  raw: "logits",
  archived: "logits",
  linearSize: true,
  classes: 1,
  keypoints: true,
  offsetUnit: "pixels",
  priorFormat: "cxcywh",
  buildPriors: blazeface,
  task: "pose",
};
const PLAIN: FamilyTraits = {
  head: "plain",
  exports: [],
  raw: "sigmoid",
  classes: 1,
  coordinates: "normalised",
  task: "pose",
};

/** MediaPipe's networks of points. Outside of the photo its edge is repeated. */
const LANDMARKS: FamilyTraits = {
  ...PLAIN,
  threshold: 0.5,
  prepare: { pad: 0, layout: "NHWC", border: "edge" },
};

export const POSE_FAMILIES: { readonly [F in PoseFamily]: FamilyTraits } = {
  "yolov5-face": { head: "anchor", exports: [], raw: "sigmoid", squareSize: true, classes: 1, task: "pose" },
  retinaface: {
    head: "prior",
    exports: ["prior-rows"],
    raw: "sigmoid",
    classes: "in shapes",
    background: "first",
    coordinates: "normalised",
    priorFormat: "cxcywh",
    buildPriors: retinaface,
    task: "pose",
    word: /retinaface/,
    prepare: { pad: 0, order: "BGR", mean: [104, 117, 123], std: 1 },
  },
  scrfd: {
    head: "distance",
    exports: [],
    raw: "sigmoid",
    classes: 1,
    task: "pose",
    word: /scrfd/,
    prepare: { ...TOP_LEFT, mean: 127.5, std: 128 },
  },
  yunet: {
    head: "point",
    exports: [],
    raw: "sigmoid",
    classes: 1,
    task: "pose",
    word: /yunet/,
    prepare: { ...TOP_LEFT, order: "BGR", std: 1 },
  },
  "mediapipe-palm": { ...MEDIAPIPE, buildPriors: palm, prepare: { pad: 0, layout: "NHWC" } },
  movenet: { ...PLAIN, prepare: { pad: 0, layout: "NHWC", std: 1 } },
  "movenet-multipose": { ...PLAIN, prepare: { pad: 0, layout: "NHWC", std: 1 } },
  rtmo: {
    head: "plain",
    exports: [],
    raw: "sigmoid",
    classes: 1,
    task: "pose",
    word: /rtmo(?!bile)/,
    prepare: { order: "BGR", std: 1 },
  },
  "mediapipe-person": {
    ...MEDIAPIPE,
    buildPriors: person,
    prepare: { pad: 0, layout: "NHWC", mean: 127.5, std: 127.5 },
    word: /pose[-_]detection/,
  },
  rtmpose: { ...PLAIN, word: /rtmpose|rtmw|simcc|dwpose/, prepare: OPENMMLAB },
  hrnet: { ...PLAIN, word: /hrnet|simplebaseline/, prepare: OPENMMLAB },
  vitpose: { ...PLAIN, word: /vitpose/, prepare: { ...OPENMMLAB, udp: true } },
  superanimal: { ...PLAIN, word: /super[-_]?animal/ },
  keypoints: PLAIN,
  "face-mesh": { ...LANDMARKS, word: /face[-_]?(landmark|mesh)/ },
  "hand-landmarks": { ...LANDMARKS, word: /hand[-_]?landmark/ },
  "pose-landmarks": { ...LANDMARKS, word: /pose[-_]?landmark|blazepose/ },
};

/** Returns a layer of `count` anchors a cell, each as large as the image. */
const whole = (stride: number, count: number): Layer => [stride, Array<[1, 1]>(count).fill([1, 1])];

/**
 * Returns the anchors of MediaPipe's palm detection, each as large as the image. At 192x192 and 128x128 they have
 * strides 8 and 16, at 256x256 also 32: palm_detection_cpu.pbtxt of today and of 2019.
 */
function palm(inputSize: readonly [number, number]): Float32Array {
  const layers = inputSize[0] === 256 ? [whole(16, 2), whole(32, 6)] : [whole(16, 6)];
  return grid(inputSize, [whole(8, 2), ...layers]);
}

/** Returns the anchors of MediaPipe's detection of persons, at strides 8, 16 and 32: pose_detection_cpu.pbtxt. */
function person(inputSize: readonly [number, number]): Float32Array {
  return grid(inputSize, [whole(8, 2), whole(16, 2), whole(32, 6)]);
}

/** Sizes of the square priors of each stride of YuNet of 2022, in pixels. */
const YUNET_2022: readonly (readonly [stride: number, sizes: readonly number[]])[] = [
  [8, [10, 16, 24]],
  [16, [32, 48]],
  [32, [64, 96]],
  [64, [128, 192, 256]],
];

/**
 * Returns the priors of YuNet of 2022, rows cx cy w h, normalised. A map has the whole cells of the input: 96 pixels
 * have one cell of 64.
 */
export function yunetPriors([width, height]: readonly [number, number]): Float32Array {
  const out: number[] = [];
  for (const [stride, sizes] of YUNET_2022)
    for (let y = 0; y < Math.floor(height / stride); y++)
      for (let x = 0; x < Math.floor(width / stride); x++)
        for (const size of sizes)
          out.push(((x + 0.5) * stride) / width, ((y + 0.5) * stride) / height, size / width, size / height);
  return Float32Array.from(out);
}

/** Sizes of the square priors of each stride of RetinaFace, in pixels. */
const RETINAFACE: readonly (readonly [stride: number, sizes: readonly number[]])[] = [
  [8, [16, 32]],
  [16, [64, 128]],
  [32, [256, 512]],
];

/** Returns the priors of RetinaFace, rows cx cy w h: biubug6/Pytorch_Retinaface, prior_box.py. */
function retinaface([width, height]: readonly [number, number]): Float32Array {
  const out: number[] = [];
  for (const [stride, sizes] of RETINAFACE)
    for (let y = 0; y < Math.ceil(height / stride); y++)
      for (let x = 0; x < Math.ceil(width / stride); x++)
        for (const size of sizes)
          out.push(((x + 0.5) * stride) / width, ((y + 0.5) * stride) / height, size / width, size / height);
  return Float32Array.from(out);
}
