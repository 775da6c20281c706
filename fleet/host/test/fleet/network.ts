/**
 * A network that finds coloured things: one box for the bright pixels of each channel, in the layout of YOLOv8,
 * [1, 7, 2100], with a weaker double beside each box, which suppression has to take away. Where a box has to be follows
 * from the picture alone.
 */
import { block, int } from "../../../../test/support/onnx.ts";

export const SIZE = 320;
export const LABELS = ["red", "green", "blue"];
/** Cells of strides 8, 16 and 32. */
const CELLS = 40 * 40 + 20 * 20 + 10 * 10;
/** Value of a channel from which a pixel is a part of the thing. */
const BRIGHT = 0.6;

/** The config of an agent: who decodes is all that differs. */
export const configOf = (outputFormat: "raw" | "detection"): object => ({
  nn_config: {
    output_format: outputFormat,
    NN_family: "YOLO",
    input_size: `${SIZE}x${SIZE}`,
    NN_specific_metadata: {
      classes: LABELS.length,
      coordinates: 4,
      anchors: [],
      anchor_masks: {},
      confidence_threshold: BRIGHT,
      iou_threshold: 0.5,
    },
  },
  mappings: { labels: LABELS },
});

type Bytes = readonly number[];

const valueInfo = (name: string, dims: readonly number[]): readonly Bytes[] => [
  block(1, name),
  block(2, [
    block(1, [
      int(1, 1),
      block(
        2,
        dims.map((size) => block(1, [int(1, size)])),
      ),
    ]),
  ]),
];

/** TensorProto of float32, or of int64. */
function constant(name: string, dims: readonly number[], values: Float32Array | BigInt64Array): Bytes {
  const type = values instanceof Float32Array ? 1 : 7;
  const bytes = Array.from(new Uint8Array(values.buffer));
  return block(5, [...dims.map((size) => int(1, size)), int(2, type), block(8, name), block(9, [bytes])]);
}

const node = (operator: string, inputs: readonly string[], output: string, attributes: readonly Bytes[] = []): Bytes =>
  block(1, [...inputs.map((name) => block(1, name)), block(2, output), block(4, operator), ...attributes]);

/** AttributeProto of type INT (2) or INTS (7). */
const intAttribute = (name: string, value: number): Bytes => block(5, [block(1, name), int(3, value), int(20, 2)]);
const intsAttribute = (name: string, values: readonly number[]): Bytes =>
  block(5, [block(1, name), ...values.map((value) => int(8, value)), int(20, 7)]);

/** Nodes that find the edges of the bright pixels of each channel along one axis, and the centre and size of them. */
function nodesOf(axis: "x" | "y"): Bytes[] {
  const overPixels = [intsAttribute("axes", [2, 3]), intAttribute("keepdims", 0)];
  return [
    node("Where", ["bright", `${axis}From`, "far"], `${axis}Low`),
    node("Where", ["bright", `${axis}To`, "zero"], `${axis}High`),
    node("ReduceMin", [`${axis}Low`], `${axis}Min`, overPixels),
    node("ReduceMax", [`${axis}High`], `${axis}Max`, overPixels),
    node("Add", [`${axis}Min`, `${axis}Max`], `${axis}Sum`),
    node("Mul", [`${axis}Sum`, "half"], `${axis}Middle`),
    node("Sub", [`${axis}Max`, `${axis}Min`], `${axis}Length`),
    node("Reshape", [`${axis}Middle`, "row"], `${axis}Centre`),
    node("Reshape", [`${axis}Length`, "row"], `${axis}Size`),
  ];
}

export function onnx(): Uint8Array<ArrayBuffer> {
  const from = Float32Array.from({ length: SIZE }, (_, i) => i);
  const to = from.map((i) => i + 1);
  const one = (value: number): Float32Array => Float32Array.of(value);
  const graph = [
    node("Greater", ["images", "threshold"], "bright"),
    ...nodesOf("x"),
    ...nodesOf("y"),
    node("ReduceMax", ["images"], "best", [intsAttribute("axes", [2, 3]), intAttribute("keepdims", 0)]),
    node("Reshape", ["best", "row"], "score"),
    node("Mul", ["score", "identity"], "scores"),
    node("Concat", ["xCentre", "yCentre", "xSize", "ySize", "scores"], "found", [intAttribute("axis", 1)]),
    node("Mul", ["found", "weaker"], "doubles"),
    node("Concat", ["found", "doubles", "nothing"], "output0", [intAttribute("axis", 2)]),
    block(2, "colours"),
    constant("threshold", [1], one(BRIGHT)),
    constant("far", [1], one(SIZE)),
    constant("zero", [1], one(0)),
    constant("half", [1], one(0.5)),
    constant("xFrom", [1, 1, 1, SIZE], from),
    constant("xTo", [1, 1, 1, SIZE], to),
    constant("yFrom", [1, 1, SIZE, 1], from),
    constant("yTo", [1, 1, SIZE, 1], to),
    constant("row", [3], BigInt64Array.of(1n, 1n, 3n)),
    constant("identity", [1, 3, 3], Float32Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1)),
    constant("weaker", [1, 7, 1], Float32Array.of(1.01, 1, 1, 0.98, 0.97, 0.97, 0.97)),
    constant("nothing", [1, 7, CELLS - 6], new Float32Array(7 * (CELLS - 6))),
    block(11, valueInfo("images", [1, 3, SIZE, SIZE])),
    block(12, valueInfo("output0", [1, 7, CELLS])),
  ];
  return Uint8Array.from([...int(1, 8), ...block(7, graph), ...block(8, [block(1, ""), int(2, 13)])]);
}
