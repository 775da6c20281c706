/** Rules of evidence for networks with feature maps. */
import { isUsualClasses, levelsOf, pointsForMaps } from "./counts.ts";
import type { Rule } from "./rule.ts";

/** Usual channel counts of feature maps between the backbone and the head. */
const BACKBONE: readonly number[] = [128, 256, 384, 512, 768, 1024];

/** Side of FastestDet's map in cells, for its usual input of 352 x 352 pixels. */
const FASTESTDET_SIDE = 22;

/** Largest class count of a custom network that is likelier than a map of features. */
const MOST_CUSTOM = 20;

export const MAP_RULES: readonly Rule[] = [
  {
    name: "maps of the input",
    example: "[1,255,80,80], [1,255,40,40], [1,255,20,20] are those of 640x640",
    points: (match, { inputSize }) => pointsForMaps(levelsOf(match), inputSize, match),
  },
  {
    name: "channels of a backbone",
    example: "[1,256,80,80], [1,256,40,40], [1,256,20,20] are features, and [1,1280,7,7]",
    points: (match, { classes, named }) => {
      const levels = levelsOf(match);
      const parts = Object.values(match.views).length;
      if (parts > 1 || classes !== null || named.length > 0 || levels.length === 0) return 0;
      const [{ w, k }] = levels;
      const { anchors, bound } = match;
      // Accept 80 classes, and usual counts with three anchors: 288 = 3 x (5 + 91) is unlikely to be a chance.
      const isHead = bound.C === 80 || (anchors === 3 && isUsualClasses(bound.C));
      return w > 0 && (BACKBONE.includes(k) || (k % 32 === 0 && !isHead)) ? null : 0;
    },
  },
  {
    name: "keypoints after the scores",
    example:
      "[1,64,80,80], [1,8,80,80], [1,1,80,80] are 8 classes and their sum, and no 4 points of one class",
    points: ({ form, views: { scores, points } }) =>
      form.task === "pose" &&
      scores &&
      points &&
      form.parts.points.perLevel &&
      points[0].tensor < scores[0].tensor
        ? -4
        : 0,
  },
  {
    name: "three anchors on several maps",
    example: "[1,425,13,13] has five; [1,95,22,22] beside [1,95,11,11] has parts of other counts",
    points: (match, { classes, named }) => {
      const { form, anchors } = match;
      if (!form.anchors || anchors === 3 || classes !== null || levelsOf(match).length < 2) return 0;
      return anchors < 5 || isUsualClasses(match.bound.C) || named.length > 0 ? -2 : null;
    },
  },
  {
    name: "networks without anchors have three maps or more",
    example: "[1,95,22,22], [1,95,11,11] of Yolo-FastestV2 are no 90 classes of YOLOX",
    points: (match, { classes, named }) => {
      if (classes !== null || named.length > 0 || match.form.anchors || match.form.perCell) return 0;
      const isAlone = Object.values(match.views).length === 1 && levelsOf(match).length === 2;
      return isAlone && match.bound.C !== undefined && match.bound.C !== 80 ? null : 0;
    },
  },
  {
    name: "sums of scores after the scores",
    example:
      "rknn's [1,4,80,80], [1,3,80,80], [1,1,80,80] of YOLOv6; YOLOX has its objectness before the scores",
    points: ({ form, views: { scores, sums } }) =>
      form.kind !== "sums after scores"
        ? 0
        : sums.every(({ tensor }, i) => tensor === scores[i].tensor + 1)
          ? 0
          : null,
  },
  {
    name: "one map of a hundred classes at most",
    example: "[1,504,38,38] of YOLOF are six anchors, and no 499 classes of FastestDet",
    points: (match, { classes, named }) => {
      const isAlone = Object.values(match.views).length === 1 && levelsOf(match).length === 1;
      if (!isAlone || match.form.anchors || classes !== null || named.length > 0) return 0;
      return (match.bound.C ?? 0) > 100 ? null : 0;
    },
  },
  {
    name: "one map of YOLOv2 or FastestDet",
    example:
      "[1,425,13,13] has the cells of stride 32, and [1,85,22,22] those of 352x352; others are features",
    points: (match, { inputSize, classes, named, isFamilyStated }) => {
      const { form, bound } = match;
      if (form.levels?.[1] !== 1 || !form.parts.boxes || form.parts.sizes) return 0;
      if (classes !== null || named.length > 0 || isFamilyStated) return 0;
      const [{ w }] = levelsOf(match);
      // Sides are 0 if the file does not state them.
      if (w === 0) return 0;
      const { C: count = 0 } = bound;
      if (!form.anchors) return isUsualClasses(count) || w === FASTESTDET_SIDE ? 0 : null;
      const isStride32 = inputSize === null || Math.abs(inputSize[0] / w - 32) < 1;
      return isStride32 && (isUsualClasses(count) || count <= MOST_CUSTOM) ? 0 : null;
    },
  },
];
