/** Lists with an entry for each class (labels, thresholds, `keep`), and which class an entry is of. */
import type { Config } from "../config/types.ts";
import { refuse } from "../core/errors.ts";
import type { Plan } from "./plan.ts";
import { few } from "../core/tensor.ts";

/** What says which class an entry of a list is of. */
type Listing = Pick<Plan, "heads" | "classes" | "rules" | "backgroundLast">;

/**
 * Class number that the first entry of a list per class (labels, thresholds) stands for. A list may leave out the
 * background that the numbers count (1), or name one that they leave out (-1); its length tells.
 */
export function listStart(plan: Listing, length: number): number {
  const first = firstClass(plan);
  if (length === plan.classes - first) return first;
  return !plan.rules.countBackground && !plan.backgroundLast && length === plan.classes + 1 ? -1 : 0;
}

/** Number of the first class that scores are read of; one below is the background. */
const firstClass = ({ heads }: Listing): number =>
  Math.min(...heads.map((h) => (h.classId ? 0 : h.classBase)));

/** Whether a list has an entry for each class, the background among them or not. */
export const isPerClass = (plan: Listing, { length }: readonly unknown[]): boolean =>
  length === plan.classes ||
  listStart(plan, length) !== 0 ||
  (plan.backgroundLast && length === plan.classes + 1);

/** A confidence for each class, once the shapes have told how many there are. */
export function checkPerClass(plan: Listing, confidence: number | readonly number[]): void {
  if (typeof confidence === "object" && !isPerClass(plan, confidence))
    refuse("confidenceThreshold", `${confidence.length} values`, `${plan.classes}, one per class`);
}

/** Labels by class number. */
export function labelsOf(plan: Listing, labels: readonly string[] | null): readonly string[] | null {
  if (!labels) return null;
  const start = listStart(plan, labels.length);
  return start < 0 ? labels.slice(-start) : [...Array<string>(start).fill("background"), ...labels];
}

/** `keep` as class numbers, checked against the labels. */
export function keepIds(config: Config, keep: readonly (string | number)[], plan: Listing): number[] {
  const labels = labelsOf(plan, config.labels) ?? [];
  const { classes } = plan;
  const ids = keep.flatMap((k) => {
    if (typeof k === "number") return k;
    if (!labels.includes(k))
      refuse(
        "keep",
        `"${k}"`,
        config.labels ? `one of the labels ${few(labels, 8)}` : "class numbers, as the config has no labels",
      );
    return labels.flatMap((label, i) => (label === k ? i : []));
  });
  for (const id of ids)
    if (id < 0 || (classes > 1 && id >= Math.max(classes, labels.length)))
      refuse("keep", `class ${id}`, `0..${classes - 1}`);
  // beside others it does no harm
  const first = firstClass(plan);
  if (ids.length > 0 && ids.every((id) => id < first || (plan.backgroundLast && id === classes)))
    refuse("keep", "nothing but the background, which is never found", `some of ${first}..${classes - 1}`);
  return [...new Set(ids)].sort((a, b) => a - b);
}
