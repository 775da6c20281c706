/** The mask rules, and the check of mask options. A rule fixes the order of crop, resizing and sigmoid. */
import { refuseValue } from "../../core/errors.ts";
import { checkOptions, namesOnly } from "../../core/options.ts";
import { show } from "../../core/tensor.ts";
import type { MaskOptions, PrototypeRule } from "../../decode/mask.ts";

/** The steps of a rule. */
export interface Steps {
  /** Pictures for which the rule can make masks. */
  readonly pictures: readonly Picture[];
  /** Interpolation from cells to pixels of the picture. */
  readonly resize: "nearest" | "bilinear";
  /** True if the box crops cells before the resizing. False if the box crops pixels of the picture afterwards. */
  readonly cropsFirst: boolean;
  /** True if the sigmoid comes before the resizing. False if logits are resized. */
  readonly sigmoid: boolean;
}

/** Area that a mask covers: the prototypes, the network's input, or the image without the input's padding. */
export type Picture = "prototype" | "network" | "image";

const EVERY: readonly Picture[] = ["prototype", "network", "image"];

export const PROTOTYPE_RULES: { readonly [R in PrototypeRule]: Steps } = {
  proto: { pictures: EVERY, resize: "nearest", cropsFirst: true, sigmoid: false },
  input: { pictures: ["network"], resize: "bilinear", cropsFirst: false, sigmoid: false },
  input_crop_first: { pictures: ["network"], resize: "bilinear", cropsFirst: true, sigmoid: false },
  image: { pictures: ["image"], resize: "bilinear", cropsFirst: false, sigmoid: false },
  sigmoid_input: { pictures: ["network"], resize: "bilinear", cropsFirst: false, sigmoid: true },
  sigmoid_input_crop_first: { pictures: ["network"], resize: "bilinear", cropsFirst: true, sigmoid: true },
  sigmoid_image: { pictures: ["image"], resize: "bilinear", cropsFirst: false, sigmoid: true },
};

/** Default rule for each picture. */
const USUAL: { readonly [P in Picture]: PrototypeRule } = {
  prototype: "proto",
  network: "input",
  image: "image",
};

const SIZES = '"prototype", "network", "frame" or [width, height]';

const NO_OPTIONS: MaskOptions = {};

/** Options of a mask, checked and completed with defaults. */
export interface Wanted {
  readonly picture: Picture;
  /** Width and height of the picture. */
  readonly size: readonly [number, number];
  readonly steps: Steps;
  /** A pixel is set if its logit or probability exceeds this value. */
  readonly limit: number;
  /** True if the box does not cut the mask. */
  readonly isUncut: boolean;
}

/** Width and height for each value of the option `size`; `null` if unknown. */
export interface KnownSizes {
  readonly prototype: readonly [number, number];
  readonly network: readonly [number, number] | null;
  readonly frame: readonly [number, number] | null;
}

const OPTIONS = /* @__PURE__ */ namesOnly("size", "rule", "threshold");

/** Checks the options of a mask and fills in the defaults. `isUncut`: a box cuts its mask only if a rule is stated. */
export function readMaskOptions(
  options: MaskOptions | null | undefined,
  known: KnownSizes & { readonly isUncut: boolean },
): Wanted {
  const { picture, stated, size, threshold } = readPictureOptions(options, known);
  const rule = options?.rule ?? USUAL[picture];
  if (!isPrototypeRule(rule))
    refuseValue("rule", show(rule), `one of ${Object.keys(PROTOTYPE_RULES).join(", ")}`);
  const steps = PROTOTYPE_RULES[rule];
  if (!steps.pictures.includes(picture))
    refuseValue(
      "rule",
      `"${rule}" with size ${show(stated)}`,
      `${steps.pictures[0] === "network" ? 'size "network"' : 'size "frame" or [width, height]'} with ` +
        `it, or rule "${USUAL[picture]}"`,
    );
  if (threshold < 0.5 && steps.cropsFirst && steps.resize === "bilinear" && !steps.sigmoid)
    refuseValue(
      "threshold",
      `${threshold} with rule "${rule}"`,
      "0.5 or more: the rule puts logits of 0 outside the box, which are a probability of 0.5",
    );
  return {
    picture,
    size,
    steps,
    limit: steps.sigmoid ? threshold : Math.log(threshold / (1 - threshold)),
    isUncut: known.isUncut && options?.rule === undefined,
  };
}

const isPrototypeRule = (rule: string): rule is PrototypeRule => Object.hasOwn(PROTOTYPE_RULES, rule);

/** Options of a mask from one map per row, checked and completed with defaults. */
export interface RowWanted {
  readonly picture: Picture;
  /** Width and height of the picture. */
  readonly size: readonly [number, number];
  /** A pixel is set if its probability exceeds this value. */
  readonly threshold: number;
  /** Name of the rule; `null` if there is only one rule. */
  readonly rule: string | null;
}

/** Checks the options of a mask from one map per row. `rules`: names of the allowed rules, the default first. */
export function readRowOptions(
  options: MaskOptions | null | undefined,
  known: KnownSizes,
  rules: readonly string[],
): RowWanted {
  const { picture, size, threshold } = readPictureOptions(options, known);
  const rule = options?.rule ?? rules[0] ?? null;
  if (rule !== null && !rules.includes(rule))
    refuseValue(
      "rule",
      show(rule),
      rules.length > 0 ? `one of ${rules.join(", ")}` : "no rule: these masks are finished",
    );
  if (rules.length > 0 && picture === "prototype")
    refuseValue("size", '"prototype" for masks that belong into boxes', SIZES);
  // Round to f32, as probabilities are. Otherwise a probability of 0.3 in f32 would exceed a threshold of 0.3.
  return { picture, size, threshold: Math.fround(threshold), rule };
}

function readPictureOptions(
  options: MaskOptions | null | undefined,
  known: KnownSizes,
): Omit<RowWanted, "rule"> & { readonly stated: NonNullable<MaskOptions["size"]> } {
  const stated = checkOptions(options ?? NO_OPTIONS, OPTIONS);
  const { size = known.frame ? "frame" : "network", threshold = 0.5 } = stated;
  const picture = pictureOf(size);
  if (!(typeof threshold === "number" && threshold > 0 && threshold < 1))
    refuseValue("threshold", show(threshold), "a probability between 0 and 1");
  checkSwappedSize(size, known.frame);
  return { picture, stated: size, size: sizeOf(size, known), threshold };
}

function pictureOf(size: unknown): Picture {
  if (size === "prototype" || size === "network") return size;
  const isSize =
    Array.isArray(size) && size.length === 2 && size.every((x) => Number.isInteger(x) && x > 0 && x <= 32768);
  if (size !== "frame" && !isSize) refuseValue("size", show(size), SIZES);
  return "image";
}

/** Throws if a size is the frame's size with width and height exchanged: the mask would be stretched. */
function checkSwappedSize(size: unknown, frame: readonly [number, number] | null): void {
  if (!Array.isArray(size) || frame === null || frame[0] === frame[1]) return;
  if (size[0] === frame[1] && size[1] === frame[0])
    refuseValue("size", `[${size.join(", ")}], height and width of the frame`, "[width, height]");
}

function sizeOf(size: NonNullable<MaskOptions["size"]>, known: KnownSizes): readonly [number, number] {
  if (typeof size !== "string") return size;
  const pixels = known[size];
  if (pixels) return pixels;
  return refuseValue(
    "size",
    size === "frame" ? '"frame", and decode() got no frame' : '"network", but the input size is unknown',
    size === "frame" ? "a frame, or the image's [width, height]" : "inputSize: [width, height]",
  );
}
