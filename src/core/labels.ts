/** Class names of common data sets, by class id. A decoder never guesses names, since shapes do not determine them. */
import { COCO_UNUSED } from "./coco.ts";
import { refuseValue } from "./errors.ts";
import { show } from "./tensor.ts";

// prettier-ignore
const COCO = [
  "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light",
  "fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant",
  "bear", "zebra", "giraffe", "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard",
  "sports ball", "kite", "baseball bat", "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle",
  "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple", "sandwich", "orange", "broccoli", "carrot",
  "hot dog", "pizza", "donut", "cake", "chair", "couch", "potted plant", "bed", "dining table", "toilet", "tv",
  "laptop", "mouse", "remote", "keyboard", "cell phone", "microwave", "oven", "toaster", "sink", "refrigerator",
  "book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush",
] as const;

/** Returns COCO's names, indexed by COCO's own ids, 1..90. Index 0 is the background. */
function cocoByOwnId(): string[] {
  const names: string[] = ["background"];
  for (const name of COCO) {
    while (COCO_UNUSED.includes(names.length)) names.push("n/a");
    names.push(name);
  }
  return names;
}

// prettier-ignore
const VOC = [
  "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog", "horse",
  "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
] as const;

/** The 80 classes of COCO without gaps, as YOLO networks number them: person is 0. */
export const COCO80: readonly string[] = /* @__PURE__ */ Object.freeze(COCO);

/**
 * The classes of COCO by COCO's own ids, 91 entries: 0 is the background, person is 1, and ten ids are "n/a".
 * TensorFlow's SSD networks and DETR use these ids. For the operator TFLite_Detection_PostProcess, whose ids do not
 * count the background, use `COCO91.slice(1)`.
 */
export const COCO91: readonly string[] = /* @__PURE__ */ Object.freeze(/* @__PURE__ */ cocoByOwnId());

/** The 20 classes of PASCAL VOC, as YOLO networks number them: aeroplane is 0. */
export const VOC20: readonly string[] = /* @__PURE__ */ Object.freeze(VOC);

/** The background and the classes of PASCAL VOC, 21 entries, as Caffe's SSD networks number them. */
export const VOC21: readonly string[] = /* @__PURE__ */ Object.freeze(["background", ...VOC]);

/** Names of the lists of labels. */
export type LabelSet = "coco80" | "coco91" | "voc20" | "voc21";

const LISTS: { readonly [name in LabelSet]: readonly string[] } = {
  coco80: COCO80,
  coco91: COCO91,
  voc20: VOC20,
  voc21: VOC21,
};

/** True if `labelsOf` knows a list of this name. */
export const isLabelSet = (name: string): name is LabelSet => Object.hasOwn(LISTS, name);

/** Returns advice to use COCO's names if there are 80 or 91 classes and no labels, else null. */
export const adviceOnCocoLabels = (
  labels: readonly string[] | null,
  classes: number | null,
): string | null =>
  labels === null && (classes === 80 || classes === 91)
    ? `labels: "coco${classes}" names them if they are COCO's`
    : null;

/**
 * Returns the class names in a named list.
 * @throws RangeError if there is no such list
 * @example
 * import { COCO80, createDecoder, labelsOf } from "boxwright";
 *
 * const decoder = await createDecoder({ family: "yolov8", labels: COCO80, inputSize: [640, 640] });
 * console.log(decoder.config.classes, labelsOf("coco91")[44], labelsOf("voc20")[7]); // 80 bottle cat
 */
export function labelsOf(name: LabelSet): readonly string[] {
  if (!isLabelSet(name))
    return refuseValue("labels", show(name), `a list of names, or one of ${Object.keys(LISTS).join(", ")}`);
  return LISTS[name];
}
