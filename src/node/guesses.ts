/** The configs that could be written for shapes: each family with the counts of classes and anchors that may fit. */
import type { DecoderOptions, Roles } from "../config/types.ts";
import { FAMILIES, TRAITS, representativeOf, suggestedFamilies } from "../core/families.ts";
import type { Family } from "../core/family.ts";
import { type TensorSpec, volume } from "../core/tensor.ts";
import { ANCHOR_COUNTS, classCounts } from "../heads/exports.ts";
import { statedClasses } from "./possibility.ts";

/** A config that may be written for the shapes. */
export interface Guess {
  readonly family: Family;
  readonly classes: number;
  /** Stand-ins for anchors, a list per map; `null`: the family has none. */
  readonly anchors: readonly (readonly (readonly number[])[])[] | null;
  readonly inputSize: readonly [number, number];
  /** Fields that the family cannot be read without. */
  readonly standIns: StandIns;
}

/** Yields the configs that could be written for the shapes. Options that are stated are not guessed. */
export function* guesses(
  tensors: readonly TensorSpec[],
  options: DecoderOptions,
  priors: TensorSpec | undefined,
): Generator<Guess> {
  const givenClasses = statedClasses(options);
  const families = [...suggestedFamilies(), ...FAMILIES.filter((f) => !TRAITS[f].suggested)].filter(
    (family) =>
      options.family === undefined
        ? representativeOf(family) === family && TRAITS[family].task === undefined
        : family === options.family,
  );
  const inputSize = options.inputSize ?? guessSize(tensors);
  for (const family of families) {
    const standIns = standInsFor(family, tensors, priors);
    for (const classes of givenClasses === undefined ? countsToTry(family, tensors, priors) : [givenClasses])
      for (const anchors of guessAnchors(family)) yield { family, classes, anchors, inputSize, standIns };
  }
}

/** Most classes that a guess may have. */
const MOST_CLASSES = 2000;

/** Returns the class counts to try for a family: 1 if class ids are a column, since any count fits then. */
function countsToTry(
  family: Family,
  tensors: readonly TensorSpec[],
  priors: TensorSpec | undefined,
): readonly number[] {
  const { head, buildPriors } = TRAITS[family];
  const dims = tensors.flatMap((t) => t.dims.slice(-3));
  // Flat offsets and scores have no dimension of classes. The priors say how many boxes there are.
  const boxCounts =
    head === "prior" && !buildPriors && priors ? [4, 8].map((n) => volume(priors.dims) / n) : [];
  const inPriors = tensors.flatMap((t) => boxCounts.map((n) => volume(t.dims) / n));
  const counts = classCounts(TRAITS[family], [...dims, ...inPriors], MOST_CLASSES);
  return counts.length > 0 ? counts : [1];
}

/** Returns stand-ins for anchors. Only their count matters for a shape. */
function guessAnchors(family: Family): (number[][][] | null)[] {
  if (TRAITS[family].head !== "anchor") return [null];
  const set = (n: number): number[][] => Array.from({ length: n }, () => [1, 1]);
  return ANCHOR_COUNTS.flatMap((n) => [1, 2, 3, 4].map((maps) => Array.from({ length: maps }, () => set(n))));
}

/** Fields of a config that a family cannot be read without. */
interface StandIns {
  readonly roles?: Roles & { readonly classIds: string; readonly scores: string };
  readonly scales?: readonly number[];
  readonly priors?: Float32Array;
}

/** Returns stand-ins for the fields that a family cannot be read without. Only their lengths matter for a shape. */
function standInsFor(
  family: Family,
  tensors: readonly TensorSpec[],
  priors: TensorSpec | undefined,
): StandIns {
  const { exports, head, buildPriors } = TRAITS[family];
  const boxes = tensors.find(({ dims }) => dims.length >= 2 && dims[dims.length - 1] === 4);
  const cells = boxes?.dims[boxes.dims.length - 2];
  if (exports.includes("postprocess")) {
    const [labels, scores, ...others] = tensors.filter(
      (t) => t !== boxes && t.dims[t.dims.length - 1] === cells,
    );
    const isNamed = [labels, scores].some((t) => /class|label|score|[:_]\d$/i.test(t?.name ?? ""));
    return scores === undefined || others.length > 0 || isNamed
      ? {}
      : { roles: { classIds: labels.name, scores: scores.name } };
  }
  if (head !== "prior" || buildPriors || holdVariances(priors, tensors)) return {};
  return {
    scales: [10, 10, 5, 5],
    ...(cells === undefined || cells === 0 ? {} : { priors: new Float32Array(cells * 4) }),
  };
}

/** Coefficients of a mask in YOLOv5-seg and YOLOv8-seg. */
export const COEFFICIENTS = 32;

/**
 * True if the tensor holds prototypes of masks: 32 maps at a quarter of the input, as YOLOv5-seg and YOLOv8-seg give
 * them.
 */
export const isPrototypes = ({ dims: [, a, b, c] }: TensorSpec): boolean =>
  c !== undefined &&
  (a === COEFFICIENTS ? Math.max(b, c) > COEFFICIENTS : c === COEFFICIENTS && a > COEFFICIENTS);

/**
 * Returns the input that prototypes are a quarter of, or the square one whose maps at strides 8, 16, 32 add up to a
 * dimension, else 640.
 */
export function guessSize(tensors: readonly TensorSpec[]): readonly [number, number] {
  const prototypes = tensors.find(isPrototypes);
  if (prototypes !== undefined) {
    const [, a, b, c] = prototypes.dims;
    return a === COEFFICIENTS ? [4 * c, 4 * b] : [4 * b, 4 * a];
  }
  for (const { dims } of tensors)
    for (const d of dims)
      for (let s = 64; s <= 1536; s += 32) if (((s / 8) ** 2 * 21) / 16 === d) return [s, s];
  return [640, 640];
}

/** True if the priors come as an output, with variances of the same length after them. */
export const holdVariances = (priors: TensorSpec | undefined, tensors: readonly TensorSpec[]): boolean =>
  priors !== undefined && tensors.some(({ dims }) => volume(dims) * 2 === volume(priors.dims));
