/** Finds the extra channels of heads, such as keypoints or mask coefficients. Only tasks use this file. */
import { type ChannelView, type Column, type Views, beside, maps, move, rows } from "./channels.ts";
import type { TensorSpec } from "../core/tensor.ts";
import { cellsOf, gridsOf } from "../shapes/grids.ts";
import type { HeadDraft, Interpretation, Specs } from "./head.ts";
import { distinct, fullest, interpret } from "./interpret.ts";
import { blankExcept, type TensorMatch } from "./match.ts";
import type { HeadQuery } from "./query.ts";

/** A tensor with one possible layout. */
export interface TensorView extends ChannelView {
  readonly index: number;
  readonly spec: TensorSpec;
}

/** Returns the first channel of a tensor as a column. */
export const columnOf = ({ index, channel, cell }: TensorView): Column => ({
  tensor: index,
  offset: 0,
  channel,
  cell,
});

/** Returns the match of boxes and scores. If `scores` has a second tensor, it holds objectness. */
export const matchOfViews = (
  boxes: TensorView,
  scores: readonly TensorView[],
  view: ChannelView = boxes,
): TensorMatch => ({
  tensors: [...new Set([boxes, ...scores])].map((seen) => ({
    index: seen.index,
    name: seen.spec.name,
    dims: seen.spec.dims,
    layout: seen.layout,
    parts: [
      ...(seen === boxes ? (["boxes"] as const) : []),
      ...(scores.includes(seen) ? (["scores"] as const) : []),
    ],
  })),
  anchor: null,
  rows: null,
  view,
  box: columnOf(boxes),
  score: columnOf(scores[0]),
  objectness: scores.length > 1 ? columnOf(scores[1]) : null,
});

/** Returns the column after a head's boxes, scores and ignored channels in the tensor of boxes. */
function columnAfterHead(
  { box, bins, score, classes, classId, objectness }: HeadDraft,
  { traits: { ignored = 0 } }: HeadQuery,
): Column {
  const ends = [beside(box, 4 * (bins || 1)), beside(score, classes + (classId ? 0 : ignored))];
  for (const column of [objectness, classId]) if (column) ends.push(beside(column, 1));
  const mine = ends.filter(({ tensor }) => tensor === box.tensor);
  return mine.reduce((last, end) => (end.offset > last.offset ? end : last));
}

/** Returns the interpretation with `extra` in each head: the first channel after the head's own in the box tensor. */
const withExtra = (query: HeadQuery, interpretation: Interpretation): Interpretation => ({
  ...interpretation,
  heads: interpretation.heads.map((head) => ({ ...head, extra: columnAfterHead(head, query) })),
});

/** Storage orders of maps: channels first, or last. */
const MAP_ORDERS = ["nchw", "nhwc"] as const;

/**
 * Reads the tensors with all maps as NCHW, with all maps as NHWC, and in mixed orders. Returns the readings that use
 * the most tensors, and prefers one order: a network has one order for all its maps, but a map whose width equals its
 * channel count fits both orders. Tensors with a stated order keep that order.
 * @param read returns the readings of the given tensors
 */
export function readInOneOrder<R extends Pick<Interpretation, "uses" | "heads">>(
  specs: Specs,
  read: (specs: Specs) => readonly R[],
): readonly R[] {
  const isOpen = ({ dims, order }: Specs[number]): boolean => dims.length >= 3 && order === null;
  // Exclude [1,R,K]: it is rows or planes, so NCHW and NHWC do not apply.
  const isOpenMap = (spec: Specs[number]): boolean =>
    isOpen(spec) && (spec.dims.length > 3 || spec.dims[0] !== 1);
  if (!specs.some(isOpenMap)) return distinct(mostUsed(read(specs)));
  const inOrder = (order: (typeof MAP_ORDERS)[number]): readonly R[] =>
    read(specs.map((spec) => (isOpen(spec) ? { ...spec, order } : spec)));
  const ordered = mostUsed(MAP_ORDERS.flatMap(inOrder));
  // Return these readings: they use all tensors, so mixed orders cannot use more.
  if (countOfUses(ordered) >= specs.length) return distinct(ordered);
  const mixed = mostUsed(read(specs));
  return distinct(countOfUses(mixed) > countOfUses(ordered) ? mixed : ordered);
}

