/** A network file in the terms that its format has, before anybody asks what the network is. */
import type { ModelInput, ModelTensor } from "./types.ts";

export interface NetworkFile {
  readonly format: "onnx" | "tflite";
  readonly producer: string | null;
  readonly opset: number | null;
  readonly description: string | null;
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
  /** Operators of the graph. */
  readonly operators: ReadonlySet<string>;
  /** Names of the outputs of a custom operator, in the order of the operator. Only of operators that a form knows. */
  readonly operatorOutputs: { readonly [operator: string]: readonly string[] };
  readonly metadata: { readonly [key: string]: string };
  /** Class names in a label file. */
  readonly labels: readonly string[] | null;
  readonly normalisation: ModelInput["normalisation"];
}
