/** Lists the interpretations that shapes allow. */
import type { DecoderOptions, Model } from "boxwright";
import { inspect } from "@repo/src/node/inspect-tensors.ts";
import { inspectModel } from "@repo/src/node/inspect-model.ts";
import type { NamedTensor } from "@repo/src/node/files/tensor.ts";
import type { Possibility } from "@repo/src/node/possibility.ts";

/** The only option that the search uses. Other options would decide the interpretation themselves. */
const SIZE = ["inputSize"] as const;

/**
 * Returns possible interpretations of tensors or of a model's outputs, the likeliest first. Returns none for a model
 * whose file says how to decode.
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
    const listed = (size: DecoderOptions): readonly Possibility[] => {
      const { json } = inspect(null, specs as never, size, (name) => valuesOf(tensors, name));
      return json.kind === "possibilities" ? json.possibilities : [];
    };
    const open = listed(known);
    if (open.length === 0) return open;
    return listed({ inputSize: open[0].likelySize, ...known });
  } catch {
    return [];
  }
}

const valuesOf = (tensors: readonly NamedTensor[], name: string): never =>
  (tensors.find((tensor) => tensor.name === name)?.data ?? null) as never;
