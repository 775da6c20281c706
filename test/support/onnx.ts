/** Just enough of the ONNX format to write a graph of one node. Field numbers are those of onnx.proto. */

type Bytes = readonly number[];

function varint(value: number): Bytes {
  const out: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128);
  return [...out, rest];
}

/** A field of wire type 0. */
const int = (field: number, value: number): Bytes => [...varint(field * 8), ...varint(value)];

/** A field of wire type 2: a message, or text. */
function block(field: number, content: string | readonly Bytes[]): Bytes {
  const bytes = typeof content === "string" ? [...new TextEncoder().encode(content)] : content.flat();
  return [...varint(field * 8 + 2), ...varint(bytes.length), ...bytes];
}

const TYPES = { float32: 1, int64: 7 } as const;

export interface Value {
  readonly name: string;
  readonly type: keyof typeof TYPES;
  /** Names stand for dimensions that are known only at run time. */
  readonly dims: readonly (number | string)[];
}

/** ValueInfoProto: name, type { tensor_type { elem_type, shape { dim { dim_value | dim_param } } } }. */
function value({ name, type, dims }: Value): readonly Bytes[] {
  const shape = dims.map((d) => block(1, [typeof d === "number" ? int(1, d) : block(2, d)]));
  return [block(1, name), block(2, [block(1, [int(1, TYPES[type]), block(2, shape)])])];
}

/** ModelProto of one operator, all of whose inputs are inputs of the model. */
export function oneNode(
  op: string,
  inputs: readonly Value[],
  output: Value,
  attributes: Readonly<Record<string, number>> = {},
): Uint8Array {
  const node = [
    ...inputs.map((v) => block(1, v.name)),
    block(2, output.name),
    block(4, op),
    // AttributeProto: name, i, type INT
    ...Object.entries(attributes).map(([name, i]) => block(5, [block(1, name), int(3, i), int(20, 2)])),
  ];
  const graph = [
    block(1, node),
    block(2, "test"),
    ...inputs.map((v) => block(11, value(v))),
    block(12, value(output)),
  ];
  // ir_version 8, opset 13 of the default domain
  return Uint8Array.from([...int(1, 8), ...block(8, [block(1, ""), int(2, 13)]), ...block(7, graph)]);
}
