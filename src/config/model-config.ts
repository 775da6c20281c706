/** The config in what `readModel` returned. `readModel` does not come with a decoder. */
import type { ConfigProblem } from "../core/errors.ts";
import { elementType } from "../core/tensor.ts";
import { typedDefaults } from "./defaults.ts";
import { type FieldReader, type Json, isObject, isText } from "./fields.ts";
import type { Model, ModelTensor, Quantisation } from "./model/types.ts";
import { overlay, readSettings } from "./settings.ts";
import type { Config, OutputSpec } from "./types.ts";

/** True for what `readModel` returned. */
export const isModel = (root: Json): boolean => Array.isArray(root.missing) && isText(root.format);

/**
 * Returns what a model file does not say and the options over it do not state. An archive's config is read, and
 * refused, itself.
 */
export const missingIn = (root: Json, options: FieldReader): readonly ConfigProblem[] =>
  isObject(root.archive)
    ? []
    : (root as unknown as Model).missing.filter(({ path }) => !isStated(path, (name) => options.has(name)));

/** True if an option that a model file lacks is given. Labels say how many classes there are. */
export const isStated = (path: string, isGiven: (name: string) => boolean): boolean =>
  isGiven(path) || (path === "classes" && isGiven("labels"));

/** Reads the options of a model, and what it knows of its outputs. */
export function readModelConfig(r: FieldReader): Config {
  const options = r.object("options");
  const { outputs, inputs, description, input, exporter, options: stated } = r.json as unknown as Model;
  const isOpen = inputs.some(hasOpenSides);
  return {
    ...overlay(options, { ...typedDefaults(), picture: input }, readSettings(options)),
    // Class names of a file yield to those of the caller, and so does their count.
    classes: stated.classes ?? null,
    ...(exporter && { familyExporter: exporter }),
    modelName: description,
    // Exporters trace a network with some picture. If others may come, the shapes of that one say nothing of theirs.
    outputs: outputs.map((output) => (isOpen ? { ...outputSpec(output), dims: null } : outputSpec(output))),
  };
}

/** True for a picture's input whose width or height is open. */
const hasOpenSides = ({ dims }: ModelTensor): boolean =>
  dims?.length === 4 && dims.slice(1).filter((d) => typeof d !== "number").length >= 2;

/** Returns an output as a decoder knows it beforehand. Its shape stays open if a dimension or the type does. */
export const outputSpec = ({ name, dims, type, quantisation }: ModelTensor): OutputSpec => ({
  name,
  dims:
    elementType(type) && dims?.every((size) => typeof size === "number") ? (dims as readonly number[]) : null,
  type: elementType(type),
  layout: null,
  order: null,
  ...scalesOf(quantisation),
});

/** Returns the scales of a file as a decoder takes them: one number of each, or lists with their axis. */
export const scalesOf = (
  quantisation: Quantisation | null,
): Pick<OutputSpec, "scale" | "zeroPoint" | "axis"> =>
  quantisation === null
    ? {}
    : quantisation.scale.length > 1
      ? quantisation
      : { scale: quantisation.scale[0], zeroPoint: quantisation.zeroPoint[0] };
