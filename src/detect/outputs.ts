/** What a model file states of outputs and the runtime does not: the tensor's own name, scale and zero point. */
import type { Model, ModelTensor } from "../config/model/types.ts";
import type { TensorInput } from "../core/tensor.ts";
import type { Outputs } from "../decode/inputs.ts";

interface Described extends TensorInput {
  readonly scale?: number;
  readonly zeroPoint?: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Returns a function that gives outputs the names and scales of the file. LiteRT.js names outputs as the file's
 * signature does, and no runtime says how integers are quantised.
 */
export function outputReader(file: Model | null): (outputs: Outputs) => Outputs {
  const known = file?.outputs ?? [];
  const isSaid = known.some(
    ({ name, signature, quantisation }) => quantisation || (signature ?? name) !== name,
  );
  if (!isSaid) return (outputs) => outputs;
  // Kept from frame to frame.
  const described: Record<string, Mutable<Described>> = {};
  return (outputs) => {
    if (Array.isArray(outputs)) return outputs;
    for (const [given, tensor] of Object.entries(outputs as { readonly [name: string]: TensorInput })) {
      const stated =
        known.find(({ name }) => name === given) ?? known.find(({ signature }) => signature === given);
      const entry = (described[stated?.name ?? given] ??= {
        ...scaleOf(stated),
        data: tensor.data,
        dims: tensor.dims,
      });
      entry.data = tensor.data;
      entry.dims = tensor.dims;
    }
    return described;
  };
}

/** Scales per channel are the decoder's to refuse. */
const scaleOf = (tensor: ModelTensor | undefined): Pick<Described, "scale" | "zeroPoint"> =>
  tensor?.quantisation?.scale.length === 1
    ? { scale: tensor.quantisation.scale[0], zeroPoint: tensor.quantisation.zeroPoint[0] }
    : {};
