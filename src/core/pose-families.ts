/**
 * Families of networks that give points, and facts about the points of all families. `boxwright/pose` brings this table
 * into the decoder.
 */
import { type Layer, blazeface, grid } from "./built-priors.ts";
import {
  BLAZEFACE6_NAMES,
  COCO17_EDGES,
  COCO17_NAMES,
  type Edges,
  FACE5_NAMES,
  PALM7_NAMES,
  type PointShape,
} from "./keypoints.ts";
import type { Family, FamilyTraits, PoseFamily } from "./families.ts";

/** Names a form of tensors that only networks with points have. `pose/forms.ts` reads each. */
export type PoseForm = "after-boxes" | "face" | "anchor-rows" | "yunet" | "one-pose" | "poses";

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
}

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
};

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
};

/**
 * Returns the anchors of MediaPipe's palm detection, each as large as the image. At 192x192 and 128x128 they have
 * strides 8 and 16, at 256x256 also 32: palm_detection_cpu.pbtxt of today and of 2019.
 */
function palm(inputSize: readonly [number, number]): Float32Array {
  const whole = (stride: number, count: number): Layer => [stride, Array<[1, 1]>(count).fill([1, 1])];
  const layers = inputSize[0] === 256 ? [whole(16, 2), whole(32, 6)] : [whole(16, 6)];
  return grid(inputSize, [whole(8, 2), ...layers]);
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
