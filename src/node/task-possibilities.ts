/** Finds the families of keypoints, peaks, text and masks whose tensors have the shapes at hand, all of them. */
import { readConfig } from "../config/config.ts";
import { TensorError } from "../core/errors.ts";
import { FAMILIES, type Family, TRAITS, titleOf } from "../core/families.ts";
import { POINT_FACTS } from "../core/pose-families.ts";
import type { Interpretation } from "../heads/head.ts";
import { interpretConfig, planOf } from "../plan/make.ts";
import { ALL_TASKS } from "../whole/tasks.ts";
import type { Inspected, Possibility } from "./possibility.ts";

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

/** Numbers of points that networks with heat maps have. Any map could be one of other points. */
const USUAL_POINTS = [17, 21, 26, 39, 68, 98, 106, 133];

/** All tensors are used, which says more than a match of some. */
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
    const size = sizes.length === 1 ? sizes[0] : ["width", "height"];
    const before = found.get(about);
    if (before !== undefined) before.families.push(titleOf(family));
    else
      found.set(about, {
        family,
        families: [titleOf(family)],
        classes,
        reading: name,
        about,
        line: `{ family: "${family}", classes: ${classes}, inputSize: [${size.join(", ")}] }`,
        likelihood: LIKELIHOOD,
      });
  }
  return [...found.values()];
}

/**
 * Returns a reading of a family by a usual number of classes, `null` if none uses all tensors, with the input sizes for
 * which it stands: one, or two that stand for all.
 */
function readAny(
  family: Family,
  inspected: Inspected,
): readonly [Interpretation, sizes: readonly (readonly [number, number])[], classes: number] | null {
  const { options } = inspected;
  const stated = options.classes ?? (options.labels && Object.keys(options.labels).length);
  const counts = stated === undefined ? (TRAITS[family].classes === 1 ? [1] : [1, 2, 80]) : [stated];
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
  try {
    const config = readConfig({ family, classes }, { ...options, inputSize });
    const interpreted = interpretConfig(config, tensors, ALL_TASKS, () => null);
    const [only, ...others] = interpreted.found;
    if (others.length > 0 || new Set(only.uses).size < tensors.length) return null;
    planOf(interpreted);
    return only;
  } catch (e) {
    if (e instanceof TensorError) return null;
    throw e;
  }
}

/** True if the family reads one map of any channels, and the map here has no usual number of them. */
const hasStrangeMaps = (family: Family, [{ dims }]: Inspected["tensors"]): boolean =>
  POINT_FACTS[family]?.network?.kind === "heatmaps" && !USUAL_POINTS.some((count) => dims.includes(count));
