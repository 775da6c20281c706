/** Finds a network's input for the picture, and checks that the decoder prepares pictures to fit it. */
import { inputOf, sizeOf, preparationOf, PICTURE_TYPES } from "../config/model/input.ts";
import type { Model } from "../config/model/types.ts";
import type { Config } from "../config/types.ts";
import { refuse, refuseConfig } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { elementType, show } from "../core/tensor.ts";
import type { Decoder } from "../decode/decoder.ts";
import type { ImageInput } from "../decode/prepare.ts";
import { constantOf, isConstant } from "./constants.ts";
import type { InputSpec, Session, SessionTensor } from "./session.ts";
import { familyOf } from "../heads/query.ts";

/** Returns the input for the picture, and the inputs that take the picture's size. */
export function inputsOf({ inputs, feedsConstants = false }: Session): {
  readonly input: SessionTensor;
  readonly others: readonly SessionTensor[];
} {
  if (inputs.length === 1) return { input: inputs[0], others: [] };
  const names = inputs.map(({ name }) => name).join(", ");
  const pictures = inputs.filter((input) => !isConstant(input));
  if (pictures.length === 1 && feedsConstants)
    return { input: pictures[0], others: inputs.filter(isConstant) };
  return refuse(
    "inputs",
    `${inputs.length} inputs (${names})`,
    pictures.length === 1
      ? "one, or a runtime whose session feeds constants, such as onnxRuntime. Run such a network " +
          "yourself, and decode its outputs by createDecoder"
      : "one, which takes the picture. Run such a network yourself, and decode its outputs by createDecoder",
  );
}

/** Returns the config of a network with inputs for the size (see constants.ts). Its boxes are in input pixels. */
export function inInputPixels(config: Config): Config {
  const { finishedIn } = TRAITS[familyOf(config).family];
  return (config.coordinates ?? finishedIn) === "photo" ? { ...config, coordinates: "pixels" } : config;
}

/**
 * Returns the config with the facts of runtime and file about the input. The config's own `prepare` overrides them.
 * @throws ConfigError if the config states another input size than the network
 */
export function withInput(config: Config, { name, dims, type }: SessionTensor, file: Model | null): Config {
  const quantisation = file?.input?.quantisation ?? null;
  const tensor = { name, dims, type: type ?? "f32", quantisation: null, signature: null };
  const input = inputOf([tensor], null);
  const facts = input ?? { ...tensor, layout: null, normalisation: null };
  const known = elementType(type ?? "f32");
  const isPicture = PICTURE_TYPES.find((allowed) => allowed === known);
  const told = sizeOf(input);
  const size = told?.every((side) => side > 0) ? told : null;
  const configSize = config.inputSize;
  if (size && configSize && size.join() !== configSize.join())
    refuseConfig(
      "inputSize",
      `${configSize.join("x")}, but the network's input ${name} [${dims?.join()}] takes ${size.join("x")}`,
      `${size.join("x")}, or a network that was exported for ${configSize.join("x")}. Leave the size out to take ` +
        "the network's",
      "inputSize",
    );
  if (!isPicture)
    refuse(
      "inputs",
      `${name} of type ${show(type)}`,
      `one that takes a picture: ${PICTURE_TYPES.join(", ")}`,
    );
  return {
    ...config,
    inputSize: size ?? configSize,
    prepare: { ...preparationOf({ ...facts, type: type ?? "", quantisation }), ...config.prepare },
  };
}

/** Throws a ConfigError if neither the config nor its family states how a picture is prepared. */
export function checkPreparation({ config, prepareRule }: Decoder): void {
  const { family } = familyOf(config);
  const { prepare, head } = TRAITS[family];
  const states = (["mean", "std", "factor"] as const).some((key) => prepareRule[key] !== undefined);
  if (head === "plain" && prepare === undefined && !states)
    refuseConfig(
      "options.prepare",
      `the family "${family}", whose networks share no preparation`,
      'how this one wants its picture, for instance prepare: { resize: "letterbox", order: "RGB", mean: 0, std: 255 }',
      "prepare",
    );
}

/** Returns the spec of the input tensor. Throws if its size is unknown or its shape does not fit. */
export function inputSpecOf(
  { name, dims }: SessionTensor,
  others: readonly SessionTensor[],
  { prepareRule }: Decoder,
): InputSpec {
  const { size, layout = "NCHW", type = "f32", order = "RGB" } = prepareRule;
  if (!size)
    refuseConfig(
      "options.inputSize",
      `an input ${name} [${dims?.join() ?? "?"}], whose size is open`,
      "[width, height] in pixels",
      "inputSize",
    );
  const [width, height] = size;
  const channels = order === "GRAY" ? 1 : 3;
  const expectedDims = layout === "NCHW" ? [1, channels, height, width] : [1, height, width, channels];
  const isOther = dims?.some(
    (given, i) => typeof given === "number" && given > 0 && given !== expectedDims[i],
  );
  if (isOther || (dims && dims.length !== expectedDims.length))
    refuse(
      "inputs",
      `${name} [${dims?.join()}]`,
      `[${expectedDims.join()}], one picture of three channels, or of one (prepare: { order: "GRAY" })`,
    );
  const constants = others.map((other) => constantOf(other, size));
  return { name, dims: expectedDims, type, ...(constants.length > 0 && { constants }) };
}

export function blankImage({ prepareRule }: Decoder): ImageInput {
  const [width, height] = prepareRule.size as readonly [number, number];
  return { data: new Uint8Array(width * height * 4).fill(114), width, height };
}
