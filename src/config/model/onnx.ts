/** Reads ONNX: inputs, outputs, operators and metadata. Weights are skipped. Field numbers are those of onnx.proto. */
import { MAX_ENTRIES, MAX_NAME, MAX_RANK, MAX_TENSORS, MAX_TEXT, refuseFile } from "./bytes.ts";
import type { NetworkFile } from "./file.ts";
import { Message } from "./protobuf.ts";
import type { ModelTensor } from "./types.ts";

/** Largest count of operator kinds in one graph. The standard has fewer than 250. */
const MAX_OPERATORS = 1000;

/** Names of element types by their number in TensorProto.DataType. */
const TYPES = [
  "undefined f32 u8 i8 u16 i16 i32 i64 string bool f16 f64 u32 u64 complex64 complex128 bf16",
  "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz u4 i4 float4e2m1",
]
  .join(" ")
  .split(" ");

/** Reads the network of an ONNX file. Throws a ConfigError if the file is no ONNX, is damaged or is cut short. */
export function readOnnx(bytes: Uint8Array): NetworkFile {
  const file = {
    producer: null as string | null,
    version: "",
    opset: null as number | null,
    description: null as string | null,
    graph: null as Graph | null,
    metadata: {} as Record<string, string>,
  };
  const model = new Message(bytes, "ONNX file");
  while (model.next()) {
    if (model.field === 2) file.producer = model.text(MAX_NAME) || null;
    else if (model.field === 3) file.version = model.text(MAX_NAME);
    else if (model.field === 6) file.description = model.text(MAX_TEXT) || null;
    else if (model.field === 7) file.graph = readGraph(() => model.message("graph"));
    else if (model.field === 8) file.opset = standardOpset(model.message("opset_import")) ?? file.opset;
    else if (model.field === 14) readEntry(model.message("metadata_props"), file.metadata);
  }
  const { graph, producer, version, metadata } = file;
  if (graph === null) return refuseFile("ONNX file", "no graph", "one: is the file a model?");
  return {
    format: "onnx",
    producer: producer && `${producer} ${version}`.trim(),
    opset: file.opset,
    description: metadata["description"] ?? file.description,
    inputs: graph.inputs,
    outputs: graph.outputs,
    operators: graph.operators,
    operatorOutputs: {},
    metadata,
    labels: null,
    normalisation: null,
  };
}

/** Reads an OperatorSetIdProto. Returns the version if the domain is the standard one ("" or "ai.onnx"), else null. */
function standardOpset(message: Message): number | null {
  let domain = "";
  let version: number | null = null;
  while (message.next()) {
    if (message.field === 1) domain = message.text(MAX_NAME);
    else if (message.field === 2) version = message.number();
  }
  return domain === "" || domain === "ai.onnx" ? version : null;
}

function readEntry(message: Message, into: Record<string, string>): void {
  let key = "";
  let value = "";
  while (message.next()) {
    if (message.field === 1) key = message.text(MAX_NAME);
    else if (message.field === 2) value = message.text(MAX_TEXT);
  }
  // Use defineProperty: an assignment to the key "__proto__" would not store the value.
  Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
  if (Object.keys(into).length > MAX_ENTRIES)
    refuseFile("metadata_props", `more than ${MAX_ENTRIES} entries`, "fewer");
}

interface Graph {
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
  readonly operators: ReadonlySet<string>;
}

/** Reads a GraphProto in two passes, as initializers come before inputs. `open` returns a new reader. */
function readGraph(open: () => Message): Graph {
  const inputs = new Map<string, ModelTensor>();
  const outputs = new Map<string, ModelTensor>();
  const operators = new Set<string>();
  const graph = open();
  while (graph.next()) {
    if (graph.field === 1) addOperator(graph.message("node"), operators);
    else if (graph.field === 11) addTensor(graph.message("input"), inputs);
    else if (graph.field === 12) addTensor(graph.message("output"), outputs);
  }
  // Up to IR version 3, weights (initializers) are also listed as inputs. Remove them, since no caller passes weights.
  const again = open();
  while (again.next())
    if (again.field === 5 && inputs.size > 0) inputs.delete(nameOf(again.message("initializer"), 8));
  return { inputs: [...inputs.values()], outputs: [...outputs.values()], operators };
}

function nameOf(message: Message, field: number): string {
  let name = "";
  while (message.next()) if (message.field === field) name = message.text(MAX_NAME);
  return name;
}

/** Adds the operator of a NodeProto, field 4, to `operators`. */
function addOperator(node: Message, operators: Set<string>): void {
  operators.add(nameOf(node, 4));
  if (operators.size > MAX_OPERATORS) refuseFile("graph", `more than ${MAX_OPERATORS} operators`, "fewer");
}

/** Reads a ValueInfoProto: name, type { tensor_type { elem_type, shape } }. */
function addTensor(value: Message, tensors: Map<string, ModelTensor>): void {
  let name = "";
  let type = "undefined";
  let dims: ModelTensor["dims"] = null;
  while (value.next()) {
    if (value.field === 1) name = value.text(MAX_NAME);
    else if (value.field === 2) ({ type, dims } = readType(value.message("type")));
  }
  tensors.set(name, { name, dims, type, quantisation: null, signature: null });
  if (tensors.size > MAX_TENSORS) refuseFile("graph", `more than ${MAX_TENSORS} tensors`, "fewer");
}

/** Reads a TypeProto. Sequences and maps, which some classifiers output, have no dims. */
function readType(message: Message): Pick<ModelTensor, "type" | "dims"> {
  let type = "sequence or map";
  let dims: ModelTensor["dims"] = null;
  while (message.next()) {
    if (message.field !== 1) continue;
    type = "undefined";
    const tensor = message.message("tensor_type");
    while (tensor.next()) {
      if (tensor.field === 1) type = TYPES[tensor.number()] ?? `type ${tensor.number()}`;
      else if (tensor.field === 2) dims = readShape(tensor.message("shape"));
    }
  }
  return { type, dims };
}

function readShape(shape: Message): ModelTensor["dims"] {
  const dims: (number | string | null)[] = [];
  while (shape.next()) {
    if (shape.field !== 1) continue;
    let size: number | string | null = null;
    const dim = shape.message("dim");
    while (dim.next()) {
      // -1 and 0 are open dimensions: some exporters write them.
      if (dim.field === 1) size = isSize(dim.number()) ? dim.number() : null;
      else if (dim.field === 2) size = dim.text(MAX_NAME) || null;
    }
    if (dims.push(size) > MAX_RANK) refuseFile("graph", `more than ${MAX_RANK} dimensions`, "fewer");
  }
  return dims;
}

const isSize = (n: number): boolean => Number.isSafeInteger(n) && n > 0;
