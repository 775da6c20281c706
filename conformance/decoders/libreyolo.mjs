/** libreyolo-web: `PostProcessor`, which takes the outputs of ONNX Runtime and the family of the network. */
import { pathToFileURL } from "node:url";

export const packages = ["libreyolo-web@0.0.6", "onnxruntime-web@1.30.0"];
export const bin = "libreyolo-web/dist/index.mjs";

/** Family of each case that the package reads. Its YOLOX networks decode boxes themselves. */
const READS = {
  "yolov8-planes": "yolo",
  "yolox-rows-decoded": "yolox",
  "libreyolo-yolo9": "yolo9",
  "rfdetr-coco": "rfdetr",
  "rfdetr-custom": "rfdetr",
};

/** The ids that the 91 columns of COCO's networks have among its 80 names. */
const GAPS = [12, 26, 29, 30, 45, 66, 68, 69, 71, 83];
const COCO91 = Array.from({ length: 90 }, (_, i) => i + 1).filter((id) => !GAPS.includes(id));

export async function open(program) {
  const { PostProcessor } = await import(pathToFileURL(program).href);
  return {
    name: "libreyolo-web",
    licence: "MIT",
    how: "`PostProcessor.process`, with `modelFamily` stated. Its ids of COCO's 80 names are those of the 91 columns again",
    rules: ["by class", "best class of every column"],
    decode(c) {
      const family = READS[c.id];
      if (family === undefined) return undefined;
      const [width, height] = c.input;
      // State a photo of the size of the input, which is a square: boxes then stay as they are.
      const [photoWidth, photoHeight] =
        family === "rfdetr" ? c.input : [Math.max(width, height), Math.max(width, height)];
      const place = {
        originalWidth: photoWidth,
        originalHeight: photoHeight,
        scaledWidth: photoWidth,
        scaledHeight: photoHeight,
        scale: 1,
        offsetX: 0,
        offsetY: 0,
        inputSize: photoWidth,
      };
      const processor = new PostProcessor({
        confidenceThreshold: c.confidence,
        iouThreshold: c.iou ?? 0.45,
        maxDetections: c.most,
      });
      const names = c.tensors.map((t) => t.name);
      const outputs = Object.fromEntries(c.tensors.map((t) => [t.name, { data: t.data, dims: t.dims }]));
      return processor.process(outputs, names, place, family).map(({ classId, confidence, bbox }) => ({
        class_id: c.id === "rfdetr-coco" ? COCO91[classId] : classId,
        confidence,
        x_min: bbox[0] / width,
        y_min: bbox[1] / height,
        x_max: bbox[2] / width,
        y_max: bbox[3] / height,
      }));
    },
  };
}
