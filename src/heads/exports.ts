/** The forms of output tensors that exporters write: how each is read, and how an error describes it. */
import type { AnchorSet } from "../config/types.ts";
import { COCO_CLASSES, COCO_LAST } from "../core/coco.ts";
import type { OptionHint } from "../core/errors.ts";
import type { ExportName, FamilyTraits } from "../core/family.ts";
import { columnsText, rowOrder } from "../core/row-orders.ts";
import { anchorMaps } from "./anchors.ts";
import { cellsOf, gridsOf } from "../shapes/grids.ts";
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

/** A form of output tensors. */
interface ExportForm<Q extends HeadQuery> {
  /** Returns every interpretation of the tensors in this form. */
  readonly read: (query: Q, specs: Specs) => Interpretation[];
  /** Returns the shapes of the form, for an error. */
  readonly expected: (query: Q) => string;
  /** Returns the options that the form waits for. */
  readonly asks?: (query: HeadQuery) => readonly OptionHint[];
  /**
   * Returns the class counts that a dimension can stand for in this form. May return fractions and negative numbers,
   * which `classCounts` drops. Absent if class ids are a column: no dimension tells the count then.
   */
  readonly classesIn?: (dimension: number, traits: FamilyTraits) => readonly number[];
}

/** `counted`: the form can be read only where the number of classes is known. */
type Export =
  | ({ readonly counted: true } & ExportForm<CountedQuery>)
  | ({ readonly counted: false } & ExportForm<HeadQuery>);

/** Returns shapes of so many channels each, "[1,64,h,w] + [1,80,h,w]". */
const shapesOf = (channels: readonly (number | string)[], before: string, after: string): string =>
  channels.map((k) => `[1,${before}${k}${after}]`).join(" + ");

const mapsOf = (...channels: number[]): string => shapesOf(channels, "", ",h,w");

const rowsOf = (...channels: (number | string)[]): string => shapesOf(channels, "N,", "");

const rowsOfBoxes = ({ classes }: HeadQuery): string => rowsOf(4, classes ?? "C");

/** Returns a map for each set of anchors. */
function mapsWithAnchors(sets: readonly AnchorSet[], classes: number): string {
  const shapes = sets.map(({ anchors, side }) => `[1,${anchors.length} x (5+${classes}),h,${side ?? "w"}]`);
  return `${shapes.join(", ") || "maps"} (anchors: got ${sets.length || "none"}, one list for each map)`;
}

/** Returns how many rows N there are where rows are the cells of all maps. */
const withInput = (query: HeadQuery): string =>
  query.inputSize
    ? `N = ${cellsOf(gridsOf(query, [8, 16, 32]))} for inputSize ${query.inputSize.join("x")}`
    : "with inputSize";

const asksInput = ({ inputSize }: HeadQuery): OptionHint[] => (inputSize ? [] : [{ option: "inputSize" }]);

const asksPriors = ({ variances }: HeadQuery): OptionHint[] => [
  { option: "priors" },
  ...(variances ? [] : [{ option: "variances" } as const, { option: "scales" } as const]),
];

/** Returns the orders of finished rows that a family has, with their columns. */
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

/** Counts of anchors that a map may have, the most usual first. */
export const ANCHOR_COUNTS: readonly number[] = [3, 5, 1, 2, 4, 6];

/** Returns a `classesIn` for tensors that have these counts of channels besides the classes. */
const without =
  (...others: readonly number[]) =>
  (dimension: number): readonly number[] =>
    others.map((n) => dimension - n);

