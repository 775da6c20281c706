/** Makes a config of `readModel`'s result. Imports no reader of model files, so that decoders stay small. */
import type { ConfigProblem } from "../core/errors.ts";
import { elementType } from "../core/tensor.ts";
import { typedDefaults } from "./defaults.ts";
import { type FieldReader, type Json, isObject, isText } from "./fields.ts";
import type { Model, ModelTensor, Quantisation } from "./model/types.ts";
import { overlay, readSettings } from "./settings.ts";
import type { Config, OutputSpec } from "./types.ts";

/** True for an object that `readModel` returned. */
export const isModel = (root: Json): boolean => Array.isArray(root.missing) && isText(root.format);

/** Returns the problems of a model file that the options do not settle. An archive inside reports its own. */
export const missingIn = (root: Json, options: FieldReader): readonly ConfigProblem[] =>
  isObject(root.archive)
    ? []
    : (root as unknown as Model).missing.filter(({ path }) => !isStated(path, (name) => options.has(name)));

/** True if the options state the fact that a model file lacks. Labels also state the class count. */
export const isStated = (path: string, isGiven: (name: string) => boolean): boolean =>
  isGiven(path) || (path === "classes" && isGiven("labels"));

/** Reads the options that a model file states, and its outputs. */
export function readModelConfig(r: FieldReader): Config {
  const options = r.object("options");
  const { outputs, inputs, description, input, exporter, options: stated } = r.json as unknown as Model;
  const isOpen = inputs.some(hasOpenSides);
  return {
    ...overlay(options, { ...typedDefaults(), picture: input }, readSettings(options)),
    // If the caller states labels, drop the file's class names and class count.
    classes: stated.classes ?? null,
    ...(exporter && { familyExporter: exporter }),
    modelName: description,
    // If the input size is open, drop the shapes: they are of the one image size used for the export.
    outputs: outputs.map((output) => (isOpen ? { ...outputSpec(output), dims: null } : outputSpec(output))),
  };
}

/** True if the width or height of an image input is open. */
const hasOpenSides = ({ dims }: ModelTensor): boolean =>
  dims?.length === 4 && dims.slice(1).filter((d) => typeof d !== "number").length >= 2;

/**
 * Returns an output as a decoder knows it before the first frame. The shape stays open if a dimension or the type is
 * open.
 */
export const outputSpec = ({ name, dims, type, quantisation }: ModelTensor): OutputSpec => ({
  name,
  dims:
    elementType(type) && dims?.every((size) => typeof size === "number") ? (dims as readonly number[]) : null,
  type: elementType(type),
  layout: null,
  order: null,
  ...scalesOf(quantisation),
});

/** Converts a file's quantisation to the form of decoders: one scale and zero point, or lists with their axis. */
export const scalesOf = (
  quantisation: Quantisation | null,
): Pick<OutputSpec, "scale" | "zeroPoint" | "axis"> =>
  quantisation === null
    ? {}
    : quantisation.scale.length > 1
      ? quantisation
      : { scale: quantisation.scale[0], zeroPoint: quantisation.zeroPoint[0] };
