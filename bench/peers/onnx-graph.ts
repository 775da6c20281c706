/**
 * Makes the ONNX graphs of the benchmark: decoding and suppression as an exporter would append them to a network. The
 * graphs have only five types of messages, so no ONNX library is needed. Field numbers are those of onnx.proto.
 */
import { IOU_THRESHOLD, MAX_DETECTIONS, type Workload } from "../workloads.ts";
import { CLASS_OFFSET, networkEnd, type Operations } from "./networks.ts";

type Bytes = number[];

function varint(value: number): Bytes {
  const bytes: Bytes = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

/** A field of wire type 0. */
const int = (field: number, value: number): Bytes => [...varint(field * 8), ...varint(value)];

/** A field of wire type 2: a message or bytes. */
const block = (field: number, content: Bytes): Bytes =>
  [...varint(field * 8 + 2), ...varint(content.length)].concat(content);

const text = (field: number, value: string): Bytes => block(field, [...new TextEncoder().encode(value)]);

const TYPES = { float32: 1, int64: 7 } as const;

/** Builds a graph node by node. A value is identified by its name. */
export class Graph {
  #parts: Bytes[] = [];
  #count = 0;

  /** Adds a node and returns the name of its output. */
  node(
    operator: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, number | readonly number[]>> = {},
    output = `v${this.#count++}`,
  ): string {
    const body = [...inputs.flatMap((name) => text(1, name)), ...text(2, output), ...text(4, operator)];
    for (const [name, value] of Object.entries(attributes)) {
      const content = typeof value === "number" ? int(3, value) : value.flatMap((item) => int(8, item));
      // AttributeProto: 2 is the type INT, 7 is INTS.
      body.push(...block(5, [...text(1, name), ...content, ...int(20, typeof value === "number" ? 2 : 7)]));
    }
    this.#parts.push(block(1, body));
    return output;
  }

  #constant(dims: readonly number[], type: keyof typeof TYPES, raw: ArrayBufferLike): string {
    const name = `c${this.#count++}`;
    const body = [...dims.flatMap((size) => int(1, size)), ...int(2, TYPES[type]), ...text(8, name)];
    this.#parts.push(block(5, body.concat(block(9, [...new Uint8Array(raw)]))));
    return name;
  }

  floats(values: readonly number[], dims: readonly number[] = []): string {
    return this.#constant(dims, "float32", Float32Array.from(values).buffer);
  }

  ints(...values: number[]): string {
    return this.#constant([values.length], "int64", BigInt64Array.from(values, BigInt).buffer);
  }

  #value(field: number, name: string, type: keyof typeof TYPES, dims: readonly (number | string)[]): void {
    const shape = dims.flatMap((size) => block(1, typeof size === "number" ? int(1, size) : text(2, size)));
    const tensor = block(2, block(1, [...int(1, TYPES[type]), ...block(2, shape)]));
    this.#parts.push(block(field, [...text(1, name), ...tensor]));
  }

  input(name: string, dims: readonly number[]): string {
    this.#value(11, name, "float32", dims);
    return name;
  }

  /** Makes a value an output of the graph. Dimensions with a name are known only at run time. */
  output(value: string, name: string, type: keyof typeof TYPES, dims: readonly (number | string)[]): void {
    this.node("Identity", [value], {}, name);
    this.#value(12, name, type, dims);
  }

  model(): Uint8Array {
    const graph = this.#parts.concat([text(2, "bench")]).flat();
    const opset = block(8, [...text(1, ""), ...int(2, 13)]);
    return Uint8Array.from([...int(1, 8), ...opset].concat(block(7, graph)));
  }
}

const operationsOf = (g: Graph): Operations<string> => ({
  constant: (values, dims) => g.floats(values, dims),
  slice: (x, axis, from, to) => g.node("Slice", [x, g.ints(from), g.ints(to), g.ints(axis)]),
  max: (x, axis) => g.node("ReduceMax", [x], { axes: [axis], keepdims: 0 }),
  argMax: (x, axis) => g.node("ArgMax", [x], { axis, keepdims: 0 }),
  reshape: (x, dims) => g.node("Reshape", [x, g.ints(...dims)]),
  transpose: (x, order) => g.node("Transpose", [x], { perm: order }),
  concat: (parts, axis) => g.node("Concat", parts, { axis }),
  add: (a, b) => g.node("Add", [a, b]),
  mul: (a, b) => g.node("Mul", [a, b]),
  exp: (x) => g.node("Exp", [x]),
  sigmoid: (x) => g.node("Sigmoid", [x]),
});

function suppress(g: Graph, boxes: string, scores: string, threshold: number, isCentre: 0 | 1): string {
  const limits = [g.ints(MAX_DETECTIONS), g.floats([IOU_THRESHOLD]), g.floats([threshold])];
  return g.node("NonMaxSuppression", [boxes, scores, ...limits], { center_point_box: isCentre });
}

/** Dimensions of an input of the graph. For suppression alone, those of the operator: [1, n, 4] and [1, 1, n]. */
export function inputDims({ kind, tensors }: Workload, name: string): number[] {
  const { dims } = tensors[name];
  return kind !== "nms" ? [...dims] : name === "boxes" ? [1, ...dims] : [1, 1, ...dims];
}

/**
 * Builds decoding and suppression as one graph. Each cell has its best class only. Boxes of different classes are moved
 * apart before the operator, as exporters do. Outputs: boxes [n, 4] as centre and size in pixels, scores [n], labels
 * [n]; for suppression alone the operator's own [n, 3].
 */
export function buildGraph(workload: Workload): Uint8Array {
  const { kind, tensors, threshold } = workload;
  const g = new Graph();
  const inputs = Object.keys(tensors).map((name) => g.input(name, inputDims(workload, name)));
  if (kind === "nms") {
    g.output(suppress(g, inputs[0], inputs[1], threshold, 0), "selected", "int64", ["n", 3]);
    return g.model();
  }
  const ops = operationsOf(g);
  const oneImage = inputs.map((input, i) => ops.reshape(input, Object.values(tensors)[i].dims.slice(1)));
  const { boxes, scores, labels } = networkEnd(kind, ops)(oneImage);
  const offset = ops.mul(g.node("Cast", [labels], { to: TYPES.float32 }), g.floats([CLASS_OFFSET]));
  const moved = ops.add(boxes, ops.mul(ops.reshape(offset, [-1, 1]), g.floats([1, 1, 0, 0], [1, 4])));
  const selected = suppress(g, ops.reshape(moved, [1, -1, 4]), ops.reshape(scores, [1, 1, -1]), threshold, 1);
  const index = ops.reshape(ops.slice(selected, 1, 2, 3), [-1]);
  const pick = (values: string): string => g.node("Gather", [values, index], { axis: 0 });
  g.output(pick(boxes), "boxes", "float32", ["n", 4]);
  g.output(pick(scores), "scores", "float32", ["n"]);
  g.output(pick(labels), "labels", "int64", ["n"]);
  return g.model();
}
