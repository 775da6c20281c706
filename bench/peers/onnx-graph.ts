/**
 * The ONNX graphs of the benchmark: what an exporter would put behind a network, made here because no file
 * format library is needed for five message types. Field numbers are those of onnx.proto.
 */
import {
  CLASSES,
  INPUT_V3,
  IOU_THRESHOLD,
  MAX_DETECTIONS,
  V3_ANCHORS,
  V3_MAPS,
  type Workload,
} from "../workloads.ts";

type Bytes = number[];

function varint(value: number): Bytes {
  const bytes: Bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return bytes;
}

const int = (field: number, value: number): Bytes => [...varint(field * 8), ...varint(value)];
const text = (field: number, value: string): Bytes => bytes(field, [...new TextEncoder().encode(value)]);

function bytes(field: number, content: Bytes): Bytes {
  return [...varint(field * 8 + 2), ...varint(content.length)].concat(content);
}

const FLOAT = 1;
const INT64 = 7;

type Attribute = number | number[];

class Graph {
  #parts: Bytes[] = [];
  #names = 0;

  node(
    op: string,
    inputs: string[],
    attributes: Record<string, Attribute> = {},
    output = `v${this.#names++}`,
  ): string {
    const body = [...inputs.flatMap((name) => text(1, name)), ...text(2, output), ...text(4, op)];
    for (const [name, value] of Object.entries(attributes)) {
      const many = Array.isArray(value);
      const content = many ? value.flatMap((v) => int(8, v)) : int(3, value);
      body.push(...bytes(5, [...text(1, name), ...content, ...int(20, many ? 7 : 2)]));
    }
    this.#parts.push(bytes(1, body));
    return output;
  }

  #constant(dims: number[], type: number, raw: ArrayBufferLike): string {
    const name = `c${this.#names++}`;
    const body = [...dims.flatMap((d) => int(1, d)), ...int(2, type), ...text(8, name)];
    this.#parts.push(bytes(5, body.concat(bytes(9, [...new Uint8Array(raw)]))));
    return name;
  }

  floats(values: number[], dims: number[] = [values.length]): string {
    return this.#constant(dims, FLOAT, Float32Array.from(values).buffer);
  }

  float(value: number): string {
    return this.floats([value], []);
  }

  ints(...values: number[]): string {
    return this.#constant([values.length], INT64, BigInt64Array.from(values, BigInt).buffer);
  }

  slice(input: string, axis: number, from: number, to: number): string {
    return this.node("Slice", [input, this.ints(from), this.ints(to), this.ints(axis)]);
  }

  reshape(input: string, ...dims: number[]): string {
    return this.node("Reshape", [input, this.ints(...dims)]);
  }

  #value(field: number, name: string, type: number, dims: (number | string)[]): void {
    const shape = dims.flatMap((d) => bytes(1, typeof d === "number" ? int(1, d) : text(2, d)));
    this.#parts.push(
      bytes(field, [...text(1, name), ...bytes(2, bytes(1, [...int(1, type), ...bytes(2, shape)]))]),
    );
  }

  input(name: string, dims: readonly number[]): string {
    this.#value(11, name, FLOAT, [...dims]);
    return name;
  }

  output(name: string, type: number, dims: (number | string)[]): void {
    this.#value(12, name, type, dims);
  }

  model(): Uint8Array {
    const graph = this.#parts.concat([text(2, "bench")]).flat();
    const opset = bytes(8, [...text(1, ""), ...int(2, 13)]);
    return Uint8Array.from([...int(1, 8), ...opset].concat(bytes(7, graph)));
  }
}

interface Decoded {
  /** [1, n, 4]: cx, cy, w, h. */
  boxes: string;
  /** [1, n] */
  scores: string;
  /** [1, n], int64 */
  labels: string;
}

function v8(g: Graph, input: string): Decoded {
  const scores = g.slice(input, 1, 4, 4 + CLASSES);
  return {
    boxes: g.node("Transpose", [g.slice(input, 1, 0, 4)], { perm: [0, 2, 1] }),
    scores: g.node("ReduceMax", [scores], { axes: [1], keepdims: 0 }),
    labels: g.node("ArgMax", [scores], { axis: 1, keepdims: 0 }),
  };
}

function v5(g: Graph, input: string): Decoded {
  const classes = g.slice(input, 2, 5, 5 + CLASSES);
  const top = g.node("ReduceMax", [classes], { axes: [2], keepdims: 0 });
  return {
    boxes: g.slice(input, 2, 0, 4),
    scores: g.node("Mul", [top, g.reshape(g.slice(input, 2, 4, 5), 1, -1)]),
    labels: g.node("ArgMax", [classes], { axis: 2, keepdims: 0 }),
  };
}

