/** Reads the `inputs` block of an NN Archive. luxonis-ml defines it; modelconverter shows what fields mean. */
import type { ConfigProblem } from "../core/errors.ts";
import type { PartialRule } from "../core/prepare-rule.ts";
import { show } from "../core/tensor.ts";
import { FieldReader, TEXT, isObject } from "./fields.ts";

/** The statements of an archive about its input picture. `problems` lists those that no preparation supports. */
export interface ArchivePicture {
  readonly rule: PartialRule;
  readonly problems: readonly ConfigProblem[];
}

const INPUT = ["name", "dtype", "input_type", "shape", "layout", "preprocessing"];
const PREPROCESSING = ["mean", "scale", "reverse_channels", "interleaved_to_planar", "dai_type"];

const TYPES = { float32: "f32", float16: "f16", uint8: "u8", int8: "i8" } as const;
const CHANNELS = [1, 3, 4];

/**
 * True if the last dimension of an image's shape holds the channels. Some archives state wrong layout letters, so a
 * shape with at most 4 entries at one end only overrides the letters.
 */
export function areChannelsLast(shape: readonly number[], layout: string): boolean {
  const [first, , last] = shape.slice(-3);
  const isLettered = layout.length === shape.length && layout.endsWith("C");
  return isLettered ? last <= 4 || first > 4 : last <= 4 && first > 4;
}

/** Reads the input picture from the inputs. Reports no problem about fields that the option `prepare` overrides. */
export function pictureOf(inputs: readonly unknown[], prepare: PartialRule = {}): ArchivePicture {
  const problems: ConfigProblem[] = [];
  const all = new FieldReader({ inputs }, "model", problems).objects("inputs") ?? [];
  const input = all.find(({ json }) => json.input_type === "image") ?? all[0];
  if (input === undefined) return { rule: {}, problems };
  input.reportUnknown(INPUT);
  const kind = input.take("input_type", TEXT);
  if (kind !== null && kind !== "image")
    reportOpen(input, "input_type", show(kind), '"image"', "order", prepare);
  const block = input.object("preprocessing");
  block.reportUnknown(PREPROCESSING);
  const frame = readFrameType(block, prepare);
  const rule: PartialRule = {
    ...layoutRule(input, block, frame, prepare),
    ...typeRule(input, frame, prepare),
    // An empty block `preprocessing` states the defaults of the format. An absent block states nothing.
    ...(isObject(input.json.preprocessing) && valuesRule(block, frame)),
  };
  checkBytes(input, rule, prepare);
  return { rule, problems };
}

/** The parts of a `dai_type`. "BGR888p": channel order BGR, 8 bits per channel, planar. */
interface FrameType {
  readonly order: "RGB" | "BGR" | null;
  readonly isHalf: boolean;
  readonly layout: "NCHW" | "NHWC" | null;
}

/** Reads `dai_type`, which overrides `reverse_channels` and `interleaved_to_planar`. */
function readFrameType(block: FieldReader, prepare: PartialRule): FrameType {
  const typeText = block.take("dai_type", TEXT);
  const [, order, bits, lay] = /^(RGB|BGR)(888|F16F16F16)([pi])$/.exec(typeText ?? "") ?? [];
  if (typeText !== null && order === undefined) {
    const known = "RGB or BGR, 888 or F16F16F16, p or i, for instance RGB888p";
    reportOpen(block, "dai_type", show(typeText), known, "order", prepare);
  }
  return {
    order: (order as "RGB" | undefined) ?? null,
    isHalf: bits === "F16F16F16",
    layout: lay === undefined ? null : lay === "p" ? "NCHW" : "NHWC",
  };
}

const FLAG = ["true, false or null", (x: unknown) => typeof x === "boolean"] as const;

