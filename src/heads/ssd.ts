/** Reads SSD and similar networks: offsets from priors or decoded boxes, with scores that may include a background. */
import { refuse } from "../core/errors.ts";
import { type TensorSpec, volume } from "../core/tensor.ts";
import {
  buildInterpretation,
  columnOf,
  decodedBoxes,
  type HeadFields,
  softmax,
  without,
  yFirst,
} from "./build.ts";
import { beside, rows, rowsOrFlat } from "./channels.ts";
import type { Head, Interpretation, Specs } from "./head.ts";
import { mayPlay, pairs, type TensorMatch, preferred, matchOne } from "./match.ts";
import { BOX_NAME } from "../shapes/ways.ts";
import type { PriorFormat } from "../config/types.ts";
import type { ReadingName } from "../core/readings.ts";
import { namesOf, type HeadQuery } from "./query.ts";

/** Reads boxes that the network decoded, with scores [N] or [N,C], and perhaps class ids [N]. */
export function boxesScores(query: HeadQuery, specs: Specs): Interpretation[] {
  const classIds = query.roles?.classIds
    ? specs.findIndex(({ name }) => mayPlay(query, "classIds", name))
    : -1;
  const format = query.boxFormat ?? "xyxy";
  return boxesScoresWidths(query, specs, classIds).flatMap((width) =>
    scored(query, pairs(query, without(specs, classIds), rows, 4, width), {
      name: "boxes-scores",
      title: `boxes (${format}), scores`,
      width,
      fields: decodedBoxes(query, format, () => (classIds < 0 ? {} : { classId: columnOf(classIds) })),
      extra: classIds,
    }),
  );
}

/** Returns the possible counts of score columns for `boxesScores`. */
function boxesScoresWidths(query: HeadQuery, specs: Specs, classIds: number): number[] {
  if (classIds >= 0) return [1];
  if (query.classes !== null) return scoreWidths(query, query.classes);
  const last = new Set(specs.flatMap(({ dims }) => dims.slice(-1)));
  return [...last].filter((n) => n !== 4 || specs.length > 2);
}

/** Returns the index of the class column that means "no object", or `false` if there is none. */
const backgroundOf = ({ background, traits }: HeadQuery): number | false =>
  background ?? (traits.background === "first" ? 0 : false);

/** Returns possible counts of score columns. `classes` may include the background, as in configs of MobileNet-SSD. */
const scoreWidths = (query: HeadQuery, classes: number): number[] => {
  const { background, traits } = query;
  const hasBackground = backgroundOf(query) !== false || traits.background !== undefined;
  return background === false || typeof traits.classes === "number" || !hasBackground
    ? [classes]
    : [classes, classes + 1];
};

/** A reading with `width` score columns, of which one may be the background. */
interface Scored {
  readonly name: ReadingName;
  readonly title: string;
  readonly width: number;
  readonly fields: HeadFields;
  /** Index of a tensor of class ids or priors that the reading also uses, or -1. */
  readonly extra: number;
  readonly notes?: readonly string[];
}

function scored(query: HeadQuery, matches: readonly TensorMatch[], reading: Scored): Interpretation[] {
  const { name, title, width, fields, extra, notes } = reading;
  const background = width === 1 ? false : backgroundOf(query);
  if (background && background !== width - 1 && matches.length > 0)
    refuse("background", `class column ${background} of ${width}`, `0, ${width - 1} or false`);
  const first = background === 0 ? 1 : 0;
  const classes = background === false ? width : width - 1;
  // Some conventions do not count the background in class ids.
  const shift = query.countBackground ? 0 : first;
  return matches.map((match) =>
    buildInterpretation(query, {
      name,
      title,
      usual: query.traits.raw,
      fields: (_, logits) => ({
        classes,
        classBase: first - shift,
        score: beside(match.score, first),
        ...softmax(query.traits.softmax && logits, 0, width),
        ...fields(match, logits),
      }),
      matches: [match],
      alsoUses: extra < 0 ? [] : [extra],
      classes: Math.max(query.classes ?? 0, first + classes) - shift,
      notes: notes ?? [],
    }),
  );
}

