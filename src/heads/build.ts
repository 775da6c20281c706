/** Builds an interpretation from matches, with one head for each match. Readers add fields to the heads. */
import type { BoxFormat } from "../config/types.ts";
import type { ScoreForm } from "../core/family.ts";
import type { ReadingName } from "../core/readings.ts";
import type { Column } from "./channels.ts";
import { cellsAcross } from "../shapes/grids.ts";
import type { Head, HeadDraft, Interpretation, Specs } from "./head.ts";
import { blankExcept, oneBatch, type TensorMatch, usesOf } from "./match.ts";
import { originText } from "./print.ts";
import type { HeadQuery } from "./query.ts";

const ONES = [1, 1] as const;

/** Function that returns the fields that a reader adds to a head. `logits`: true if scores are raw. */
export type HeadFields<M = TensorMatch> = (match: M, logits: boolean) => Partial<HeadDraft>;

/** An interpretation before it is built: its matches, and everything else from which heads are made. */
export interface Reading<M extends TensorMatch = TensorMatch> {
  readonly name: ReadingName;
  /** Contents of the tensors, in words for messages. */
  readonly title: string;
  /** Kind of the scores if the config states none. `null`: always probabilities, whatever the config states. */
  readonly usual: ScoreForm | null;
  readonly fields: HeadFields<M>;
  /** The matches, each a whole map or tensor. */
  readonly matches: readonly TensorMatch[];
  /** One entry per head, if a match makes several heads: one per anchor, or per map in a tensor of rows. */
  readonly parts?: readonly M[];
  /** Indices of used tensors beside those of the matches, such as class ids. */
  readonly alsoUses?: readonly number[];
  readonly notes?: readonly string[];
  /** Class count for a query without one. */
  readonly classes?: number;
  readonly inputSize?: readonly [number, number] | null;
  readonly pairs?: boolean;
  readonly listIds?: readonly number[];
  readonly awaits?: number;
}

/** Returns the interpretation of a reading, with one head per part. Default parts: the matches. */
export function buildInterpretation<M extends TensorMatch = TensorMatch>(
  query: HeadQuery,
  reading: Reading<M>,
): Interpretation {
  const { matches, usual, fields } = reading;
  const parts = countEarlier(reading.parts ?? (matches as readonly M[]));
  const scores = (usual && query.scores) ?? usual ?? "probabilities";
  const logits = scores === "logits";
  const heads = parts.map((match) => buildHead(query, match, logits, fields(match, logits)));
  const isDecoded = heads.every(({ kind }) => Object.values(BOX_KINDS).includes(kind));
  return {
    name: reading.name,
    about: `${reading.title}: ${matches.map(originText).join(", ")}`,
    batch: oneBatch(matches),
    classes: reading.classes ?? query.classes ?? 1,
    scores,
    heads,
    tensors: matches.map(({ tensors }) => tensors),
    uses: [...matches.flatMap(usesOf), ...(reading.alsoUses ?? [])],
    notes: reading.notes ?? [],
    inputSize: reading.inputSize === undefined ? query.inputSize : reading.inputSize,
    ...(query.coordinates === "photo" && isDecoded && { inPhoto: true }),
    ...(reading.pairs && { pairs: true }),
    ...(reading.listIds && { listIds: reading.listIds }),
    ...(reading.awaits !== undefined && { awaits: reading.awaits }),
  };
}

/** Sets `earlier` of each map to the count of earlier tensors of its size: outputs come in the order of strides. */
const countEarlier = <M extends TensorMatch>(parts: readonly M[]): M[] =>
  parts.map((part, i) => {
    const { w, h, earlier } = part.view;
    const tensors = parts
      .slice(0, i)
      .filter(({ view, box }) => view.w === w && view.h === h && box.tensor !== part.box.tensor)
      .map(({ box }) => box.tensor);
    return { ...part, view: { ...part.view, earlier: earlier ?? new Set(tensors).size } };
  });

/** Returns the column for a tensor that holds only one value per row. */
export const columnOf = (tensor: number): Column => ({ tensor, offset: 0, channel: 1, cell: 1 });

