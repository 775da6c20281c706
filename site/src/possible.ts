/** Lists what shapes can be, and makes options of an entry of that list. */
import type { DecoderOptions, Model } from "boxwright";
import { inspect } from "@repo/src/node/inspect.ts";
import { inspectModel } from "@repo/src/node/inspect-model.ts";
import type { NamedTensor } from "@repo/src/node/files/tensor.ts";
import { sizeGuess } from "@repo/src/node/possibilities.ts";
import type { Possibility } from "@repo/src/node/possibility.ts";

/** Options that say what a network is. The list of what shapes can be leaves them out. */
const SIZE = ["inputSize"] as const;

/**
 * Returns what tensors, or the outputs of a model, can be: the likeliest first. A model that says it itself has no
 * such list.
 */
export function possibilitiesOf({
  tensors = [],
  model,
  options,
}: {
  readonly tensors?: readonly NamedTensor[];
  readonly model?: Model;
  readonly options: DecoderOptions;
}): readonly Possibility[] {
  try {
    const known = Object.fromEntries(
      SIZE.flatMap((key) => (options[key] === undefined ? [] : [[key, options[key]]])),
    );
    if (model !== undefined) {
      const { decoder } = inspectModel(model, [], { ...known }, () => null).json;
      return decoder?.kind === "possibilities" ? decoder.possibilities : [];
    }
    const specs = tensors.map(({ name, dims, type, scale, zeroPoint }) => ({
      name,
      dims,
      type,
      scale,
      zeroPoint,
    }));
    const inputSize = sizeGuess(specs as never);
    const { json } = inspect(null, specs as never, { inputSize, ...known }, (name) =>
      valuesOf(tensors, name),
    );
    return json.kind === "possibilities" ? json.possibilities : [];
  } catch {
    return [];
  }
}

const valuesOf = (tensors: readonly NamedTensor[], name: string): never =>
  (tensors.find((tensor) => tensor.name === name)?.data ?? null) as never;

/** Returns the options of a possibility, null if its config has parts that only the reader knows. */
export function optionsOf({ line }: Possibility): { readonly [name: string]: unknown } | null {
  const object = line.replace(/\}, or .*$/, "}").replace(/([{,]\s*)([A-Za-z]\w*):/g, '$1"$2":');
  try {
    return JSON.parse(object);
  } catch {
    return null;
  }
}

/** Returns the index of the likeliest possibility whose options are complete, -1 if there is none. */
export const firstComplete = (possibilities: readonly Possibility[]): number =>
  possibilities.findIndex((possibility) => optionsOf(possibility) !== null);
