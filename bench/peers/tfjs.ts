/**
 * Prepares rows of TensorFlow.js, on its WebAssembly backend with its synchronous suppression and one thread. The input
 * is already in the backend's memory.
 */
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type * as Core from "@tensorflow/tfjs-core";
import { IOU_THRESHOLD, MAX_DETECTIONS, type Workload } from "../workloads.ts";
import { CLASS_OFFSET, networkEnd, type Decoded, type Operations } from "./networks.ts";
import { cornersIn01, keptOnly, NotApplicable, type Answer, type Prepared } from "./prepared.ts";

type Tensor = Core.Tensor;

const operationsOf = (tf: typeof Core): Operations<Tensor> => ({
  constant: (values, dims) => tf.tensor([...values], [...dims]),
  slice: (x, axis, from, to) =>
    tf.slice(
      x,
      x.shape.map((_, i) => (i === axis ? from : 0)),
      x.shape.map((size, i) => (i === axis ? to - from : size)),
    ),
  max: (x, axis) => tf.max(x, axis),
  argMax: (x, axis) => tf.argMax(x, axis),
  reshape: (x, dims) => tf.reshape(x, [...dims]),
  transpose: (x, order) => tf.transpose(x, [...order]),
  concat: (parts, axis) => tf.concat([...parts], axis),
  add: (a, b) => tf.add(a, b),
  mul: (a, b) => tf.mul(a, b),
  exp: (x) => tf.exp(x),
  sigmoid: (x) => tf.sigmoid(x),
});

async function loadRuntime(): Promise<typeof Core> {
  const tf: typeof Core = await import("@tensorflow/tfjs-core");
  const wasm = await import("@tensorflow/tfjs-backend-wasm");
  const module = createRequire(import.meta.url).resolve("@tensorflow/tfjs-backend-wasm");
  wasm.setWasmPaths(`${dirname(module)}/`);
  wasm.setThreadsCount(1);
  await tf.setBackend("wasm");
  return tf;
}

/** Moves the boxes of each class apart, suppresses, and reads back the kept boxes. */
function suppress(tf: typeof Core, { boxes, scores, labels }: Decoded<Tensor>, workload: Workload): Answer {
  const apart = tf.reshape(tf.mul(tf.cast(labels, "float32"), CLASS_OFFSET), [-1, 1]);
  const centre = tf.add(tf.slice(boxes, [0, 0], [-1, 2]), apart);
  const half = tf.mul(tf.slice(boxes, [0, 2], [-1, 2]), 0.5);
  const corners = tf.concat([tf.sub(centre, half), tf.add(centre, half)], 1) as Core.Tensor2D;
  const limits = [MAX_DETECTIONS, IOU_THRESHOLD, workload.threshold] as const;
  const kept = tf.image.nonMaxSuppression(corners, scores as Core.Tensor1D, ...limits);
  const read = (tensor: Tensor): ArrayLike<number> => tf.gather(tensor, kept).dataSync();
  return cornersIn01(workload, read(boxes), read(scores), read(labels));
}

export async function prepare(workload: Workload): Promise<Prepared> {
  if (workload.type !== "float32") throw new NotApplicable("its tensors are float32 only");
  const tf = await loadRuntime();
  const { kind } = workload;
  const inputs = Object.values(workload.tensors).map(({ data, dims }) =>
    tf.tensor(data as Float32Array, kind === "nms" ? [...dims] : dims.slice(1)),
  );
  let find: () => Answer;
  if (kind === "nms") {
    const [boxes, scores] = inputs as [Core.Tensor2D, Core.Tensor1D];
    find = () =>
      keptOnly(tf.image.nonMaxSuppression(boxes, scores, MAX_DETECTIONS, IOU_THRESHOLD).dataSync());
  } else {
    const decode = networkEnd(kind, operationsOf(tf));
    find = () => suppress(tf, decode(inputs), workload);
  }
  let found = keptOnly([]);
  const run = (): number => {
    tf.engine().startScope();
    found = find();
    tf.engine().endScope();
    return found.count;
  };
  return { run, answer: () => found };
}
