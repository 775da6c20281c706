/**
 * @ultralytics/yolo: the steps around its LiteRT path (`YoloPipeline`), which take outputs of any runtime. AGPL-3.0:
 * it is fetched to be run, and neither shipped nor bundled.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { storedZip } from "./zip.mjs";

export const packages = ["@ultralytics/yolo@0.0.48"];
export const bin = "@ultralytics/yolo/pkg/ultralytics_inference_web.js";

/** Cases of the networks that the page of the package names: YOLOv8, YOLO11, YOLO26 and RT-DETR. */
const READS = {
  "yolov8-planes": { model: "YOLOv8n" },
  "yolo26-end2end": { model: "YOLO26n", end2end: true },
  "pose-v8": { model: "YOLOv8n-pose" },
  "seg-v8": { model: "YOLOv8n-seg" },
  "rtdetr-ultralytics": { model: "RT-DETR-l" },
};

/** Returns the metadata that Ultralytics' exporter appends to a .tflite. */
function metadataOf(c, { model, ...rest }) {
  const names = Object.fromEntries(Array.from({ length: c.classes }, (_, i) => [i, `class ${i}`]));
  const [width, height] = c.input;
  const about = {
    description: `Ultralytics ${model} model`,
    version: "8.3.0",
    stride: 32,
    batch: 1,
    ...rest,
  };
  const points = c.keypoints && { kpt_shape: c.keypoints };
  return { ...about, task: c.task ?? "detect", imgsz: [height, width], names, ...points };
}

export async function open(program) {
  const module = await import(pathToFileURL(program).href);
  const wasm = join(dirname(program), "ultralytics_inference_web_bg.wasm");
  await module.default({ module_or_path: readFileSync(wasm) });
  return {
    name: "@ultralytics/yolo",
    licence: "AGPL-3.0",
    how: "`YoloPipeline.postprocess`, with the metadata that Ultralytics' exporter writes",
    rules: ["by class", "none", "best class"],
    decode(c) {
      if (!READS[c.id]) return undefined;
      const [width, height] = c.input;
      const metadata = JSON.stringify(metadataOf(c, READS[c.id]));
      const pipeline = new module.YoloPipeline(storedZip("metadata.json", Buffer.from(metadata)));
      pipeline.preprocess_rgba(new Uint8Array(width * height * 4), width, height);
      const data = c.tensors.map((t) => t.data);
      const shapes = Uint32Array.from(c.tensors.flatMap((t) => [t.dims.length, ...t.dims]));
      // Pass 1, which no IoU exceeds, for queries: the package suppresses them too.
      const [confidence, iou] = [c.confidence, c.iou ?? 1];
      const found = pipeline.postprocess(data, shapes, 0, confidence, iou, null, "jet", "rgb");
      return found.boxes.map((b, i) => {
        const points = found.keypoints?.[i]?.points;
        return {
          class_id: b.cls,
          confidence: b.conf,
          x_min: b.x1 / width,
          y_min: b.y1 / height,
          x_max: b.x2 / width,
          y_max: b.y2 / height,
          ...(points && { keypoints: points.map(([x, y]) => [x / width, y / height]) }),
        };
      });
    },
  };
}
