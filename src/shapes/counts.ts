/** Scores how well row counts and map sizes fit the stated input, or usual inputs. `null` means impossible. */
import { TRAITS } from "../core/families.ts";
import type { FormRow } from "./form.ts";
import { areAllCells, areCells, cellsOf, gridsOf, SIDES } from "./grids.ts";
import type { Asked } from "./rule.ts";
import type { Match } from "./solve.ts";
import type { View } from "./views.ts";

/** Returns the score of `n` rows as `anchors` rows for each cell of the input, or `null` if no input fits. */
export function pointsForCells(n: number, anchors: number, inputSize: Asked["inputSize"]): number | null {
  const cells = n / anchors;
  if (!Number.isInteger(cells)) return null;
  // Only networks with anchors have two maps, at strides 16 and 32.
  const fits = anchors > 1 ? areCells : areAllCells;
  if (inputSize !== null) return fits({ inputSize, strides: null }, cells) ? 3 : null;
  // Try the usual sides first. Maps of NanoDet-Plus do not halve exactly: 416 pixels make 7 cells of 64 pixels.
  if (SIDES.some((side) => fits({ inputSize: [side, side], strides: null }, cells))) return 3;
  // A block of 32 x 32 pixels has 16 + 4 + 1 cells, and one of 64 x 64 pixels 64 + 16 + 4 + 1 cells with stride 64.
  const areBlocks = (each: number): boolean =>
    cells % each === 0 && cells >= 4 * each && isRectangle(cells / each);
  return areBlocks(21) ? 2 : areBlocks(85) ? 1 : null;
}

/** True if `n` is the count of cells at strides 8 to 64 of the input, or of a usual one if none is stated. */
export const hasStride64 = (n: number, inputSize: Asked["inputSize"]): boolean =>
  (inputSize ? [inputSize] : SIDES.map((side) => [side, side] as const)).some(
    (size) => cellsOf(gridsOf({ inputSize: size, strides: [8, 16, 32, 64] })) === n,
  );

/** True if this many square blocks can form a rectangle at most three times as long as wide. */
const isRectangle = (blocks: number): boolean =>
  Array.from({ length: Math.floor(Math.sqrt(blocks)) }, (_, i) => i + 1).some(
    (side) => blocks % side === 0 && blocks / side <= 3 * side,
  );

/** Prior counts of published SSD networks: inputs of 300, 320 and 512 pixels, lite networks, feature pyramids. */
export const SSD_PRIORS: readonly number[] = [
  1083, 1917, 2034, 2268, 2990, 3000, 3234, 3462, 4782, 5118, 6800, 7668, 8664, 8732, 11620, 12804, 24564,
  24528, 46080, 51150,
];

/** Strides of the feature pyramids of networks with priors. */
const PYRAMID: readonly number[] = [8, 16, 32, 64, 128];

/** Inputs of published networks whose priors are built in. */
const PRIOR_INPUTS = [
  [128, 96],
  [128, 128],
  [160, 120],
  [192, 192],
  [224, 224],
  [256, 256],
  [320, 240],
  [320, 320],
  [384, 384],
  [448, 448],
  [480, 360],
  [512, 512],
  [640, 480],
  [640, 640],
  [768, 768],
  [840, 840],
  [896, 896],
] as const;

/** Larger inputs of published networks with equally many priors in every cell: EfficientDet D4 to D7. */
const LARGE_INPUTS = [
  [1024, 1024],
  [1280, 1280],
  [1536, 1536],
] as const;

/** Returns the first of `inputs` (width, height) for which the form has `n` priors, or undefined. */
export function inputOfPriors(
  n: number,
  { families, perCell }: FormRow,
  inputs: readonly (readonly [number, number])[] = perCell
    ? [...PRIOR_INPUTS, ...LARGE_INPUTS]
    : PRIOR_INPUTS,
): readonly [number, number] | undefined {
  const { buildPriors } = TRAITS[families[0]];
  // If every cell has equally many priors, compute the count: building the priors of a large input takes long.
  return inputs.find((inputSize) =>
    perCell
      ? perCell * cellsOf(gridsOf({ inputSize, strides: PYRAMID })) === n
      : buildPriors?.(inputSize).length === 4 * n,
  );
}

/**
 * Returns the score of `n` rows as priors: 3 or more for a known prior count of the family. If the family has no
 * built-in priors, a count above 1000 that is not the cell count of an input scores 0. Any other count gets `null`.
 */
