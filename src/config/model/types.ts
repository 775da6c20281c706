/** Types of what `readModel` returns. */
import type { Exporter, Task } from "../../core/exporters.ts";
import type { ConfigProblem } from "../../core/errors.ts";
import type { TypedOptions } from "../types.ts";

/** Format of a model file. */
export type ModelFormat = "onnx" | "tflite" | "nn-archive";

export interface Quantisation {
  /** One scale, or one for each index of `axis`. */
  readonly scale: readonly number[];
  readonly zeroPoint: readonly number[];
  /** Dimension along which several scales run. 0 for a single scale. */
  readonly axis: number;
}

/** An input or output of a network. */
export interface ModelTensor {
  readonly name: string;
  /** Sizes of the dimensions; a string or `null` for a size known at run time only. `null`: the rank is open too. */
  readonly dims: readonly (number | string | null)[] | null;
  /** Element type: "f32", "u8", "i64", ... A type that this package lacks keeps the format's own name. */
  readonly type: string;
  /** Quantisation, `null` for values that are not quantised. */
  readonly quantisation: Quantisation | null;
  /** Name of the tensor in the first signature of a TFLite file. */
  readonly signature: string | null;
}

/** The input that takes the picture. */
export interface ModelInput extends ModelTensor {
  /** Order of the dimensions, `null` if the dims fit both. */
  readonly layout: "NCHW" | "NHWC" | null;
  /** TFLite Metadata: the network wants (pixel - mean) / std, one value or one per channel. */
  readonly normalisation: { readonly mean: readonly number[]; readonly std: readonly number[] } | null;
}

/** A network's own file as `readModel` reads it. Plain data: it survives JSON, `structuredClone` and `postMessage`. */
export interface Model {
  readonly format: ModelFormat;
  /** Program and version that wrote the file, as the file states. */
  readonly producer: string | null;
  /** Version of the standard operators. ONNX only. */
  readonly opset: number | null;
  /** Exporter whose conventions the file follows, `null` if unknown. */
  readonly exporter: Exporter | null;
  /** The file's own description of the network: "Ultralytics YOLO11n model trained on coco.yaml". */
  readonly description: string | null;
  /** Task, `null` if the file states none. Files without metadata whose outputs are boxes are "detect". */
  readonly task: Task | null;
  /** Class names by class id. */
  readonly names: readonly string[] | null;
  /** [width, height] in pixels. */
  readonly inputSize: readonly [number, number] | null;
  /** Pixels per cell of the smallest feature map. */
  readonly stride: number | null;
  /** True if the network suppresses by itself and gives finished detections. `null` if the file does not say. */
  readonly endToEnd: boolean | null;
  /** [points, values per point] of a pose network. */
  readonly keypoints: readonly [number, number] | null;
  /** The input that takes the picture. `null` if no input can take one, or several can. */
  readonly input: ModelInput | null;
  /** All inputs, weights left out. */
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
  /** True if the graph has an exponential, which decoding of boxes needs. ONNX only. Absent: unknown. */
  readonly hasExponentials?: boolean;
  /** Metadata of the file, unchanged. */
  readonly metadata: { readonly [key: string]: string };
  /** Settings of the file as options of `createDecoder`. Empty for an NN Archive. */
  readonly options: Partial<TypedOptions>;
  /** `config.json` of an NN Archive. `null` for other formats. */
  readonly archive: unknown;
  /** Facts that a decoder needs and the file lacks. `path` names the option that states each. */
  readonly missing: readonly ConfigProblem[];
}
