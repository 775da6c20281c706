/** The forms of output tensors that exporters write. Each form has a reader, and a description for errors. */
import { COCO_CLASSES, COCO_LAST } from "../core/coco.ts";
import type { Hint } from "../core/errors.ts";
import type { ExportName, FamilyTraits } from "../core/family.ts";
import { columnsText, rowOrder } from "../core/row-orders.ts";
import { anchorMaps } from "./anchors.ts";
import { cellsOf, gridsOf } from "../shapes/grids.ts";
import { addedIn, classesIn, shapesOf, type Way, waysOf } from "../shapes/ways.ts";
import type { Interpretation, Specs } from "./head.ts";
import { classScores } from "./classes.ts";
import { cellMaps, distanceMaps, pointMaps, pointRows } from "./maps.ts";
import type { CountedQuery, HeadQuery } from "./query.ts";
import { priorMaps } from "./prior-maps.ts";
import {
  classRows,
  cornerRows,
  detectionOutput,
  endToEnd,
  finishedRows,
  objectnessRows,
  postprocess,
  queries,
  queryColumns,
  queryRows,
} from "./rows.ts";
import { boxesScores, offsetsOrBoxes, priorRows } from "./ssd.ts";

/** A form of output tensors. `shapes/ways.ts` lists the channels of its tensors. */
interface ExportForm<Q extends HeadQuery> {
  /** Returns every interpretation of the tensors in this form. */
  readonly read: (query: Q, specs: Specs) => Interpretation[];
  /** Returns the expected shapes for an error, given the shapes of the form's ways. Default: the latter. */
  readonly expected?: (query: Q, shapes: string) => string;
  /** Returns the options on which this form depends, as hints in errors. */
  readonly asks?: (query: HeadQuery) => readonly Hint[];
}

/** A form with its reader. `counted`: true if the reader needs the class count. */
type Export =
  | ({ readonly counted: true } & ExportForm<CountedQuery>)
  | ({ readonly counted: false } & ExportForm<HeadQuery>);

/** Returns the expected shape of each anchor set's map, for an error. */
function mapsWithAnchors({ anchorSets, classes }: CountedQuery): string {
  const sets = anchorSets ?? [];
  const shapes = sets.map(({ anchors, side }) => `[1,${anchors.length} x (5+${classes}),h,${side ?? "w"}]`);
  return `${shapes.join(", ") || "maps"} (anchors: got ${sets.length || "none"}, one list for each map)`;
}

/** Returns the end of an error about rows of all cells: the row count N of the input, or advice to state the input. */
const withInput = (query: HeadQuery): string =>
  query.inputSize
    ? `N = ${cellsOf(gridsOf(query, [8, 16, 32]))} for inputSize ${query.inputSize.join("x")}`
    : "with inputSize";

const asksInput = ({ inputSize }: HeadQuery): Hint[] => (inputSize ? [] : ["inputSize"]);

const asksPriors = ({ variances }: HeadQuery): Hint[] => [
  "priors",
  ...(variances ? [] : (["variances", "scales"] as const)),
];

/** Returns the shapes of finished rows in each column order of the family. */
function finishedShapes({ traits, boxFormat }: HeadQuery): string {
  if (traits.packed)
    return "a buffer of HailoRT: f32 [1,C (1+5 max)] by class, u8 [1,2+22 max] by score, or f32 [1,C,5,max]";
  const format = boxFormat ?? traits.finishedFormat ?? "xyxy";
  return (traits.finishedRows ?? [])
    .map((name) => {
      const { width, classId, isCounted } = rowOrder(name);
      const beside = classId === null ? " + [1,N] of class ids" : isCounted ? " + [1], their count" : "";
      return `[N,${width}] rows ${columnsText(name, format)}${beside}`;
    })
    .join("; ");
}

/** Returns the shapes of a network with queries, for an error. One score column may be no class. */
function queryShapes({ classes, labels, traits }: CountedQuery, shapes: string): string {
  const [all, oneMore] = shapes.split("; ");
  if (traits.everyColumn) return all;
  return [
    all,
    classes === COCO_LAST && labels === null
      ? `${oneMore} with background: ${classes} if nobody trained the last column, or with ` +
        `classes: ${classes + 1} if a column is COCO's id of the class`
      : `${oneMore} whose last column nobody trained`,
    ...(classes === COCO_CLASSES
      ? [`[1,N,4] + [1,N,${COCO_LAST + 1}] with COCO's ${classes} names as labels`]
      : []),
    "background: 0 if the first column is no class",
  ].join("; ");
}