/** Returns the layout. Reports fields that contradict the shape, and a channel count other than three. */
function layoutRule(
  input: FieldReader,
  block: FieldReader,
  frame: FrameType,
  prepare: PartialRule,
): PartialRule {
  const shape = input.take<number[]>("shape", [
    "whole numbers",
    (x) => Array.isArray(x) && x.every(Number.isSafeInteger),
  ]);
  const letters = input.take("layout", TEXT)?.toUpperCase() ?? null;
  const isPlanar = block.take("interleaved_to_planar", FLAG);
  const dims = shape && shape.length >= 3 ? shape.slice(-3) : null;
  if (shape && !dims) input.report("shape", show(shape), "[1, 3, height, width] or [1, height, width, 3]");
  if (letters !== null && shape && letters.length !== shape.length)
    reportOpen(
      input,
      "layout",
      show(letters),
      `${shape.length} letters, one for each dimension`,
      "layout",
      prepare,
    );
  // Sources of the layout, the strongest first. Each has the field that the error names if the shape contradicts the
  // layout.
  const stated = (
    [
      [block, "dai_type", frame.layout],
      [block, "interleaved_to_planar", isPlanar === null ? null : isPlanar ? "NHWC" : "NCHW"],
      [input, "layout", layoutOf(letters)],
    ] as const
  ).find(([, , layout]) => layout !== null);
  const byShape = dims && layoutOfShape(dims);
  if (stated && byShape && stated[2] !== byShape) {
    const [reader, key, layout] = stated;
    const got = `${show(reader.json[key])}, which means ${layout}`;
    reportOpen(reader, key, got, `${byShape}, as shape ${show(shape)} says`, "layout", prepare);
  }
  const layout = prepare.layout ?? stated?.[2] ?? byShape;
  const channels = dims && layout && dims[layout === "NCHW" ? 0 : 2];
  if (channels && channels > 0 && channels !== 3)
    input.report(
      "shape",
      `${channels} channels in ${show(shape)}`,
      "3: pictures of three channels are prepared",
    );
  return layout ? { layout } : {};
}

/** Returns the layout that the letters state. "CHW" has no letter for the batch. Letters without C state no layout. */
const layoutOf = (letters: string | null): "NCHW" | "NHWC" | null => {
  const at = letters?.replace(/^N/, "").indexOf("C");
  return at === 0 ? "NCHW" : at === 2 ? "NHWC" : null;
};

/** Returns the layout if only one end of the shape has a possible channel count, else null. */
function layoutOfShape([first, , last]: readonly number[]): "NCHW" | "NHWC" | null {
  const [isFirst, isLast] = [first, last].map((size) => CHANNELS.includes(size));
  return isFirst === isLast ? null : isFirst ? "NCHW" : "NHWC";
}

function typeRule(input: FieldReader, { isHalf }: FrameType, prepare: PartialRule): PartialRule {
  const typeName = input.take("dtype", TEXT);
  if (typeName === null) return isHalf ? { type: "f16" } : {};
  if (Object.hasOwn(TYPES, typeName)) return { type: TYPES[typeName as keyof typeof TYPES] };
  reportOpen(input, "dtype", show(typeName), `one of ${Object.keys(TYPES).join(", ")}`, "type", prepare);
  return {};
}

/**
 * Returns the channel order, the mean and the divisor. If the file states null or nothing, returns the format's
 * defaults: RGB, 0 and 1.
 */
function valuesRule(block: FieldReader, { order }: FrameType): PartialRule {
  const isRgb = block.take("reverse_channels", FLAG);
  return {
    order: order ?? (isRgb === false ? "BGR" : "RGB"),
    mean: valuesOf(block, "mean", Number.isFinite) ?? 0,
    std: valuesOf(block, "scale", (x) => Number.isFinite(x) && x !== 0) ?? 1,
  };
}

/** Reads one value for all channels, or one for each of three. */
const valuesOf = (block: FieldReader, key: string, isValue: (x: unknown) => boolean): number[] | null =>
  block.take(key, [
    `three numbers${key === "scale" ? " other than 0" : ""}, or null`,
    (x) => Array.isArray(x) && [1, 3].includes(x.length) && x.every(isValue),
  ]);

/** Reports quantised inputs (i8, or u8 with a mean or divisor), because an archive cannot state their scale. */
function checkBytes(input: FieldReader, { type, mean, std }: PartialRule, prepare: PartialRule): void {
  if ((prepare.type ?? type) !== type) return;
  const isPlain = [mean ?? 0].flat().every((x) => x === 0) && [std ?? 1].flat().every((x) => x === 1);
  if (type !== "i8" && (type !== "u8" || isPlain)) return;
  const beside = type === "u8" ? " beside a mean and a scale" : "";
  const got = `${show(input.json.dtype)}${beside}, a quantised input`;
  reportOpen(input, "dtype", got, "its scale and zero point, which have no field", "scale", prepare);
}

/** Reports a field whose value no preparation supports. Does nothing if the option `prepare` replaces the field. */
function reportOpen(
  r: FieldReader,
  key: string,
  got: string,
  expected: string,
  part: keyof PartialRule,
  prepare: PartialRule,
): void {
  if (prepare[part] === undefined)
    r.report(key, got, `${expected}, or the option prepare: { ${part} }`, "prepare");
}
