/**
 * Scores how well a form agrees with other facts: names, row counts, the input, usual counts. Each rule has a name, an
 * example, and a function `points` that returns its score, or `null` if the match is impossible.
 */
import { MOST_BOX_CELLS } from "../core/exporters.ts";
import { familyInName } from "../core/family-names.ts";
import type { Family } from "../core/family.ts";
import type { TaskName } from "../core/tasks.ts";
import {
  hasStride64,
  isRound,
  isUsualClasses,
  levelsOf,
  MOST_LISTED,
  pointsForCells,
  pointsForPriors,
} from "./counts.ts";
import type { Asked, Rule } from "./rule.ts";
import type { Match } from "./solve.ts";
import type { OpenTensor } from "./views.ts";
import { BOX_NAME } from "./ways.ts";
import { MAP_RULES } from "./map-rules.ts";
import { WHOLE_RULES } from "./whole.ts";

/** Usual class counts of networks with oriented boxes: 1 for custom data, then those of DOTA 1.0, 1.5 and 2.0. */
const USUAL_ORIENTED: readonly number[] = [1, 15, 16, 18];

/** Count of score columns of Grounding DINO and its variants: one for each text token. */
const TOKENS = 256;

/** Counts the parts with a usual name (`all`), and the parts whose tensors bear their usual name (`named`). */
function namedParts({ form, views }: Match, tensors: readonly OpenTensor[]): { named: number; all: number } {
  const parts = Object.entries(form.parts).filter(([part, { name }]) => name && views[part]);
  const has = ([part, { name }]: (typeof parts)[number]): boolean =>
    views[part].every(({ tensor }) => name?.test(tensors[tensor].name));
  return { named: parts.filter(has).length, all: parts.length };
}

/** Matches usual names of tensors with scores. */
const SCORE_NAME = /cls|class|score|conf(?!ig)|(^|_)cen?te?r/i;

/** Smallest allowed length in pixels of the shorter side of a picture. */
const LEAST_SIDE = 100;
/** Largest allowed ratio of a picture's longer side to its shorter side. A tensor of rows has a larger ratio. */
const MOST_ASPECT = 3;

/** Matches tensor names of YOLO's layer DFL, which turns distributions into distances. */
const DISTANCES = /(^|\/)dfl\//;
/** Names of layers that output scores without boxes. */
const SCORE_LAYER = /\/(sigmoid|split)/i;

/** Largest input height, in pixels, of a text recogniser. Its input width is open. */
const MOST_LINE = 64;
const isLineOfText = (inputs: Asked["inputs"]): boolean =>
  inputs.some(({ dims }) => dims?.length === 4 && (dims[2] ?? Infinity) <= MOST_LINE && dims[3] === null);

/** Returns the input size that prototypes of a quarter of its sides show, or `null`. */
const sizeOfPrototypes = (
  prototypes: Match["views"][string] | undefined,
): readonly [number, number] | null =>
  prototypes && prototypes[0].w > 0 ? [4 * prototypes[0].w, 4 * prototypes[0].h] : null;

