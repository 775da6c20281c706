/** Finds the families with a task (keypoints, peaks, text, masks) that can read all of the shapes at hand. */
import { FAMILIES, TRAITS, titleOf } from "../core/families.ts";
import type { Family } from "../core/family.ts";
import { POINT_FACTS } from "../core/pose-families.ts";
import type { Interpretation } from "../heads/head.ts";
import {
  type Inspected,
  interpretationsUnder,
  NO_SIZE,
  type Possibility,
  statedClasses,
} from "./possibility.ts";

/** Sizes of the inputs of published networks. They are tried where none is stated. */
const SIZES = [
  [640, 640],
  [320, 320],
  [512, 512],
  [192, 192],
  [192, 256],
  [256, 256],
  [224, 224],
  [128, 128],
  [96, 96],
] as const;

/** Counts of points of published networks with heat maps. Without this list any map could be heat maps of points. */
const USUAL_POINTS = [17, 21, 26, 39, 68, 98, 106, 133];

/** Likelihood of a reading that uses all tensors: such a match says more than one of some tensors. */
const LIKELIHOOD = 6;

/** Returns a possibility for each family of a task that reads all tensors. */
export function taskPossibilities(inspected: Inspected): Possibility[] {
  const { options } = inspected;
  const families = FAMILIES.filter(
    (family) => TRAITS[family].task !== undefined && (options.family ?? family) === family,
  );
  const found = new Map<string, Possibility & { families: string[] }>();
  for (const family of families) {
    const read = readAny(family, inspected);
    if (read === null) continue;
    const [{ about, name }, sizes, classes] = read;
    const before = found.get(about);
    if (before !== undefined) before.families.push(titleOf(family));
    else
      found.set(about, {
        options: { family, classes, ...(sizes.length === 1 && { inputSize: sizes[0] }) },
        missing: sizes.length === 1 ? [] : [NO_SIZE],
        families: [titleOf(family)],
        classes,
        reading: name,
        about,
        likelihood: LIKELIHOOD,
      });
  }
  return [...found.values()];
}

/**
 * Tries usual counts of classes. Returns the first reading of the family that uses all tensors, with the input sizes
 * that fit: one, or two if the size stays open. Returns `null` if there is no such reading.
 */
function readAny(
  family: Family,
  inspected: Inspected,
): readonly [Interpretation, sizes: readonly (readonly [number, number])[], classes: number] | null {
  const { options } = inspected;
  const givenClasses = statedClasses(options);
  const counts =
    givenClasses === undefined ? (TRAITS[family].classes === 1 ? [1] : [1, 2, 80]) : [givenClasses];
  for (const classes of counts) {
    const sizes: (readonly [number, number])[] = [];
    let first: Interpretation | null = null;
    for (const size of options.inputSize ? [options.inputSize] : SIZES) {
      const interpretation = readWith(family, classes, size, inspected);
      if (interpretation === null) continue;
      first ??= interpretation;
      if (sizes.push(size) === 2) break;
    }
    if (first !== null) return [first, sizes, classes];
  }
  return null;
}

function readWith(
  family: Family,
  classes: number,
  inputSize: readonly [number, number],
  { tensors, options }: Inspected,
): Interpretation | null {
  if (hasStrangeMaps(family, tensors)) return null;
  const interpretations = interpretationsUnder(
    { family, classes },
    { ...options, inputSize },
    tensors,
    () => null,
  );
  return interpretations.length === 1 && new Set(interpretations[0].uses).size === tensors.length
    ? interpretations[0]
    : null;
}

/** True if the family reads heat maps of any count of points, and the map at hand has no usual count of channels. */
const hasStrangeMaps = (family: Family, [{ dims }]: Inspected["tensors"]): boolean =>
  POINT_FACTS[family]?.network?.kind === "heatmaps" && !USUAL_POINTS.some((count) => dims.includes(count));
