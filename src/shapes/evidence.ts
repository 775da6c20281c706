/**
 * Says how well a match of the table agrees with what else is known: names, counts of rows, the input, usual counts.
 * Each rule has a name, the points that it gives, and an example. `null` means that the match is impossible.
 */
import { TRAITS } from "../core/families.ts";
import { familyInName } from "../core/family-names.ts";
import type { Family } from "../core/family.ts";
import { cellsOf, gridsOf, SIDES } from "./grids.ts";
import type { Network } from "./none.ts";
import { looksLikeEmbedding } from "./none.ts";
import type { Match } from "./solve.ts";
import type { OpenTensor, View } from "./views.ts";

/** The tensors and inputs, and what a file or a caller says besides. */
export interface Asked extends Network {
  /** Families that names in the file or of the file mean. */
  readonly named: readonly Family[];
  readonly classes: number | null;
  /** True if the caller states the count of classes. Names in a file may belong to another network. */
  readonly isOption: boolean;
  /** True if the caller states the family. */
  readonly isFamilyStated: boolean;
}

interface Rule {
  readonly name: string;
  readonly example: string;
  readonly points: (match: Match, asked: Asked) => number | null;
}

/** Counts of classes that published networks have. */
const USUAL_CLASSES: readonly number[] = [1, 2, 3, 10, 15, 20, 90, 91, 365];

/** Counts of classes of published networks with oriented boxes: one of their own, DOTA 1.0, 1.5 and 2.0. */
const USUAL_ORIENTED: readonly number[] = [1, 15, 16, 18];

/** Tokens of a prompt that Grounding DINO and its kin give scores for. */
const TOKENS = 256;

/** Channels of feature maps inside of a network. */
const BACKBONE: readonly number[] = [128, 256, 384, 512, 768, 1024];

const STRIDE_SETS: readonly (readonly number[])[] = [
  [8, 16, 32],
  [8, 16, 32, 64],
  [4, 8, 16, 32],
  [16, 32],
];

/** Points for rows that are the cells of the input, `anchors` for each cell; `null` if they are not. */
export function pointsForCells(n: number, anchors: number, inputSize: Asked["inputSize"]): number | null {
  const cells = n / anchors;
  if (!Number.isInteger(cells)) return null;
  const are = (size: readonly [number, number], sets: typeof STRIDE_SETS): boolean =>
    sets.some((strides) => cellsOf(gridsOf({ inputSize: size, strides: null }, strides)) === cells);
  if (inputSize !== null) return are(inputSize, STRIDE_SETS) ? 3 : null;
  // NanoDet-Plus has maps that are no halves: 416 pixels are 7 cells of 64.
  if (SIDES.some((side) => are([side, side], STRIDE_SETS))) return 3;
  const blocks = cells / 21;
  return Number.isInteger(blocks) && blocks >= 4 && isRectangle(blocks) ? 2 : null;
}

/** True if so many blocks of 32 x 32 pixels make a picture of usual proportions. */
const isRectangle = (blocks: number): boolean =>
  Array.from({ length: Math.floor(Math.sqrt(blocks)) }, (_, i) => i + 1).some(
    (side) => blocks % side === 0 && blocks / side <= 3 * side,
  );

/** Counts of priors of published SSD networks: 300, 320 and 512 pixels; lite ones; those with feature pyramids. */
const SSD_PRIORS: readonly number[] = [
  1083, 1917, 2034, 2268, 2990, 3000, 3234, 3462, 4782, 5118, 6800, 7668, 8664, 8732, 11620, 12804, 24564,
  24528, 46080, 51150,
];

/** Inputs of published networks whose priors are built in. */
export const PRIOR_INPUTS = [
  [128, 128],
  [192, 192],
  [224, 224],
  [256, 256],
  [320, 240],
  [320, 320],
  [384, 384],
  [448, 448],
  [512, 512],
  [640, 480],
  [640, 640],
  [768, 768],
  [896, 896],
] as const;

