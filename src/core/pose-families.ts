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

/** Name of a form of tensors that only networks with keypoints have. `pose/forms.ts` has a function for each. */
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
 * How the maximum of a heat map becomes a point. Cells have x from 0 to w - 1.
 * - `none`: x / w; the confidence is clipped to 0..1 (HRNetParser of depthai-nodes)
 * - `centre`: (x + 0.5) / w (SuperAnimalParser of depthai-nodes)
 * - `quarter`: (x + a quarter towards the larger neighbour) / w (mmpose, MSRAHeatmap)
 * - `dark-udp`: one Newton step on the logarithm of the blurred map, then / (w - 1) (mmpose, UDPHeatmap)
 * - `heatmap`: the mean of the cells around the network's own point (MediaPipe's pose)
 */
export const REFINEMENTS = ["none", "centre", "quarter", "dark-udp", "heatmap"] as const;
export type Refinement = (typeof REFINEMENTS)[number];

/** Tensors of a network that gets a crop of one object and gives its keypoints, but no box. */
export type CropNetwork =
  | { readonly kind: "simcc" }
  | { readonly kind: "heatmaps"; readonly refinement: Refinement }
  | { readonly kind: "vector" }
  | LandmarkFacts;

/** Tensors of MediaPipe's networks. Each row of the first is x, y, z in pixels of the input, then further values. */
export interface LandmarkFacts {
  readonly kind: "landmarks";
  /** Row counts that networks of the family may have. */
  readonly rows: readonly number[];
  /** Values per row. The fourth and fifth are raw visibility and presence. */
  readonly values: 3 | 5;
  /** Count of the rows that are keypoints of the object. The rows after them are not returned. Usual: all. */
  readonly points?: number;
  /** Divisor of z, applied after dividing by the width of the input. Usual: 1. */
  readonly depth?: number;
  /** Form of the tensor with one value, which says if the object is there: a probability ("sigmoid") or a logit. */
  readonly presence: "sigmoid" | "logits";
  /** Names of two classes. The second one-value tensor is the probability of the second class. */
  readonly sides?: readonly [string, string];
  /** True: the network also gives points in metres and heat maps. */
  readonly world?: true;
  readonly heat?: true;
}

/** Facts about the points of a family. A field that is absent has the value that its comment calls usual. */
export interface FamilyPoints {
  /**
   * Form of the tensors. Usual: boxes are laid out as in a detector without points. The points follow the other
   * channels, or have tensors of their own.
   */
  readonly form?: PoseForm;
  /**
   * Raw points of maps: x = (factor * raw + column + offset) cells. Usual: 2 and 0, which is Ultralytics' rule of
   * YOLOv8 to YOLO12.
   */
  readonly grid?: readonly [factor: number, offset: number];
  /** True: the network may give a map of offsets, of scores and of points for each level. Usual: rows only. */
  readonly haveMaps?: true;
  /** Factors on the offsets from priors. Usual: those of the config. */
  readonly variances?: readonly [number, number, number, number];
  /** Keypoints of every network of the family. Usual: the config states them. */
  readonly keypoints?: PointShape;
  readonly names?: readonly string[];
  readonly edges?: Edges;
  /** Tensors of a network that gets a crop of one object. Usual: the network gets the whole picture. */
  readonly network?: CropNetwork;
  /** Rule that makes a crop of a detection. Usual: `PERSON_CROP`. */
  readonly crop?: CropRule;
  /** Rule that makes the next frame's crop of this frame's rows. Usual: every crop comes from a detection. */
  readonly next?: CropRule;
}

/** The crop of top-down pose networks: mmpose, GetBBoxCenterScale (padding 1.25) and TopdownAffine. */
export const PERSON_CROP: CropRule = { scale: 1.25, sides: "input" };

const PERSON = { names: COCO17_NAMES, edges: COCO17_EDGES } as const;
/**
 * MediaPipe's crop by two points: the middle of the body and the rim of a circle around it. The detector gives them
 * first, the network in rows 33 and 34.
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
  // Raw maps with anchors: TexasInstruments/edgeai-yolov5 and WongKinYiu/yolov7 (branch pose), models/yolo.py. The size
  // of the anchor has no influence.
  yolov5: { grid: [2, -0.5] },
  yolov7: { grid: [2, -0.5] },
  // YOLO26 measures from the centre of the cell: head.py, Pose26.kpts_decode.
  yolo26: { grid: [1, 0.5] },
  blazeface: { form: "after-boxes", keypoints: [6, 2], names: BLAZEFACE6_NAMES },
  "mediapipe-palm": { form: "after-boxes", keypoints: [7, 2], names: PALM7_NAMES },
  // Raw points of maps are offsets in anchors: deepcam-cn/yolov5-face, models/yolo.py.
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
      // End the line at the mean of point 9 and of the mean of points 5 and 13.
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
