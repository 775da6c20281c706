/** Reads rows of boxes that the network has decoded. */
import { areCoco, COCO_CLASSES, COCO_LAST, cocoIds } from "../core/coco.ts";
import { refuseFor } from "../core/errors.ts";
import { titleOf } from "../core/families.ts";
import { columnsText, rowOrder } from "../core/row-orders.ts";
import { volume } from "../core/tensor.ts";
import { BOX_CLASSES, BOX_OBJECTNESS_CLASSES } from "../shapes/ways.ts";
import {
  buildInterpretation,
  columnOf,
  decodedBoxes,
  each,
  type HeadFields,
  softmax,
  without,
} from "./build.ts";
import { beside, type Column, rows } from "./channels.ts";
import { countAmong } from "./count.ts";
import type { Interpretation, Specs } from "./head.ts";
import { blankExcept, matchParts, pairs, type TensorMatch, matchOne } from "./match.ts";
import { originText } from "./print.ts";
import { type CountedQuery, hasOnlyFinishedRows, type HeadQuery } from "./query.ts";

/** True if every tensor of the match has one row per box. */
const isRows = ({ tensors }: TensorMatch): boolean => tensors.every(({ layout }) => layout === "rows");

/** Returns the tensors with 5+C channels: box, objectness, classes. */
const withObjectness = (query: CountedQuery, specs: Specs): TensorMatch[] =>
  matchParts(query, specs, rows, BOX_OBJECTNESS_CLASSES);

/** Returns the tensors with 4+C channels: box, classes. */
const withClasses = (query: CountedQuery, specs: Specs): TensorMatch[] =>
  matchParts(query, specs, rows, BOX_CLASSES);

/**
 * Reads rows or planes of 5+C: cx cy w h, objectness, classes. OpenCV's region layers output one tensor of rows [R,5+C]
 * for each map.
 */
export function objectnessRows(query: CountedQuery, specs: Specs): Interpretation[] {
  const title = "boxes, objectness, classes";
  const reading = {
    name: "objectness-rows",
    title,
    usual: "probabilities",
    fields: decodedBoxes(query),
  } as const;
  const matches = withObjectness(query, specs);
  const levels = matches
    .filter((m) => isRows(m) && m.tensors[0].dims.length === 2)
    .sort((a, b) => b.view.cells - a.view.cells);
  const areLevels = levels.every(({ view }, i) => i === 0 || levels[i - 1].view.cells === 4 * view.cells);
  const whole =
    areLevels && levels.length > 1 ? [buildInterpretation(query, { ...reading, matches: levels })] : [];
  return [...whole, ...each(query, reading, matches)];
}

/** Reads rows [1,A,5+C] of the YOLO26 exporter: corners, and a confidence that repeats the best class score. */
export const cornerRows = (query: CountedQuery, specs: Specs): Interpretation[] =>
  each(
    query,
    {
      name: "corner-rows",
      title: "boxes, objectness, classes",
      usual: "probabilities",
      fields: decodedBoxes(query, query.boxFormat ?? "xyxy", () => ({ rule: "class" })),
    },
    withObjectness(query, specs),
  );

/** Reads rows or planes of boxes and classes, in one tensor of 4+C channels or in two. */
export const classRows = (query: CountedQuery, specs: Specs): Interpretation[] =>
  each(
    query,
    { name: "class-rows", title: "boxes, classes", usual: "probabilities", fields: decodedBoxes(query) },
    [...withClasses(query, specs), ...pairs(query, specs, rows, 4, query.classes)],
  );

/** Reads one row per detection [N,R,6]: YOLOv10, YOLO26, and exports with NMS inside. */
export const endToEnd = (query: HeadQuery, specs: Specs): Interpretation[] =>
  each(
    query,
    {
      name: "end-to-end",
      title: "detections x1 y1 x2 y2 score class",
      usual: null,
      fields: decodedBoxes(query, query.boxFormat ?? "xyxy", ({ box }) => ({
        classes: 1,
        classId: beside(box, 5),
      })),
    },
    matchOne(specs, rows, { count: 6, boxes: 0, scores: 4 }).filter(isRows),
  );

/**
 * Reads DETR (softmax, where the last class is "nothing") and RT-DETR (sigmoid): cx cy w h in 0..1, one row per query.
 */
