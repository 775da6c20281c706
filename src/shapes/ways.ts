/** Table of the channels of each form. Readers of heads, error messages and guesses of class counts use the table. */
import type { ExportName, FamilyTraits } from "../core/family.ts";

/**
 * The parts of one tensor in the order of their channels. Each part has a channel count. Scores have one channel for
 * each class ("C"), or one more for a background ("C+1").
 */
export interface TensorParts {
  readonly boxes?: number;
  readonly objectness?: 1;
  readonly scores?: 1 | "C" | "C+1";
  readonly classIds?: 1;
}

/** One way in which a form distributes its parts over tensors. The tensors are rows of boxes, or feature maps. */
export interface Way {
  readonly see: "rows" | "maps";
  readonly tensors: readonly TensorParts[];
  /** Possible counts of anchors or priors per cell, the usual first. Each one has these channels. Absent: one. */
  readonly each?: readonly number[];
}

const rows = (...tensors: readonly TensorParts[]): Way => ({ see: "rows", tensors });
const maps = (...tensors: readonly TensorParts[]): Way => ({ see: "maps", tensors });

/** Matches usual names of outputs with boxes. */
export const BOX_NAME = /box|reg|loc|dis/i;

const BOXES: TensorParts = { boxes: 4 };
const SCORES: TensorParts = { scores: "C" };
export const BOX_CLASSES: TensorParts = { boxes: 4, scores: "C" };
/** Parts of a tensor with objectness after the box. */
export const BOX_OBJECTNESS_CLASSES: TensorParts = { boxes: 4, objectness: 1, scores: "C" };
/** Parts of a tensor with objectness first, as in FastestDet. */
export const OBJECTNESS_BOX_CLASSES: TensorParts = { objectness: 1, boxes: 4, scores: "C" };
/** Parts of a row of a finished list. */
export const FINISHED: TensorParts = { boxes: 4, scores: 1, classIds: 1 };

/** Returns the parts of a tensor with four distances, each a distribution over `bins`, or a plain number if 0. */
export const distanceParts = ({ classesFirst }: FamilyTraits, bins: number): TensorParts => {
  const boxes = 4 * (bins || 1);
  return classesFirst ? { scores: "C", boxes } : { boxes, scores: "C" };
};

/** Returns the ways of a form with distances, which are plain numbers or distributions over bins. */
function distanceWays(traits: FamilyTraits): readonly Way[] {
  const { bins = 16, ownBins, mayBePixels } = traits;
  if (mayBePixels) return [maps(BOXES, SCORES)];
  const see = ownBins ? rows : maps;
  return [
    ...(traits.bins ? [] : [maps(BOX_OBJECTNESS_CLASSES)]),
    see({ boxes: 4 * bins }, SCORES),
    see(distanceParts(traits, bins)),
  ];
}

const OBJECTNESS_ROWS = [/* @__PURE__ */ rows(BOX_OBJECTNESS_CLASSES)];
/** Boxes and scores, with or without a score column for the background (DETR's "no object"). */
const WITH_BACKGROUND = [/* @__PURE__ */ rows(BOXES, SCORES), /* @__PURE__ */ rows(BOXES, { scores: "C+1" })];

/** The ways of each form, except "distance-maps" (see `distanceWays`) and the forms that heads/exports.ts describes. */
const WAYS: { readonly [E in ExportName]?: readonly Way[] } = {
  "anchor-maps": [{ see: "maps", tensors: [BOX_OBJECTNESS_CLASSES], each: [3, 5, 1, 2, 4, 6] }],
  "cell-maps": [/* @__PURE__ */ maps(OBJECTNESS_BOX_CLASSES)],
  "point-maps": [
    /* @__PURE__ */ maps(BOX_OBJECTNESS_CLASSES),
    /* @__PURE__ */ maps(BOXES, SCORES, { objectness: 1 }),
  ],
  "point-rows": OBJECTNESS_ROWS,
  "objectness-rows": OBJECTNESS_ROWS,
  "corner-rows": OBJECTNESS_ROWS,
  "class-rows": [/* @__PURE__ */ rows(BOX_CLASSES), /* @__PURE__ */ rows(BOXES, SCORES)],
  "end-to-end": [/* @__PURE__ */ rows(FINISHED)],
  queries: WITH_BACKGROUND,
  "query-columns": WITH_BACKGROUND,
  "query-rows": [/* @__PURE__ */ rows(BOX_CLASSES)],
  "prior-rows": WITH_BACKGROUND,
  "prior-maps": [{ see: "maps", tensors: [BOXES, SCORES], each: [9] }],
  "offsets-or-boxes": WITH_BACKGROUND,
  "boxes-scores": WITH_BACKGROUND,
  "class-scores": [/* @__PURE__ */ rows(SCORES)],
};

