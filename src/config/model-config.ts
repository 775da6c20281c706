/** Makes a config from `readModel`'s result. Imports no reader of model files, so that decoders stay small. */
import type { ConfigProblem } from "../core/errors.ts";
import { elementType } from "../core/tensor.ts";
import { typedDefaults } from "./defaults.ts";
import { type FieldReader, type Json, isObject, isText } from "./fields.ts";
import type { Model, ModelTensor, Quantisation } from "./model/types.ts";
import { overlay, readSettings } from "./settings.ts";
import type { Config, OutputSpec } from "./types.ts";

/** True for an object that `readModel` returned. */
export const isModel = (root: Json): boolean => Array.isArray(root.missing) && isText(root.format);

/** Returns the problems of a model file that options do not resolve. The reader of NN Archives reports its own. */
export const missingIn = (root: Json, options: FieldReader): readonly ConfigProblem[] =>
  isObject(root.archive)
    ? []
    : (root as unknown as Model).missing.filter(({ path }) => !isStated(path, (name) => options.has(name)));

/** True if the options state the missing fact `path` of a model file. Labels also state the class count. */
export const isStated = (path: string, isGiven: (name: string) => boolean): boolean =>
  isGiven(path) || (path === "classes" && isGiven("labels"));

/** Returns a config with the options and the outputs that a model file states. */
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
    // If the input size is open, drop the shapes of the outputs: they apply only to the image size used for the export.
    outputs: outputs.map((output) => (isOpen ? { ...outputSpec(output), dims: null } : outputSpec(output))),
  };
}

/** True if an image input has at least two open dimensions after the batch, which are width and height. */
const hasOpenSides = ({ dims }: ModelTensor): boolean =>
  dims?.length === 4 && dims.slice(1).filter((d) => typeof d !== "number").length >= 2;

/**
 * Returns the facts about an output that a decoder has before the first frame. The shape is null if a dimension is open
 * or if decoders lack the type.
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

/** Converts a file's quantisation to the form of decoders: one scale and zero point, or lists with an axis. */
export const scalesOf = (
  quantisation: Quantisation | null,
): Pick<OutputSpec, "scale" | "zeroPoint" | "axis"> =>
  quantisation === null
    ? {}
    : quantisation.scale.length > 1
      ? quantisation
      : { scale: quantisation.scale[0], zeroPoint: quantisation.zeroPoint[0] };
