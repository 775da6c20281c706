/** The contents of an ONNX or TFLite file. `recognise` later finds the family. */
import type { Model, ModelInput } from "./types.ts";

export interface NetworkFile extends Pick<
  Model,
  "producer" | "opset" | "description" | "inputs" | "outputs" | "metadata"
> {
  readonly format: "onnx" | "tflite";
  /** Names of the operators in the graph. */
  readonly operators: ReadonlySet<string>;
  /** Output names of each custom operator, in order. Lists only operators in `OPERATOR_FORMS`. */
  readonly operatorOutputs: { readonly [operator: string]: readonly string[] };
  /** Class names from a label file inside the network's file. */
  readonly labels: readonly string[] | null;
  readonly normalisation: ModelInput["normalisation"];
}