/** Reads raw SSD: offsets [N,R,4], scores [N,R,C], and a prior (anchor, default box) for each row. */
export function priorRows(query: HeadQuery, specs: Specs): Interpretation[] {
  const { traits } = query;
  const at = priorsAmong(specs, query);
  const rest = without(specs, at);
  const table = at < 0 ? query.priors : query.valuesOf(at);
  if (!table) return [];
  // A box followed by keypoints has 12 to 18 channels.
  const channels = traits.keypoints
    ? rest.flatMap(({ dims }) => dims.filter((d) => d >= 12 && d <= 18))
    : [4];
  const widths = query.classes === null ? priorWidths(rest) : scoreWidths(query, query.classes);
  return [...new Set(channels)].flatMap((boxes) =>
    [...new Set(widths)].flatMap((width) =>
      pairs(query, rest, rowsOrFlat, boxes, width).flatMap((match) => {
        const { cells } = match.view;
        const prior = readPriors(query, table, cells);
        if (prior === null) return [];
        return scored(query, [match], {
          name: "prior-rows",
          title: `offsets, scores, ${cells} priors (${prior.format})`,
          width,
          fields: (m) => ({
            kind: "prior",
            whFn: traits.linearSize ? "none" : "exp",
            priors: prior.priors,
            variances: prior.variances,
            ...yFirst(query.boxFormat, m),
          }),
          extra: at,
          notes: prior.notes,
        });
      }),
    ),
  );
}

/** Returns the counts of score columns that the tensor sizes allow, for an unknown class count. */
function priorWidths(specs: Specs): number[] {
  const boxCells = matchOne(specs, rowsOrFlat, { count: 4, boxes: 0 }).map(({ view }) => view.cells);
  return specs
    .flatMap(({ dims }) => boxCells.map((cells) => volume(dims) / cells))
    .filter((n) => n > 1 && n !== 4 && Number.isInteger(n));
}

/**
 * Reads [N,R,4] as offsets from priors or as decoded boxes. If neither box format, variances nor priors are stated,
 * returns both readings.
 */
export function offsetsOrBoxes(query: HeadQuery, specs: Specs): Interpretation[] {
  const isDecoded = query.boxFormat === "xyxy";
  return [
    ...(isDecoded ? [] : priorRows(query, specs)),
    ...(isDecoded || (!query.variances && query.priors === null) ? boxesScores(query, specs) : []),
  ];
}

/**
 * Returns the index of the output with the prior boxes, or -1: by role, else by name. Outputs of boxes and scores may
 * also have "anchor" in their names. So the table must have no other role, two other outputs beside it, and four or
 * eight numbers per box.
 */
export function priorsAmong(specs: Specs, { roles }: Pick<HeadQuery, "roles">): number {
  if (roles?.priors !== undefined) return specs.findIndex(({ name }) => name === roles.priors);
  const named = namesOf(roles);
  const tables = specs.filter((s) => {
    const others = specs.filter((o) => o !== s && volume(o.dims) > 0).map((o) => volume(o.dims) * 2);
    return (
      PRIOR_NAME.test(s.name) &&
      !named.includes(s.name) &&
      others.length > 1 &&
      others.some((n) => n % volume(s.dims) === 0)
    );
  });
  const [table] = preferred<TensorSpec>(tables, ({ name }) => !BOX_NAME.test(name) || /prior/i.test(name));
  return specs.indexOf(table);
}

const PRIOR_NAME = /prior|anchor/i;

type Four = Head["variances"];

/** Prior boxes, and the factors on the box offsets. */
interface Priors {
  readonly format: PriorFormat;
  /** f32 rows cx cy w h, normalised. */
  readonly priors: Float32Array;
  readonly variances: Four;
  readonly notes: readonly string[];
}

/** Largest distance from 0 of a normalised prior's centre. Sides may be longer (EfficientDet at 128x128: 9). */
const FURTHEST_CENTRE = 8;