function pointsForPriors(n: number, [family]: readonly Family[], { inputSize }: Asked): number | null {
  const { buildPriors } = TRAITS[family];
  const inputs = inputSize ? [inputSize] : PRIOR_INPUTS;
  if (buildPriors) return inputs.some((size) => buildPriors(size).length / 4 === n) ? 3 : null;
  if (SSD_PRIORS.includes(n)) return 3;
  return n > 1000 && pointsForCells(n, 1, inputSize) === null && pointsForCells(n, 3, inputSize) === null
    ? 0
    : null;
}

/** Most rows that exporters list unless they are told otherwise. */
const MOST_LISTED = 1000;

const isRound = (n: number): boolean => n % 50 === 0 || [1, 10, 20, 25, 40, 64, 128, 256].includes(n);

/** Returns the parts with a usual name that have it, and how many there are. */
function namedParts({ form, views }: Match, tensors: readonly OpenTensor[]): { named: number; all: number } {
  const parts = Object.entries(form.parts).filter(([part, { name }]) => name && views[part]);
  const has = ([part, { name }]: (typeof parts)[number]): boolean =>
    views[part].every(({ tensor }) => name?.test(tensors[tensor].name));
  return { named: parts.filter(has).length, all: parts.length };
}

/** The maps of a match, largest first: those of levels, without prototypes and masks. */
const levelsOf = ({ form, views }: Match): readonly View[] =>
  Object.entries(views).find(([part]) => form.parts[part].perLevel)?.[1] ?? [];