export function pointsForPriors(n: number, form: FormRow, { inputSize }: Asked): number | null {
  if (TRAITS[form.families[0]].buildPriors)
    return inputOfPriors(n, form, inputSize ? [inputSize] : undefined) ? 3 : null;
  // A known prior count wins over a cell count: 3234 are the priors of SSDLite, and also the cells of a 352 x 448
  // input. Exception: the stated input, or a usual one if none is stated, has exactly this many cells.
  if (SSD_PRIORS.includes(n)) return pointsForCells(n, 1, inputSize) === 3 ? 3 : 5;
  return n > 1000 && pointsForCells(n, 1, inputSize) === null && pointsForCells(n, 3, inputSize) === null
    ? 0
    : null;
}

/** Largest row count that exporters give a finished list by default. */
export const MOST_LISTED = 1000;

/** True if finished lists often have this many rows. */
export const isRound = (n: number): boolean => n % 50 === 0 || [1, 10, 20, 25, 40, 64, 128, 256].includes(n);

/** Returns the feature maps of a match, the largest first, without prototypes and masks. */
export const levelsOf = ({ form, views }: Match): readonly View[] =>
  Object.entries(views).find(([part]) => form.parts[part].perLevel)?.[1] ?? [];

/** Smallest longer side, in cells, of a map that marks the centres of objects. One cell is 4 pixels of the input. */
const LEAST_CENTRES = 24;

/**
 * Returns the score of feature maps that fit the input or, without a known input, halve in size from one to the next.
 * Returns `null` for other maps.
 */
export function pointsForMaps(
  levels: readonly View[],
  inputSize: Asked["inputSize"],
  { form }: Match,
): number | null {
  if (levels.length === 0) return 0;
  if (levels[0].w === 0) return pointsForLevels(levels, form.perCell ?? 1, inputSize);
  const [first] = levels;
  if (form.kind === "centres") return Math.max(first.w, first.h) >= LEAST_CENTRES ? 0 : null;
  if (form.kind === "classes of cells") return 0;
  if (inputSize !== null) {
    // Allow a single map only at stride 16 or 32. A finer map is a segmentation.
    const strides = levels.length > 1 ? null : [16, 32];
    // Require sides that are multiples of the stride. An input of 300 x 75, for instance, is the crop of a text
    // recogniser.
    const isWhole = ({ stride }: { stride: number }): boolean =>
      strides === null || inputSize.every((side) => side % stride === 0);
    const grids = gridsOf({ inputSize, strides }).filter(isWhole);
    return levels.every(({ w, h }) => grids.some((g) => g.w === w && g.h === h)) ? 3 : null;
  }
  const halves = levels.every(
    ({ w, h }, i) =>
      i === 0 || (Math.abs(levels[i - 1].w / w - 2) < 0.3 && Math.abs(levels[i - 1].h / h - 2) < 0.3),
  );
  return halves &&
    Math.max(first.w, first.h) <= (levels.length > 1 ? 320 : 80) &&
    Math.min(first.w, first.h) >= (levels.length > 1 ? 4 : 7)
    ? first.w === first.h
      ? 2
      : 1
    : null;
}

/** Returns the score of a network with one tensor of rows per feature map. Impossible row counts get `null`. */
function pointsForLevels(
  levels: readonly View[],
  perCell: number,
  inputSize: Asked["inputSize"],
): number | null {
  if (levels.every(({ n }) => n === null)) return 0;
  const counts = levels.map(({ n }) => (n as number) / perCell);
  const ratios = counts.every((n, i) => i === 0 || Math.abs(counts[i - 1] / n - 4) < 1.2);
  if (!ratios || counts.length < 2 || counts.some((n) => !Number.isInteger(n))) return null;
  if (inputSize === null) return counts.every((n) => isRectangle(n)) ? 2 : null;
  const grids = gridsOf({ inputSize, strides: null });
  return counts.every((n) => grids.some(({ cells }) => cells === n)) ? 3 : null;
}

/** Class counts of published networks, except COCO's 80. */
const USUAL_CLASSES: readonly number[] = [1, 2, 3, 10, 15, 20, 90, 91, 365];
export const isUsualClasses = (count: number | undefined): boolean =>
  count !== undefined && (count === 80 || USUAL_CLASSES.includes(count));
