/**
 * Families of networks that give points, and facts about the points of all families. `boxwright/pose` brings this table
 * into the decoder.
 */
import { blazeface } from "./built-priors.ts";
import type { Family, FamilyTraits, PoseFamily } from "./families.ts";

/** Number of keypoints, and values of each: x and y, or x, y and confidence. */
export type PointShape = readonly [count: number, values: 2 | 3];

/** Pairs of keypoints that a skeleton joins, counted from 0. */
export type Edges = readonly (readonly [number, number])[];

/** Keypoints of COCO, in order. Left is the person's own left. */
export const COCO17_NAMES = [
  "nose",
  "left eye",
  "right eye",
  "left ear",
  "right ear",
  "left shoulder",
  "right shoulder",
  "left elbow",
  "right elbow",
  "left wrist",
  "right wrist",
  "left hip",
  "right hip",
  "left knee",
  "right knee",
  "left ankle",
  "right ankle",
] as const;

/** The usual skeleton over the keypoints of COCO. */
export const COCO17_EDGES: Edges = [
  [15, 13],
  [13, 11],
  [16, 14],
  [14, 12],
  [11, 12],
  [5, 11],
  [6, 12],
  [5, 6],
  [5, 7],
  [6, 8],
  [7, 9],
  [8, 10],
  [1, 2],
  [0, 1],
  [0, 2],
  [1, 3],
  [2, 4],
  [3, 5],
  [4, 6],
];

/**
 * Five points of a face, in order. Left is the left of the picture. OpenCV calls the same first point the right eye,
 * which is the person's own right.
 */
export const FACE5_NAMES = [
  "eye on the left",
  "eye on the right",
  "nose",
  "mouth corner on the left",
  "mouth corner on the right",
] as const;

/** Six points of BlazeFace, in order. Left is the person's own left. */
export const BLAZEFACE6_NAMES = [
  "right eye",
  "left eye",
  "nose tip",
  "mouth centre",
  "right ear tragion",
  "left ear tragion",
] as const;

/** Seven points of MediaPipe's palm detection, in order. */
export const PALM7_NAMES = [
  "wrist",
  "index finger base",
  "middle finger base",
  "ring finger base",
  "little finger base",
  "thumb base",
  "thumb second joint",
] as const;

/** Names a form of tensors that only networks with points have. `pose/forms.ts` reads each. */
export type PoseForm = "behind-priors" | "face-rows" | "anchor-rows" | "point-rows" | "one-pose" | "poses";

/** Facts about the points of a family. A field that is absent has the value that its comment calls usual. */
export interface PointFacts {
  /**
   * How the tensors are read. Usual: boxes as without points. The points stand behind the other channels, or in tensors
   * of their own.
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
  // YOLO26 measures from the centre of the cell: head.py, Pose26.kpts_decode.
  yolo26: { grid: [1, 0.5] },
  blazeface: { form: "behind-priors", keypoints: [6, 2], names: BLAZEFACE6_NAMES },
  "mediapipe-palm": { form: "behind-priors", keypoints: [7, 2], names: PALM7_NAMES },
  "yolov5-face": { form: "face-rows", ...FIVE },
  retinaface: { variances: [0.1, 0.1, 0.2, 0.2], ...FIVE },
  scrfd: { form: "anchor-rows", grid: [1, 0], ...FIVE },
  yunet: { form: "point-rows", grid: [1, 0], ...FIVE },
  movenet: { form: "one-pose", ...COCO },
  "movenet-multipose": { form: "poses", ...COCO },
};

const TOP_LEFT = { resize: "letterbox-topleft", pad: 0 } as const;
const MEDIAPIPE: FamilyTraits = {
  head: "prior",
  exports: ["prior-rows"],
  raw: "logits",
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
  "mediapipe-palm": { ...MEDIAPIPE, prepare: { pad: 0, layout: "NHWC" } },
  movenet: { ...PLAIN, prepare: { pad: 0, layout: "NHWC", std: 1 } },
  "movenet-multipose": { ...PLAIN, prepare: { pad: 0, layout: "NHWC", std: 1 } },
};

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