function v3(g: Graph, inputs: string[]): Decoded {
  const maps = V3_MAPS.map(({ side, mask }, m): Decoded => {
    const cells = side * side;
    const all = g.reshape(inputs[m], 1, 3, 5 + CLASSES, cells);
    const classes = g.slice(all, 2, 5, 5 + CLASSES);
    const best = g.node("ReduceMax", [classes], { axes: [2], keepdims: 0 });
    const objectness = g.node("Sigmoid", [g.reshape(g.slice(all, 2, 4, 5), 1, 3, cells)]);
    const grid = Array.from({ length: 2 * cells }, (_, i) =>
      i < cells ? i % side : Math.floor((i - cells) / side),
    );
    const centre = g.node("Mul", [
      g.node("Add", [g.node("Sigmoid", [g.slice(all, 2, 0, 2)]), g.floats(grid, [1, 1, 2, cells])]),
      g.float(INPUT_V3 / side),
    ]);
    const anchors = g.floats(
      mask.flatMap((a) => V3_ANCHORS.slice(2 * a, 2 * a + 2)),
      [1, 3, 2, 1],
    );
    const size = g.node("Mul", [g.node("Exp", [g.slice(all, 2, 2, 4)]), anchors]);
    const box = g.node("Transpose", [g.node("Concat", [centre, size], { axis: 2 })], { perm: [0, 1, 3, 2] });
    return {
      boxes: g.reshape(box, 1, 3 * cells, 4),
      scores: g.reshape(g.node("Mul", [objectness, g.node("Sigmoid", [best])]), 1, 3 * cells),
      labels: g.reshape(g.node("ArgMax", [classes], { axis: 2, keepdims: 0 }), 1, 3 * cells),
    };
  });
  const join = (key: keyof Decoded): string =>
    g.node(
      "Concat",
      maps.map((map) => map[key]),
      { axis: 1 },
    );
  return { boxes: join("boxes"), scores: join("scores"), labels: join("labels") };
}

function suppress(g: Graph, boxes: string, scores: string, threshold: number, centre: 0 | 1): string {
  return g.node(
    "NonMaxSuppression",
    [boxes, scores, g.ints(MAX_DETECTIONS), g.float(IOU_THRESHOLD), g.float(threshold)],
    { center_point_box: centre },
  );
}

/**
 * Decoder and suppression in one graph. Single-label: each cell has its best class only, and boxes of
 * different classes are moved far apart before the operator sees them, as exporters do. Outputs: boxes [n,4]
 * (cx, cy, w, h in pixels), scores [n], labels [n]; for `nms` and for multi-label: the operator's own [n,3].
 */
export function buildGraph({ kind, tensors, threshold }: Workload, multiLabel = false): Uint8Array {
  const g = new Graph();
  const inputs = Object.entries(tensors).map(([name, { dims }]) =>
    g.input(name, kind !== "nms" ? dims : name === "boxes" ? [1, ...dims] : [1, 1, ...dims]),
  );
  if (kind === "nms" || multiLabel) {
    const selected =
      kind === "nms"
        ? suppress(g, inputs[0], inputs[1], threshold, 0)
        : suppress(g, v8(g, inputs[0]).boxes, g.slice(inputs[0], 1, 4, 4 + CLASSES), threshold, 1);
    g.node("Identity", [selected], {}, "selected");
    g.output("selected", INT64, ["n", 3]);
    return g.model();
  }
  const { boxes, scores, labels } =
    kind === "v8" ? v8(g, inputs[0]) : kind === "v5" ? v5(g, inputs[0]) : v3(g, inputs);
  // 2,048 pixels a class: more than any box reaches, little enough to leave float32 its sub-pixel digits.
  const apart = g.node("Mul", [g.node("Cast", [labels], { to: FLOAT }), g.float(2048)]);
  const moved = g.node("Add", [
    boxes,
    g.node("Mul", [g.node("Unsqueeze", [apart, g.ints(2)]), g.floats([1, 1, 0, 0], [1, 1, 4])]),
  ]);
  const selected = suppress(g, moved, g.node("Unsqueeze", [scores, g.ints(1)]), threshold, 1);
  const index = g.reshape(g.slice(selected, 1, 2, 3), -1);
  const pick = (values: string, output: string, ...dims: number[]): string =>
    g.node("Gather", [g.reshape(values, ...dims), index], { axis: 0 }, output);
  g.output(pick(boxes, "boxes", -1, 4), FLOAT, ["n", 4]);
  g.output(pick(scores, "scores", -1), FLOAT, ["n"]);
  g.output(pick(labels, "labels", -1), INT64, ["n"]);
  return g.model();
}