/** Defaults of a head's fields. Readers override what differs. */
export const PLAIN = {
  cells: 0,
  kind: "grid",
  score: columnOf(0),
  classes: 1,
  classBase: 0,
  scoreFn: "none",
  softmax: null,
  objectness: null,
  objectnessFn: "none",
  rule: "class",
  classId: null,
  marker: null,
  count: null,
  box: columnOf(0),
  boxChannels: [0, 1, 2, 3],
  bins: 0,
  gridWidth: 1,
  xyFn: "none",
  xyScale: 1,
  xyBias: 0,
  whFn: "none",
  size: ONES,
  unit: ONES,
  priors: null,
  variances: [1, 1, 1, 1],
} as const satisfies Omit<HeadDraft, "about" | "origin">;

/** Returns the head of a match. `own` overrides the defaults. */
function buildHead(
  query: HeadQuery,
  match: TensorMatch,
  logits: boolean,
  own: Partial<HeadDraft>,
): HeadDraft {
  const { box, view } = match;
  const scoreFn = logits ? "sigmoid" : "none";
  const enters = query.traits.objectness;
  // Ignore objectness as depthai-core does: since its pull request 1911, it scores YOLOv6 r1 by the class alone.
  const objectness = enters === "gate" && query.ruleSet === "depthai" ? null : match.objectness;
  const product = objectness !== null && query.product && enters !== "gate";
  const side = box.channel * (own.bins || 1);
  return {
    about: originText(match),
    origin: {
      tensors: match.tensors.map(({ name, dims, layout, parts }) => ({ name, dims, layout, parts })),
      anchor: match.anchor,
      rows: match.rows,
    },
    ...PLAIN,
    cells: view.cells,
    score: match.score,
    classes: query.classes ?? 1,
    scoreFn,
    objectness,
    objectnessFn: objectness ? scoreFn : "none",
    rule: enters === "power" ? enters : product ? "product" : "class",
    box,
    boxChannels: [0, side, 2 * side, 3 * side],
    gridWidth: view.w || 1,
    unit: unitOf(query, match),
    ...own,
  };
}

/** Returns a separate interpretation for each match. */
export const each = (
  query: HeadQuery,
  reading: Omit<Reading, "matches">,
  matches: readonly TensorMatch[],
): Interpretation[] => matches.map((match) => buildInterpretation(query, { ...reading, matches: [match] }));

/** Returns the size of one cell of a map, normalised. Returns [1, 1] for rows. */
export function unitOf(query: HeadQuery, { view }: TensorMatch): Head["unit"] {
  const [w, h] = cellsAcross(query, view);
  return view.w ? [1 / w, 1 / h] : ONES;
}

/** Returns `boxChannels` with x and y exchanged if the format has y before x, else no field. */
export const yFirst = (format: BoxFormat | null, { box: { channel: c } }: TensorMatch): Partial<HeadDraft> =>
  format === "yxyx" || format === "cycxhw" ? { boxChannels: [c, 0, 3 * c, 2 * c] } : {};

/** Kind of a head for each format of decoded boxes. */
const BOX_KINDS: { readonly [F in BoxFormat]: Head["kind"] } = {
  cxcywh: "centre",
  cycxhw: "centre",
  xywh: "topleft",
  xyxy: "corners",
  yxyx: "corners",
};

const usualFormat = ({ boxFormat, traits }: HeadQuery): BoxFormat =>
  boxFormat ?? traits.decodedFormat ?? "cxcywh";

/** Returns the fields for decoded boxes in `format`. `unit` is `null` for pixels of an input of unknown size. */
export const decodedBoxes =
  (query: HeadQuery, format: BoxFormat = usualFormat(query), more?: HeadFields): HeadFields =>
  (match, logits) => ({
    kind: BOX_KINDS[format],
    unit:
      (query.coordinates ?? query.traits.coordinates) === "normalised"
        ? ONES
        : query.inputSize && [1 / query.inputSize[0], 1 / query.inputSize[1]],
    ...yFirst(format, match),
    ...more?.(match, logits),
  });

/** Returns the fields for a softmax over `count` logits from element `offset` on. Returns none unless `logits`. */
export const softmax = (logits: boolean | undefined, offset: number, count: number): Partial<HeadDraft> =>
  logits ? { scoreFn: "softmax", softmax: { offset, count } } : {};

/** Returns the tensors, with the dims of tensor `at` emptied so that no reader uses it. */
export const without = (specs: Specs, at: number): Specs => blankExcept(specs, (_, i) => i !== at);
