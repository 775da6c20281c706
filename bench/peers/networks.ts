/**
 * Decodes the outputs of each network by tensor operations, as an exporter or a page would write it. TensorFlow.js runs
 * these operations; for ONNX, they become nodes of a graph.
 */
import { CLASSES, V3_ANCHORS, V3_INPUT_SIZE, V3_MAPS } from "../tensors.ts";
import type { Workload } from "../workloads.ts";

/** Tensor operations of a runtime. `max` and `argMax` drop the axis that they reduce. */
export interface Operations<T> {
  constant(values: readonly number[], dims: readonly number[]): T;
  slice(x: T, axis: number, from: number, to: number): T;
  max(x: T, axis: number): T;
  argMax(x: T, axis: number): T;
  reshape(x: T, dims: readonly number[]): T;
  transpose(x: T, order: readonly number[]): T;
  concat(parts: readonly T[], axis: number): T;
  add(a: T, b: T): T;
  mul(a: T, b: T): T;
  exp(x: T): T;
  sigmoid(x: T): T;
}

export interface Decoded<T> {
  /** [n, 4]: centre and size in pixels */
  readonly boxes: T;
  /** [n] */
  readonly scores: T;
  /** [n], integers */
  readonly labels: T;
}

function v8<T>(ops: Operations<T>, [input]: readonly T[]): Decoded<T> {
  const scores = ops.slice(input, 0, 4, 4 + CLASSES);
  return {
    boxes: ops.transpose(ops.slice(input, 0, 0, 4), [1, 0]),
    scores: ops.max(scores, 0),
    labels: ops.argMax(scores, 0),
  };
}

function v5<T>(ops: Operations<T>, [input]: readonly T[]): Decoded<T> {
  const classes = ops.slice(input, 1, 5, 5 + CLASSES);
  return {
    boxes: ops.slice(input, 1, 0, 4),
    scores: ops.mul(ops.max(classes, 1), ops.reshape(ops.slice(input, 1, 4, 5), [-1])),
    labels: ops.argMax(classes, 1),
  };
}

/** Returns the decoder of one map of YOLOv3. The grid's constants are made once. */
function v3Map<T>(ops: Operations<T>, { side, mask }: (typeof V3_MAPS)[number]): (input: T) => Decoded<T> {
  const cells = side * side;
  const columnsThenRows = Array.from({ length: 2 * cells }, (_, i) =>
    i < cells ? i % side : Math.floor((i - cells) / side),
  );
  const grid = ops.constant(columnsThenRows, [1, 2, cells]);
  const stride = ops.constant([V3_INPUT_SIZE / side], [1]);
  const sizes = mask.flatMap((a) => V3_ANCHORS.slice(2 * a, 2 * a + 2));
  const anchors = ops.constant(sizes, [3, 2, 1]);
  return (input) => {
    const all = ops.reshape(input, [3, 5 + CLASSES, cells]);
    const part = (from: number, to: number): T => ops.slice(all, 1, from, to);
    const centre = ops.mul(ops.add(ops.sigmoid(part(0, 2)), grid), stride);
    const size = ops.mul(ops.exp(part(2, 4)), anchors);
    const classes = part(5, 5 + CLASSES);
    const objectness = ops.sigmoid(ops.reshape(part(4, 5), [3, cells]));
    const scores = ops.mul(objectness, ops.sigmoid(ops.max(classes, 1)));
    const boxes = ops.transpose(ops.concat([centre, size], 1), [0, 2, 1]);
    return {
      boxes: ops.reshape(boxes, [3 * cells, 4]),
      scores: ops.reshape(scores, [3 * cells]),
      labels: ops.reshape(ops.argMax(classes, 1), [3 * cells]),
    };
  };
}

function v3<T>(ops: Operations<T>): (inputs: readonly T[]) => Decoded<T> {
  const decoders = V3_MAPS.map((map) => v3Map(ops, map));
  return (inputs) => {
    const maps = decoders.map((decode, m) => decode(inputs[m]));
    const join = (key: keyof Decoded<T>): T =>
      ops.concat(
        maps.map((map) => map[key]),
        0,
      );
    return { boxes: join("boxes"), scores: join("scores"), labels: join("labels") };
  };
}

/** Returns the decoder of a kind of network, without suppression. Its inputs have no dimension for the image. */
export function networkEnd<T>(
  kind: Exclude<Workload["kind"], "nms">,
  ops: Operations<T>,
): (inputs: readonly T[]) => Decoded<T> {
  if (kind === "v3") return v3(ops);
  return (inputs) => (kind === "v8" ? v8(ops, inputs) : v5(ops, inputs));
}

/** Pixels by which each class is moved apart if suppression ignores classes: more than the size of any box. */
export const CLASS_OFFSET = 2048;
