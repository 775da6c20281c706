/** Facts about the parsers in NN Archives: the family of each parser's networks, or advice if no decoder reads them. */
import type { Family, ScoreOption } from "./family.ts";
import type { Rules } from "./rules.ts";

/** A parser of NN Archives whose networks all belong to one family. */
export interface ParserTraits {
  /** Name of the parser, as archives write it. */
  readonly parser: string;
  /** The family, and the default values that the parser has in depthai-nodes. */
  readonly defaults: {
    readonly family: Family;
    /** Class count, if all networks of the parser have the same. */
    readonly classes?: number;
    readonly confidenceThreshold: number;
    readonly iouThreshold: number;
    readonly maxDetections: number;
    readonly scores?: ScoreOption;
    readonly background?: false;
    readonly rules?: Partial<Rules>;
  };
  /** Roles of the head's outputs, in the archive's order. Masks may be missing. Every score column is then a class. */
  readonly outputs?: readonly ["boxes", "scores", "masks"];
  /** Metadata key whose value is false if the scores are logits. For other parsers, the key describes masks. */
  readonly softmaxKey?: "is_softmax";
  /** Refinement of the points of a heat map. Absent: the refinement of the family's authors. */
  readonly keypointRefinement?: "none";
}

/** Returns the row of a parser. The numbers are its confidence threshold, IoU threshold and detection limit. */
const parserOf = (
  parser: string,
  family: Family,
  [confidenceThreshold, iouThreshold, maxDetections]: readonly [number, number, number],
  more?: Omit<ParserTraits, "parser" | "defaults">,
): ParserTraits => ({
  parser,
  defaults: { family, confidenceThreshold, iouThreshold, maxDetections },
  ...more,
});

/** Parsers whose networks belong to one family each. */
export const PARSERS: readonly ParserTraits[] = [
  /* @__PURE__ */ parserOf("SCRFDParser", "scrfd", [0.5, 0.5, 100]),
  /* @__PURE__ */ parserOf("YuNetParser", "yunet", [0.8, 0.3, 5000]),
  /* @__PURE__ */ parserOf("MPPalmDetectionParser", "mediapipe-palm", [0.5, 0.5, 100]),
  /* @__PURE__ */ parserOf("KeypointParser", "keypoints", [0.5, 0.5, 1]),
  /* @__PURE__ */ parserOf("HRNetParser", "hrnet", [0.5, 0.5, 1], { keypointRefinement: "none" }),
  /* @__PURE__ */ parserOf("SuperAnimalParser", "superanimal", [0.5, 0.5, 1]),
  /* @__PURE__ */ parserOf("PPTextDetectionParser", "dbnet", [0.5, 0.5, 100]),
  /* @__PURE__ */ parserOf("ClassificationParser", "classifier", [0, 0.5, 1000], {
    softmaxKey: "is_softmax",
  }),
  {
    // The parser takes the best score column of each query. No column is the background. A third output holds masks.
    parser: "RFDETRParser",
    defaults: {
      family: "rfdetr",
      scores: "logits",
      background: false,
      rules: { multiLabel: false, gate: ">", suppress: "none" },
      confidenceThreshold: 0.5,
      iouThreshold: 0.5,
      maxDetections: 300,
    },
    outputs: ["boxes", "scores", "masks"],
  },
  {
    // FastSAM is YOLOv8 for segmentation with a single class. `labelMap` makes the index map that this parser outputs.
    parser: "FastSAMParser",
    defaults: {
      family: "yolov8",
      classes: 1,
      confidenceThreshold: 0.5,
      iouThreshold: 0.5,
      maxDetections: 300,
    },
  },
];

/** Advice about parsers whose networks no decoder reads, by the parsers' names in lower case. */
export const OTHER_PARSERS: { readonly [parser: string]: string } = {
  segmentationparser:
    "call classMap(tensor, { ...mapOptions(archive).options, frame }), which gives the class of each pixel; archive is " +
    "this config.json, or what readModel returned",
  mapoutputparser:
    "call valueMap(tensor, { ...mapOptions(archive).options, frame }), which gives the number of each pixel; archive is " +
    "this config.json, or what readModel returned",
  imageoutputparser: "write your own code: boxwright makes no pictures of a network's output",
  regressionparser: "write your own code: the tensor holds the numbers",
  embeddingsparser: "write your own code: the tensor holds the embedding",
  classificationsequenceparser: "write your own code: boxwright reads no sequences of characters",
  mlsdparser: "write your own code: boxwright reads no lines",
  lanedetectionparser: "write your own code: boxwright reads no lanes",
  xfeatmonoparser: "write your own code: boxwright matches no features",
  xfeatstereoparser: "write your own code: boxwright matches no features",
};
