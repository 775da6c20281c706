/** Families whose networks output keypoints. */
import { blazeface, palm, person, retinaface } from "../built-priors.ts";
import type { FamilyTraits, PoseFamily } from "../family.ts";

/** Preparation for RTMPose, HRNet and ViTPose (mmpose, data_preprocessor). Outside the photo, crops are black. */
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
  raw: "probabilities",
  classes: 1,
  coordinates: "normalised",
  task: "pose",
};

/** MediaPipe's networks that turn a crop into keypoints. Parts of a crop outside the photo repeat the edge pixels. */
const LANDMARKS: FamilyTraits = {
  ...PLAIN,
  threshold: 0.5,
  prepare: { pad: 0, layout: "NHWC", border: "edge" },
};

export const POSE_FAMILIES: { readonly [F in PoseFamily]: FamilyTraits } = {
  "yolov5-face": {
    head: "anchor",
    exports: [],
    raw: "probabilities",
    squareSize: true,
    classes: 1,
    className: "face",
    task: "pose",
  },
  retinaface: {
    head: "prior",
    exports: ["prior-rows"],
    raw: "probabilities",
    classes: "in shapes",
    background: "first",
    coordinates: "normalised",
    priorFormat: "cxcywh",
    buildPriors: retinaface,
    className: "face",
    task: "pose",
    word: /retinaface/,
    prepare: { pad: 0, order: "BGR", mean: [104, 117, 123], std: 1 },
  },
  scrfd: {
    head: "distance",
    exports: [],
    raw: "probabilities",
    // State no class name: SCRFD finds faces, but Luxonis publishes one of its networks for persons.
    classes: 1,
    task: "pose",
    word: /scrfd/,
    prepare: { ...TOP_LEFT, mean: 127.5, std: 128 },
  },
  yunet: {
    head: "point",
    exports: [],
    raw: "probabilities",
    classes: 1,
    task: "pose",
    className: "face",
    word: /yunet/,
    prepare: { ...TOP_LEFT, order: "BGR", std: 1 },
  },
  "mediapipe-palm": {
    ...MEDIAPIPE,
    buildPriors: palm,
    className: "palm",
    prepare: { pad: 0, layout: "NHWC" },
  },
  movenet: { ...PLAIN, className: "person", prepare: { pad: 0, layout: "NHWC", std: 1 } },
  "movenet-multipose": { ...PLAIN, className: "person", prepare: { pad: 0, layout: "NHWC", std: 1 } },
  rtmo: {
    head: "plain",
    exports: [],
    raw: "probabilities",
    classes: 1,
    className: "person",
    task: "pose",
    word: /rtmo(?!bile)/,
    prepare: { order: "BGR", std: 1 },
  },
  "mediapipe-person": {
    ...MEDIAPIPE,
    buildPriors: person,
    className: "person",
    prepare: { pad: 0, layout: "NHWC", mean: 127.5, std: 127.5 },
    word: /pose[-_]detection/,
  },
  rtmpose: { ...PLAIN, word: /rtmpose|rtmw|simcc|dwpose/, prepare: OPENMMLAB },
  hrnet: { ...PLAIN, word: /hrnet|simplebaseline/, prepare: OPENMMLAB },
  vitpose: { ...PLAIN, word: /vitpose/, prepare: { ...OPENMMLAB, udp: true } },
  superanimal: { ...PLAIN, word: /super[-_]?animal/ },
  keypoints: PLAIN,
  "face-mesh": { ...LANDMARKS, className: "face", word: /face[-_]?(landmark|mesh)/ },
  "hand-landmarks": { ...LANDMARKS, word: /hand[-_]?landmark/ },
  "pose-landmarks": { ...LANDMARKS, className: "person", word: /pose[-_]?landmark|blazepose/ },
};
