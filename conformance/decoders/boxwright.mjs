/** boxwright, the built package. It can be told each rule, so every answer of a case counts. */
const RULES = {
  "by class": { set: "ultralytics", clamp: "none", maxCandidates: 0 },
  "all classes": { set: "ultralytics", clamp: "none", maxCandidates: 0, suppress: "all" },
  none: {},
  "best pairs": { clamp: "none" },
  "best class": { clamp: "none", multiLabel: false },
  "best class of every column": { clamp: "none", multiLabel: false },
  "depthai-core": "depthai",
  "depthai-nodes": "depthai-nodes",
};

/** Family names of boxwright that differ from those of the set. */
const FAMILIES = { "rf-detr": "rfdetr", boxes: "efficient-nms" };

/** Options that only the words of a case state, and not its fields. */
const OPTIONS = {
  "yolov8-planes-0-to-1": { coordinates: "normalised" },
  "yolox-rows-decoded": { boxFormat: "cxcywh" },
  "libreyolo-yolo9": { boxFormat: "xyxy" },
  "yolo26-e2e-fp32": { reading: "corner-rows" },
};

/** Returns a detection as the set has it. */
const toRow = ({ keypoints, ...d }) => ({
  ...d,
  ...(keypoints && { keypoints: keypoints.map((p) => [p.x, p.y, p.confidence]) }),
});

export async function open() {
  const { createDecoder } = await import("../../dist/index.mjs");
  const { default: manifest } = await import("../../package.json", { with: { type: "json" } });
  return {
    name: "boxwright",
    version: manifest.version,
    licence: "MIT",
    async decode(c, { rules }) {
      const { family, task, keypoints, classes, input: inputSize, confidence, iou, most } = c;
      const typed = {
        family: FAMILIES[family] ?? family,
        // Columns are classes if the count says so.
        classes: c.id === "rfdetr-custom" && rules === "best class of every column" ? classes + 1 : classes,
        inputSize,
        ...(task && { task }),
        ...(keypoints && { keypoints }),
        ...(c.anchors && { anchors: c.anchors }),
        ...(c.strides && { strides: c.strides }),
      };
      const options = {
        confidenceThreshold: confidence,
        ...(iou && { iouThreshold: iou }),
        maxDetections: most,
        rules: RULES[rules],
        ...OPTIONS[c.id],
      };
      // Drop notes, which are for people who look at one network.
      const decoder = await createDecoder(c.config ?? { ...typed, ...options }, {
        ...(c.config && options),
        onNote: () => {},
      });
      const outputs = Object.fromEntries(c.tensors.map(({ name, ...tensor }) => [name, tensor]));
      return decoder.decode(outputs).toArray().map(toRow);
    },
  };
}
