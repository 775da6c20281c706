/** How a network wants its picture: the rule that `prepare` follows. */
import type { FamilyTraits } from "./families.ts";

/**
 * How the picture is brought to the input size.
 * - `letterbox`: both sides by the same factor, centred, the rest padded
 * - `letterbox-topleft`: the same, in the top left corner
 * - `stretch`: each side by its own factor
 * - `crop`: both sides by the same factor so that the input is filled, and what stands over is cut off
 */
export type PrepareResize = "letterbox" | "letterbox-topleft" | "stretch" | "crop";

/**
 * How pixels are resampled. Each name means the bytes of one program.
 * - `bilinear`: `cv2.resize` with INTER_LINEAR
 * - `area`: `cv2.resize` with INTER_AREA
 * - `nearest`: `cv2.resize` with INTER_NEAREST
 * - `pillow`: `Image.resize` of Pillow with BILINEAR, which smooths where it shrinks
 */
export type Resample = "bilinear" | "area" | "nearest" | "pillow";

/**
 * From a picture to an input tensor. Channels are bytes, 0..255. A value of the tensor is (channel - mean) / std, or
 * (channel - mean) * factor, in f32.
 */
export interface PrepareRule {
  /** [width, height] of the network input in pixels. */
  readonly size: readonly [number, number];
  /** Default "letterbox". */
  readonly resize?: PrepareResize;
  /** Channel of the padding, 0..255, normalised like the picture. Default 114. */
  readonly pad?: number;
  /** Default "bilinear". */
  readonly resample?: Resample;
  /** Default "NCHW". */
  readonly layout?: "NCHW" | "NHWC";
  /** Element type. Default "f32". */
  readonly type?: "f32" | "f16" | "u8" | "i8";
  /** Order of the tensor's channels. Default "RGB". */
  readonly order?: "RGB" | "BGR";
  /** One value, or one for each channel of the tensor. Default 0. */
  readonly mean?: number | readonly number[];
  /** Divisor: one value, or one for each channel of the tensor. Default 255, or 1 for "u8" without a scale. */
  readonly std?: number | readonly number[];
  /** Factor in place of `std`. */
  readonly factor?: number;
  /** Quantised inputs, "u8" and "i8": element = value / scale + zeroPoint, rounded to even and clamped. Default 1. */
  readonly scale?: number;
  /** Default 0. */
  readonly zeroPoint?: number;
}

/** What one source states of a rule. */
export type PartialRule = Partial<PrepareRule>;

/** Puts one source's statements over another's. `std` and `factor` replace each other. */
export function mergeRules(below: PartialRule, over: PartialRule): PartialRule {
  // A field that is undefined states nothing, and must not hide the one below.
  const stated = Object.fromEntries(
    Object.entries(over).filter(([, value]) => value !== undefined),
  ) as PartialRule;
  const { std: _, factor: __, ...rest } = below;
  const divides = stated.std !== undefined || stated.factor !== undefined;
  return { ...(divides ? rest : below), ...stated };
}

/** Returns the rule of a family, with the statements of a config over it. Bytes without a scale stay as they are. */
export function ruleFor(traits: FamilyTraits, stated: PartialRule): PartialRule {
  const isRaw = stated.type === "u8" && stated.scale === undefined;
  return mergeRules(mergeRules(traits.prepare ?? {}, isRaw ? { mean: 0, std: 1 } : {}), stated);
}

/** Returns a rule in words. */
export function ruleText(rule: PartialRule): string {
  const {
    size,
    resize = "letterbox",
    pad = 114,
    resample,
    order,
    mean = 0,
    std = 255,
    factor,
    type,
    layout,
  } = rule;
  const padded = resize.startsWith("letterbox") ? `, pad ${pad}` : "";
  const by = factor === undefined ? `/ ${list(std)}` : `* ${factor}`;
  return (
    `${resize} to ${size?.join("x") ?? "a size not given"}${padded}, ${resample ?? "bilinear"}; ` +
    `${order ?? "RGB"}, (x - ${list(mean)}) ${by}; ${type ?? "f32"} ${layout ?? "NCHW"}`
  );
}

const list = (values: number | readonly number[]): string =>
  typeof values === "number" ? String(values) : `[${values.join(", ")}]`;
