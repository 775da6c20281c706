/** Finds the network input that takes the picture, and its layout. */
import { knownOf } from "../../core/json.ts";
import type { PartialRule } from "../../core/prepare-rule.ts";
import { elementType } from "../../core/tensor.ts";
import type { ModelInput, ModelTensor } from "./types.ts";

/** Largest channel count of a picture. */
const MAX_CHANNELS = 4;

/** Returns the only input that can be a picture. Returns `null` if none or several can. */
export function inputOf(
  inputs: readonly ModelTensor[],
  normalisation: ModelInput["normalisation"],
): ModelInput | null {
  const pictures = inputs.filter(({ dims }) => dims?.length === 4);
  if (pictures.length !== 1) return null;
  return { ...pictures[0], layout: layoutOf(pictures[0].dims ?? []), normalisation };
}

function layoutOf([, first, , last]: NonNullable<ModelTensor["dims"]>): ModelInput["layout"] {
  const areChannels = (size: number | string | null): boolean =>
    typeof size === "number" && size <= MAX_CHANNELS;
  if (areChannels(first) === areChannels(last)) return null;
  return areChannels(first) ? "NCHW" : "NHWC";
}

/** True if the picture has a single channel. */
export const isGray = ({ dims, layout }: Pick<ModelInput, "dims" | "layout">): boolean =>
  layout !== null && dims?.[layout === "NCHW" ? 1 : 3] === 1;

/** Returns [width, height] of the picture, `null` if one of them or the layout is open. */
export function sizeOf(input: ModelInput | null): readonly [number, number] | null {
  if (!input?.dims || input.layout === null) return null;
  const [, second, third, fourth] = input.dims;
  const [height, width] = input.layout === "NCHW" ? [third, fourth] : [second, third];
  return typeof width === "number" && typeof height === "number" ? [width, height] : null;
}

/** Element types of inputs that take a picture. */
export const PICTURE_TYPES = ["f32", "f16", "u8", "i8"] as const;

/** Returns the preparation that an input itself states. */
export function preparationOf(input: ModelInput): PartialRule {
  const { layout, normalisation, quantisation } = input;
  const isScaled = quantisation?.scale.length === 1;
  return {
    ...knownOf({
      layout,
      order: isGray(input) ? ("GRAY" as const) : null,
      type: PICTURE_TYPES.find((known) => known === elementType(input.type)),
      scale: isScaled ? quantisation.scale[0] : null,
      zeroPoint: isScaled ? quantisation.zeroPoint[0] : null,
    }),
    ...normalisation,
  };
}
