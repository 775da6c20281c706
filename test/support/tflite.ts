/** Writes TFLite files from a description. Field numbers are those of schema.fbs and metadata_schema.fbs. */
import { type Field, type Table, flatbuffer } from "./flatbuffer.ts";

const TYPES = { float32: 0, uint8: 3, int8: 9, int64: 4 } as const;

export interface TfliteTensor {
  readonly name: string;
  readonly type: keyof typeof TYPES;
  readonly shape: readonly number[];
  /** -1 for a dimension that is open. */
  readonly signature?: readonly number[];
  readonly scale?: readonly number[];
  readonly zeroPoint?: readonly number[];
  readonly axis?: number;
}

export interface TfliteFile {
  readonly inputs: readonly TfliteTensor[];
  readonly outputs: readonly TfliteTensor[];
  /** A custom operator that gives all outputs, in this order of them. */
  readonly operator?: { readonly name: string; readonly outputs: readonly number[] };
  /** Names of inputs and outputs in the first signature. */
  readonly signature?: { readonly inputs: readonly string[]; readonly outputs: readonly string[] };
  /** How many times the outputs are listed. Default 1. */
  readonly repeated?: number;
  /** TFLite Metadata. */
  readonly metadata?: Uint8Array;
}

function tensorTable(t: TfliteTensor): Table {
  return {
    0: { i32s: t.shape },
    1: { i8: TYPES[t.type] },
    3: { text: t.name },
    ...(t.scale && {
      4: {
        table: { 2: { f32s: t.scale }, 3: { i64s: t.zeroPoint ?? [] }, 6: { i32: t.axis ?? 0 } },
      },
    }),
    ...(t.signature && { 7: { i32s: t.signature } }),
  };
}

export function tfliteFile(file: TfliteFile): Uint8Array<ArrayBuffer> {
  const { inputs, outputs, operator, signature, repeated = 1, metadata } = file;
  // A tensor that is neither stands first, so that indices are not places.
  const tensors = [{ name: "weights", type: "int8", shape: [1] } as const, ...inputs, ...outputs];
  const first = 1 + inputs.length;
  const indices = (list: readonly unknown[], start: number): Field => ({
    i32s: list.map((_, i) => start + i),
  });
  const maps = (names: readonly string[], start: number): Field => ({
    tables: names.map((name, i) => ({ 0: { text: name }, 1: { i32: start + i } })),
  });
  const subgraph: Table = {
    0: { tables: tensors.map(tensorTable) },
    1: indices(inputs, 1),
    2: { i32s: Array.from({ length: repeated }, () => outputs.map((_, i) => first + i)).flat() },
    ...(operator && {
      3: {
        tables: [{ 0: { i32: 0 } }, { 0: { i32: 1 }, 2: { i32s: operator.outputs.map((i) => first + i) } }],
      },
    }),
  };
  return flatbuffer(
    {
      0: { i32: 3 },
      1: { tables: [{ 0: { i8: 3 } }, ...(operator ? [{ 1: { text: operator.name } }] : [])] },
      2: { tables: [subgraph] },
      3: { text: "written by a test" },
      4: { tables: [{}, ...(metadata ? [{ 0: { bytes: metadata } }] : [])] },
      ...(metadata && { 6: { tables: [{ 0: { text: "TFLITE_METADATA" }, 1: { i32: 1 } }] } }),
      ...(signature && {
        7: {
          tables: [
            {
              0: maps(signature.inputs, 1),
              1: maps(signature.outputs, first),
              2: { text: "serving_default" },
            },
          ],
        },
      }),
    },
    "TFL3",
  );
}

/** TFLite Metadata: a name, what the picture is divided by, and label files of the first output. */
export function tfliteMetadata(
  name: string,
  files: readonly { readonly name: string; readonly type: number; readonly locale?: string }[],
  mean: readonly number[] = [],
  std: readonly number[] = [],
): Uint8Array<ArrayBuffer> {
  const file = (f: (typeof files)[number]): Table => ({
    0: { text: f.name },
    2: { i8: f.type },
    ...(f.locale && { 3: { text: f.locale } }),
  });
  const unit: Table = { 0: { i8: 1 }, 1: { table: { 0: { f32s: mean }, 1: { f32s: std } } } };
  const input: Table = { 4: { tables: [unit] } };
  const output: Table = { 6: { tables: files.map(file) } };
  return flatbuffer(
    { 0: { text: name }, 3: { tables: [{ 2: { tables: [input] }, 3: { tables: [output] } }] } },
    "M001",
  );
}