const countOfUses = ([first]: readonly Pick<Interpretation, "uses">[]): number =>
  first ? first.uses.length : 0;

/** Returns the readings that use the most tensors. */
function mostUsed<R extends Pick<Interpretation, "uses">>(all: readonly R[]): readonly R[] {
  const most = Math.max(...all.map(({ uses }) => uses.length));
  return all.filter(({ uses }) => uses.length === most);
}

/**
 * Returns the interpretation with `extra` set in each head, for extra channels in separate tensors: one tensor with the
 * cells of all maps, or one tensor for each map. Returns `null` if no choice or more than one choice of tensors fits.
 * @param channels count of the extra channels
 * @param mayHold true for the index of a tensor that may hold extra channels
 */
export function joinExtra(
  interpretation: Interpretation,
  specs: Specs,
  channels: number,
  mayHold: (index: number) => boolean,
): Interpretation | null {
  const { uses, batch, heads } = interpretation;
  // A map has a head for each anchor. A tensor of one map holds the channels of all its anchors.
  const anchors = heads.length / new Set(heads.map(({ box }) => box.tensor)).size;
  const each = heads.every(({ origin }) => origin.anchor) ? anchors : 1;
  const viewsOf = (count: number): TensorView[] =>
    specs.flatMap((spec, tensor) =>
      !mayHold(tensor) || uses.includes(tensor)
        ? []
        : anyView(spec, count).flatMap((view) =>
            view.batch === batch ? { ...view, index: tensor, spec } : [],
          ),
    );
  return (
    joinOneTensor(interpretation, viewsOf(channels)) ??
    joinTensorPerMap(interpretation, viewsOf(channels * each), each, channels)
  );
}

/** A part that a task adds to each box: additional channels of the box tensor, or separate tensors. */
export interface AddedPart {
  readonly channels: number;
  /** Names of the part's tensors, from the option `roles`. `null`: any tensor may be the part. */
  readonly names: readonly string[] | null;
  /** Returns the readings of the boxes. Default: `interpret`. */
  readonly readBoxes?: (specs: Specs) => readonly Interpretation[];
  /** The same tensors with the shapes in which the part is read. Default: unchanged. */
  readonly seen?: Specs;
}

const planar: Views = (spec, k) => maps(spec, k).filter(({ cell }) => cell === 1);
const interleaved: Views = (spec, k) => maps(spec, k).filter(({ cell }) => cell !== 1);
const anyView: Views = (spec, k) => [...maps(spec, k), ...rows(spec, k)];

/** Returns the boxes with a task's part as `extra`, from the box tensor or from separate tensors. */
export function readAdded(query: HeadQuery, specs: Specs, part: AddedPart): readonly Interpretation[] {
  const { channels, names, readBoxes = (tensors) => interpret(query, tensors), seen = specs } = part;
  const fused = names
    ? []
    : readBoxes(specs.map((spec) => ({ ...spec, extra: channels }))).map((one) => withExtra(query, one));
  const join = (boxes: Specs, holds: readonly boolean[]): readonly Interpretation[] =>
    // Skip if every tensor may be the part, so that none is left for the boxes.
    holds.some((held, i) => held && boxes.some(({ dims }, k) => k !== i && dims.length > 0))
      ? readBoxes(boxes).flatMap((one) => joinExtra(one, seen, channels, (i) => holds[i]) ?? [])
      : [];
  const anchors = query.anchorSets?.[0]?.anchors.length ?? 1;
  const kinds = names
    ? [seen.map(({ name }) => names.includes(name))]
    : kindsOf(query, seen, [channels, channels * anchors]);
  // Hide the part's tensors from the readers of boxes, in case boxes or scores have the same channel count.
  const tries = kinds.map((holds) =>
    join(
      blankExcept(specs, (_, i) => !holds[i]),
      holds,
    ),
  );
  const most = Math.max(...tries.map(countOfMost));
  // If tensors stay unused, also try without hiding any: `kinds` may contain tensors of the boxes, such as the scores
  // of one class, which look like angles.
  const isWhole = most >= specs.filter(({ dims }) => dims.length > 0).length;
  const open = isWhole ? [] : join(specs, names ? kinds[0] : specs.map(() => true));
  // Keep all readings with the largest count of used tensors. Boxes and the part may have the same channel count, and
  // then only the caller can decide.
  const beside =
    countOfMost(open) > most ? open : tries.filter((one) => most > 0 && countOfMost(one) === most).flat();
  const full = fullest([...fused, ...beside]);
  return countOfMost(fused) < countOfMost(beside) ? full : full.filter((one) => fused.includes(one));
}

