/** Reads TFLite files: the inputs and outputs of the first subgraph with their quantisation, and the metadata. */
import { OPERATOR_FORMS } from "../../core/exporters.ts";
import { MAX_NAME, MAX_PORTS, MAX_RANK, refuseFile, textOf } from "./bytes.ts";
import type { NetworkFile } from "./file.ts";
import { Flatbuffer, type Table } from "./flatbuffers.ts";
import { readTfliteMetadata } from "./tflite-metadata.ts";
import type { ModelTensor, Quantisation } from "./types.ts";

/** Name of the file in errors. */
const FILE = "TFLite file";
/**
 * Largest count of operator kinds, signatures and metadata entries. The file size is no limit: tables may share bytes.
 */
const MAX_ITEMS = 1024;
/** Largest count of scales per tensor: one per channel. */
const MAX_SCALES = 4096;

/** Names of element types by their number in TensorType of the schema. */
const TYPES =
  "f32 f16 i32 u8 i64 string bool i16 complex64 i8 f64 complex128 u64 resource variant u32 u16 i4 bf16".split(
    " ",
  );

/** Field numbers of the tables in schema.fbs. */
const MODEL = { operatorCodes: 1, subgraphs: 2, description: 3, buffers: 4, metadata: 6, signatures: 7 };
const SUBGRAPH = { tensors: 0, inputs: 1, outputs: 2, operators: 3 };
const TENSOR = { shape: 0, type: 1, name: 3, quantisation: 4, signature: 7 };
const QUANTISATION = { scale: 2, zeroPoint: 3, axis: 6 };
const OPERATOR = { code: 0, outputs: 2 };
const OPERATOR_CODE = { custom: 1 };
const SIGNATURE = { inputs: 0, outputs: 1, subgraph: 4 };
const TENSOR_MAP = { name: 0, tensor: 1 };
const METADATA = { name: 0, buffer: 1 };
const BUFFER = { data: 0 };

/** True if bytes 4 to 7 are the identifier of a TFLite flatbuffer. */
export const isTflite = (bytes: Uint8Array): boolean => textOf(bytes, 4, 8) === "TFL3";

/** Reads the network of a TFLite file. Throws a ConfigError if the bytes are cut short or damaged. */
export async function readTflite(bytes: Uint8Array): Promise<NetworkFile> {
  const model = new Flatbuffer(bytes, FILE).root();
  const subgraph = model.item(MODEL.subgraphs, 0);
  if (subgraph === null) return refuseFile(FILE, "no subgraph", "a TFLite file, which has one");
  const signature = model
    .tables(MODEL.signatures, MAX_ITEMS)
    .find((table) => table.i32(SIGNATURE.subgraph) === 0);
  const tensors = (field: number, names: number): ModelTensor[] => {
    const signed = namesInSignature(signature, names);
    return subgraph
      .i32s(field, MAX_PORTS)
      .map((index) => readTensor(tensorAt(subgraph, index), signed.get(index) ?? null));
  };
  const metadata = await readTfliteMetadata(bytes, metadataBuffer(model));
  const operatorOutputs = outputsOfOperators(model, subgraph);
  return {
    format: "tflite",
    producer: model.text(MODEL.description, MAX_NAME) || null,
    opset: null,
    description: metadata.description,
    inputs: tensors(SUBGRAPH.inputs, SIGNATURE.inputs),
    outputs: tensors(SUBGRAPH.outputs, SIGNATURE.outputs),
    operators: new Set(Object.keys(operatorOutputs)),
    operatorOutputs,
    metadata: metadata.entries,
    labels: metadata.labels,
    normalisation: metadata.normalisation,
  };
}

function tensorAt(subgraph: Table, index: number): Table {
  return (
    subgraph.item(SUBGRAPH.tensors, index) ??
    refuseFile(FILE, `tensor ${index}`, `one of ${subgraph.count(SUBGRAPH.tensors)}`)
  );
}

function readTensor(tensor: Table, signature: string | null): ModelTensor {
  const shape = tensor.i32s(TENSOR.shape, MAX_RANK);
  // The shape's signature has -1 for an open dimension. `shape` has 1 there.
  const open = tensor.i32s(TENSOR.signature, MAX_RANK);
  const type = tensor.i8(TENSOR.type);
  const quantisation = tensor.table(TENSOR.quantisation);
  return {
    name: tensor.text(TENSOR.name, MAX_NAME) ?? "",
    // Tensors without a shape are outputs of operators whose output length varies.
    dims:
      shape.length === 0
        ? null
        : shape.map((size, axis) => (size > 0 && (open[axis] ?? size) > 0 ? size : null)),
    type: TYPES[type] ?? `type ${type}`,
    quantisation: quantisation && readQuantisation(quantisation),
    signature,
  };
}

/** Returns the quantisation of a tensor, `null` if there is none: an empty table, or a scale of 0. */
function readQuantisation(table: Table): Quantisation | null {
  const scale = table.f32s(QUANTISATION.scale, MAX_SCALES);
  const zeroPoint = table.i64s(QUANTISATION.zeroPoint, MAX_SCALES);
  if (!scale.some((s) => s !== 0)) return null;
  if (!scale.every((s) => s > 0 && s < Infinity) || !zeroPoint.every(Number.isSafeInteger))
    refuseFile(FILE, `scale ${scale.slice(0, 4).join()}`, "positive numbers, and whole zero points");
  return {
    scale,
    zeroPoint: scale.map((_, i) => zeroPoint[i] ?? 0),
    axis: scale.length > 1 ? table.i32(QUANTISATION.axis) : 0,
  };
}

/** Returns the names that a signature gives to tensors, by tensor index. */
function namesInSignature(signature: Table | undefined, field: number): Map<number, string> {
  const maps = signature?.tables(field, MAX_PORTS) ?? [];
  return new Map(maps.map((map) => [map.i32(TENSOR_MAP.tensor), map.text(TENSOR_MAP.name, MAX_NAME) ?? ""]));
}

function outputsOfOperators(
  model: Table,
  subgraph: Table,
): { readonly [operator: string]: readonly string[] } {
  const found: Record<string, readonly string[]> = {};
  const codes = model
    .tables(MODEL.operatorCodes, MAX_ITEMS)
    .map((code) => code.text(OPERATOR_CODE.custom, MAX_NAME));
  const operators = subgraph.count(SUBGRAPH.operators);
  for (const { operator } of OPERATOR_FORMS) {
    const code = codes.indexOf(operator);
    for (let i = 0; code >= 0 && i < operators; i++) {
      const table = subgraph.item(SUBGRAPH.operators, i);
      if (table === null || table.i32(OPERATOR.code) !== code) continue;
      found[operator] = table
        .i32s(OPERATOR.outputs, MAX_RANK)
        .map((index) => tensorAt(subgraph, index).text(TENSOR.name, MAX_NAME) ?? "");
      break;
    }
  }
  return found;
}

function metadataBuffer(model: Table): Uint8Array | null {
  const entry = model
    .tables(MODEL.metadata, MAX_ITEMS)
    .find((table) => table.text(METADATA.name, MAX_NAME) === "TFLITE_METADATA");
  const buffer = entry && model.item(MODEL.buffers, entry.i32(METADATA.buffer));
  return buffer ? buffer.blob(BUFFER.data) : null;
}
