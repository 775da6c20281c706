/** Just enough of the ONNX format to write small files. Field numbers are those of onnx.proto. */

type Bytes = readonly number[];

function varint(value: number): Bytes {
  const out: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128);
  return [...out, rest];
}

/** A field of wire type 0. */
export const int = (field: number, value: number): Bytes => [...varint(field * 8), ...varint(value)];

/** A field of wire type 2: a message, or text. */
export function block(field: number, content: string | readonly Bytes[]): Bytes {
  const bytes = typeof content === "string" ? [...new TextEncoder().encode(content)] : content.flat();
  return [...varint(field * 8 + 2), ...varint(bytes.length), ...bytes];
}

const TYPES = { float32: 1, uint8: 2, int8: 3, int64: 7, float16: 10 } as const;

export interface Value {
  readonly name: string;
  readonly type: keyof typeof TYPES;
  /** Names stand for dimensions that are known only at run time, an empty one for a dimension without a name. */
  readonly dims: readonly (number | string)[];
}

const dimension = (d: number | string): readonly Bytes[] =>
  d === "" ? [] : [typeof d === "number" ? int(1, d) : block(2, d)];

/** ValueInfoProto: name, type { tensor_type { elem_type, shape { dim { dim_value | dim_param } } } }. */
function value({ name, type, dims }: Value): readonly Bytes[] {
  const shape = dims.map((d) => block(1, dimension(d)));
  return [block(1, name), block(2, [block(1, [int(1, TYPES[type]), block(2, shape)])])];
}

export interface Node {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes?: Readonly<Record<string, number>>;
}

const nodeOf = ({ operator, inputs, output, attributes = {} }: Node): readonly Bytes[] => [
  ...inputs.map((name) => block(1, name)),
  block(2, output),
  block(4, operator),
  // AttributeProto: name, i, type INT
  ...Object.entries(attributes).map(([name, i]) => block(5, [block(1, name), int(3, i), int(20, 2)])),
];

/** TensorProto of one zero: dims, data_type, name, raw_data. */
const weight = (name: string): readonly Bytes[] => [
  int(1, 1),
  int(2, TYPES.float32),
  block(8, name),
  block(9, [[0, 0, 0, 0]]),
];

export interface OnnxFile {
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly nodes?: readonly Node[];
  /** Names of weights, one number each. */
  readonly weights?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly producer?: readonly [name: string, version: string];
}

/** ModelProto of version 8 with operators of version 13. */
export function onnxFile(file: OnnxFile): Uint8Array<ArrayBuffer> {
  const graph = [
    ...(file.nodes ?? []).map((node) => block(1, nodeOf(node))),
    block(2, "test"),
    ...(file.weights ?? []).map((name) => block(5, weight(name))),
    ...file.inputs.map((v) => block(11, value(v))),
    ...file.outputs.map((v) => block(12, value(v))),
  ];
  return Uint8Array.from([
    ...int(1, 8),
    ...(file.producer ? [...block(2, file.producer[0]), ...block(3, file.producer[1])] : []),
    ...block(7, graph),
    ...block(8, [block(1, ""), int(2, 13)]),
    ...block(8, [block(1, "com.microsoft"), int(2, 1)]),
    ...Object.entries(file.metadata ?? {}).flatMap(([key, text]) =>
      block(14, [block(1, key), block(2, text)]),
    ),
  ]);
}

/** ModelProto of one operator, all of whose inputs are inputs of the model. */
export const oneNode = (
  operator: string,
  inputs: readonly Value[],
  output: Value,
  attributes: Readonly<Record<string, number>> = {},
): Uint8Array =>
  onnxFile({
    inputs,
    outputs: [output],
    nodes: [{ operator, inputs: inputs.map(({ name }) => name), output: output.name, attributes }],
  });

/** Model of the operator NonMaxSuppression. `centre`: boxes are a centre and a size, not corners. */
export const suppressionModel = (centre: 0 | 1): Uint8Array =>
  oneNode(
    "NonMaxSuppression",
    [
      { name: "boxes", type: "float32", dims: [1, "n", 4] },
      { name: "scores", type: "float32", dims: [1, "classes", "n"] },
      { name: "max", type: "int64", dims: [1] },
      { name: "iou", type: "float32", dims: [1] },
      { name: "threshold", type: "float32", dims: [1] },
    ],
    { name: "selected", type: "int64", dims: ["kept", 3] },
    { center_point_box: centre },
  );