/** Returns the largest number of tensors that one of the readings uses. */
const countOfMost = (all: readonly Pick<Interpretation, "uses">[]): number =>
  Math.max(0, ...all.map(({ uses }) => uses.length));

/**
 * Returns which tensors may hold a part, one list for each count of channels and each kind: planes, interleaved maps,
 * rows, and any kind. The caller tries each list and takes the one with the fewest unused tensors. The list of any kind
 * may be too long: a map whose width is the part's channel count looks like the part, such as [1,64,10,10] beside
 * keypoints [1,10,10,10]. Equal lists are returned once.
 */
function kindsOf(query: HeadQuery, specs: Specs, counts: readonly number[]): (readonly boolean[])[] {
  const grids = gridsOf(query);
  const isMapOrRows = ({ w, h }: ChannelView): boolean =>
    w === 0 || grids.length === 0 || grids.some((g) => g.w === w && g.h === h);
  const kinds = counts.flatMap((channels) =>
    [planar, interleaved, rows, anyView].map((views) =>
      specs.map((spec) => views(spec, channels).some(isMapOrRows)),
    ),
  );
  return [...new Map(kinds.map((holds) => [holds.join(), holds])).values()];
}

function joinOneTensor(interpretation: Interpretation, views: readonly TensorView[]): Interpretation | null {
  const { heads, uses } = interpretation;
  const whole = pickOnly(views.filter(({ cells }) => cells === cellsOf(heads)));
  if (!whole) return null;
  const all = columnOf(whole);
  let first = 0;
  const withColumns = heads.map((head) => {
    const extra = move(all, first * all.cell);
    first += head.cells;
    return { ...head, extra };
  });
  return { ...interpretation, heads: withColumns, uses: [...uses, whole.index] };
}

/** Returns the interpretation with the extra channels in one tensor per map, all of one storage order. */
function joinTensorPerMap(
  interpretation: Interpretation,
  views: readonly TensorView[],
  each: number,
  channels: number,
): Interpretation | null {
  const { heads, uses } = interpretation;
  const isPlanar = (head: HeadDraft): boolean => head.box.cell === 1;
  for (const asBoxes of [true, false]) {
    const picked = heads
      .map((head) => pickOnly(viewsWithCells(views, head), isPlanar(head) === asBoxes))
      .filter((view) => view !== null);
    const tensors = new Set(picked.map(({ index }) => index));
    if (picked.length === heads.length && tensors.size * each === heads.length)
      return {
        ...interpretation,
        heads: heads.map((head, i) => ({
          ...head,
          extra: beside(columnOf(picked[i]), (head.origin.anchor?.index ?? 0) * channels),
        })),
        uses: [...uses, ...tensors],
      };
  }
  return null;
}

const viewsWithCells = (views: readonly TensorView[], { cells, gridWidth }: HeadDraft): TensorView[] =>
  views.filter((view) => view.cells === cells && (view.w === 0 || view.w === gridWidth));

/** Returns a view if all views are of one tensor and the storage order is clear (`isPlanar`, or equal steps). */
function pickOnly(all: readonly TensorView[], isPlanar?: boolean): TensorView | null {
  if (all.length === 0 || new Set(all.map(({ index }) => index)).size > 1) return null;
  const inOrder = all.filter(({ cell }) => (cell === 1) === isPlanar);
  if (inOrder.length > 0) return inOrder[0];
  const [first] = all;
  const isOneWay = all.every(({ cell }) => cell === first.cell);
  // A single cell has the same elements in both orders.
  return isOneWay && (isPlanar === undefined || first.cells === 1) ? first : null;
}