/** Returns the ways of a form in a family. */
export const waysOf = (name: ExportName, traits: FamilyTraits): readonly Way[] =>
  name === "distance-maps" ? distanceWays(traits) : (WAYS[name] ?? []);

/** Returns how many channels of a part are no class scores. */
const fixedOf = (part: TensorParts[keyof TensorParts]): number =>
  part === "C" ? 0 : part === "C+1" ? 1 : (part ?? 0);

const isPerClass = ({ scores }: TensorParts): boolean => typeof scores === "string";

/** Returns how many channels of a tensor are no class scores, including the family's ignored channels. */
const besideClasses = (parts: TensorParts, { ignored = 0 }: Pick<FamilyTraits, "ignored">): number =>
  Object.values(parts).reduce((sum: number, part) => sum + fixedOf(part), isPerClass(parts) ? ignored : 0);

/** Count of the channels of a finished row: box, score and class id. */
export const FINISHED_CHANNELS = /* @__PURE__ */ besideClasses(FINISHED, {});

/** Returns how many channels beside the classes a tensor of boxes and classes has. Prefers forms of rows to maps. */
export function channelsBesideClasses(traits: FamilyTraits): number {
  const ways = traits.exports.flatMap((name) => waysOf(name, traits));
  const [parts = BOX_CLASSES] = [...ways.filter(({ see }) => see === "rows"), ...ways]
    .flatMap(({ tensors }) => tensors)
    .filter(({ boxes, scores }) => boxes === 4 && scores === "C");
  return besideClasses(parts, traits);
}

/** The channel count of one tensor, and the first channel of each part. */
export type ChannelPlan = { readonly [P in keyof TensorParts]?: number } & { readonly count: number };

/** Returns the first channel of each part of a tensor, and the channel count. */
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

/** Returns the shapes of a way for an error message: "[1,64,h,w] + [1,80,h,w]". `classes` is `null` if unknown. */
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

/** Returns the terms whose sum is the channel count of a tensor with these parts: numbers, and "C" for the classes. */
export const termsOf = (parts: TensorParts): (number | "C")[] =>
  Object.values(parts).flatMap((part: TensorParts[keyof TensorParts]): (number | "C")[] =>
    typeof part === "string" ? ["C", ...(part === "C" ? [] : [1])] : [part ?? 0],
  );

/** Returns the class counts that would explain a dimension. The caller drops fractions and counts below 1. */
export const classesIn = ({ tensors, each = [1] }: Way, dimension: number, traits: FamilyTraits): number[] =>
  tensors.filter(isPerClass).flatMap((parts) =>
    each.map((times) => {
      const count = dimension / times - besideClasses(parts, traits);
      // Return 1 class if no class channel is left: networks with anchors may omit the channel of a single class.
      return count === 0 && parts.objectness && each.length > 1 ? 1 : count;
    }),
  );

/**
 * Returns how many values a row has for a task, besides its box and scores. One result for each tensor with these rows.
 * @param dimension length of a row
 */
export const addedIn = (
  { see, tensors }: Way,
  dimension: number,
  traits: FamilyTraits,
  classes: number,
): number[] =>
  tensors
    .filter(({ boxes, scores }) => see === "rows" && boxes === 4 && scores !== undefined)
    .map((parts) => dimension - planChannels(parts, classes, traits).count);
