/** Finds the families that read shapes alone, by trying the configs that could be written for them. */
import type { DecoderOptions, Roles } from "../config/types.ts";
import {
  channelsBeforeClasses,
  FAMILIES,
  TRAITS,
  representativeOf,
  suggestedFamilies,
  titleOf,
} from "../core/families.ts";
import type { Family } from "../core/family.ts";
import { READINGS } from "../core/readings.ts";
import { type TensorData, type TensorSpec, volume } from "../core/tensor.ts";
import { ANCHOR_COUNTS, classCounts } from "../heads/exports.ts";
import type { Interpretation } from "../heads/head.ts";
import { priorsAmong } from "../heads/ssd.ts";
import { valuesIn } from "../planfile/write.ts";
import { type Inspected, interpretationsUnder, type Possibility, statedClasses } from "./possibility.ts";
import { taskPossibilities } from "./task-possibilities.ts";

/** Numbers of classes that published networks have. */
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

/** A config that may be written for the shapes. */
interface Guess {
  readonly family: Family;
  readonly classes: number;
  /** Stand-ins for anchors, a list per map; `null`: the family has none. */
  readonly anchors: readonly (readonly (readonly number[])[])[] | null;
  readonly inputSize: readonly [number, number];
  /** Fields that the family cannot be read without. */
  readonly standIns: StandIns;
}

/** Returns every way in which detection heads read the shapes, the likeliest first. */
function readingsOf({ tensors, options, valuesOf }: Inspected): Possibility[] {
  const priors = tensors[priorsAmong(tensors, { roles: options.roles ?? null })] as TensorSpec | undefined;
  const values = valuesOrZeros(tensors, priors, valuesOf);
  const found = new Map<string, Possibility & { families: string[] }>();
  for (const guess of guesses(tensors, options, priors)) {
    const { family, inputSize } = guess;
    for (const interpretation of readWith(guess, tensors, options, values)) {
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
        family,
        families: names,
        classes,
        reading: interpretation.name,
        about: interpretation.about,
        line: lineOf(guess, classes, interpretation, options, { priors, tensors }),
        likelihood:
          likelihood(interpretation, classes, tensors, inputSize) +
          (hasBuiltPriors(family, tensors, options) ? 2 : 0) -
          (options.inputSize && isLoneMap(interpretation, family) ? 1 : 0),
      });
    }
  }
  return [...found.values()].sort((a, b) => b.likelihood - a.likelihood);
}

/** Returns values at hand, by index. Zeros stand for priors that are not: only their count matters for a shape. */
function valuesOrZeros(
  specs: readonly TensorSpec[],
  priors: TensorSpec | undefined,
  valuesOf: (name: string) => TensorData | null,
): (index: number) => ArrayLike<number> | null {
  const given = valuesIn(specs, valuesOf);
  return (i) => given(i) ?? (priors && specs[i] === priors ? new Float32Array(volume(priors.dims)) : null);
}

