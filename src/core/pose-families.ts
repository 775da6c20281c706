/** Facts about the keypoints of each family's networks. */
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
import type { Family } from "./family.ts";

/** Name of a tensor form that only networks with keypoints have. `pose/forms.ts` has a function for each form. */
export type PoseForm =
  | "after-boxes"
  | "face"
  | "anchor-rows"
  | "part-maps"
  | "one-pose"
  | "poses"
  | "boxes-and-points"
  | "query-points";

/**
 * Rule by which the maximum of a heat map becomes a point. x is the column of the maximum, 0 to w - 1.
 * - `none`: x / w; the confidence is clipped to 0..1 (HRNetParser of depthai-nodes)
 * - `centre`: (x + 0.5) / w (SuperAnimalParser of depthai-nodes)
 * - `quarter`: (x + a quarter towards the larger neighbour) / w (mmpose, MSRAHeatmap)
 * - `dark-udp`: one Newton step on the logarithm of the blurred map, then / (w - 1) (mmpose, UDPHeatmap)
 * - `heatmap`: the mean of the cells around the point that the network outputs (MediaPipe's pose)
 */
export const REFINEMENTS = ["none", "centre", "quarter", "dark-udp", "heatmap"] as const;
export type Refinement = (typeof REFINEMENTS)[number];

/** Outputs of a network that gets the crop of one object, and outputs keypoints but no box. */
export type CropNetwork =
  | { readonly kind: "simcc" }
  | { readonly kind: "heatmaps"; readonly refinement: Refinement }
  | { readonly kind: "vector" }
  | LandmarkFacts;

/**
 * Outputs of MediaPipe's landmark networks. Each row of the landmark tensor holds x, y, z in pixels of the input, and
 * may hold more values.
 */
export interface LandmarkFacts {
  readonly kind: "landmarks";
  /** Possible row counts of the landmark tensor. */
  readonly rows: readonly number[];
  /** Count of values per row. The fourth and fifth value are raw visibility and presence. */
  readonly values: 3 | 5;
  /** Count of the first rows that are keypoints of the object. Later rows are not returned. Usual: all rows. */
  readonly points?: number;
  /** Additional divisor of z, which is also divided by the width of the input. Usual: 1. */
  readonly depth?: number;
  /** Form of the only value of the presence tensor (is there an object?): a probability ("sigmoid") or a logit. */
  readonly presence: "sigmoid" | "logits";
  /** Names of two classes. The second of the one-value tensors holds the probability of the second class. */
  readonly sides?: readonly [string, string];
  /** True: the network also outputs points in metres (`world`), or heat maps (`heat`). */
  readonly world?: true;
  readonly heat?: true;
}

/** Facts about the points of a family. "Usual" in a comment describes families without the field. */
export interface FamilyPoints {
  /** Form of the tensors. Usual: those of a detector, with points after the other channels or in separate tensors. */
  readonly form?: PoseForm;
  /** For raw points of maps: x = (factor * raw + column + offset) cells. Usual: 2 and 0 (YOLOv8 to YOLO12). */
  readonly grid?: readonly [factor: number, offset: number];
  /** True: the network may output a map of offsets, scores and points for each level. Usual: only rows. */
  readonly haveMaps?: true;
  /** Factors on the offsets of points from priors. Usual: the factors in the config. */
  readonly variances?: readonly [number, number, number, number];
  /** Count of keypoints, and of values each, in all networks of the family. Usual: the config states them. */
  readonly keypoints?: PointShape;
  readonly names?: readonly string[];
  readonly edges?: Edges;
  /** Tensors of a network that gets the crop of one object. Usual: the network gets the whole picture. */
  readonly network?: CropNetwork;
  /** Rule that makes a crop from a detection. Usual: `PERSON_CROP`. */
  readonly crop?: CropRule;
  /** Rule that makes the crop for the next frame from this frame's points. Usual: every crop comes from a detection. */
  readonly next?: CropRule;
}

/** The crop of top-down pose networks: mmpose, GetBBoxCenterScale (padding 1.25) and TopdownAffine. */
export const PERSON_CROP: CropRule = { scale: 1.25, sides: "input" };

const PERSON = { names: COCO17_NAMES, edges: COCO17_EDGES } as const;
/**
 * Returns MediaPipe's crop by two points: the middle of the body, and a point on a circle around it. The second point
 * follows the first in the list.
 */
const circle = (middle: number): CropRule => ({
  scale: 1.25,
  sides: "square",
  circle: true,
  line: { from: [middle], to: [middle + 1], lies: "up" },
});

const FIVE = { keypoints: [5, 2], names: FACE5_NAMES } as const;
const COCO = { keypoints: [17, 3], names: COCO17_NAMES, edges: COCO17_EDGES } as const;

export const POINT_FACTS: { readonly [F in Family]?: FamilyPoints } = {
  // Raw maps with anchors: TexasInstruments/edgeai-yolov5 and WongKinYiu/yolov7 (branch pose), models/yolo.py. Points
  // do not depend on the size of the anchor.
  yolov5: { grid: [2, -0.5] },
  yolov7: { grid: [2, -0.5] },
  // YOLO26 measures points from the centre of the cell: head.py, Pose26.kpts_decode.
  yolo26: { grid: [1, 0.5] },
  blazeface: { form: "after-boxes", keypoints: [6, 2], names: BLAZEFACE6_NAMES },
  "mediapipe-palm": { form: "after-boxes", keypoints: [7, 2], names: PALM7_NAMES },
  // Raw points of maps are offsets in multiples of the anchor's size: deepcam-cn/yolov5-face, models/yolo.py.
  "yolov5-face": { form: "face", grid: [1, 0], ...FIVE },
  retinaface: { haveMaps: true, variances: [0.1, 0.1, 0.2, 0.2], ...FIVE },
  scrfd: { form: "anchor-rows", grid: [1, 0], ...FIVE },
  yunet: { form: "part-maps", grid: [1, 0], ...FIVE },
  movenet: { form: "one-pose", ...COCO },
  "movenet-multipose": { form: "poses", ...COCO },
  rfdetr: { form: "query-points" },
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
      // The line ends at the mean of two points: point 9, and the mean of points 5 and 13.
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
