/** Checks a rule and an image, and fills in defaults. */
import { refuseValue } from "../../core/errors.ts";
import type { PrepareResize, PrepareRule, Resample } from "../../core/prepare-rule.ts";
import { isBytes, show } from "../../core/tensor.ts";
import { checkOptions, nameComplaint, namesOnly } from "../../core/options.ts";
import { type QuarterTurns, rotationProblem } from "../../core/turn.ts";
import { PIXELS_OR_DETECTOR, encodedKind } from "../encoded.ts";
import type { ImageFormat, ImageInput } from "../../decode/prepare.ts";

/** A rule with all its fields. */
export interface CheckedRule {
  readonly size: readonly [number, number];
  readonly resize: PrepareResize;
  /** Padding, one value per channel of the tensor. */
  readonly pad: readonly number[];
  /** Pixels by which a letterboxed image is smaller than the input. */
  readonly margin: number;
  readonly resample: Resample;
  readonly layout: "NCHW" | "NHWC";
  readonly type: "f32" | "f16" | "u8" | "i8";
  readonly order: "RGB" | "BGR" | "GRAY";
  readonly mean: readonly number[];
  readonly divisor: readonly number[];
  /** True if `divisor` holds factors. */
  readonly multiplies: boolean;
  readonly scale: number;
  readonly zeroPoint: number;
  readonly border: "pad" | "edge";
  readonly udp: boolean;
}

const MOST_PIXELS = 1 << 14;

const WORDS = {
  resize: ["letterbox", "letterbox-topleft", "stretch", "crop"],
  resample: ["bilinear", "area", "nearest", "pillow", "cubic"],
  layout: ["NCHW", "NHWC"],
  type: ["f32", "f16", "u8", "i8"],
  order: ["RGB", "BGR", "GRAY"],
  border: ["pad", "edge"],
} as const;

const FIELDS = /* @__PURE__ */ namesOnly(
  ...["type", "resize", "resample", "layout", "order", "border"],
  ...["size", "pad", "margin", "mean", "std", "factor", "scale", "zeroPoint", "udp"],
);

const isFinite = (x: unknown): x is number => Number.isFinite(x);
const isPositive = (x: unknown): x is number => isFinite(x) && x > 0 && x < 3e38;

/** Throws a RangeError for a wrong rule. */
export function checkRule(rule: PrepareRule): CheckedRule {
  checkOptions(rule, FIELDS, { prefix: "rule.", name: "rule", form: "{size: [width, height], ...}" });
  const { size, pad = 114, margin = 0, mean = 0, std, factor, scale, zeroPoint = 0, udp = false } = rule;
  if (
    !Array.isArray(size) ||
    size.length !== 2 ||
    !size.every((s) => Number.isInteger(s) && s > 0 && s <= MOST_PIXELS)
  )
    refuseValue(
      "rule: size",
      show(size),
      `[width, height] of the network's input, whole pixels up to ${MOST_PIXELS}. A decoder takes the option inputSize`,
    );
  if (!Number.isInteger(margin) || margin < 0 || margin * 2 > Math.min(...size))
    refuseValue("rule: margin", show(margin), "whole pixels, at most half of the input: 4 for 636 of 640");
  if (std !== undefined && factor !== undefined) refuseValue("rule", "std and factor", "one of them");
  const { type, ...words } = {
    type: word(rule, "type", "f32"),
    resize: word(rule, "resize", "letterbox"),
    resample: word(rule, "resample", "bilinear"),
    layout: word(rule, "layout", "NCHW"),
    order: word(rule, "order", "RGB"),
    border: word(rule, "border", "pad"),
  };
  if (typeof udp !== "boolean") refuseValue("rule: udp", show(udp), "true or false");
  const isQuantised = type === "u8" || type === "i8";
  if (!isQuantised && scale !== undefined)
    refuseValue(
      "rule: scale",
      `${show(scale)} for type "${type}"`,
      `std: ${divisorFor(scale)}, which divides bytes (scale is the step of quantised inputs, "u8" and "i8")`,
    );
  if (!isQuantised && zeroPoint !== 0)
    refuseValue(
      "rule: zeroPoint",
      `${show(zeroPoint)} for type "${type}"`,
      'none: it is of "u8" and "i8". mean is subtracted',
    );
  if (type === "i8" && scale === undefined)
    refuseValue("rule: scale", "none", 'the scale of the input\'s quantisation for type "i8", and zeroPoint');
  if (scale !== undefined && !isPositive(scale)) refuseValue("rule: scale", show(scale), "a positive number");
  if (!Number.isInteger(zeroPoint)) refuseValue("rule: zeroPoint", show(zeroPoint), "a whole number");
  const raw = type === "u8" && scale === undefined ? 1 : 255;
  const channels = words.order === "GRAY" ? channelOrThree : threeChannels;
  const divisor = channels("std", factor ?? std ?? raw, isPositive, "a positive number");
  const checked: CheckedRule = {
    ...words,
    type,
    size,
    pad: channels("pad", pad, (x) => isFinite(x) && x >= 0 && x <= 255, "a number in 0..255"),
    margin,
    mean: channels("mean", mean, isFinite, "a number"),
    divisor,
    multiplies: factor !== undefined,
    scale: scale ?? 1,
    zeroPoint,
    udp,
  };
  checkRange(checked);
  return checked;
}

