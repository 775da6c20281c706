/** Networks that are decoded as a family with another name. docs/networks.md has the same list. */
import type { Family } from "./family.ts";

export interface OtherName {
  /** Name of the network for people. */
  readonly name: string;
  /** Matches a name that a user typed, after conversion to lower case and of blanks and underscores to hyphens. */
  readonly word: RegExp;
  readonly family: Family;
  /** Options that the network needs besides `family`, as source text for a message. */
  readonly options?: string;
  /** Reason why the family fits: the predicate of a sentence whose subject is `name`. */
  readonly why: string;
}

const OTHER_NAMES: readonly OtherName[] = [
  {
    name: "YOLOE-11",
    word: /^yolo-?e-?v?11/,
    family: "yolo11",
    why: "has the tensors of YOLO11, with a class for each prompt",
  },
  {
    name: "YOLOE",
    word: /^yolo-?e(?![a-z])/,
    family: "yolov8",
    why: "has the tensors of YOLOv8, with a class for each prompt",
  },
  {
    name: "YOLO-World",
    word: /yolo[-_v8 ]*world/,
    family: "yolov8",
    why: 'has the tensors of YOLOv8, with a class for each prompt; "yolo-nas" reads mmyolo\'s export without suppression',
  },
  {
    name: "YOLOv5u and YOLOv3u",
    word: /yolo-?v?[35](-tiny|[nsmlx])?-?u$/,
    family: "yolov8",
    why: "have the head of YOLOv8",
  },
  { name: "Gold-YOLO", word: /gold-?yolo/, family: "yolov6", why: "has the rows of YOLOv6" },
  {
    name: "FastSAM",
    word: /fast-?sam/,
    family: "yolov8",
    options: 'task: "segment", classes: 1',
    why: "is YOLOv8 for segmentation with one class",
  },
  {
    name: "LibreYOLO",
    word: /libre-?yolo/,
    family: "yolov9",
    options: 'boxFormat: "xyxy"',
    why: "has the planes of YOLOv9 with corners; its file alone needs no option",
  },
  {
    name: "YOLO of Qualcomm AI Hub",
    word: /ai-?hub|^qai/,
    family: "boxes",
    options: "roles: { boxes, scores, classIds }",
    why: "gives finished boxes, scores and class ids",
  },
  {
    name: "TensorFlow's Object Detection API",
    word: /^tf-?od|object-?detection-?api/,
    family: "boxes",
    options: 'boxFormat: "yxyx", coordinates: "normalised", roles: { boxes, scores, classIds, count }',
    why: 'gives eight outputs, whose class ids begin at 1; TFLite files are "tflite-postprocess"',
  },
  { name: "YOLOv8 of Himax", word: /himax|^we-?2/, family: "yolov8", why: "has the tensors of YOLOv8 in i8" },
  {
    name: "YOLOv8 to YOLO11 of rknn",
    word: /rknn|rockchip/,
    family: "yolov8",
    options: 'scores: "probabilities"',
    why: "has the maps of YOLOv8 in nine outputs, after the sigmoid",
  },
];

/** Returns the entry whose spellings match the name. Returns undefined if there is none. */
export const otherNameOf = (name: string): OtherName | undefined => {
  const plain = name.toLowerCase().replace(/[_ ]/g, "-");
  return OTHER_NAMES.find(({ word }) => word.test(plain));
};
