/** Parses shapes and scales of the command line, such as name:1x84x8400:f32. */
import { showJson } from "../../core/json.ts";
import { elementType } from "../files/bin.ts";
import { ELEMENT_TYPES, type TensorHead } from "../files/tensor.ts";
import { UsageError } from "./options.ts";

/** Pattern of `SCALE[,ZERO]`, after a shape and in --quantised. */
const SCALE = String.raw`(-?[\d.e+-]+)(?:,(-?\d+(?:\.\d+)?))?`;
const SHAPE = new RegExp(String.raw`^(?:(.+):)?(\d+(?:x\d+)+|\d+)(?::([a-z]\w*))?(?::${SCALE})?$`, "i");
const QUANTISED = new RegExp(`^(?:(.+)=)?${SCALE}$`, "i");

/** Scale and zero point of a tensor. */
export interface Scale {
  readonly scale: number;
  readonly zeroPoint: number;
}

/** Returns a scale, or null if the number is not positive and finite. */
function scaleOf(scale: string, zeroPoint = "0"): Scale | null {
  return Number(scale) > 0 && Number(scale) < Infinity
    ? { scale: Number(scale), zeroPoint: Number(zeroPoint) }
    : null;
}

/** Parses `[NAME=]SCALE[,ZERO]`. Returns null if the word has another form, or if the scale is not positive. */
export function parseQuantised(word: string): { name: string | undefined; scale: Scale } | null {
  const [, name, number = "", zeroPoint] = QUANTISED.exec(word) ?? [];
  const scale = scaleOf(number, zeroPoint);
  return scale === null ? null : { name, scale };
}

/** Parses `name:1x84x8400:f32:0.004,128`. All parts but the shape are optional. Returns null for other words. */
export function parseShape(word: string, index: number): TensorHead | null {
  const match = SHAPE.exec(word);
  if (!match) return null;
  const [, name = `output${index}`, sizes, spelling = "f32", scale, zeroPoint] = match;
  const type = elementType(spelling);
  if (!type)
    throw new UsageError(
      `${word}: got type ${showJson(spelling)}, expected one of ${ELEMENT_TYPES.join(" ")}`,
    );
  const dims = sizes.split(/x/i).map(Number);
  if (dims.includes(0)) throw new UsageError(`${word}: got a size of 0, expected 1 or more`);
  if (scale === undefined) return { name, dims, type };
  const quantised = scaleOf(scale, zeroPoint);
  if (quantised === null)
    throw new UsageError(`${word}: got scale ${showJson(scale)}, expected a positive number`);
  return { name, dims, type, ...quantised };
}

/** A shape with `null` for unknown dims. */
export type OpenHead = Omit<TensorHead, "dims"> & { readonly dims: readonly (number | null)[] };

/** Pattern of a dim: a size, or for an unknown size -1, ? or a word. */
const DIM = /^(?:\d+|-1|\?|[a-z_]\w*)$/i;
/** Pattern of an unknown dim that shows that the word is a shape. A longer word may as well be part of a path. */
const LONE_OPEN = /^(?:-1|\?|[a-z])$/i;

/** Parses `boxes:Nx5:f32`, `a:?x84x8400` or `a:batchx84x-1`. Returns null for other words. */
export function parseOpenShape(word: string): OpenHead | null {
  const parts = word.split(":");
  const spelling = parts.length > 2 ? parts[parts.length - 1] : "";
  const type = elementType(spelling);
  const [sizes, ...name] = (type ? parts.slice(0, -1) : parts).reverse();
  const dims = sizes.split(/x/i);
  const isShape = dims.every((d) => DIM.test(d)) && (dims.length > 1 || LONE_OPEN.test(sizes));
  const hasSign = dims.some((d) => LONE_OPEN.test(d) || /^[1-9]\d*$/.test(d));
  if (name.length === 0 || !isShape || !hasSign) return null;
  return {
    name: name.reverse().join(":"),
    dims: dims.map((d) => (/^\d+$/.test(d) ? Number(d) : null)),
    type: type ?? "f32",
  };
}

/** Splits shapes at commas, except at the comma before a zero point. */
const splitShapes = (list: string): string[] => list.split(/,(?!-?\d+(?:\.\d+)?(?:,|$))/);

/** Returns the comma-separated shapes of a word, or the whole word if a part is no shape: paths may have commas. */
export function shapesIn(word: string): readonly string[] {
  const parts = splitShapes(word).map((part) => part.trim());
  return parts.every((part) => parseShape(part, 0) ?? parseOpenShape(part)) ? parts : [word];
}

/** Parses shapes separated by commas. */
export function parseShapes(lists: readonly string[]): TensorHead[] {
  const words = lists.flatMap(splitShapes);
  return words.map((word, i) => {
    const head = parseShape(word.trim(), i);
    if (head === null)
      throw new UsageError(`--outputs: got ${showJson(word)}, expected shapes such as name:1x255x13x13:f32`);
    return head;
  });
}

/** Throws if two tensors have the same name, for instance one from a shape and one from a file. */
export function checkNamesDiffer(heads: readonly Pick<TensorHead, "name">[]): void {
  const seen = new Set<string>();
  for (const { name } of heads) {
    if (seen.has(name))
      throw new UsageError(`tensor ${showJson(name)} is given twice. Each name may occur once.`);
    seen.add(name);
  }
}
