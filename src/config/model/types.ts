/** Types of what `readModel` returns. */
import type { Exporter, Task } from "../../core/exporters.ts";
import type { ConfigProblem } from "../../core/errors.ts";
import type { TypedOptions } from "../types.ts";

/** Format of a model file. */
export type ModelFormat = "onnx" | "tflite" | "nn-archive";

/** Quantisation of integers: real = (raw - zeroPoint) * scale. */
export interface Quantisation {
  /** One scale, or one for each index of `axis`. */
  readonly scale: readonly number[];
  readonly zeroPoint: readonly number[];
  /** Dimension that has a scale for each index. 0 if there is a single scale. */
  readonly axis: number;
}

/** An input or output of a network. */
export interface ModelTensor {
  readonly name: string;
  /** Sizes. A size known only at run time is a string or `null`. If `dims` is `null`, the rank is open too. */
  readonly dims: readonly (number | string | null)[] | null;
  /** Element type: "f32", "u8", "i64", ... Types that boxwright does not have keep the name of the file's format. */
  readonly type: string;
  /** Quantisation, `null` for values that are not quantised. */
  readonly quantisation: Quantisation | null;
  /** Name of the tensor in the first signature of a TFLite file. */
  readonly signature: string | null;
}

/** The input that takes the picture. */
export interface ModelInput extends ModelTensor {
  /** Order of the dimensions, `null` if the dims do not show the order. */
  readonly layout: "NCHW" | "NHWC" | null;
  /** Mean and divisor that the file states: the network expects (pixel - mean) / std. One value, or one per channel. */
  readonly normalisation: { readonly mean: readonly number[]; readonly std: readonly number[] } | null;
}

/** A network's own file as `readModel` reads it. Plain data: it survives JSON, `structuredClone` and `postMessage`. */
export interface Model {
  readonly format: ModelFormat;
  /** Program and version that wrote the file, as the file states. */
  readonly producer: string | null;
  /** Version of the standard operators. ONNX only. */
  readonly opset: number | null;
  /** Exporter whose form the file has, `null` if unknown. */
  readonly exporter: Exporter | null;
  /** Description of the network in the file, such as "Ultralytics YOLO11n model trained on coco.yaml". */
  readonly description: string | null;
  /** Task, `null` if unknown. If a file has no metadata but its outputs are boxes, "detect". */
  readonly task: Task | null;
  /** Class names by class id. */
  readonly names: readonly string[] | null;
  /** [width, height] in pixels. */
  readonly inputSize: readonly [number, number] | null;
  /** Pixels per cell of the smallest feature map. */
  readonly stride: number | null;
  /** True if the network itself suppresses boxes and outputs finished detections. `null`: not stated. */
  readonly endToEnd: boolean | null;
  /** [keypoints, values per keypoint] of a pose network. */
  readonly keypoints: readonly [number, number] | null;
  /** The input that takes the picture. `null` if no input can take a picture, or if several can. */
  readonly input: ModelInput | null;
  /** All inputs except weights. */
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
  /** True if the graph has an exponential, which a graph that decodes boxes needs. ONNX only. Absent: unknown. */
  readonly hasExponentials?: boolean;
  /** Metadata of the file, unchanged. */
  readonly metadata: { readonly [key: string]: string };
  /** Facts in the file as options of `createDecoder`. Empty for an NN Archive, whose config is `archive`. */
  readonly options: Partial<TypedOptions>;
  /** `config.json` of an NN Archive. `null` for other formats. */
  readonly archive: unknown;
  /** Facts that a decoder needs but the file lacks. `path` names the option that states the fact. */
  readonly missing: readonly ConfigProblem[];
}
