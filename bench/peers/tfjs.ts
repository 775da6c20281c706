/**
 * TensorFlow.js on its WebAssembly backend: the operations a page would write, with its synchronous
 * suppression. The input already stands in the backend's memory. Classes are moved apart, as its suppression
 * knows none.
 */
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type * as Core from "@tensorflow/tfjs-core";
import type { Found } from "../definition.ts";
import {
  CLASSES,
  INPUT_V3,
  IOU_THRESHOLD,
  MAX_DETECTIONS,
  V3_ANCHORS,
  V3_MAPS,
  type Workload,
} from "../workloads.ts";
import { columnsOf, NotApplicable, type Prepared } from "./common.ts";

interface Decoded {
  /** [n, 4]: cx, cy, w, h */
  readonly boxes: Core.Tensor2D;
  readonly scores: Core.Tensor1D;
  readonly labels: Core.Tensor1D;
}

export async function prepare(workload: Workload): Promise<Prepared> {
  if (workload.type !== "float32") throw new NotApplicable("its tensors are float32 only");
  const tf: typeof Core = await import("@tensorflow/tfjs-core");
  const wasm = await import("@tensorflow/tfjs-backend-wasm");
  const entry = createRequire(import.meta.url).resolve("@tensorflow/tfjs-backend-wasm");
  wasm.setWasmPaths(`${dirname(entry)}/`);
  wasm.setThreadsCount(1);
  await tf.setBackend("wasm");
  const { kind, threshold } = workload;
  const inputs = Object.entries(workload.tensors).map(([, { data, dims }]) =>
    tf.tensor(data as Float32Array, kind === "nms" ? [...dims] : dims.slice(1)),
  );

  const v8 = (): Decoded => {
    const input = inputs[0] as Core.Tensor2D;
    const scores = tf.slice(input, [4, 0], [CLASSES, 8400]);
    return {
      boxes: tf.transpose(tf.slice(input, [0, 0], [4, 8400])),
      scores: tf.max(scores, 0),
      labels: tf.argMax(scores, 0),
    };
  };
  const v5 = (): Decoded => {
    const input = inputs[0] as Core.Tensor2D;
    const classes = tf.slice(input, [0, 5], [25200, CLASSES]);
    const objectness = tf.reshape(tf.slice(input, [0, 4], [25200, 1]), [25200]);
    return {
      boxes: tf.slice(input, [0, 0], [25200, 4]),
      scores: tf.mul(tf.max(classes, 1), objectness),
      labels: tf.argMax(classes, 1),
    };
  };
  // Constants of the grid are made once, as a page would.
  const grids = V3_MAPS.map(({ side, mask }) => ({
    grid: tf.tensor(
      Array.from({ length: 2 * side * side }, (_, i) =>
        i < side * side ? i % side : Math.floor(i / side) - side,
      ),
      [1, 2, side * side],
    ),
    anchors: tf.tensor(
      mask.flatMap((a) => V3_ANCHORS.slice(2 * a, 2 * a + 2)),
      [3, 2, 1],
    ),
  }));
  const v3 = (): Decoded => {
    const maps = V3_MAPS.map(({ side }, m) => {
      const cells = side * side;
      const all = tf.reshape(inputs[m], [3, 5 + CLASSES, cells]) as Core.Tensor3D;
      const part = (from: number, length: number): Core.Tensor3D =>
        tf.slice(all, [0, from, 0], [3, length, cells]);
      const centre = tf.mul(tf.add(tf.sigmoid(part(0, 2)), grids[m].grid), INPUT_V3 / side);
      const size = tf.mul(tf.exp(part(2, 2)), grids[m].anchors);
      const classes = part(5, CLASSES);
      return {
        boxes: tf.reshape(tf.transpose(tf.concat([centre, size], 1), [0, 2, 1]), [3 * cells, 4]),
        scores: tf.reshape(
          tf.mul(tf.sigmoid(tf.reshape(part(4, 1), [3, cells])), tf.sigmoid(tf.max(classes, 1))),
          [3 * cells],
        ),
        labels: tf.reshape(tf.argMax(classes, 1), [3 * cells]),
      };
    });
    return {
      boxes: tf.concat(
        maps.map((map) => map.boxes as Core.Tensor2D),
        0,
      ),
      scores: tf.concat(
        maps.map((map) => map.scores as Core.Tensor1D),
        0,
      ),
      labels: tf.concat(
        maps.map((map) => map.labels as Core.Tensor1D),
        0,
      ),
    };
  };

  const suppress = ({ boxes, scores, labels }: Decoded): Core.Tensor1D => {
    const apart = tf.reshape(tf.mul(tf.cast(labels, "float32"), 2048), [-1, 1]);
    const centre = tf.add(tf.slice(boxes, [0, 0], [-1, 2]), apart);
    const half = tf.mul(tf.slice(boxes, [0, 2], [-1, 2]), 0.5);
    const corners = tf.concat([tf.sub(centre, half), tf.add(centre, half)], 1) as Core.Tensor2D;
    return tf.image.nonMaxSuppression(corners, scores, MAX_DETECTIONS, IOU_THRESHOLD, threshold);
  };

  let found: Found = { count: 0, boxes: [], scores: [], classIds: [] };
  const run = (): number => {
    tf.engine().startScope();
    if (kind === "nms") {
      const [boxes, scores] = inputs as [Core.Tensor2D, Core.Tensor1D];
      const kept = tf.image.nonMaxSuppression(boxes, scores, MAX_DETECTIONS, IOU_THRESHOLD).dataSync();
      found = { count: kept.length, kept, boxes: [], scores: [], classIds: [] };
    } else {
      const decoded = kind === "v8" ? v8() : kind === "v5" ? v5() : v3();
      const kept = suppress(decoded);
      const pick = (tensor: Core.Tensor): ArrayLike<number> => tf.gather(tensor, kept).dataSync();
      found = columnsOf(workload, pick(decoded.boxes), pick(decoded.scores), pick(decoded.labels));
    }
    tf.engine().endScope();
    return found.count;
  };
  return { run, found: () => found };
}