export function queries(query: CountedQuery, specs: Specs): Interpretation[] {
  const { classes, traits, background } = query;
  const fields = decodedBoxes(query);
  const name = "queries";
  const withNothing: HeadFields = decodedBoxes(query, undefined, (_, logits) =>
    softmax(logits, 0, classes + 1),
  );
  const nothing = background === false ? [] : pairs(query, specs, rows, 4, classes + 1);
  nothing.forEach((match) => checkSoftmax(query, match));
  return [
    ...each(
      query,
      {
        name,
        title: "boxes, independent classes (RT-DETR)",
        usual: traits.raw,
        fields,
        pairs: traits.select === "pairs",
      },
      pairs(query, specs, rows, 4, classes),
    ),
    ...each(
      query,
      { name, title: "boxes, classes and nothing (DETR)", usual: traits.raw, fields: withNothing },
      nothing,
    ),
  ];
}

/** Reads Ultralytics' RT-DETR: rows [N,Q,4+C] of cx cy w h and probabilities. None if `roles` names two tensors. */
export const queryRows = (query: CountedQuery, specs: Specs): Interpretation[] =>
  query.roles?.boxes && query.roles.scores
    ? []
    : each(
        query,
        { name: "queries", title: "boxes, classes", usual: "probabilities", fields: decodedBoxes(query) },
        withClasses(query, specs),
      );

/** Throws if C + 1 logits may also be C + 1 independent classes of the family's lookalike, and nothing decides. */
function checkSoftmax({ traits, scores, classes }: CountedQuery, match: TensorMatch): void {
  const { lookalike } = traits;
  const [, { name }] = match.tensors;
  if (!lookalike || traits.softmax || scores === "probabilities" || lookalike.ours.test(name)) return;
  const { family } = lookalike;
  refuseFor(
    [
      { option: "family", value: family },
      { option: "scores", value: "softmax-logits" },
    ],
    originText(match),
    `${classes + 1} columns for ${classes} ${classes === 1 ? "class" : "classes"}, which can be read in 2 ways`,
    `family: "${family}" if it is ${titleOf(family)} (each column goes through a sigmoid), or scores: ` +
      '"softmax-logits" if it is DETR (the last column means "nothing")',
  );
}

/** The score columns of a network with queries. One of them may mean "no class". */
interface ClassColumns {
  /** Score columns of the tensor. */
  readonly width: number;
  /** Index of the first column that is a class, and count of the classes. */
  readonly first: number;
  readonly count: number;
  readonly listIds?: readonly number[];
}

/**
 * Returns the possible class columns of a network like RF-DETR. After fine-tuning, the last column was never trained.
 * The published COCO weights have 91 columns, indexed by COCO's ids (up to 90).
 */
function classColumns({ classes, labels, background, traits }: CountedQuery): readonly ClassColumns[] {
  const whole = { width: classes, first: 0, count: classes };
  if (background === false || (traits.everyColumn && background === null)) return [whole];
  if (background !== null)
    return [classes, classes + 1]
      .filter((width) => width > 1 && (background === 0 || background === width - 1))
      .map((width) => ({ width, first: background === 0 ? 1 : 0, count: width - 1 }));
  const ids = COCO_LAST + 1;
  if (areCoco(labels, COCO_LAST)) return [whole, { width: ids, first: 1, count: COCO_LAST }];
  // Without labels, do not read 91 columns as 90 classes and a last column for no class: they may be COCO's ids 0..90.
  if (classes === COCO_LAST && labels === null) return [whole];
  return [
    whole,
    { width: classes + 1, first: 0, count: classes },
    ...(areCoco(labels, COCO_CLASSES) ? [{ width: ids, first: 0, count: ids, listIds: cocoIds() }] : []),
  ];
}

/** Reads RF-DETR, RT-DETR and similar: cx cy w h in 0..1, a column of logits per class, one row per query. */
export function queryColumns(query: CountedQuery, specs: Specs): Interpretation[] {
  const { traits, countBackground } = query;
  const usual = traits.outputNames;
  const isUsual = usual && Object.values(usual).every((name) => specs.some((s) => s.name === name));
  const mine = { ...query, roles: { ...(isUsual ? usual : {}), ...query.roles } };
  return classColumns(query).flatMap(({ width, first, count, listIds }) => {
    const shift = countBackground ? 0 : first;
    const read = first > 0 ? `columns ${first}..${width - 1}` : count < width ? `the first ${count}` : "all";
    return each(
      mine,
      {
        name: "queries",
        title: `boxes, independent classes (${read})`,
        usual: traits.raw,
        classes: first + count - shift,
        fields: decodedBoxes(query, undefined, ({ score }) => ({
          classes: count,
          classBase: first - shift,
          score: beside(score, first),
        })),
        pairs: traits.select === "pairs",
        ...(listIds && { listIds }),
      },
      pairs(mine, specs, rows, 4, width).filter(isRows),
    );
  });
}

