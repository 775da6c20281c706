/** The options of a workload's network. */
import { V3_ANCHORS, V3_MAPS } from "./tensors.ts";
import { IOU_THRESHOLD, MAX_DETECTIONS, type Workload } from "./workloads.ts";

/** Returns the typed options that a user with this network would write. */
export function optionsOf(workload: Workload): Record<string, unknown> {
  const { kind, type, classes, inputSize, threshold } = workload;
  const common = {
    classes,
    inputSize: [inputSize, inputSize],
    confidenceThreshold: threshold,
    iouThreshold: IOU_THRESHOLD,
    maxDetections: MAX_DETECTIONS,
  };
  const roles = { boxes: "boxes", scores: "scores" };
  if (kind === "nms") return { ...common, family: "boxes", boxFormat: "xyxy", coordinates: "pixels", roles };
  if (kind === "v5") return { ...common, family: "yolov5" };
  if (kind === "v3")
    return {
      ...common,
      family: "yolov3",
      scores: "logits",
      anchors: V3_ANCHORS,
      anchorMasks: Object.fromEntries(V3_MAPS.map(({ side, mask }) => [`side${side}`, mask])),
    };
  return { ...common, family: "yolov8", scores: "probabilities", ...(type === "int8" ? { roles } : {}) };
}
