/**
 * Adds to a runtime's outputs what only the model file states: the tensor's own name, scale and zero point.
 */
import { scalesOf } from "../config/model-config.ts";
import type { Model } from "../config/model/types.ts";
import type { TensorInput } from "../core/tensor.ts";
import type { Outputs } from "../decode/inputs.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Returns a function that adds the file's names, scales and zero points to the outputs of a run. */
export function outputReader(file: Model | null): (outputs: Outputs) => Outputs {
  const known = file?.outputs ?? [];
  const isSaid = known.some(
    ({ name, signature, quantisation }) => quantisation || (signature ?? name) !== name,
  );
  if (!isSaid) return (outputs) => outputs;
  // Reuse the record for every frame.
  const described: Record<string, Mutable<TensorInput>> = {};
  return (outputs) => {
    if (Array.isArray(outputs)) return outputs;
    for (const [given, tensor] of Object.entries(outputs as { readonly [name: string]: TensorInput })) {
      const stated =
        known.find(({ name }) => name === given) ?? known.find(({ signature }) => signature === given);
      const entry = (described[stated?.name ?? given] ??= {
        ...scalesOf(stated?.quantisation ?? null),
        data: tensor.data,
        dims: tensor.dims,
      });
      entry.data = tensor.data;
      entry.dims = tensor.dims;
    }
    return described;
  };
}
