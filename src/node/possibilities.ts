/** Finds the families that read shapes alone, by trying the configs that could be written for them. */
import type { DecoderOptions } from "../config/types.ts";
import { channelsBeforeClasses, FAMILIES, TRAITS, representativeOf, titleOf } from "../core/families.ts";
import type { Family } from "../core/family.ts";
import { READINGS } from "../core/readings.ts";
import { type TensorData, type TensorSpec, volume } from "../core/tensor.ts";
import type { Interpretation } from "../heads/head.ts";
import { settlingOptions } from "../heads/refuse.ts";
import { priorsAmong } from "../heads/ssd.ts";
import { valuesIn } from "../planfile/write.ts";
import { COEFFICIENTS, type Guess, guesses, holdVariances, isPrototypes } from "./guesses.ts";
import {
  type Inspected,
  interpretationsUnder,
  NO_SIZE,
  type Possibility,
  statedClasses,
} from "./possibility.ts";
import { taskPossibilities } from "./task-possibilities.ts";

/** Counts of classes that published networks have. */
const USUAL_CLASSES = new Set([1, 20, 80, 90, 91, 365]);

/** Returns every way to read the shapes, the likeliest first. */
export function possibilities(inspected: Inspected): Possibility[] {
  const { tensors } = inspected;
  const more = readWithTask(inspected);
  // Coefficients of masks are of no use without their prototypes, and those are no head.
  const heads = more.length > 0 ? tensors.filter((t) => !isPrototypes(t)) : tensors;
  const read = readingsOf({ ...inspected, tensors: heads });
  const best = Math.max(...[...more, ...read].map(({ likelihood }) => likelihood));
  const isOpen = ({ likelihood }: Possibility): boolean => likelihood === -Infinity;
  const open = more.filter(isOpen);
  const sure = more.filter((found) => !isOpen(found));
  const asLikely = (found: Possibility): Possibility => ({ ...found, likelihood: best });
  const tasks = taskPossibilities(inspected);
  return [...sure.map(asLikely), ...read, ...tasks, ...open.map(asLikely)].sort(
    (a, b) => b.likelihood - a.likelihood,
  );
}

/** Returns every way in which detection heads read the shapes, the likeliest first. */
function readingsOf({ tensors, options, valuesOf }: Inspected): Possibility[] {
  const priors = tensors[priorsAmong(tensors, { roles: options.roles ?? null })] as TensorSpec | undefined;
  const values = valuesOrZeros(tensors, priors, valuesOf);
  const found = new Map<string, Possibility & { families: string[] }>();
  for (const guess of guesses(tensors, options, priors)) {
    const { family, inputSize } = guess;
    const allowed = readWith(guess, tensors, options, values);
    for (const interpretation of allowed) {
      if (hasOthersBins(interpretation, family)) continue;
      const classes = classesOf(guess, interpretation, options);
      const key = JSON.stringify([classes, interpretation.about]);
      const names = options.family === undefined ? namesFor(family, interpretation) : [options.family];
      const before = found.get(key);
      if (before !== undefined) {
        before.families.push(...names.filter((name) => !before.families.includes(name)));
        continue;
      }
      found.set(key, {
        ...configFor(guess, classes, interpretation, options, { priors, tensors, allowed }),
        families: names,
        classes,
        reading: interpretation.name,
        about: interpretation.about,
        likelihood:
          likelihoodOf(interpretation, classes, tensors, inputSize) +
          (hasBuiltPriors(family, tensors, options) ? 2 : 0) -
          (options.inputSize && isLoneMap(interpretation, family) ? 1 : 0),
      });
    }
  }
  return [...found.values()].sort((a, b) => b.likelihood - a.likelihood);
}

/** Returns values by index. Zeros stand in for priors that are not at hand: only their count matters for a shape. */
function valuesOrZeros(
  specs: readonly TensorSpec[],
  priors: TensorSpec | undefined,
  valuesOf: (name: string) => TensorData | null,
): (index: number) => ArrayLike<number> | null {
  const given = valuesIn(specs, valuesOf);
  return (i) => given(i) ?? (priors && specs[i] === priors ? new Float32Array(volume(priors.dims)) : null);
}