export const EXPORTS: { readonly [name in ExportName]: Export } = {
  "anchor-maps": {
    counted: true,
    read: anchorMaps,
    expected: ({ anchorSets, classes }) => mapsWithAnchors(anchorSets ?? [], classes),
    asks: () => [{ option: "anchors" }],
    // A network of one class may have no class channel.
    classesIn: (d) => ANCHOR_COUNTS.map((anchors) => (d === 5 * anchors ? 1 : d / anchors - 5)),
  },
  "cell-maps": {
    counted: true,
    read: cellMaps,
    expected: ({ classes }) => mapsOf(5 + classes),
    classesIn: without(5),
  },
  "point-maps": {
    counted: true,
    read: pointMaps,
    expected: ({ classes }) => mapsOf(5 + classes),
    classesIn: without(5),
  },
  "point-rows": {
    counted: true,
    // A box format says that the network decoded the boxes.
    read: (query, specs) => (query.boxFormat ? objectnessRows : pointRows)(query, specs),
    expected: (query) => `${rowsOf(5 + query.classes)}, ${withInput(query)}`,
    asks: asksInput,
    classesIn: without(5),
  },
  "distance-maps": {
    counted: true,
    read: distanceMaps,
    expected: (query) => {
      const { classes: c, traits } = query;
      const box = 4 * (traits.bins ?? 16);
      return traits.ownBins
        ? `${rowsOf(box, c)}; ${rowsOf(box + c)}; ${withInput(query)}`
        : traits.mayBePixels
          ? mapsOf(4, c)
          : `${traits.bins ? "" : `${mapsOf(5 + c)}; `}${mapsOf(box, c)}`;
    },
    asks: (query) => (query.traits.ownBins || query.traits.mayBePixels ? asksInput(query) : []),
    classesIn: (d, { bins, mayBePixels }) => [d - (mayBePixels ? 4 : 4 * (bins ?? 16)), d, d - 5],
  },
  "objectness-rows": {
    counted: true,
    read: objectnessRows,
    expected: ({ classes }) => rowsOf(5 + classes),
    classesIn: without(5),
  },
  "corner-rows": {
    counted: true,
    read: cornerRows,
    expected: ({ classes }) => rowsOf(5 + classes),
    classesIn: without(5),
  },
  "class-rows": {
    counted: true,
    read: classRows,
    expected: ({ classes }) => `${rowsOf(4 + classes)}; ${rowsOf(4, classes)}`,
    classesIn: without(4, 0),
  },
  "end-to-end": { counted: false, read: endToEnd, expected: () => rowsOf(6) },
  queries: {
    counted: true,
    read: queries,
    expected: ({ classes }) => `${rowsOf(4, classes)}; ${rowsOf(4, classes + 1)}`,
    classesIn: without(0, 1),
  },
  "query-columns": {
    counted: true,
    read: queryColumns,
    expected: ({ classes, labels, traits }) =>
      traits.everyColumn
        ? rowsOf(4, classes)
        : [
            rowsOf(4, classes),
            classes === COCO_LAST && labels === null
              ? `${rowsOf(4, classes + 1)} with background: ${classes} if nobody trained the last column, or with ` +
                `classes: ${classes + 1} if a column is COCO's id of the class`
              : `${rowsOf(4, classes + 1)} whose last column nobody trained`,
            ...(classes === COCO_CLASSES
              ? [`${rowsOf(4, COCO_LAST + 1)} with COCO's ${classes} names as labels`]
              : []),
            "background: 0 if the first column is no class",
          ].join("; "),
    asks: () => [{ option: "background" }, { option: "classes" }, { option: "labels" }],
    classesIn: without(0, 1),
  },
  "query-rows": {
    counted: true,
    read: queryRows,
    expected: ({ classes }) => rowsOf(4 + classes),
    classesIn: without(4),
  },
  "prior-rows": {
    counted: false,
    read: priorRows,
    expected: ({ traits, priors, variances }) =>
      traits.buildPriors
        ? `${rowsOf(16, 1)} with inputSize`
        : `${rowsOf(4, "C")} with 4 N numbers in the option priors (got ${priors?.length ?? "none"}; ` +
          "ssdAnchors and its like make those of standard networks), and variances or scales (got " +
          `${variances ? "them" : "none"}), or 8 N with variances after them`,
    asks: (query) => (query.traits.buildPriors ? asksInput(query) : asksPriors(query)),
    classesIn: without(0, 1),
  },
  "prior-maps": {
    counted: true,
    read: priorMaps,
    expected: ({ classes }) => `${mapsOf(36, 9 * classes)} for each level, with inputSize or priors`,
    asks: (query) => [...asksInput(query), { option: "priors" }],
    classesIn: (d) => [d / 9],
  },
  "offsets-or-boxes": {
    counted: false,
    read: offsetsOrBoxes,
    expected: (query) =>
      `${rowsOfBoxes(query)} with variances, or with boxFormat: "xyxy" if they are decoded`,
    asks: () => [{ option: "variances" }, { option: "boxFormat", value: "xyxy" }],
    classesIn: without(0, 1),
  },
  "detection-output": { counted: false, read: detectionOutput, expected: () => "[1,1,N,7]" },
  postprocess: {
    counted: false,
    read: postprocess,
    expected: () =>
      `${rowsOf(4, 1, 1)} + [1], told apart by name or by roles: {boxes, classIds, scores, count}`,
    asks: () => [{ option: "roles" }],
  },
  "finished-rows": {
    counted: false,
    read: finishedRows,
    expected: (query) => finishedShapes(query),
    asks: () => [{ option: "reading" }],
  },
  "boxes-scores": {
    counted: false,
    read: boxesScores,
    expected: (query) =>
      [
        rowsOfBoxes(query),
        ...(query.classes !== null && query.background === null
          ? [
              `${rowsOf(4, query.classes + 1)} with background: 0, or ${query.classes} if it is the last column`,
            ]
          : []),
        `${rowsOf(4)} + [1,N] + [1,N] with roles: {boxes, scores, classIds}`,
      ].join("; "),
    asks: ({ background }) => [
      { option: "roles" },
      ...(background === null ? [{ option: "background" } as const] : []),
    ],
    classesIn: without(0, 1),
  },
  "class-scores": {
    counted: false,
    read: classScores,
    expected: ({ classes }) => `[1,${classes ?? "C"}], one score for each class of the whole picture`,
    classesIn: without(0),
  },
};

/** True if the query knows the number of classes. */
export const isCounted = (query: HeadQuery): query is CountedQuery => query.classes !== null;

/** Returns the class counts, up to `most`, that the dimensions can stand for in the family's exports. */
export const classCounts = (traits: FamilyTraits, dimensions: readonly number[], most: number): number[] =>
  [
    ...new Set(
      traits.exports.flatMap((name) => dimensions.flatMap((d) => EXPORTS[name].classesIn?.(d, traits) ?? [])),
    ),
  ].filter((n) => Number.isInteger(n) && n >= 1 && n <= most);