const generalRules: readonly Rule[] = [
  {
    name: "a count of rows that the form has",
    example: "[1,8400,84] has a row for each cell of 640x640, [1,25200,85] three, [1,300,6] a list",
    points: ({ form, n, views }, asked) => {
      // [N,7] with an open N is a list: rows of all cells have a batch before them.
      const isBare = n === null && Object.values(views).some(([{ rank, k }]) => rank === 2 && k > 1);
      if (isBare && ["cells", "anchors", "queries"].includes(form.rows)) return null;
      if (n === null) return 0;
      if (form.counts && !form.counts.includes(n)) return null;
      const { inputSize } = asked;
      // Whoever names the family knows more than the count of rows.
      const lenient = asked.isFamilyStated ? 0 : null;
      switch (form.rows) {
        case "cells":
          return pointsForCells(n, 1, inputSize) ?? lenient;
        case "anchors":
          return pointsForCells(n, 3, inputSize) ?? lenient;
        case "priors":
          return pointsForPriors(n, form.families, asked);
        case "queries":
          return n <= MOST_LISTED && (n % 25 === 0 || n === 15 || form.isNamed)
            ? n === 300 || n === 100
              ? 2
              : 1
            : null;
        case "list":
          if (n > MOST_LISTED) return n % 1000 === 0 ? 0 : null;
          // [1,7] is rather seven scores than a list of one.
          if (n === 1 && Object.values(views).every(([{ rank }]) => rank === 2)) return -1;
          // Steps of a text recogniser may have as many columns as a box with points.
          return isRound(n) ? 1 : form.task === "pose" && form.parts.rows ? null : 0;
        default:
          return 0;
      }
    },
  },
  {
    name: "maps of the input",
    example: "[1,255,80,80], [1,255,40,40], [1,255,20,20] are those of 640x640",
    points: (match, { inputSize }) => pointsForMaps(levelsOf(match), inputSize, match),
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
    name: "a usual count of classes",
    example: "85 = 5 + 80",
    points: ({ bound, form }, { classes: stated, isOption }) => {
      if (bound.C === undefined) return 0;
      const count = bound.C - (form.others ?? 0);
      if (count < 1) return null;
      if (stated !== null) return count === stated || bound.C === stated ? 3 : isOption ? null : -3;
      if (form.task === "oriented") return USUAL_ORIENTED.includes(count) ? 0 : -4;
      if (count === 80) return 3;
      return USUAL_CLASSES.includes(count) ? 1 : count > 1300 ? -1 : 0;
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
    points: ({ bound, views: { prototypes } }, { inputSize }) => {
      if (!prototypes) return 0;
      const [{ w, h }] = prototypes;
      const isOpen = prototypes[0].n === null;
      if (bound.M === undefined || bound.M > 128) return null;
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
    name: "channels of a backbone",
    example: "[1,256,80,80], [1,256,40,40], [1,256,20,20] are features",
    points: (match, { classes, named }) => {
      const levels = levelsOf(match);
      const parts = Object.values(match.views).length;
      if (parts > 1 || classes !== null || named.length > 0 || levels.length === 0) return 0;
      return levels[0].w > 0 && BACKBONE.includes(levels[0].k) ? null : 0;
    },
  },
  {
    name: "DOTA's size",
    example: "[1,20,21504] has the cells of 1024x1024, and 15 classes and an angle",
    points: ({ form, n }) => (form.task === "oriented" && n === 21504 ? 3 : 0),
  },
];

/** Rules for networks that say something about the whole picture. */
const wholeRules: readonly Rule[] = [
  {
    name: "scores of a whole picture",
    example: "[1,1000] or [1,2]; [1,512] is rather an embedding",
    points: ({ form, bound, views: { scores } }, { tensors, inputs, inputSize }) => {
      if (form.kind !== "scores of a picture") return 0;
      const [{ n, tensor }] = scores;
      const count = bound.C ?? 0;
      const { dims } = tensors[tensor];
      // [80,1,37] has 80 steps of a text recogniser first, [8,1000] the batch of the input.
      const isBatch =
        dims.length === 2 && (dims[0] === null || inputs.some((input) => input.dims?.[0] === dims[0]));
      const hasSteps = dims.length > 1 && dims[0] !== 1 && dims[0] !== null && !isBatch;
      if ((n !== 1 && !isBatch) || count < 2 || tensors.length > 1 || hasSteps) return null;
      const isNamed = /prob|soft_?max|class|logit|predict|score|label/i.test(tensors[tensor].name);
      if (looksLikeEmbedding(count) && !isNamed) return null;
      // Classifiers look at small pictures.
      return inputSize && Math.min(...inputSize) > 512 ? 1 : 3;
    },
  },
  {
    name: "a small map with softmax of classes",
    example: "[1,12,12,2] for 96x96",
    points: ({ form, views: { cells } }, { inputSize, tensors }) => {
      if (form.kind !== "classes of cells") return 0;
      const [{ w, h, k, tensor }] = cells;
      const isSmall = inputSize
        ? inputSize[0] === 8 * w && inputSize[1] === 8 * h
        : w === h && w <= 32 && w >= 6;
      const isUsual = k <= 12 && !/seg|heat|flow/i.test(tensors[tensor].name);
      return isSmall && isUsual && k >= 2 ? (inputSize ? 3 : 2) : null;
    },
  },
  {
    name: "heat maps of points",
    example: "[1,17,64,48] for 192x256",
    points: ({ form, bound, views: { maps } }, { inputSize, tensors }) => {
      if (form.kind !== "heat maps") return 0;
      const [{ w, h, tensor }] = maps;
      const isQuarter = inputSize ? inputSize[0] === 4 * w && inputSize[1] === 4 * h : w <= 128 && h <= 128;
      if (!HEAT_POINTS.includes(bound.X ?? 0) || !isQuarter || tensors.length > 1) return null;
      if (/logit|seg|mask|class|prob/i.test(tensors[tensor].name)) return null;
      return /heat/i.test(tensors[tensor].name) || inputSize ? 3 : 1;
    },
  },
  {
    name: "bins of coordinates, twice as many as pixels",
    example: "simcc_x [1,17,384], simcc_y [1,17,512] for 192x256",
    points: ({ form, bound: { X: x, C: y } }, { inputSize }) => {
      if (form.kind !== "bins" || x === undefined || y === undefined) return 0;
      if (inputSize) return x === 2 * inputSize[0] && y === 2 * inputSize[1] ? 3 : form.isNamed ? 0 : null;
      return x >= 128 && y >= x && x % 64 === 0 && y % 64 === 0 ? 1 : form.isNamed ? 0 : null;
    },
  },
  {
    name: "one map as large as the input",
    example: "sigmoid_0.tmp_0 [1,1,640,640] of PaddleOCR",
    points: ({ form, views: { map } }, { inputSize, inputs, tensors }) => {
      if (form.kind !== "map of text") return 0;
      const [{ n, w, h, tensor }] = map;
      const isWhole = inputSize === null || n === null || (inputSize[0] === w && inputSize[1] === h);
      // Paddle calls the picture x.
      const isPaddle = inputs.length === 0 || inputs.some(({ name }) => name === "x");
      const isNamed = form.parts.map.name?.test(tensors[tensor].name) === true;
      return isWhole && isNamed ? (isPaddle ? 3 : 1) : null;
    },
  },
  {
    name: "a buffer of HailoRT",
    example: "yolov8_nms_postprocess [1,40080], [1,2,5,80], or bytes [1,2202]",
    points: ({ form, bound, views: { rows } }, { tensors }) => {
      if (form.kind !== "packed") return 0;
      const [{ h, tensor }] = rows;
      if (bound.C !== undefined) return h === 5 ? 2 : null;
      if ((bound.X ?? 0) < 10) return null;
      const isBytes = tensors[tensor].type === "u8";
      return ((bound.X ?? 0) - (isBytes ? 2 : 0)) % (isBytes ? 22 : 1) === 0 ? 2 : null;
    },
  },
  {
    name: "pairs of coordinates",
    example: "align_fc3 [1,70]",
    points: ({ form, bound: { X: x } }) =>
      form.kind !== "coordinates" ? 0 : x !== undefined && x >= 8 && x % 2 === 0 && x <= 1000 ? 1 : null,
  },
];

const rules = [...generalRules, ...wholeRules];

/** Counts of points of published networks with heat maps. */
const HEAT_POINTS: readonly number[] = [14, 15, 16, 17, 19, 21, 23, 24, 26, 29, 37, 39, 68, 98, 106, 133];

/** Points for maps that are those of the input, or that halve from one to the next; `null` if they cannot be maps. */
function pointsForMaps(
  levels: readonly View[],
  inputSize: Asked["inputSize"],
  { form }: Match,
): number | null {
  if (levels.length === 0) return 0;
  if (levels[0].w === 0) return pointsForLevels(levels, form.perCell ?? 1, inputSize);
  const [first] = levels;
  if (form.kind === "centres" || form.kind === "classes of cells") return 0;
  if (inputSize !== null) {
    // Networks with one map have cells of 16 or 32 pixels. A finer map is a segmentation.
    const strides = levels.length > 1 ? null : [16, 32];
    const grids = gridsOf({ inputSize, strides });
    return levels.every(({ w, h }) => grids.some((g) => g.w === w && g.h === h)) ? 3 : null;
  }
  const halves = levels.every(
    ({ w, h }, i) =>
      i === 0 || (Math.abs(levels[i - 1].w / w - 2) < 0.3 && Math.abs(levels[i - 1].h / h - 2) < 0.3),
  );
  return halves &&
    Math.max(first.w, first.h) <= 320 &&
    Math.min(first.w, first.h) >= (levels.length > 1 ? 4 : 7)
    ? first.w === first.h
      ? 2
      : 1
    : null;
}

/** Points for rows of each level. */
function pointsForLevels(
  levels: readonly View[],
  perCell: number,
  inputSize: Asked["inputSize"],
): number | null {
  const counts = levels.map(({ n }) => (n as number) / perCell);
  const ratios = counts.every((n, i) => i === 0 || Math.abs(counts[i - 1] / n - 4) < 1.2);
  if (!ratios || counts.some((n) => !Number.isInteger(n))) return null;
  if (inputSize === null) return counts.every((n) => isRectangle(n)) ? 2 : null;
  const grids = gridsOf({ inputSize, strides: null });
  return counts.every((n) => grids.some(({ cells }) => cells === n)) ? 3 : null;
}

/** Returns all points of a match, `null` if some rule says that it cannot be. */
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

/** Returns the families that names of tensors or of the file mean. */
export const familiesNamed = (names: readonly string[]): Family[] => [
  ...new Set(names.flatMap((name) => familyInName(name) ?? [])),
];