/** Returns all interpretations under a guess. */
const readWith = (
  { family, classes, anchors, inputSize, standIns }: Guess,
  tensors: readonly TensorSpec[],
  options: DecoderOptions,
  values: (index: number) => ArrayLike<number> | null,
): readonly Interpretation[] =>
  interpretationsUnder(
    { family, classes, ...(anchors && { anchors }), ...standIns },
    { ...options, inputSize },
    tensors,
    values,
  );

/** True if the distributions have as many bins as only another family has. */
const hasOthersBins = ({ heads: [{ bins }] }: Interpretation, family: Family): boolean =>
  FAMILIES.some((other) => TRAITS[other].ownBins && TRAITS[other].bins === bins) &&
  TRAITS[family].bins !== bins;

/** Returns the count of classes; `null` where a column of class ids leaves it open and no option states it. */
const classesOf = ({ classes }: Guess, { heads }: Interpretation, options: DecoderOptions): number | null =>
  (options.classes ?? options.labels) === undefined && heads.some(({ classId }) => classId) ? null : classes;

/** Sizes of the inputs of published networks whose priors are built in. */
const PRIOR_SIZES = [
  [320, 240],
  [640, 480],
  [128, 128],
  [256, 256],
  [192, 192],
] as const;

/** True if the tensors have a row per prior that the family's rule makes for the input. */
const hasBuiltPriors = (
  family: Family,
  tensors: readonly TensorSpec[],
  { inputSize }: DecoderOptions,
): boolean =>
  (inputSize ? [inputSize] : PRIOR_SIZES).some((size) => {
    const priors = TRAITS[family].buildPriors?.(size);
    return priors !== undefined && tensors.every(({ dims }) => dims.includes(priors.length / 4));
  });

/** True if the network has one map, and those of the family have several. */
const isLoneMap = ({ heads, name }: Interpretation, family: Family): boolean =>
  heads.length === 1 &&
  READINGS[name].maps === true &&
  TRAITS[family].head !== "cell" &&
  TRAITS[family].oneMap !== true;

/** Returns the names of a family and of those it stands for that have the same export. */
function namesFor(family: Family, { name }: Interpretation): string[] {
  const exports = TRAITS[family].exports.filter((form) => form === name);
  const alike = FAMILIES.filter(
    (other) =>
      representativeOf(other) === family &&
      (exports.length === 0 || exports.some((form) => TRAITS[other].exports.includes(form))),
  );
  return [alike.map(titleOf).join(", ")];
}

/** Returns the options that the shapes tell, and those that are still to be written. */
function configFor(
  { family, anchors, standIns: { roles } }: Guess,
  classes: number | null,
  { name, awaits }: Interpretation,
  { inputSize }: DecoderOptions,
  {
    priors,
    tensors,
    allowed,
  }: {
    readonly priors: TensorSpec | undefined;
    readonly tensors: readonly TensorSpec[];
    readonly allowed: readonly Interpretation[];
  },
): Pick<Possibility, "options" | "missing"> {
  const needsPriors = READINGS[name].priors && !TRAITS[family].buildPriors;
  const ofName = allowed.filter((other) => other.name === name);
  return {
    options: {
      family,
      ...(classes !== null && { classes }),
      ...(inputSize && { inputSize }),
      ...(roles && { roles }),
      ...(ofName.length < allowed.length && { reading: name }),
    },
    missing: [
      // HailoRT's buffer has a part for each class, so that its size depends on their count.
      ...(classes === null && TRAITS[family].packed ? ["classes"] : []),
      ...(inputSize ? [] : [NO_SIZE]),
      ...(anchors && READINGS[name].anchors
        ? [`anchors: ${anchors.map((a) => a.length).join(" + ")} pairs`]
        : []),
      ...(needsPriors && priors === undefined ? ["priors"] : []),
      ...(needsPriors && !holdVariances(priors, tensors) ? ["scales or variances"] : []),
      // An interpretation that awaits values needs no option: the first frame settles it.
      ...(ofName.length > 1 && awaits === undefined
        ? [settlingOptions(ofName, tensors).hints[0].option]
        : []),
    ],
  };
}