/** Reads SSD's DetectionOutput [1,1,N,7]: image, class id, score, x1, y1, x2, y2. A negative image ends the list. */
export const detectionOutput = (query: HeadQuery, specs: Specs): Interpretation[] =>
  each(
    query,
    {
      name: "detection-output",
      title: "image label score x1 y1 x2 y2",
      usual: null,
      fields: decodedBoxes(query, "xyxy", ({ box }) => ({
        classes: 1,
        classId: beside(box, -2),
        marker: beside(box, -3),
      })),
    },
    matchOne(specs, rows, { count: 7, boxes: 3, scores: 2 }).filter(isRows),
  );

/** Reads finished lists in separate tensors, as TFLite_Detection_PostProcess and D-FINE write them. */
export function postprocess(asked: HeadQuery, specs: Specs): Interpretation[] {
  const query = finishedQuery(asked);
  const format = query.boxFormat ?? query.traits.finishedFormat ?? "xyxy";
  const roles = { ...usualRoles(specs), ...query.roles };
  const mine = { ...query, roles };
  const classIds = specs.findIndex(({ name }) => name === roles.classIds);
  if (classIds < 0) return [];
  const matches = pairs(mine, without(specs, classIds), rows, 4, 1).filter(isRows);
  if (matches.length === 0) return [];
  const counter = countAmong(mine, specs, classIds);
  // Require a count, or a family with finished lists: nothing else shows that the network has suppressed its boxes.
  if (counter < 0 && query.traits.finishedFormat === undefined) return [];
  const count: Column | null = counter < 0 ? null : { ...columnOf(counter), channel: 0, cell: 0 };
  return matches.map((match) =>
    buildInterpretation(query, {
      name: "postprocess",
      title: `boxes (${format}), scores, classes ${roles.classIds}${count ? `, count ${specs[counter].name}` : ""}`,
      usual: null,
      fields: decodedBoxes(query, format, () => ({
        classes: 1,
        classId: columnOf(classIds),
        count,
      })),
      matches: [match],
      alsoUses: [classIds, ...(count ? [counter] : [])],
    }),
  );
}

/** Reads finished rows in each column order that they may have (see finished-rows.ts). */
export function finishedRows(asked: HeadQuery, specs: Specs): Interpretation[] {
  const query = finishedQuery(asked);
  // "cycxhw" is the order of the family's raw offsets from priors, not of this list.
  const boxFormat = query.boxFormat === "cycxhw" ? null : query.boxFormat;
  const format = boxFormat ?? query.traits.finishedFormat ?? "xyxy";
  const { finishedRows: usual = [] } = query.traits;
  return specs.flatMap(({ finished, dims, extra = 0 }, at) => {
    // Rows with the columns of a task are read as they are. In a family with other exports, they may be cells.
    const isTold = hasOnlyFinishedRows(query.traits) || (query.reading !== null && dims.length === 2);
    const told = extra > 0 && isTold ? usual : [];
    const { orders, classIds, counts } = finished ?? { orders: told, classIds: -1, counts: -1 };
    return orders.flatMap((name) => {
      const { width, box: first, score, classId } = rowOrder(name);
      return each(
        query,
        {
          name,
          title: `detections ${columnsText(name, format)}`,
          usual: null,
          fields: decodedBoxes(query, format, ({ box }) => ({
            classes: 1,
            classId:
              classId !== null ? beside(box, classId - first) : classIds < 0 ? null : columnOf(classIds),
            ...(counts >= 0 && { count: { ...columnOf(counts), channel: 0, cell: 0 } }),
          })),
          alsoUses: [classIds, counts].filter((i) => i >= 0),
        },
        matchOne(
          blankExcept(specs, (_, i) => i === at),
          rows,
          { count: width, boxes: first, scores: score },
        ).filter(isRows),
      );
    });
  });
}

/** Returns the query for a finished list, whose boxes may have another unit than the family's raw boxes. */
const finishedQuery = (query: HeadQuery): HeadQuery => ({
  ...query,
  coordinates: query.coordinates ?? query.traits.finishedIn ?? null,
});

/** Returns roles by TFLite's name suffixes: "" boxes, ":1" class ids, ":2" scores. TensorFlow 2 reverses them. */
function usualRoles(specs: Specs): { classIds: string; scores: string } {
  const isTurned = specs.some((s) => /[:_]3$/.test(s.name) && volume(s.dims) > 1 && rows(s, 4).length > 0);
  const named = (suffix: number, word: string): string =>
    specs.find((s) => new RegExp(`[:_]${suffix}$|${word}`, "i").test(s.name) && rows(s, 1).length > 0)
      ?.name ?? "";
  return { classIds: named(isTurned ? 2 : 1, "class|label"), scores: named(isTurned ? 1 : 2, "score") };
}
