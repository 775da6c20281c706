/** Names of keypoints in order, and the edges of skeletons. */
import { deepFreeze } from "./freeze.ts";
import type { Rule } from "./options.ts";

/** Count of keypoints, and count of values of each keypoint: 2 for x and y, 3 for x, y and confidence. */
export type PointShape = readonly [count: number, values: 2 | 3];

/** Largest allowed number of keypoints of one object. */
export const MOST_POINTS = 10_000;

/** Pairs of keypoints that a skeleton connects. Keypoints are numbered from 0. */
export type Edges = readonly (readonly [number, number])[];

const isIndex = (k: unknown): boolean => Number.isInteger(k) && (k as number) >= 0;

/** True if an object may have this many keypoints. */
export const isPointCount = (x: unknown): boolean => isIndex(x) && x !== 0 && (x as number) <= MOST_POINTS;

/** Rule: the keypoint count of an object, and the count of values of each keypoint. */
export const POINT_SHAPE: Rule<PointShape> = [
  "[count, values], with 2 values (x, y) or 3 (x, y, confidence), for instance [17, 3]",
  (x) => Array.isArray(x) && x.length === 2 && isPointCount(x[0]) && (x[1] === 2 || x[1] === 3),
];

/** Rule: the edges of a skeleton. */
export const EDGES: Rule<Edges> = [
  "pairs of keypoints, counted from 0, for instance [[0, 1]]",
  (x) =>
    Array.isArray(x) &&
    (x as unknown[]).every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isIndex)),
];

/** Keypoints of COCO, in order. Left is the person's own left. */
export const COCO17_NAMES = /* @__PURE__ */ Object.freeze([
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
] as const);

/**
 * The usual skeleton over the keypoints of COCO.
 * @example
 * import { COCO17_EDGES, COCO17_NAMES, createDecoderSync } from "boxwright";
 *
 * const decoder = createDecoderSync({
 *   family: "yolov8", task: "pose", classes: 1, inputSize: [64, 64],
 *   keypoints: [17, 3], keypointNames: COCO17_NAMES, edges: COCO17_EDGES,
 * });
 * const data = new Float32Array(56 * 84);
 * [32, 20, 10, 8, 0.9, 16, 48, 0.75].forEach((value, channel) => (data[channel * 84] = value));
 * for (const { keypoints = [] } of decoder.decode({ output0: { data, dims: [1, 56, 84] } }))
 *   console.log(keypoints[0]); // {"x":0.25,"y":0.75,"confidence":0.75,"name":"nose"}
 */
export const COCO17_EDGES: Edges = /* @__PURE__ */ deepFreeze([
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
]);

/** Five points of a face, in order. "Left" is the left side of the picture. OpenCV means the person's own left. */
export const FACE5_NAMES = /* @__PURE__ */ Object.freeze([
  "eye on the left",
  "eye on the right",
  "nose",
  "mouth corner on the left",
  "mouth corner on the right",
] as const);

/** Six points of BlazeFace, in order. Left is the person's own left. */
export const BLAZEFACE6_NAMES = /* @__PURE__ */ Object.freeze([
  "right eye",
  "left eye",
  "nose tip",
  "mouth centre",
  "right ear tragion",
  "left ear tragion",
] as const);

/** Seven points of MediaPipe's palm detection, in order. */
export const PALM7_NAMES = /* @__PURE__ */ Object.freeze([
  "wrist",
  "index finger base",
  "middle finger base",
  "ring finger base",
  "little finger base",
  "thumb base",
  "thumb second joint",
] as const);

/** Four points of MediaPipe's person detection, in order. The 2nd and 4th lie on circles around the 1st and 3rd. */
export const PERSON4_NAMES = /* @__PURE__ */ Object.freeze([
  "middle of the hips",
  "rim of the body",
  "middle of the shoulders",
  "rim of the upper body",
] as const);

/** Points of MediaPipe's hand, in order. */
export const HAND21_NAMES: readonly string[] = /* @__PURE__ */ Object.freeze([
  "wrist",
  "thumb root",
  "thumb base",
  "thumb joint",
  "thumb tip",
  "index finger base",
  "index finger middle joint",
  "index finger end joint",
  "index finger tip",
  "middle finger base",
  "middle finger middle joint",
  "middle finger end joint",
  "middle finger tip",
  "ring finger base",
  "ring finger middle joint",
  "ring finger end joint",
  "ring finger tip",
  "little finger base",
  "little finger middle joint",
  "little finger end joint",
  "little finger tip",
]);

/** The usual skeleton over the points of a hand. */
export const HAND21_EDGES: Edges = /* @__PURE__ */ deepFreeze([
  [0, 1],
  [1, 2],
  [2, 3],
  [3, 4],
  [0, 5],
  [5, 6],
  [6, 7],
  [7, 8],
  [5, 9],
  [9, 10],
  [10, 11],
  [11, 12],
  [9, 13],
  [13, 14],
  [14, 15],
  [15, 16],
  [13, 17],
  [0, 17],
  [17, 18],
  [18, 19],
  [19, 20],
]);

/** Points of MediaPipe's pose, in order. Left is the person's own left. */
export const BODY33_NAMES = /* @__PURE__ */ Object.freeze([
  "nose",
  "left eye, inner",
  "left eye",
  "left eye, outer",
  "right eye, inner",
  "right eye",
  "right eye, outer",
  "left ear",
  "right ear",
  "mouth, left",
  "mouth, right",
  "left shoulder",
  "right shoulder",
  "left elbow",
  "right elbow",
  "left wrist",
  "right wrist",
  "left little finger",
  "right little finger",
  "left index finger",
  "right index finger",
  "left thumb",
  "right thumb",
  "left hip",
  "right hip",
  "left knee",
  "right knee",
  "left ankle",
  "right ankle",
  "left heel",
  "right heel",
  "left foot",
  "right foot",
] as const);

/** The usual skeleton over the points of MediaPipe's pose. */
export const BODY33_EDGES: Edges = /* @__PURE__ */ deepFreeze([
  [0, 1],
  [1, 2],
  [2, 3],
  [3, 7],
  [0, 4],
  [4, 5],
  [5, 6],
  [6, 8],
  [9, 10],
  [11, 12],
  [11, 13],
  [13, 15],
  [15, 17],
  [15, 19],
  [15, 21],
  [17, 19],
  [12, 14],
  [14, 16],
  [16, 18],
  [16, 20],
  [16, 22],
  [18, 20],
  [11, 23],
  [12, 24],
  [23, 24],
  [23, 25],
  [24, 26],
  [25, 27],
  [26, 28],
  [27, 29],
  [28, 30],
  [29, 31],
  [30, 32],
  [27, 31],
  [28, 32],
]);
