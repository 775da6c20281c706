/** The contents of a network file, as its format states them. A later step finds the family. */
import type { ModelInput, ModelTensor } from "./types.ts";

export interface NetworkFile {
  readonly format: "onnx" | "tflite";
  readonly producer: string | null;
  readonly opset: number | null;
  readonly description: string | null;
  readonly inputs: readonly ModelTensor[];
  readonly outputs: readonly ModelTensor[];
  /** Names of the operators in the graph. */
  readonly operators: ReadonlySet<string>;
  /** Output names of each custom operator, in order. Lists only operators in `OPERATOR_FORMS`. */
  readonly operatorOutputs: { readonly [operator: string]: readonly string[] };
  readonly metadata: { readonly [key: string]: string };
  /** Class names from a label file inside the network's file. */
  readonly labels: readonly string[] | null;
  readonly normalisation: ModelInput["normalisation"];
}
