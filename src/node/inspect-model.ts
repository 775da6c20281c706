/** Inspects a model file: what the file states, and how a decoder reads the network. */
import { isModel, isStated, scalesOf } from "../config/model-config.ts";
import type { Model, ModelTensor } from "../config/model/types.ts";
import type { DecoderOptions } from "../config/types.ts";
import { isRecord, knownOf } from "../core/json.ts";
import { type TensorData, type TensorSpecInput, elementType, few, isFloat, specOf } from "../core/tensor.ts";
import { type Inspection, inspect, inspectShapes } from "./inspect-tensors.ts";
import type { OpenSpec } from "./possibility.ts";

/** Result of `inspectModel`, as text and as data. */
export interface ModelInspection {
  readonly text: string;
  readonly json: {
    readonly kind: "model";
    readonly model: Model;
    /** The plan, or all readings that the shapes allow. `null` if no decoder can read the network. */
    readonly decoder: Inspection["json"] | null;
  };
}

/** Describes a model. `options` and `specs` (output shapes) override the file. Throws as `createDecoder` would. */
export function inspectModel(
  model: Model,
  specs: readonly TensorSpecInput[],
  options: DecoderOptions,
  valuesOf: (name: string) => TensorData | null,
  name = "",
): ModelInspection {
  const missing = model.missing.filter(({ path }) => !isStated(path, (name) => Object.hasOwn(options, name)));
  const isOpen = missing.length > 0 && missing.every(({ path }) => OPEN_PATHS.includes(path));
  const shapes =
    specs.length > 0 ? specs.map((spec) => specOf(spec.name as string, spec)) : openOutputs(model);
  const inspection =
    missing.length === 0
      ? inspect(model, specs, options, valuesOf)
      : isOpen && shapes.length > 0
        ? inspectShapes(shapes, { ...stated(model), ...options }, valuesOf, { model, names: [name] })
        : null;
  const lines = [
    ...linesOf(model),
    ...missing.map(({ path, message }) => `missing ${path}: ${message}`),
    ...(inspection ? [inspection.text] : []),
  ];
  return { text: lines.join("\n"), json: { kind: "model", model, decoder: inspection?.json ?? null } };
}

/** If only these options are missing, `inspectModel` lists the readings that the shapes allow. */
const OPEN_PATHS = ["family", "classes", "keypoints", "inputSize"];

/** Returns the options that the file states and that reduce the possible readings. */
const stated = ({ inputSize, options: { family, task } }: Model): DecoderOptions =>
  knownOf({ inputSize, family, task });

function openOutputs(model: Model): OpenSpec[] {
  return model.outputs.flatMap((output): OpenSpec[] => {
    const { name, dims, type } = output;
    if (dims === null) return [];
    const sizes = dims.map((d) => (typeof d === "number" ? d : null));
    // Take a type that decoders cannot read as i32, since class ids may have such a type.
    const known = elementType(type) ?? "i32";
    const { scale = null, zeroPoint = 0 } = scalesOf(output.quantisation);
    return [
      {
        name,
        dims: sizes,
        type: known,
        scale: isFloat({ type: known }) ? 1 : (([scale].flat() as (number | null)[])[0] ?? null),
        zeroPoint: [zeroPoint].flat()[0],
        order: null,
      },
    ];
  });
}

/** Returns the model if a config describes one. Else returns `null`. */
export function modelIn(config: unknown): Model | null {
  const json: unknown = typeof config === "string" ? JSON.parse(config) : config;
  return isRecord(json) && isModel(json) ? (json as unknown as Model) : null;
}

function linesOf(model: Model): string[] {
  const { names, inputSize, keypoints, endToEnd } = model;
  const facts: [name: string, value: string | number | null][] = [
    [
      "file",
      [model.format, model.producer, model.opset === null ? null : `opset ${model.opset}`]
        .filter(Boolean)
        .join(", "),
    ],
    ["description", model.description],
    ["exporter", model.exporter],
    ["task", model.task],
    ["names", names && `${names.length}: ${few(names, 5)}`],
    ["input size", inputSize && inputSize.join("x")],
    ["layout", model.input && model.input.layout],
    ["stride", model.stride],
    ["end-to-end", endToEnd === null ? null : String(endToEnd)],
    ["keypoints", keypoints && `${keypoints[0]} of ${keypoints[1]} values`],
    ...model.inputs.map((tensor): [string, string] => ["in", tensorText(tensor)]),
    ...model.outputs.map((tensor): [string, string] => ["out", tensorText(tensor)]),
  ];
  return facts
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${name}: ${value}`);
}

function tensorText({ name, dims, type, quantisation: q, signature }: ModelTensor): string {
  const scales =
    q === null
      ? ""
      : q.scale.length === 1
        ? `, real = (raw ${q.zeroPoint[0] < 0 ? "+" : "-"} ${Math.abs(q.zeroPoint[0])}) * ${q.scale[0]}`
        : `, ${q.scale.length} scales along dimension ${q.axis}`;
  return (
    `${name} [${dims?.map((size) => size ?? "?").join(",") ?? "?"}] ` +
    `${type}${scales}${signature ? `, signature ${signature}` : ""}`
  );
}
