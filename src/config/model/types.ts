/** Types of a model file's contents. */
import type { Exporter, Task } from "../../core/exporters.ts";
import type { ConfigProblem } from "../../core/errors.ts";
import type { TypedOptions } from "../types.ts";

/** Format of a model file. */
export type ModelFormat = "onnx" | "tflite" | "nn-archive";

/** How integers of a tensor stand for numbers: real = (raw - zeroPoint) * scale. */
export interface Quantisation {
  /** One value, or one for each index of `axis`. */
  readonly scale: readonly number[];
  readonly zeroPoint: readonly number[];
  /** Dimension that several scales belong to. 0 where there is one scale. */
  readonly axis: number;
}

/** An input or output of a network. */
export interface ModelTensor {
  readonly name: string;
  /**
   * A name stands for a dimension that is known only at run time; `null` for one without a name, or if even the rank
   * is open.
   */
  readonly dims: readonly (number | string | null)[] | null;
  /** "f32", "u8", "i64", ...; what the format calls it where this package has no such element type. */
  readonly type: string;
  /** `null` where values are not quantised. */
  readonly quantisation: Quantisation | null;
  /** Name of the tensor in the first signature of a TFLite file. */
  readonly signature: string | null;
}

/** The input that takes the picture. */
export interface ModelInput extends ModelTensor {
  /** `null` where the dims leave both open. */
  readonly layout: "NCHW" | "NHWC" | null;
  /** TFLite Metadata: the network wants (pixel - mean) / std, one value or one per channel. */
  readonly normalisation: { readonly mean: readonly number[]; readonly std: readonly number[] } | null;
}

/** A network's own file as `readModel` reads it. Plain data: it survives JSON, `structuredClone` and `postMessage`. */
export interface Model {
  readonly format: ModelFormat;
  /** Program and version that wrote the file, as it says itself. */
  readonly producer: string | null;
  /** Version of the standard operators. ONNX only. */
  readonly opset: number | null;
  /** Whose conventions the file follows, `null` if nothing tells. */
  readonly exporter: Exporter | null;
  /** Sentence of the file about the network: "Ultralytics YOLO11n model trained on coco.yaml". */
  readonly description: string | null;
  /** `null` where the file does not say. Files without metadata whose outputs are boxes are "detect". */
  readonly task: Task | null;
  /** Class names by class id. */
  readonly names: readonly string[] | null;
  /** [width, height] in pixels. */
  readonly inputSize: readonly [number, number] | null;
  /** Pixels per cell of the smallest feature map. */
  readonly stride: number | null;
  /** The network gives finished detections, after its own suppression. `null` where the file does not say. */
  readonly endToEnd: boolean | null;
  /** [points, values per point] of a pose network. */
  readonly keypoints: readonly [number, number] | null;
  /** The input that takes the picture, `null` if no input or several may. */
  readonly input: ModelInput | null;
  /** All inputs, weights left out. */
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
  /** True if the graph takes exponentials, as decoding of boxes does. ONNX only. Absent: not known. */
  readonly hasExponentials?: boolean;
  /** Metadata as the file has it: keys and texts. */
  readonly metadata: { readonly [key: string]: string };
  /** Settings of the file as options of `createDecoder`. Empty for an NN Archive. */
  readonly options: Partial<TypedOptions>;
  /** `config.json` of an NN Archive, else `null`. */
  readonly archive: unknown;
  /** Settings that a decoder needs and the file lacks. The path names the option that gives each. */
  readonly missing: readonly ConfigProblem[];
}