/** Returns the divisor of bytes for a scale such as 1/255, 0.0039 or 255. */
function divisorFor(scale: unknown): string {
  if (!isPositive(scale)) return "255";
  const divisor = (scale as number) < 1 ? 1 / (scale as number) : (scale as number);
  return String(Math.abs(divisor - Math.round(divisor)) < divisor / 200 ? Math.round(divisor) : divisor);
}

/** Fewest steps between black and white in a useful quantised tensor. */
const FEWEST_STEPS = 16;

/**
 * Throws for a rule whose mean and std seem meant for pictures in 0..1. Such a rule widens the range of bytes, or
 * leaves few steps in a quantised tensor.
 */
function checkRange({ type, mean, divisor, multiplies, scale, zeroPoint }: CheckedRule): void {
  const factors = multiplies ? divisor : divisor.map((by) => 1 / by);
  if (factors.every((by) => by > 1))
    refuseValue(
      multiplies ? "rule: factor" : "rule: std",
      show(divisor),
      "mean and std of bytes, 0..255: 255 times those of pictures in 0..1",
    );
  // A mean for bytes is 0 or far above 1: a mean of 0.485 out of 255 would change nothing.
  const isOfUnit = mean.every((m) => m >= 0 && m <= 1) && mean.some((m) => m > 0);
  if (isOfUnit || mean.some((m) => m > 255))
    refuseValue("rule: mean", show(mean), "the mean of bytes, 0..255: 255 times that of pictures in 0..1");
  if (type !== "u8" && type !== "i8") return;
  const low = type === "u8" ? 0 : -128;
  factors.forEach((by, c) => {
    const black = (-mean[c] * by) / scale + zeroPoint;
    const white = ((255 - mean[c]) * by) / scale + zeroPoint;
    const kept = Math.min(white, low + 255) - Math.max(black, low);
    if (white - black < FEWEST_STEPS || kept < (white - black) / 2)
      refuseValue(
        "rule",
        `black as ${round(black)} and white as ${round(white)} in type "${type}"`,
        `values that fill ${low}..${low + 255}: scale and zeroPoint of the network's input, or no mean and no std`,
      );
  });
}

const round = (x: number): number => Number(x.toPrecision(4));

function word<F extends keyof typeof WORDS>(
  rule: PrepareRule,
  field: F,
  usual: (typeof WORDS)[F][number],
): (typeof WORDS)[F][number] {
  const value = rule[field] ?? usual;
  const words: readonly string[] = WORDS[field];
  if (!words.includes(value))
    refuseValue(`rule: ${field}`, show(value), words.map((w) => `"${w}"`).join(", "));
  return value as (typeof WORDS)[F][number];
}

type Channels = (
  ...[field, value, is, what]: [string, number | readonly number[], (x: unknown) => boolean, string]
) => readonly number[];

/** Does the work of `threeChannels` for a tensor of one channel: a list may have one value. */
const channelOrThree: Channels = (field, value, is, what) =>
  threeChannels(field, Array.isArray(value) && value.length === 1 ? (value[0] as number) : value, is, what);

/** Returns one value for each of three channels. */
const threeChannels: Channels = (field, value, is, what) => {
  const values = Array.isArray(value) ? (value as readonly number[]) : [value, value, value];
  if (values.length !== 3 || !values.every((x) => is(x)))
    refuseValue(
      `rule: ${field}`,
      show(value),
      `${what}, or three of them in the order of the tensor's channels`,
    );
  return values as readonly number[];
};

/** An image with all its fields. */
export interface CheckedImage {
  readonly data: Uint8Array | Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
  readonly format: ImageFormat;
  readonly stride: number;
  readonly rotation: QuarterTurns;
}

/** Field names of an image. The second list has those that decoders of photos add. */
const NAMES: readonly string[] = ["data", "width", "height", "format", "channels", "stride", "rotation"];
const IGNORED: readonly string[] = [
  ...["size", "premultiplied", "depth", "hasAlpha", "space", "density", "pages", "pageHeight"],
  ...["trimOffsetLeft", "trimOffsetTop", "cropOffsetLeft", "cropOffsetTop", "attentionX", "attentionY"],
  ...["gamma", "interlace", "palette", "color", "alpha", "bpp", "colorType", "colorSpace", "pixelFormat"],
  ...["exifBuffer", "comments", "text", "resolution", "transparency", "iccEmbeddedProfile", "animated"],
];

/** Throws for an unknown name in a plain object. Instances of other classes may have more fields. */
function checkNames(image: ImageInput): void {
  const prototype: unknown = Object.getPrototypeOf(image);
  if (prototype !== Object.prototype && prototype !== null) return;
  if ("info" in image) refuseValue("image", "{ data, info }, as sharp gives them", "{ data, ...info }");
  // `depth` is sharp's name for the type of a value. Values of several bytes would look like noise.
  const { depth = "uchar" } = image as { readonly depth?: unknown };
  if (typeof depth === "string" && depth !== "uchar")
    refuseValue("image.depth", show(depth), '"uchar", bytes: leave the depth out of .raw() in sharp');
  for (const key in image)
    if (!IGNORED.includes(key)) {
      const complaint = nameComplaint(key, NAMES);
      if (complaint) refuseValue(`image.${key}`, ...complaint);
    }
}

