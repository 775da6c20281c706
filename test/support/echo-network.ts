/**
 * A network whose output is its own picture: every six values in a row are a detection, x_min, y_min, x_max, y_max,
 * score, class id. So a picture states what has to be found in it, to the last bit.
 */
import { flatbuffer } from "./flatbuffer.ts";
import { block, int } from "./onnx.ts";

export const WIDTH = 32;
export const HEIGHT = 24;
/** Rows of the output. */
export const ROWS = (WIDTH * HEIGHT * 3) / 6;
export const NAMES = ["cat", "dog"];

/** Bytes of one detection, 0..255 for 0..1. The class id is 0 or 255. */
export type Row = readonly [number, number, number, number, number, number];

/** Config of the network without metadata. */
export const CONFIG = {
  family: "yolov8",
  labels: NAMES,
  inputSize: [WIDTH, HEIGHT],
  reading: "end-to-end",
  coordinates: "normalised",
} as const;

/** Returns an RGBA picture that states these detections to a network of that layout. */
export function pictureOf(rows: readonly Row[], layout: "NCHW" | "NHWC" = "NCHW") {
  const data = new Uint8ClampedArray(WIDTH * HEIGHT * 4);
  rows.flat().forEach((value, i) => {
    // Planes: the red channel of pixel i. Interleaved: channel i % 3.
    if (layout === "NCHW") data[i * 4] = value;
    else data[Math.floor(i / 3) * 4 + (i % 3)] = value;
  });
  return { data, width: WIDTH, height: HEIGHT };
}

/** Returns what has to be found. */
export const expectedOf = (rows: readonly Row[]) =>
  rows.map(([x_min, y_min, x_max, y_max, score, classId]) => ({
    class_id: classId / 255,
    label: NAMES[classId / 255],
    confidence: score / 255,
    x_min: x_min / 255,
    y_min: y_min / 255,
    x_max: x_max / 255,
    y_max: y_max / 255,
  }));

const metadata = {
  description: "Ultralytics YOLO26n model trained on coco8.yaml",
  stride: "32",
  task: "detect",
  imgsz: `[${HEIGHT}, ${WIDTH}]`,
  names: "{0: 'cat', 1: 'dog'}",
  end2end: "True",
};

/** The network in ONNX, with the metadata of an end-to-end export of Ultralytics: boxes are in pixels. */
export function echoOnnx(): Uint8Array<ArrayBuffer> {
  const value = (name: string, dims: readonly number[]) => [
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
  const constant = (name: string, dims: readonly number[], type: number, values: ArrayBufferView) =>
    block(5, [
      ...dims.map((size) => int(1, size)),
      int(2, type),
      block(8, name),
      block(9, [Array.from(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))]),
    ]);
  const node = (operator: string, inputs: readonly string[], output: string) =>
    block(1, [...inputs.map((name) => block(1, name)), block(2, output), block(4, operator)]);
  const graph = [
    node("Reshape", ["images", "dims"], "rows"),
    node("Mul", ["rows", "unit"], "output0"),
    block(2, "echo"),
    constant("dims", [3], 7, BigInt64Array.of(1n, BigInt(ROWS), 6n)),
    constant("unit", [6], 1, Float32Array.of(WIDTH, HEIGHT, WIDTH, HEIGHT, 1, 1)),
    block(11, value("images", [1, 3, HEIGHT, WIDTH])),
    block(12, value("output0", [1, ROWS, 6])),
  ];
  return Uint8Array.from([
    ...int(1, 8),
    ...block(7, graph),
    ...block(8, [block(1, ""), int(2, 13)]),
    ...Object.entries(metadata).flatMap(([key, text]) => block(14, [block(1, key), block(2, text)])),
  ]);
}

/** TensorType of schema.fbs, and how bytes stand for 0..1. */
const TYPES = {
  f32: { code: 0 },
  u8: { code: 3, zeroPoint: 0 },
  i8: { code: 9, zeroPoint: -128 },
} as const;

/**
 * The network in TFLite, without metadata. Boxes are 0..1.
 * @param type of input and output
 * @param signature names of input and output in a signature, as converters of TensorFlow write them
 */
export function echoTflite(
  type: keyof typeof TYPES = "f32",
  signature?: readonly [input: string, output: string],
): Uint8Array<ArrayBuffer> {
  const rows = [1, ROWS, 6];
  const { code, ...quantised } = TYPES[type];
  const tensor = (name: string, dims: readonly number[]) => ({
    0: { i32s: dims },
    1: { i8: code },
    2: { i32: 0 },
    3: { text: name },
    4:
      "zeroPoint" in quantised
        ? { table: { 2: { f32s: [1 / 255] }, 3: { i64s: [quantised.zeroPoint] } } }
        : undefined,
  });
  const operator = {
    0: { i32: 0 },
    1: { i32s: [0] },
    2: { i32s: [1] },
    3: { i8: RESHAPE_OPTIONS },
    4: { table: { 0: { i32s: rows } } },
  };
  const graph = {
    0: { tables: [tensor("images", [1, HEIGHT, WIDTH, 3]), tensor("output0", rows)] },
    1: { i32s: [0] },
    2: { i32s: [1] },
    3: { tables: [operator] },
    4: { text: "main" },
  };
  const named = (name: string, tensorIndex: number) => ({
    tables: [{ 0: { text: name }, 1: { i32: tensorIndex } }],
  });
  return flatbuffer(
    {
      0: { i32: 3 },
      1: { tables: [{ 0: { i8: RESHAPE }, 2: { i32: 1 }, 3: { i32: RESHAPE } }] },
      2: { tables: [graph] },
      3: { text: "echo" },
      // Buffer 0 is empty by convention. Tensors without constant content refer to it.
      4: { tables: [{}] },
      7: signature && {
        tables: [{ 0: named(signature[0], 0), 1: named(signature[1], 1), 2: { text: "serving_default" } }],
      },
    },
    "TFL3",
  );
}

/** BuiltinOperator.RESHAPE and BuiltinOptions.ReshapeOptions of schema.fbs. */
const [RESHAPE, RESHAPE_OPTIONS] = [22, 17];
