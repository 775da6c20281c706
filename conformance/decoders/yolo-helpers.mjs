/** yolo-helpers: `decodeBox`, `decodePose` and `decodeSegment`, with TensorFlow.js. It suppresses over all classes. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export const packages = [
  "yolo-helpers@1.5.4",
  "@tensorflow/tfjs-core@4.22.0",
  "@tensorflow/tfjs-backend-cpu@4.22.0",
];
export const bin = "yolo-helpers/dist/yolo-box/common.js";

const READS = ["yolov8-planes", "yolov8-planes-0-to-1", "pose-v8", "seg-v8"];

/** Returns a tensor of three dimensions as nested arrays, which TensorFlow.js makes of it. */
function nested({ data, dims: [, rows, columns] }) {
  return [Array.from({ length: rows }, (_, r) => Array.from(data.subarray(r * columns, (r + 1) * columns)))];
}

export async function open(program) {
  const require = createRequire(program);
  const tf = require("@tensorflow/tfjs-core");
  require("@tensorflow/tfjs-backend-cpu");
  await tf.setBackend("cpu");
  const { decodeBox } = require(program);
  const { decodePose } = require(join(dirname(dirname(program)), "yolo-pose/common.js"));
  return {
    name: "yolo-helpers",
    licence: "BSD-2-Clause",
    how: "`decodeBox` and `decodePose`, on the CPU backend of TensorFlow.js 4.22.0. Boxes of segmentation by `decodeBox`, without its 32 coefficients",
    rules: ["all classes"],
    async decode(c) {
      if (!READS.includes(c.id)) return undefined;
      const [width, height] = c.unit === "input" ? [1, 1] : c.input;
      const output = nested(c.tensors[0]);
      const limits = { maxOutputSize: c.most, iouThreshold: c.iou, scoreThreshold: c.confidence };
      const asked = { tf, num_classes: c.classes, ...limits };
      const [count] = c.keypoints ?? [];
      const [found] = await (count
        ? decodePose({ ...asked, output, num_keypoints: count, visibility: c.keypoints[1] === 3 })
        : decodeBox({ ...asked, output: [output[0].slice(0, 4 + c.classes)] }));
      return found.map((b) => ({
        class_id: b.class_index,
        confidence: b.confidence,
        x_min: (b.x - b.width / 2) / width,
        y_min: (b.y - b.height / 2) / height,
        x_max: (b.x + b.width / 2) / width,
        y_max: (b.y + b.height / 2) / height,
        ...(b.keypoints && { keypoints: b.keypoints.map((p) => [p.x / width, p.y / height]) }),
      }));
    },
  };
}
