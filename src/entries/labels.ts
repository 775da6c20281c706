/** `boxwright/labels`: class names of COCO and PASCAL VOC. */
export { COCO80, COCO91, type LabelSet, VOC20, VOC21, labelsOf } from "../core/labels.ts";