/** Bytes of one row of pixels. */
const ROW_BYTES: { readonly [F in ImageFormat]: (width: number) => number } = {
  rgba: (width) => 4 * width,
  bgra: (width) => 4 * width,
  rgb: (width) => 3 * width,
  bgr: (width) => 3 * width,
  gray: (width) => width,
  nv12: (width) => width + (width & 1),
  i420: (width) => width,
  yuyv: (width) => 2 * (width + (width & 1)),
};

/** Bytes of a row of chroma, 0 for formats without chroma planes. */
export const chromaStrideOf = (format: ImageFormat, stride: number): number =>
  format === "nv12" ? stride : format === "i420" ? (stride + 1) >> 1 : 0;

/** Format by channel count, which photo decoders state. */
const BY_CHANNELS: { readonly [count: number]: ImageFormat } = { 1: "gray", 3: "rgb", 4: "rgba" };

const BYTES_A_PIXEL: { readonly [F in ImageFormat]?: number } = { gray: 1, rgb: 3, bgr: 3, rgba: 4, bgra: 4 };

function formatOf({ format, channels }: ImageInput): ImageFormat {
  const formats = Object.keys(ROW_BYTES);
  if (format !== undefined && format !== "raw") {
    if (!formats.includes(format))
      refuseValue("image: format", show(format), formats.map((f) => `"${f}"`).join(", "));
    const bytes = BYTES_A_PIXEL[format];
    if (bytes !== undefined && channels !== undefined && channels !== bytes)
      refuseValue(
        "image: channels",
        `${show(channels)} beside format "${format}"`,
        `${bytes}, or one of the two alone`,
      );
    return format;
  }
  if (channels === undefined && format === undefined) return "rgba";
  return (
    BY_CHANNELS[channels as number] ??
    refuseValue(
      "image: channels",
      show(channels),
      `1, 3 or 4 for gray, rgb or rgba, or a format: ${formats.map((f) => `"${f}"`).join(", ")}`,
    )
  );
}

/** Throws a RangeError if the bytes begin like a photo's file. */
function checkNoFile(data: ImageInput["data"]): void {
  const kind = encodedKind(data);
  if (kind?.includes("file")) refuseValue("image: data", kind, PIXELS_OR_DETECTOR);
}

/** Throws a RangeError for a wrong image, or for too few bytes. */
export function checkImage(image: ImageInput): CheckedImage {
  if (typeof image !== "object" || image === null)
    refuseValue("image", show(image), "{data, width, height, format}");
  const encoded = encodedKind(image);
  if (encoded !== null) refuseValue("image", encoded, PIXELS_OR_DETECTOR);
  checkNames(image);
  const { data, width, height } = image;
  if (!isBytes(data))
    refuseValue("image: data", show(data), "the bytes of the pixels, a Uint8Array or Uint8ClampedArray");
  if (![width, height].every((s) => Number.isInteger(s) && s > 0 && s <= 1 << 16))
    refuseValue("image", `width ${show(width)}, height ${show(height)}`, "whole pixels, 1 to 65536");
  // sharp states "png" for the bytes of a PNG file.
  if (image.format !== undefined && !(image.format in ROW_BYTES)) checkNoFile(data);
  const format = formatOf(image);
  const row = ROW_BYTES[format](width);
  const stride = image.stride ?? row;
  if (!Number.isInteger(stride) || stride < row || stride > 1 << 20)
    refuseValue(
      "image: stride",
      show(stride),
      `whole bytes from row to row, at least ${row} for "${format}"`,
    );
  const chroma = chromaStrideOf(format, stride);
  const half = (height + 1) >> 1;
  const needed =
    chroma === 0
      ? stride * (height - 1) + row
      : stride * height +
        chroma * (format === "nv12" ? half - 1 : 2 * half - 1) +
        (format === "nv12" ? row : (width + 1) >> 1);
  if (data.length < needed) checkNoFile(data);
  const turned = rotationProblem(image.rotation);
  if (turned) refuseValue("image.rotation", ...turned);
  const channelCount = [1, 3, 4].find((n) => data.length === n * width * height);
  if (data.length < needed)
    refuseValue(
      "image: data",
      `${data.length} bytes`,
      `at least ${needed} for ${width}x${height} "${format}"${stride === row ? "" : ` with stride ${stride}`}` +
        (channelCount === 3 && image.stride === undefined
          ? '. These are 3 bytes a pixel: format: "rgb" or "bgr"'
          : ""),
    );
  if (channelCount !== undefined && needed < data.length && image.stride === undefined)
    refuseValue(
      "image: data",
      `${data.length} bytes, ${channelCount} for each pixel of ${width}x${height}`,
      `${needed} for format "${format}". Which format is it?`,
    );
  return { data, width, height, format, stride, rotation: image.rotation ?? 0 };
}