const generalRules: readonly Rule[] = [
  {
    name: "distances of the layer DFL are no boxes",
    example: "/model.22/dfl/conv/Conv_output_0 [1,1,4,8400]: the network computes the boxes after that layer",
    points: ({ form, views: { scores }, left }, { tensors }) => {
      // Refuse scores alone beside the distances, too.
      const isInner = (name: string): boolean => DISTANCES.test(name) || (!scores && SCORE_LAYER.test(name));
      const hasDistances = form.rows === "cells" && tensors.some(({ name }) => DISTANCES.test(name));
      return hasDistances && tensors.some(({ name }, i) => !left.includes(i) && isInner(name)) ? null : 0;
    },
  },
  {
    name: "names that say the opposite",
    example: "cls_3 [1,4,92,160] and reg_3 [1,22,92,160] of FCENet are no boxes and 22 classes",
    points: ({ views: { boxes, scores } }, { tensors }) => {
      if (!boxes) return 0;
      // Refuse the name "logits" for one tensor of boxes and classes: no exporter gives this name to boxes.
      if (!scores)
        return boxes.every(({ tensor }) => /^(pred_)?logits?$/i.test(tensors[tensor].name)) ? null : 0;
      const are = (views: typeof boxes, name: RegExp, not: RegExp): boolean =>
        views.every(({ tensor }) => name.test(tensors[tensor].name) && !not.test(tensors[tensor].name));
      return are(boxes, SCORE_NAME, BOX_NAME) && are(scores, BOX_NAME, SCORE_NAME) ? null : 0;
    },
  },
  {
    name: "one channel of a picture",
    example: "[1,1,736,1280] is a map of pixels, and no 732 classes of 1280 cells",
    points: ({ views }, { tensors, classes }) => {
      const isPicture = ({ tensor, w, n }: (typeof views)[string][number]): boolean => {
        const [, a, ...rest] = tensors[tensor].dims;
        const sides = rest.length !== 2 ? [] : a === 1 ? rest : rest[1] === 1 ? [a, rest[0]] : [];
        const [short = 0, long = 0] = sides.map((side) => side ?? 0).sort((x, y) => x - y);
        return w === 0 && n !== null && short >= LEAST_SIDE && long <= MOST_ASPECT * short;
      };
      return classes === null && Object.values(views).some((all) => all.some(isPicture)) ? null : 0;
    },
  },
  {
    name: "a count of rows that the form has",
    example: "[1,8400,84] has a row for each cell of 640x640, [1,25200,85] three, [1,300,6] a list",
    points: ({ form, n, views }, asked) => {
      // Treat [N,7] with an unknown N as a list. Rows of all cells have the batch as first dimension.
      const isBare = Object.values(views).some(([{ rank, k }]) => rank === 2 && k > 1);
      const isList = form.rows === "list" || form.rows === "any";
      if (n === null) return (isBare || isLineOfText(asked.inputs)) && !isList ? null : 0;
      if (form.counts && !form.counts.includes(n)) return null;
      const inputSize = asked.inputSize ?? sizeOfPrototypes(views.prototypes);
      // Accept unusual row counts if the caller states the family, which is stronger evidence.
      const lenient = asked.isFamilyStated ? 0 : null;
      switch (form.rows) {
        case "cells":
          return pointsForCells(n, 1, inputSize) ?? lenient;
        case "anchors":
          return pointsForCells(n, 3, inputSize) ?? lenient;
        case "priors":
          return pointsForPriors(n, form, asked);
        case "queries":
          return n <= MOST_LISTED && (n % 25 === 0 || n === 15 || form.isNamed)
            ? n === 300 || n === 100
              ? 2
              : 1
            : null;
        case "list":
          if (n > MOST_LISTED) return n % 1000 === 0 ? 0 : null;
          // Subtract 1 for [1,7]: seven scores are more likely than a list of one detection.
          if (n === 1 && Object.values(views).every(([{ rank }]) => rank === 2)) return -1;
          // Refuse unusual counts for a lone tensor of a task: text recognisers and forecasts output one row per step.
          return isRound(n) ? 1 : form.task && Object.keys(views).join() === "rows" ? null : 0;
        default:
          return 0;
      }
    },
  },
  {
    name: "rows for the cells at stride 64 too",
    example: "[1,3598,37] of NanoDet-Plus for 416x416; YOLOX has three strides",
    points: ({ form, n }, { inputSize }) =>
      form.kind === "cells to stride 64" && n !== null && hasStride64(n, inputSize) ? 2 : 0,
  },
  {
    name: "usual names of the tensors",
    example: "pred_boxes beside logits",
    points: (match, { tensors }) => {
      const { named, all } = namedParts(match, tensors);
      return all === 0 ? 0 : named === all ? 1 + all : named > 0 ? 1 : 0;
    },
  },
  {
    name: "a family's name in the file",
    example: "output1_yolov7",
    points: ({ form }, { named }) =>
      named.length === 0 ? 0 : form.families.some((family) => named.includes(family)) ? 4 : -2,
  },
  {
    name: "a task's name in the file",
    example: "[1,7,21504] of YOLO11n-obb has two classes and an angle",
    points: ({ form: { task } }, { tasks }) => (task !== undefined && tasks.includes(task) ? 6 : 0),
  },
  {
    name: "a family that looks like a more usual one",
    example: "yolov8 goes before a fork of it that adds a channel which nothing reads",
    // Subtract nothing if the caller states the less usual family.
    points: ({ form }, { isFamilyStated }) => (form.isLookalike && !isFamilyStated ? -2 : 0),
  },
  {
    name: "planes of networks with anchors",
    example: "[1,85,25200]: only converters turn the rows of YOLOv5 into planes",
    points: ({ form, views: { boxes } }, { isFamilyStated }) =>
      form.rows === "anchors" && boxes && !boxes[0].isInterleaved && !isFamilyStated ? -2 : 0,
  },
  {
    name: "a usual count of classes",
    example: "85 = 5 + 80",
    points: ({ bound, form }, { classes: stated, isOption }) => {
      if (bound.C === undefined) return 0;
      const count = bound.C - (form.others ?? 0);
      if (count < 1) return null;
      if (stated !== null) return count === stated || bound.C === stated ? 3 : isOption ? null : -3;
      if (form.task === "oriented") return USUAL_ORIENTED.includes(count) ? 0 : -4;
      if (count === 80) return 3;
      return isUsualClasses(count) ? 1 : count > 1300 ? -1 : 0;
    },
  },
  {
    name: "all tensors play a part",
    example: "scores [1,80,8400] beside boxes [1,4,8400]",
    points: ({ left, form }, { tensors }) =>
      -Math.min(2 * left.filter((i) => !form.beside?.test(tensors[i].name)).length, 4),
  },
  {
    name: "32 coefficients at a quarter of the input",
    example: "[1,32,160,160] for 640x640",
    points: (match, { inputSize }) => {
      const {
        bound,
        views: { prototypes },
      } = match;
      if (!prototypes) return 0;
      const [{ w, h }] = prototypes;
      // The largest feature map has half as many columns as the prototypes.
      const [level] = levelsOf(match);
      if (level && level.w > 0 && w > 0 && Math.abs(w - 2 * level.w) > 1) return null;
      const isOpen = prototypes[0].n === null;
      if (bound.M === undefined || bound.M < 4 || bound.M > 128) return null;
      if (isOpen) return bound.M === 32 ? 2 : -1;
      if (Math.min(w, h) < 8 || Math.max(w, h) > 3 * Math.min(w, h)) return null;
      if (inputSize && Math.abs(w * inputSize[1] - h * inputSize[0]) > Math.max(...inputSize)) return null;
      const isQuarter = inputSize === null ? w * h >= 400 : w * 4 === inputSize[0] && h * 4 === inputSize[1];
      return (bound.M === 32 ? 2 : -1) + (isQuarter ? 1 : -1);
    },
  },
  {
    name: "columns and queries of DETR",
    example: "[1,100,92] has COCO's 91 ids and nothing; Table Transformer has 15 or 125 queries",
    points: ({ form, bound, n }) =>
      form.kind !== "queries and nothing"
        ? 0
        : ([92, 251].includes(bound.C ?? 0) ? 3 : 0) + ([15, 100, 125].includes(n ?? 0) ? 2 : 0),
  },
  {
    name: "columns that are tokens of a prompt",
    example: "pred_logits [1,900,256] of Grounding DINO",
    points: ({ form, bound }, { classes }) =>
      form.rows === "queries" && bound.C === TOKENS && classes === null ? null : 0,
  },
  {
    name: "a count is one value for each image",
    example: "num_dets [4,1] beside boxes [4,100,4]; image_size [2] of Detectron2 counts nothing",
    points: ({ views: { count, boxes, rows = boxes } }, { tensors }) => {
      if (!count || !rows || (count[0].n ?? 1) === 1) return 0;
      const { dims } = tensors[rows[0].tensor];
      return dims.length > 2 && dims[0] === count[0].n ? 0 : null;
    },
  },
  {
    name: "masks as large as the picture, or small squares for the boxes",
    example: "masks [1,100,640,640] of RTMDet-Ins; [1,100,28,28] are those of the boxes of Mask R-CNN",
    points: ({ form, views: { masks } }, { inputSize }) => {
      if (form.kind !== "masks of the picture" && form.kind !== "masks of boxes") return 0;
      const [{ w, h }] = masks;
      const isWhole = inputSize !== null && (w === inputSize[0] || h === inputSize[1]);
      const isOfBox = w > 0 && w === h && (w <= MOST_BOX_CELLS || (inputSize !== null && !isWhole));
      return isOfBox === (form.kind === "masks of boxes") ? 0 : null;
    },
  },
  {
    name: "DOTA's size",
    example: "[1,20,21504] has the cells of 1024x1024, and 15 classes and an angle",
    points: ({ form, n, bound: { C: c } }) =>
      form.task === "oriented" && n === 21504 ? (c !== undefined && c >= 15 ? 3 : 1) : 0,
  },
  {
    name: "coefficients of masks without their prototypes",
    example: "[1,116,8400] has 80 classes and 32 coefficients, or 112 classes",
    points: ({ form, bound: { C: c } }, { classes, inputs }) => {
      if (form.kind !== "masks alone") return 0;
      if (classes === null && !isUsualClasses(c)) return null;
      // Subtract 2 if `inputs` shows that a model file was read. The file lists all outputs, so prototypes are missing.
      return inputs.length > 0 ? -2 : 0;
    },
  },
];

