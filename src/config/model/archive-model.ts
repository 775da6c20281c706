/** Returns the `config.json` of an NN Archive in the form of `readModel`'s result. */
import { pictureOf } from "../archive-input.ts";
import { FieldReader, isObject, type Json } from "../fields.ts";
import { readArchive } from "../nn-archive.ts";
import type { Task } from "../../core/exporters.ts";
import { elementType } from "../../core/tensor.ts";
import { inputOf } from "./input.ts";
import type { Model, ModelInput, ModelTensor } from "./types.ts";

/** Metadata keys of a head whose presence shows a task other than boxes. */
const TASKS: readonly (readonly [key: string, task: Task])[] = [
  ["n_prototypes", "segment"],
  ["n_keypoints", "pose"],
  ["angles_outputs", "oriented"],
];
/** Values per keypoint in an archive: x, y and confidence. */
const POINT_VALUES = 3;

const listOf = (x: unknown): Json[] => (Array.isArray(x) ? x.filter(isObject) : []);
const textIn = (x: unknown): string | null => (typeof x === "string" ? x : null);

/** Returns the model of an NN Archive. `missing` lists the problems of its config. */
export function archiveModel(json: unknown): Model {
  const root = isObject(json) ? json : {};
  const reader = new FieldReader(root);
  const config = readArchive(reader);
  const model = isObject(root["model"]) ? root["model"] : {};
  const inputs = listOf(model["inputs"]);
  const head = listOf(model["heads"]).slice(-1)[0]?.["metadata"];
  const metadata = isObject(head) ? head : {};
  const tensors = inputs.map(tensorOf);
  const image = inputs.findIndex((input) => input["input_type"] === "image");
  const points = metadata["n_keypoints"];
  return {
    format: "nn-archive",
    producer: null,
    opset: null,
    exporter: null,
    description: config.modelName,
    task:
      TASKS.find(([key]) => (metadata[key] ?? null) !== null)?.[1] ??
      (config.family ? "pose" : config.kind && "detect"),
    names: config.labels,
    inputSize: config.inputSize,
    stride: config.strides?.slice(-1)[0] ?? null,
    endToEnd: null,
    keypoints: Number.isSafeInteger(points) ? [points as number, POINT_VALUES] : null,
    input: inputOf(image < 0 ? tensors : [tensors[image]], normalisationOf(inputs)),
    inputs: tensors,
    outputs: listOf(model["outputs"]).map(tensorOf),
    metadata: {},
    options: {},
    archive: json,
    missing: reader.problems,
  };
}

function tensorOf(json: Json): ModelTensor {
  const { name, shape, dtype } = json;
  const type = textIn(dtype) ?? "undefined";
  const isSize = (size: unknown): boolean => Number.isSafeInteger(size) && (size as number) > 0;
  return {
    name: textIn(name) ?? "",
    dims: Array.isArray(shape)
      ? shape.map((size: unknown) => (isSize(size) ? (size as number) : null))
      : null,
    type: elementType(type) ?? type,
    quantisation: null,
    signature: null,
  };
}

/** Returns the mean and the divisor that the archive states for its input picture. */
function normalisationOf(inputs: readonly Json[]): ModelInput["normalisation"] {
  const { mean, std } = pictureOf(inputs).rule;
  return mean === undefined || std === undefined ? null : { mean: [mean].flat(), std: [std].flat() };
}