/** Yields the configs that could be written for the shapes. Options that are stated are not guessed. */
function* guesses(
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
  const inputSize = options.inputSize ?? sizeGuess(tensors);
  for (const family of families) {
    const standIns = standInsFor(family, tensors, priors);
    for (const classes of givenClasses === undefined ? countsToTry(family, tensors, priors) : [givenClasses])
      for (const anchors of anchorGuesses(family)) yield { family, classes, anchors, inputSize, standIns };
  }
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

/** Returns the number of classes; `null` where a column of class ids leaves it open and no option states it. */
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

/** Returns the config to write, as JavaScript. */
function lineOf(
  { family, anchors, standIns: { roles } }: Guess,
  classes: number | null,
  { name }: Interpretation,
  { inputSize }: DecoderOptions,
  { priors, tensors }: { priors: TensorSpec | undefined; tensors: readonly TensorSpec[] },
): string {
  const needsPriors = READINGS[name].priors && !TRAITS[family].buildPriors;
  const parts = [
    `family: "${family}"`,
    ...(classes === null ? [] : [`classes: ${classes}`]),
    `inputSize: [${(inputSize ?? ["width", "height"]).join(", ")}]`,
    ...(anchors && READINGS[name].anchors
      ? [`anchors: ${anchors.map((a) => a.length).join(" + ")} pairs`]
      : []),
    ...(needsPriors && priors === undefined ? ["priors"] : []),
    ...(needsPriors && !holdVariances(priors, tensors) ? ["scales or variances"] : []),
    ...(roles === undefined ? [] : [`roles: { classIds: "${roles.classIds}", scores: "${roles.scores}" }`]),
  ];
  return `{ ${parts.join(", ")} }${roles === undefined ? "" : ", or classIds and scores the other way round"}`;
}

/** Returns how likely an interpretation is, in points. */
function likelihood(
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

/** True if the priors come as an output, with variances of the same length after them. */
const holdVariances = (priors: TensorSpec | undefined, tensors: readonly TensorSpec[]): boolean =>
  priors !== undefined && tensors.some(({ dims }) => volume(dims) * 2 === volume(priors.dims));

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
  const cells = head === "prior" && !buildPriors && priors ? [4, 8].map((n) => volume(priors.dims) / n) : [];
  const inPriors = tensors.flatMap((t) => cells.map((n) => volume(t.dims) / n));
  const counts = classCounts(TRAITS[family], [...dims, ...inPriors], MOST_CLASSES);
  return counts.length > 0 ? counts : [1];
}

/** Returns stand-ins for anchors. Only their number matters for a shape. */
function anchorGuesses(family: Family): (number[][][] | null)[] {
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

/** Returns the square input whose maps at strides 8, 16, 32 add up to a dimension, else 640. */
export function sizeGuess(tensors: readonly TensorSpec[]): readonly [number, number] {
  for (const { dims } of tensors)
    for (const d of dims)
      for (let s = 64; s <= 1536; s += 32) if (((s / 8) ** 2 * 21) / 16 === d) return [s, s];
  return [640, 640];
}

/** Coefficients of a mask in YOLOv5-seg and YOLOv8-seg. */
const COEFFICIENTS = 32;

/** Numbers of keypoints that published networks of one class have: plates, faces, people, hands. */
const USUAL_KEYPOINTS = [4, 5, 17, 21];

/** Numbers of classes that published networks for oriented boxes have: one of their own, DOTA 1.0, 1.5 and 2.0. */
const USUAL_ORIENTED = [1, 15, 16, 18];

/**
 * True if the tensor holds prototypes of masks: 32 maps at a quarter of the input, as YOLOv5-seg and YOLOv8-seg give
 * them.
 */
const isPrototypes = ({ dims }: TensorSpec): boolean =>
  dims.length === 4 &&
  (dims[1] === COEFFICIENTS ? dims[2] > COEFFICIENTS : dims[3] === COEFFICIENTS && dims[1] > COEFFICIENTS);

/**
 * Returns how the boxes of networks that do more than detect are read. After the classes they have 32 coefficients of
 * masks, told by prototypes beside them or by a usual number of classes, the keypoints of one class, or an angle.
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
    // What the channels may be just as well as classes alone is no more likely than those.
    const suggestions: [classes: number, what: string, options: string | null, isOpen?: true][] = [];
    const points = (channels - fixed - 1) / 3;
    if (!hasPrototypes && USUAL_KEYPOINTS.includes(points))
      suggestions.push([
        1,
        `${points} keypoints`,
        `task: "pose", keypoints: [${points}, 3]`,
        ...(points === 17 ? ([] as const) : ([true] as const)),
      ]);
    if (!hasPrototypes && fixed === 4 && USUAL_ORIENTED.includes(channels - 5))
      suggestions.push([channels - 5, "an angle", 'task: "oriented"', true]);
    if (masks > 0 && (hasPrototypes || USUAL_CLASSES.has(masks)))
      suggestions.push([
        masks,
        `${COEFFICIENTS} coefficients of masks`,
        hasPrototypes ? 'task: "segment"' : null,
      ]);
    return suggestions.flatMap(([classes, what, beyond, isOpen]) => {
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
            about: beyond
              ? `${best.about}, and ${what} after them in ${channels} channels`
              : `${best.about}, the first ${boxAndClasses} of ${channels} channels alone; ${what} after them are not decoded`,
            line: beyond ? best.line.replace(/ \}$/, `, ${beyond} }`) : best.line,
          };
    });
  });
}