/** Returns how likely an interpretation is, in points. */
function likelihoodOf(
  { heads, uses, tensors: maps, name }: Interpretation,
  classes: number | null,
  tensors: readonly TensorSpec[],
  input: readonly [number, number],
): number {
  let points = 0;
  if (tensors.every((_, i) => uses.includes(i))) points += 4;
  const [{ gridWidth, cells }] = heads;
  const [[{ layout }]] = maps;
  const isSquare = gridWidth * gridWidth === cells && ["NCHW", "CHW", "NHWC", "HWC"].includes(layout);
  if (READINGS[name].maps && isSquare) points += 2;
  // rows of a whole input: one per cell of its maps, or one per cell and each of three anchors
  const all = [8, 16, 32].reduce((n, s) => n + Math.ceil(input[0] / s) * Math.ceil(input[1] / s), 0);
  const rows = Math.max(...tensors.map(({ dims }) => Math.max(...dims)));
  if (rows === all || rows === 3 * all || rows <= 1000) points += 1;
  if (classes === null || USUAL_CLASSES.has(classes)) points += 1;
  // A tensor with more classes than rows lies on its side.
  if (classes !== null && classes > 400) points -= 4;
  return points;
}

/** Counts of keypoints that published networks of one class have: plates, faces, people, hands. */
const USUAL_KEYPOINTS = [4, 5, 17, 21];

/** Counts of classes that published networks for oriented boxes have: one of their own, DOTA 1.0, 1.5 and 2.0. */
const USUAL_ORIENTED = [1, 15, 16, 18];

/**
 * Returns ways to read the boxes of networks that also give masks, keypoints or angles. Their rows have more channels
 * after the classes: 32 coefficients of masks, told by prototypes or by a usual count of classes; the keypoints of one
 * class; or an angle.
 */
function readWithTask(inspected: Inspected): Possibility[] {
  const { tensors, options } = inspected;
  const hasPrototypes = tensors.some(isPrototypes);
  return tensors.flatMap((tensor) => {
    if (tensor.dims.length !== 3) return [];
    const [, a, b] = tensor.dims;
    const isRows = a > b;
    const axis = isRows ? 2 : 1;
    const channels = tensor.dims[axis];
    const family = FAMILIES.find((f) => TRAITS[f].extraChannels === (isRows ? "rows" : "planes")) as Family;
    if ((options.family ?? family) !== family) return [];
    const fixed = channelsBeforeClasses(TRAITS[family]);
    const masks = channels - fixed - COEFFICIENTS;
    // `isOpen`: the channels may be classes alone just as well. Such a suggestion comes last.
    const suggestions: [classes: number, what: string, options: DecoderOptions | null, isOpen?: true][] = [];
    const points = (channels - fixed - 1) / 3;
    if (!hasPrototypes && USUAL_KEYPOINTS.includes(points))
      suggestions.push([
        1,
        `${points} keypoints`,
        { task: "pose", keypoints: [points, 3] },
        ...(points === 17 ? ([] as const) : ([true] as const)),
      ]);
    if (!hasPrototypes && fixed === 4 && USUAL_ORIENTED.includes(channels - 5))
      suggestions.push([channels - 5, "an angle", { task: "oriented" }, true]);
    if (masks > 0 && (hasPrototypes || USUAL_CLASSES.has(masks)))
      suggestions.push([
        masks,
        `${COEFFICIENTS} coefficients of masks`,
        hasPrototypes ? { task: "segment" } : null,
      ]);
    return suggestions.flatMap(([classes, what, taskOptions, isOpen]) => {
      if ((statedClasses(options) ?? classes) !== classes) return [];
      const boxAndClasses = fixed + classes;
      const before = { ...tensor, dims: tensor.dims.map((d, i) => (i === axis ? boxAndClasses : d)) };
      const [best] = readingsOf({
        tensors: [before],
        options: { ...options, family, classes },
        valuesOf: () => null,
      });
      return best === undefined
        ? []
        : {
            ...best,
            likelihood: isOpen ? -Infinity : best.likelihood,
            about: taskOptions
              ? `${best.about}, and ${what} after them in ${channels} channels`
              : `${best.about}, the first ${boxAndClasses} of ${channels} channels alone; ${what} after them are not decoded`,
            options: { ...best.options, ...taskOptions },
            missing: taskOptions
              ? best.missing
              : [`the first ${boxAndClasses} channels alone`, ...best.missing],
          };
    });
  });
}
