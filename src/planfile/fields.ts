/**
 * Lists the fields that a plan file has for each task. `task.ts` writes by these lists; `section.ts` reads and checks
 * by them. Word indices and codes come from `format.ts`, from which the C header is generated.
 */
import { MOST_POINTS } from "../core/keypoints.ts";
import * as F from "./format.ts";

/** Encoding of a value of type T in a record: as a number, as a code, as one bit, or as doubles. */
export interface Field<T> {
  /** Index of the first word, counted from the start of the record. */
  readonly at: number;
  /** Bits of the word that belong to the field. Without `to`, `codes` and `doubles`, this is the bit of a boolean. */
  readonly mask: number;
  /** Smallest and largest number. */
  readonly from?: number;
  readonly to?: number;
  /** Bits that encode each value. */
  readonly codes?: { readonly [V in Extract<T, string>]: number };
  /** Count of doubles. Each takes two words. */
  readonly doubles?: number;
}

/** The fields of a record that holds an object of type T. */
export type Fields<T> = { readonly [K in keyof T]: Field<T[K]> };

/** Fields of a task: the fields of its record, and the fields of a row in its head table. */
export interface TaskFields<R, H> {
  /** Code of the task, TASK_*. */
  readonly kind: number;
  readonly record: Fields<R>;
  readonly head: Fields<H>;
}

const WHOLE = 0xffffffff;

/* @__NO_SIDE_EFFECTS__ */
const word = (at: number, from = 0, to = WHOLE): Field<number> => ({ at, mask: WHOLE, from, to });
/* @__NO_SIDE_EFFECTS__ */
const choice = <T extends string>(at: number, codes: Record<T, number>, mask = WHOLE): Field<T> => ({
  at,
  mask,
  codes,
});
/* @__NO_SIDE_EFFECTS__ */
const flag = (mask: number): Field<boolean> => ({ at: F.T_FLAGS, mask });
/* @__NO_SIDE_EFFECTS__ */
const double = (at: number): Field<number> => ({ at, mask: WHOLE, doubles: 1 });
/* @__NO_SIDE_EFFECTS__ */
const pair = (at: number): Field<readonly [number, number]> => ({ at, mask: WHOLE, doubles: 2 });

export const HEAD = {
  source: word(F.E_SOURCE),
  cells: word(F.E_CELLS, 1),
  gridWidth: word(F.E_GRID_W, 1),
  image: word(F.E_IMAGE),
};

/** Fields of a row of the head table that locate the extra channels. All tasks have them. */
export const EXTRA = {
  tensor: word(F.E_SLOT),
  offset: word(F.E_OFFSET),
  channel: word(F.E_CHANNEL),
  cell: word(F.E_CELL),
};

/** Returns the fields that every task record has. `most` is the largest allowed `count`. */
/* @__NO_SIDE_EFFECTS__ */
const counts = (most: number, values: readonly [number, number] = [1, 1], heads = 0xffffffff) => ({
  count: word(F.T_COUNT, 1, most),
  values: word(F.T_VALUES, ...values),
  heads: word(F.T_HEADS, 1, heads),
  headTable: word(F.T_HEAD_TABLE),
});

/** Rule by which keypoints, or the boxes of cells, are clamped to the image. */
const CLAMP = /* @__PURE__ */ choice(
  F.T_FLAGS,
  { none: 0, before: F.TASK_FLAG_CLAMP_BEFORE, after: F.TASK_FLAG_CLAMP_AFTER },
  F.TASK_FLAG_CLAMP_BEFORE + F.TASK_FLAG_CLAMP_AFTER,
);

export const POSE = {
  kind: F.TASK_KEYPOINTS,
  record: {
    ...counts(MOST_POINTS, [2, 3]),
    rule: choice(F.T_RULE, { decoded: F.POINTS_DECODED, grid: F.POINTS_GRID, prior: F.POINTS_PRIOR }),
    yFirst: flag(F.TASK_FLAG_Y_FIRST),
    logits: flag(F.TASK_FLAG_LOGITS),
    clamp: CLAMP,
    names: word(F.T_NAMES),
    nameTable: word(F.T_NAME_TABLE),
    edges: word(F.T_EDGES),
    edgeTable: word(F.T_EDGE_TABLE),
  },
  head: { scale: pair(F.E_SCALE_X), unit: pair(F.E_UNIT_X), add: double(F.E_ADD), table: word(F.E_TABLE) },
};

export const MASKS = {
  kind: F.TASK_MASKS,
  record: {
    ...counts(F.MAX_COEFFICIENTS),
    slot: word(F.T_SLOT),
    width: word(F.T_WIDTH),
    height: word(F.T_HEIGHT),
    column: word(F.T_COLUMN),
    row: word(F.T_ROW),
    plane: word(F.T_PLANE),
    image: word(F.T_IMAGE),
  },
  head: {},
};

export const ORIENTED = {
  kind: F.TASK_ORIENTED,
  record: {
    ...counts(1),
    rule: choice(F.T_RULE, { decoded: F.POINTS_DECODED }),
    angle: choice(F.T_ANGLE, {
      radians: F.ANGLE_RADIANS,
      logits: F.ANGLE_LOGITS,
      fractions: F.ANGLE_SIGMOID,
    }),
    suppression: choice(F.T_SUPPRESSION, {
      none: F.ORIENTED_NONE,
      ultralytics: F.ORIENTED_ULTRALYTICS,
      probiou: F.ORIENTED_PROBIOU,
      opencv: F.ORIENTED_OPENCV,
    }),
    iou: double(F.T_IOU),
    regular: flag(F.TASK_FLAG_REGULAR),
    orEqual: flag(F.TASK_FLAG_AT_THRESHOLD),
    perClass: flag(F.TASK_FLAG_PER_CLASS),
    halfTurn: flag(F.TASK_FLAG_HALF_TURN),
  },
  head: { turns: word(F.E_TURNS, 0, 1), cell: pair(F.E_UNIT_X), bias: double(F.E_ADD) },
};

export const CELLS = {
  kind: F.TASK_CELLS,
  record: {
    // Allow one head only, since FOMO has a single map. A cell has one value.
    ...counts(1, [1, 1], 1),
    groups: choice(F.T_RULE, { "edge-impulse": F.CELLS_SDK, enclosing: F.CELLS_ENCLOSING }),
    clamp: CLAMP,
  },
  head: { unit: pair(F.E_UNIT_X) },
};
