/** Maps the entries of lists per class (labels, thresholds, `keep`) to class ids. */
import type { Config } from "../config/types.ts";
import { refuse } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { few } from "../core/tensor.ts";
import type { Plan } from "./plan.ts";

type ClassFields = Pick<
  Plan,
  "family" | "heads" | "classes" | "rules" | "backgroundLast" | "listIds" | "task"
>;

/** Returns a list with an entry for every class id. Unused ids get `gap`. Returns complete lists unchanged. */
export function withGaps<T>({ listIds, classes }: ClassFields, list: readonly T[], gap: T): readonly T[] {
  if (list.length !== listIds?.length) return list;
  const all = Array<T>(classes).fill(gap);
  listIds.forEach((id, i) => (all[id] = list[i]));
  return all;
}

/**
 * Returns the class id of a list's first entry, by the list's length. 1: class ids count the background, but the list
 * omits it. -1: the list begins with the background, but class ids do not count it. 0: neither.
 */
export function listStart(plan: ClassFields, length: number): number {
  const first = firstClass(plan);
  if (length === plan.classes - first) return first;
  return !plan.rules.countBackground && !plan.backgroundLast && length === plan.classes + 1 ? -1 : 0;
}

/** Returns the first class id with scores. A smaller id is the background. */
const firstClass = ({ heads }: ClassFields): number =>
  Math.min(...heads.map(({ classId, classBase }) => (classId ? 0 : classBase)));

/** True if a list has one entry per class, with or without the background. */
export const isPerClass = (plan: ClassFields, { length }: readonly unknown[]): boolean =>
  length === plan.classes ||
  length === plan.listIds?.length ||
  listStart(plan, length) !== 0 ||
  (plan.backgroundLast && length === plan.classes + 1);

/** Throws a TensorError if confidence thresholds are a list without one entry per class. */
export function checkPerClass(plan: ClassFields, confidence: number | readonly number[]): void {
  if (typeof confidence === "object" && !isPerClass(plan, confidence))
    refuse("confidenceThreshold", `${confidence.length} values`, `${plan.classes}, one per class`);
}

/** Returns the class name as a list, if all published networks of the family have the same single class. */
function familyLabels(plan: ClassFields): readonly string[] | null {
  const { className } = TRAITS[plan.family];
  return className !== undefined && plan.classes - firstClass(plan) === 1 ? [className] : null;
}

/** Returns the labels by class id, from config, task or family, or `null`. Frozen, since results share it. */
export function labelsOf(plan: ClassFields, given: readonly string[] | null): readonly string[] | null {
  const labels = given ?? plan.task?.labels ?? familyLabels(plan);
  if (!labels) return null;
  const all = withGaps(plan, labels, "n/a");
  const start = listStart(plan, all.length);
  return Object.freeze(start < 0 ? all.slice(-start) : [...Array<string>(start).fill("background"), ...all]);
}

/** Returns `keep` as sorted class ids. Throws for an entry that is no class, and for the background alone. */
export function keepIds(config: Config, keep: readonly (string | number)[], plan: ClassFields): number[] {
  const labels = labelsOf(plan, config.labels) ?? [];
  const { classes } = plan;
  const idsOf = new Map<string, number[]>();
  labels.forEach((label, id) => {
    const others = idsOf.get(label);
    if (others) others.push(id);
    else idsOf.set(label, [id]);
  });
  const ids = keep.flatMap(
    (entry) =>
      (typeof entry === "number" ? entry : idsOf.get(entry)) ??
      refuse(
        "keep",
        `"${entry}"`,
        labels.length > 0 ? `one of the labels ${few(labels, 8)}` : "class ids, as the config has no labels",
      ),
  );
  for (const id of ids)
    if (id < 0 || (classes > 1 && id >= Math.max(classes, labels.length)))
      refuse("keep", `class ${id}`, `class ids in 0..${classes - 1}`);
  // Ignore the background if other classes are kept.
  const first = firstClass(plan);
  if (ids.length > 0 && ids.every((id) => id < first || (plan.backgroundLast && id === classes)))
    refuse("keep", "only the background, which is never detected", `class ids in ${first}..${classes - 1}`);
  return [...new Set(ids)].sort((a, b) => a - b);
}
