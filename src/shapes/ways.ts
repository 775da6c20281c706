/**
 * The channels of each form that decoders read, stated once. Heads, the shapes that a refusal asks for and the class
 * counts that a dimension can stand for follow from these rows.
 */
import type { ExportName, FamilyTraits } from "../core/family.ts";

/**
 * The parts of one tensor in the order of their channels, and how many each has. Scores have a channel for each class
 * ("C"), perhaps with one more for a background.
 */
export interface TensorParts {
  readonly boxes?: number;
  readonly objectness?: 1;
  readonly scores?: 1 | "C" | "C+1";
  readonly classIds?: 1;
}

/** One way in which a form spreads its parts over tensors: rows of boxes, or maps. */
export interface Way {
  readonly see: "rows" | "maps";
  readonly tensors: readonly TensorParts[];
  /** How often each cell may have these channels, the most usual first: its anchors or priors. Absent: once. */
  readonly each?: readonly number[];
}

const rows = (...tensors: readonly TensorParts[]): Way => ({ see: "rows", tensors });
const maps = (...tensors: readonly TensorParts[]): Way => ({ see: "maps", tensors });

const BOXES = { boxes: 4 } as const;
const SCORES = { scores: "C" } as const;
const WITH_OBJECTNESS = { boxes: 4, objectness: 1, scores: "C" } as const;

const ONE_TENSOR = /* @__PURE__ */ rows({ ...BOXES, ...SCORES });
const TWO_TENSORS = /* @__PURE__ */ rows(BOXES, SCORES);
/** One column may be the background, or "nothing". */
const WITH_BACKGROUND = [TWO_TENSORS, /* @__PURE__ */ rows(BOXES, { scores: "C+1" })] as const;

/** Returns the ways of distances: numbers, or distributions of so many bins. */
function distanceWays({ bins, ownBins, mayBePixels, classesFirst }: FamilyTraits): readonly Way[] {
  if (mayBePixels) return [maps(BOXES, SCORES)];
  const box = { boxes: 4 * (bins ?? 16) };
  const fused = classesFirst ? { ...SCORES, ...box } : { ...box, ...SCORES };
  if (ownBins) return [rows(box, SCORES), rows(fused)];
  return [...(bins ? [] : [maps(WITH_OBJECTNESS)]), maps(box, SCORES), maps(fused)];
}

/** The ways of each form. None: the form has other parts, and says itself which. */
export const WAYS: { readonly [E in ExportName]?: (traits: FamilyTraits) => readonly Way[] } = {
  "anchor-maps": () => [{ ...maps(WITH_OBJECTNESS), each: [3, 5, 1, 2, 4, 6] }],
  "cell-maps": () => [maps({ objectness: 1, ...BOXES, ...SCORES })],
  "point-maps": () => [maps(WITH_OBJECTNESS), maps(BOXES, SCORES, { objectness: 1 })],
  "point-rows": () => [rows(WITH_OBJECTNESS)],
  "distance-maps": distanceWays,
  "objectness-rows": () => [rows(WITH_OBJECTNESS)],
  "corner-rows": () => [rows(WITH_OBJECTNESS)],
  "class-rows": () => [ONE_TENSOR, TWO_TENSORS],
  "end-to-end": () => [rows({ boxes: 4, scores: 1, classIds: 1 })],
  queries: () => WITH_BACKGROUND,
  "query-columns": () => WITH_BACKGROUND,
  "query-rows": () => [ONE_TENSOR],
  "prior-rows": () => WITH_BACKGROUND,
  "prior-maps": () => [{ ...maps(BOXES, SCORES), each: [9] }],
  "offsets-or-boxes": () => WITH_BACKGROUND,
  "boxes-scores": () => WITH_BACKGROUND,
  "class-scores": () => [rows(SCORES)],
};

/** Returns how many channels a part has beside one for each class. */
const fixedOf = (part: TensorParts[keyof TensorParts]): number =>
  part === "C" ? 0 : part === "C+1" ? 1 : (part ?? 0);

/** True if a part has a channel for each class. */
const isPerClass = ({ scores }: TensorParts): boolean => typeof scores === "string";

/** Returns how many channels a tensor has beside one for each class. Those that nothing reads follow the scores. */
const besideClasses = (parts: TensorParts, { ignored = 0 }: Pick<FamilyTraits, "ignored">): number =>
  Object.values(parts).reduce((sum: number, part) => sum + fixedOf(part), isPerClass(parts) ? ignored : 0);

/** The channel count of one tensor, and the first channel of each part. */
export type ChannelPlan = { readonly [P in keyof TensorParts]?: number } & { readonly count: number };

/** Returns where each part of a tensor begins, and how many channels there are. */
export function planChannels(
  parts: TensorParts,
  classes: number,
  { ignored = 0 }: Pick<FamilyTraits, "ignored">,
): ChannelPlan {
  const plan: { -readonly [P in keyof ChannelPlan]: ChannelPlan[P] } = { count: 0 };
  for (const [part, channels] of Object.entries(parts) as [keyof TensorParts, 1 | "C"][]) {
    plan[part] = plan.count;
    plan.count += fixedOf(channels) + (typeof channels === "string" ? classes + ignored : 0);
  }
  return plan;
}

/** Returns the shapes of a way for people: "[1,64,h,w] + [1,80,h,w]". `classes`: `null` if nobody says how many. */
export function shapesOf({ see, tensors, each }: Way, classes: number | null, traits: FamilyTraits): string {
  const [times] = each ?? [1];
  return tensors
    .map((parts) => {
      const more = besideClasses(parts, traits);
      const count = !isPerClass(parts)
        ? times * more
        : classes === null
          ? more > 0
            ? `${more}+C`
            : "C"
          : times * (more + classes);
      return see === "rows" ? `[1,N,${count}]` : `[1,${count},h,w]`;
    })
    .join(" + ");
}

/** Returns the class counts that a dimension can stand for. They may be fractions, or less than 1. */
export const classesIn = ({ tensors, each = [1] }: Way, dimension: number, traits: FamilyTraits): number[] =>
  tensors.filter(isPerClass).flatMap((parts) =>
    each.map((times) => {
      const count = dimension / times - besideClasses(parts, traits);
      // A network of one class with anchors may have no class channel.
      return count === 0 && parts.objectness && each.length > 1 ? 1 : count;
    }),
  );