/** Returns the priors of `cells` rows. Returns `null` if the table's length differs. Throws for priors in pixels. */
export function readPriors(query: HeadQuery, table: ArrayLike<number>, cells: number): Priors | null {
  const length = cells * 4;
  const hasVariances = table.length === 2 * length;
  if (!hasVariances && (table.length !== length || !query.variances)) return null;
  const format = query.priorFormat ?? usualPriorFormat(query, hasVariances);
  const { priors, furthest, swapped } = centred(format, table, length);
  if (furthest > FURTHEST_CENTRE) {
    const largest = priors.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    refuse("priors", `numbers up to ${Number(largest.toPrecision(4))}`, "0..1 of the input, not pixels");
  }
  const notes: string[] = [];
  if (query.priorFormat === null && format === "xyxy" && swapped * 4 > cells)
    notes.push(
      `${swapped} of ${cells} priors have x_max < x_min or y_max < y_min as corners: if they are centre ` +
        'and size, say priorFormat "cxcywh", or "cycxhw" (TensorFlow, whose factors are scales)',
    );
  const order = noteOfOrder(priors, format);
  if (order !== null) notes.push(order);
  if (query.variances) return { format, priors, variances: query.variances, notes };
  // Take the first four variances: PriorBox layers write the same four for all boxes. Refuse tables that differ.
  const variances: Four = [table[length], table[length + 1], table[length + 2], table[length + 3]];
  for (let i = 0; i < length; i++) if (table[length + i] !== variances[i % 4]) return null;
  notes.push(`variances ${variances.map((v) => Math.fround(v).toPrecision(3)).join(", ")} from the priors`);
  return { format, priors, variances, notes };
}

/** Returns the format of priors if the config states none. A table that also has variances is Caffe's, with corners. */
function usualPriorFormat({ traits, boxFormat }: HeadQuery, hasVariances: boolean): PriorFormat {
  if (hasVariances) return "xyxy";
  return traits.priorFormat ?? (boxFormat === "cycxhw" ? "cycxhw" : "xyxy");
}

/** Smallest count of steps down, from one prior to the next, that proves the order. Fewer may be chance. */
const FEWEST_STEPS = 16;
/** The order is column by column if there are at least this many times more steps down than steps aside. */
const TIMES_DOWN = 4;
/** Centres share a coordinate if they differ by less than this. */
const SAME = 1e-5;

/** Returns a note if priors go through their map column by column, as if x and y were exchanged. Else `null`. */
function noteOfOrder(priors: Float32Array, format: PriorFormat): string | null {
  let [aside, down] = [0, 0];
  for (let i = 4; i < priors.length; i += 4) {
    const isAside = Math.abs(priors[i] - priors[i - 4]) > SAME;
    const isDown = Math.abs(priors[i + 1] - priors[i - 3]) > SAME;
    if (isAside && !isDown) aside++;
    if (isDown && !isAside) down++;
  }
  if (down < FEWEST_STEPS || down < TIMES_DOWN * aside) return null;
  const other = {
    xyxy: "write x before y",
    cxcywh: 'say priorFormat "cycxhw"',
    cycxhw: 'say priorFormat "cxcywh"',
  };
  return `priors read as ${format} go through their map column by column. If x and y are exchanged, ${other[format]}`;
}

/** Priors as rows cx cy w h. */
interface Centred {
  readonly priors: Float32Array;
  /** Largest distance of a centre from 0, along one axis. */
  readonly furthest: number;
  /** Count of the priors whose third or fourth number is smaller than the first or second one. */
  readonly swapped: number;
}

/**
 * Returns the first `length` numbers of a table as rows cx cy w h. Makes no object per row: there may be 49,104 rows.
 */
function centred(format: PriorFormat, table: ArrayLike<number>, length: number): Centred {
  const priors = new Float32Array(length);
  let furthest = 0;
  let swapped = 0;
  const [x, y] = format === "cycxhw" ? [1, 0] : [0, 1];
  for (let i = 0; i < length; i += 4) {
    const a = table[i + x];
    const b = table[i + y];
    const c = table[i + 2 + x];
    const d = table[i + 2 + y];
    if (c < a || d < b) swapped++;
    const isCorners = format === "xyxy";
    priors[i] = isCorners ? (a + c) / 2 : a;
    priors[i + 1] = isCorners ? (b + d) / 2 : b;
    priors[i + 2] = isCorners ? c - a : c;
    priors[i + 3] = isCorners ? d - b : d;
    furthest = Math.max(furthest, Math.abs(priors[i]), Math.abs(priors[i + 1]));
  }
  return { priors, furthest, swapped };
}
