/** Rates row counts and map sizes: do they agree with the input, or with the inputs that networks usually have? */
import { TRAITS } from "../core/families.ts";
import type { FormRow } from "./form.ts";
import { areCells, cellsOf, gridsOf, SIDES } from "./grids.ts";
import type { Asked } from "./rule.ts";
import type { Match } from "./solve.ts";
import type { View } from "./views.ts";

/** Returns the points for rows that are the cells of the input, `anchors` for each cell; `null` if they are not. */
export function pointsForCells(n: number, anchors: number, inputSize: Asked["inputSize"]): number | null {
  const cells = n / anchors;
  if (!Number.isInteger(cells)) return null;
  if (inputSize !== null) return areCells({ inputSize, strides: null }, cells) ? 3 : null;
  // Try the usual sides first: maps of NanoDet-Plus do not halve exactly, as 416 pixels are 7 cells of 64.
  if (SIDES.some((side) => areCells({ inputSize: [side, side], strides: null }, cells))) return 3;
  const blocks = cells / 21;
  return Number.isInteger(blocks) && blocks >= 4 && isRectangle(blocks) ? 2 : null;
}

/** True if so many blocks of 32 x 32 pixels make a rectangle at most three times as long as wide. */
const isRectangle = (blocks: number): boolean =>
  Array.from({ length: Math.floor(Math.sqrt(blocks)) }, (_, i) => i + 1).some(
    (side) => blocks % side === 0 && blocks / side <= 3 * side,
  );

/** Counts of priors of published SSD networks: 300, 320 and 512 pixels; lite ones; those with feature pyramids. */
const SSD_PRIORS: readonly number[] = [
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

/**
 * Returns the first input with whose size a form has `n` priors; undefined if there is none, or if the networks of its
 * family do not all have the same priors.
 */
export function inputOfPriors(
  n: number,
  { families, perCell }: FormRow,
  inputs: readonly (readonly [number, number])[] = PRIOR_INPUTS,
): readonly [number, number] | undefined {
  const { buildPriors } = TRAITS[families[0]];
  // Count by arithmetic where cells have equally many: building the priors of large inputs takes long.
  return inputs.find((inputSize) =>
    perCell
      ? perCell * cellsOf(gridsOf({ inputSize, strides: PYRAMID })) === n
      : buildPriors?.(inputSize).length === 4 * n,
  );
}

/**
 * Returns the points for rows that may be the priors of a family's networks: 3 for a known count of priors. Without
 * built-in priors, 0 for another count above 1000 that is no count of cells. `null` for rows that cannot be priors.
 */
export function pointsForPriors(n: number, form: FormRow, { inputSize }: Asked): number | null {
  if (TRAITS[form.families[0]].buildPriors)
    return inputOfPriors(n, form, inputSize ? [inputSize] : PRIOR_INPUTS) ? 3 : null;
  // No square has so many cells: 3234 priors rather belong to SSDLite than 11 x 14 blocks of cells.
  if (SSD_PRIORS.includes(n)) return pointsForCells(n, 1, inputSize) === 3 ? 3 : 5;
  return n > 1000 && pointsForCells(n, 1, inputSize) === null && pointsForCells(n, 3, inputSize) === null
    ? 0
    : null;
}

/** Largest row count of a finished list that exporters write by default. */
export const MOST_LISTED = 1000;

/** True if finished lists usually have so many rows. */
export const isRound = (n: number): boolean => n % 50 === 0 || [1, 10, 20, 25, 40, 64, 128, 256].includes(n);

/** Returns the feature maps of a match, the largest first, without prototypes and masks. */
export const levelsOf = ({ form, views }: Match): readonly View[] =>
  Object.entries(views).find(([part]) => form.parts[part].perLevel)?.[1] ?? [];

/** Smallest width in cells of a map of centres, at a quarter of the input. */
const LEAST_CENTRES = 24;

/** Returns the points for feature maps of the input, or ones that halve from each to the next; `null` for others. */
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
    // Allow one map only at stride 16 or 32. A finer map is a segmentation.
    const strides = levels.length > 1 ? null : [16, 32];
    // The side of such an input is a multiple of the stride: 300 x 75 is the crop of a text recogniser.
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

/** Returns the points for networks with a tensor of rows for each map; `null` for impossible row counts. */
function pointsForLevels(
  levels: readonly View[],
  perCell: number,
  inputSize: Asked["inputSize"],
): number | null {
  if (levels.every(({ n }) => n === null)) return 0;
  const counts = levels.map(({ n }) => (n as number) / perCell);
  const ratios = counts.every((n, i) => i === 0 || Math.abs(counts[i - 1] / n - 4) < 1.2);
  if (!ratios || counts.some((n) => !Number.isInteger(n))) return null;
  if (inputSize === null) return counts.every((n) => isRectangle(n)) ? 2 : null;
  const grids = gridsOf({ inputSize, strides: null });
  return counts.every((n) => grids.some(({ cells }) => cells === n)) ? 3 : null;
}