const rules = [...generalRules, ...MAP_RULES, ...WHOLE_RULES];

/** Returns the score of a match, the sum over all rules. Returns `null` if a rule says that the match is impossible. */
export function pointsOf(match: Match, asked: Asked): number | null {
  let sum = match.form.usual ?? 0;
  for (const rule of rules) {
    const points = rule.points(match, asked);
    if (points === null) return null;
    sum += points;
  }
  return sum;
}

/** The rules with their examples, for tests and documentation. */
export const EVIDENCE: readonly Pick<Rule, "name" | "example">[] = rules;

/** Returns the families that occur in the given names of tensors and files. */
export const familiesNamed = (names: readonly string[]): Family[] => [
  ...new Set(names.flatMap((name) => familyInName(name) ?? [])),
];

/** Words for tasks in the names of published networks. */
const TASK_WORDS: readonly (readonly [TaskName, RegExp])[] = [
  ["oriented", /[-_]obb(?![a-z])/i],
  ["pose", /[-_]pose(?![a-z])/i],
  ["segment", /[-_]seg(?![a-z])/i],
];

/** Returns the tasks that occur in names of files or in a description. */
export const tasksNamed = (names: readonly string[]): TaskName[] =>
  TASK_WORDS.flatMap(([task, word]) => (names.some((name) => word.test(name)) ? [task] : []));