export const EXPORTS: { readonly [name in ExportName]: Export } = {
  "anchor-maps": {
    counted: true,
    read: anchorMaps,
    expected: mapsWithAnchors,
    asks: () => ["anchors"],
  },
  "cell-maps": { counted: true, read: cellMaps },
  "point-maps": { counted: true, read: pointMaps },
  "point-rows": {
    counted: true,
    // A stated box format means that the network has decoded the boxes.
    read: (query, specs) => (query.boxFormat ? objectnessRows : pointRows)(query, specs),
    expected: (query, shapes) => `${shapes}, ${withInput(query)}`,
    asks: asksInput,
  },
  "distance-maps": {
    counted: true,
    read: distanceMaps,
    expected: (query, shapes) => (query.traits.ownBins ? `${shapes}; ${withInput(query)}` : shapes),
    asks: (query) => (query.traits.ownBins || query.traits.mayBePixels ? asksInput(query) : []),
  },
  "objectness-rows": { counted: true, read: objectnessRows },
  "corner-rows": { counted: true, read: cornerRows },
  "class-rows": { counted: true, read: classRows },
  "end-to-end": { counted: false, read: endToEnd },
  queries: { counted: true, read: queries },
  "query-columns": {
    counted: true,
    read: queryColumns,
    expected: queryShapes,
    asks: () => ["background", "classes", "labels"],
  },
  "query-rows": { counted: true, read: queryRows },
  "prior-rows": {
    counted: false,
    read: priorRows,
    expected: ({ traits, priors, variances }) =>
      traits.buildPriors
        ? "[1,N,16] + [1,N,1] with inputSize"
        : `[1,N,4] + [1,N,C] with 4 N numbers in the option priors (got ${priors?.length ?? "none"}; ` +
          "ssdAnchors and its like make those of standard networks), and variances or scales (got " +
          `${variances ? "them" : "none"}), or 8 N with variances after them`,
    asks: (query) => (query.traits.buildPriors ? asksInput(query) : asksPriors(query)),
  },
  "prior-maps": {
    counted: true,
    read: priorMaps,
    expected: (_, shapes) => `${shapes} for each level, with inputSize or priors`,
    asks: (query) => [...asksInput(query), "priors"],
  },
  "offsets-or-boxes": {
    counted: false,
    read: offsetsOrBoxes,
    expected: (_, shapes) =>
      `${shapes.split("; ")[0]} with variances, or with boxFormat: "xyxy" if they are decoded`,
    asks: () => ["variances", { option: "boxFormat", value: "xyxy" }],
  },
  "detection-output": { counted: false, read: detectionOutput, expected: () => "[1,1,N,7]" },
  postprocess: {
    counted: false,
    read: postprocess,
    expected: () =>
      "[1,N,4] + [1,N,1] + [1,N,1] + [1], told apart by name or by roles: {boxes, classIds, scores, count}",
    asks: () => ["roles"],
  },
  "finished-rows": {
    counted: false,
    read: finishedRows,
    expected: finishedShapes,
    asks: () => ["reading"],
  },
  "boxes-scores": {
    counted: false,
    read: boxesScores,
    expected: ({ classes, background }, shapes) => {
      const [all, oneMore] = shapes.split("; ");
      return [
        all,
        ...(classes !== null && background === null
          ? [`${oneMore} with background: 0, or ${classes} if it is the last column`]
          : []),
        "[1,N,4] + [1,N] + [1,N] with roles: {boxes, scores, classIds}",
      ].join("; ");
    },
    asks: ({ background }) => ["roles", ...(background === null ? ["background" as const] : [])],
  },
  "class-scores": {
    counted: false,
    read: classScores,
    expected: ({ classes }) => `[1,${classes ?? "C"}], one score for each class of the whole picture`,
  },
};

/** Returns the expected shapes of a form, for an error. Returns none if they depend on an unknown class count. */
export function shapesOfExport(query: HeadQuery, name: ExportName): string[] {
  const ways = waysOf(name, query.traits);
  const shapes = ways.map((way) => shapesOf(way, query.classes, query.traits)).join("; ");
  const form = EXPORTS[name];
  if (!form.counted) return [form.expected?.(query, shapes) ?? shapes];
  return isCounted(query) ? [form.expected?.(query, shapes) ?? shapes] : [];
}

/** Largest class count that an error may suggest. */
export const MOST_CLASSES = 1000;

/** True if the query has a class count. */
export const isCounted = (query: HeadQuery): query is CountedQuery => query.classes !== null;

/** Returns the whole numbers from 1 to `most` among `counts`, each once. */
const wholeUpTo = (most: number, counts: readonly number[]): number[] =>
  [...new Set(counts)].filter((n) => Number.isInteger(n) && n >= 1 && n <= most);

const allWaysOf = (traits: FamilyTraits): readonly Way[] =>
  traits.exports.flatMap((name) => waysOf(name, traits));

/** Returns the class counts, up to `most`, with which one of the dimensions fits a form of the family. */
export const classCounts = (traits: FamilyTraits, dimensions: readonly number[], most: number): number[] =>
  wholeUpTo(
    most,
    allWaysOf(traits).flatMap((way) => dimensions.flatMap((d) => classesIn(way, d, traits))),
  );

/** Returns the channel counts, up to `most`, that a task may have added to the boxes in a form of the family. */
export const addedCounts = (
  traits: FamilyTraits,
  dimensions: readonly number[],
  most: number,
  classes: number,
): number[] =>
  wholeUpTo(
    most,
    // Add each dimension itself, since a task's channels may fill a separate tensor.
    dimensions.flatMap((d) => [...allWaysOf(traits).flatMap((way) => addedIn(way, d, traits, classes)), d]),
  );

/** True if the function returns at least one result, false if it throws. */
export function finds(read: () => readonly unknown[]): boolean {
  try {
    return read().length > 0;
  } catch {
    return false;
  }
}
