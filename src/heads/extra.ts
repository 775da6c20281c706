/** Finds the extra channels of heads, which a task reads besides the boxes. Only imports of tasks use this file. */
import { type ChannelView, type Column, beside, maps, move, rows } from "./channels.ts";
import { cellsOf } from "../shapes/grids.ts";
import type { HeadDraft, Interpretation, Specs } from "./head.ts";
import { distinct, fullest } from "./interpret.ts";
import type { HeadQuery } from "./query.ts";

/** Returns the column after the channels of a head and the unread channels, in the tensor of the boxes. */
function columnAfterHead(
  { box, bins, score, classes, classId, objectness }: HeadDraft,
  { traits: { ignored = 0 } }: HeadQuery,
): Column {
  const ends = [beside(box, 4 * (bins || 1)), beside(score, classes + (classId ? 0 : ignored))];
  for (const column of [objectness, classId]) if (column) ends.push(beside(column, 1));
  const mine = ends.filter(({ tensor }) => tensor === box.tensor);
  return mine.reduce((last, end) => (end.offset > last.offset ? end : last));
}

/** Returns the interpretation with `extra` set in each head: the channels after its own, in the box tensor. */
const withExtra = (query: HeadQuery, interpretation: Interpretation): Interpretation => ({
  ...interpretation,
  heads: interpretation.heads.map((head) => ({ ...head, extra: columnAfterHead(head, query) })),
});

/** The orders of a network's maps: channels first, or last. */
const MAP_ORDERS = ["nchw", "nhwc"] as const;

/**
 * Reads the tensors with all maps as NCHW, with all maps as NHWC, and with any mixture. Returns the readings that use
 * the most tensors; those of a mixture only if they use more. A map as wide as a cell has channels looks like both
 * orders, but a network has one order for all its maps. Tensors whose order is stated keep it.
 * @param read returns the readings of the tensors it is given
 */
export function readInOneOrder<R extends Pick<Interpretation, "uses" | "heads">>(
  specs: Specs,
  read: (specs: Specs) => readonly R[],
): readonly R[] {
  const isOpen = ({ dims, order }: Specs[number]): boolean => dims.length >= 3 && order === null;
  // [1,R,K] is rows or planes: no order of maps changes it.
  const isOpenMap = (spec: Specs[number]): boolean =>
    isOpen(spec) && (spec.dims.length > 3 || spec.dims[0] !== 1);
  if (!specs.some(isOpenMap)) return distinct(mostUsed(read(specs)));
  const inOrder = (order: (typeof MAP_ORDERS)[number]): readonly R[] =>
    read(specs.map((spec) => (isOpen(spec) ? { ...spec, order } : spec)));
  const ordered = mostUsed(MAP_ORDERS.flatMap(inOrder));
  // No mixture can use more than all.
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

/** One way to read the dims of a tensor that may hold the extra channels. `tensor` is its index. */
interface ExtraView {
  readonly tensor: number;
  readonly view: ChannelView;
}

/** Returns every way to see so many channels in the tensors that may hold them. */
const extraViews = (specs: Specs, channels: number, mayHold: (index: number) => boolean): ExtraView[] =>
  specs.flatMap((spec, tensor) =>
    mayHold(tensor)
      ? [...maps(spec, channels), ...rows(spec, channels)].map((view) => ({ tensor, view }))
      : [],
  );

/**
 * Returns the interpretation with `extra` set in each head, for extra channels in tensors of their own: one with the
 * cells of all maps, or one tensor for each map. Returns `null` if no tensor fits, or if several do.
 * @param channels count of the extra channels
 * @param mayHold true for the index of a tensor that may hold them
 */
export function joinExtra(
  interpretation: Interpretation,
  specs: Specs,
  channels: number,
  mayHold: (index: number) => boolean,
): Interpretation | null {
  const views = extraViews(specs, channels, mayHold).filter(
    ({ tensor, view }) => !interpretation.uses.includes(tensor) && view.batch === interpretation.batch,
  );
  return joinOneTensor(interpretation, views) ?? joinTensorPerHead(interpretation, views);
}

/** Reads boxes of tensors, as `interpret` does. */
type ReadBoxes = (specs: Specs) => readonly Interpretation[];

/** Returns the readings whose extra channels follow the channels of the boxes, in the tensor of each head. */
export const readFused = (
  query: HeadQuery,
  read: ReadBoxes,
  specs: Specs,
  channels: number,
): readonly Interpretation[] =>
  read(specs.map((spec) => ({ ...spec, extra: channels }))).map((one) => withExtra(query, one));

/**
 * Returns the readings whose extra channels are in tensors of their own, as `joinExtra`.
 * @param boxes the tensors without those that hold nothing but extra channels
 */
export const readBeside = (
  read: ReadBoxes,
  boxes: Specs,
  specs: Specs,
  channels: number,
  mayHold: (index: number) => boolean,
): readonly Interpretation[] => {
  // Read the boxes only if some tensor is left for the extra channels.
  const mayJoin = extraViews(specs, channels, mayHold).some(({ tensor }) =>
    boxes.some(({ dims }, i) => i !== tensor && dims.length > 0),
  );
  return mayJoin
    ? read(boxes).flatMap((interpretation) => joinExtra(interpretation, specs, channels, mayHold) ?? [])
    : [];
};

/** Returns the fused readings, if some use as many tensors as any reading does. Else returns `beside`. */
export function preferFused(
  fused: readonly Interpretation[],
  beside: readonly Interpretation[],
): readonly Interpretation[] {
  const full = fullest([...fused, ...beside]).filter((reading) => fused.includes(reading));
  return full.length > 0 ? full : beside;
}

/** Returns the interpretation with the extra channels of all heads in one tensor, one head after the other. */
function joinOneTensor(interpretation: Interpretation, views: readonly ExtraView[]): Interpretation | null {
  const { heads, uses } = interpretation;
  const whole = pickOnly(views.filter(({ view }) => view.cells === cellsOf(heads)));
  if (!whole) return null;
  const all = columnOf(whole);
  let first = 0;
  const withColumns = heads.map((head) => {
    const extra = move(all, first * all.cell);
    first += head.cells;
    return { ...head, extra };
  });
  return { ...interpretation, heads: withColumns, uses: [...uses, whole.tensor] };
}

/**
 * Returns the interpretation with the extra channels of each head in a tensor that no other head has. All of these
 * tensors have one storage order. It is that of the boxes, if each tensor can be read so.
 */
function joinTensorPerHead(
  interpretation: Interpretation,
  views: readonly ExtraView[],
): Interpretation | null {
  const { heads, uses } = interpretation;
  const isPlanar = (head: HeadDraft): boolean => head.box.cell === 1;
  for (const asBoxes of [true, false]) {
    const picked = heads
      .map((head) => pickOnly(viewsWithCells(views, head), isPlanar(head) === asBoxes))
      .filter((view) => view !== null);
    const tensors = new Set(picked.map(({ tensor }) => tensor));
    if (tensors.size === heads.length)
      return {
        ...interpretation,
        heads: heads.map((head, i) => ({ ...head, extra: columnOf(picked[i]) })),
        uses: [...uses, ...tensors],
      };
  }
  return null;
}

/** Returns the views that have the cells of a head. */
const viewsWithCells = (views: readonly ExtraView[], { cells, gridWidth }: HeadDraft): ExtraView[] =>
  views.filter(({ view }) => view.cells === cells && (view.w === 0 || view.w === gridWidth));

const columnOf = ({ tensor, view: { channel, cell } }: ExtraView): Column => ({
  tensor,
  offset: 0,
  channel,
  cell,
});

/**
 * Returns the view of the only tensor in the storage order asked for, or `null` if there is no such view, or more than
 * one tensor. Without an order, returns a view only if all views have the same steps.
 * @param isPlanar true for channels first, false for channels last
 */
function pickOnly(all: readonly ExtraView[], isPlanar?: boolean): ExtraView | null {
  if (all.length === 0 || new Set(all.map(({ tensor }) => tensor)).size > 1) return null;
  const inOrder = all.filter(({ view }) => (view.cell === 1) === isPlanar);
  if (inOrder.length > 0) return inOrder[0];
  const [{ view }] = all;
  const isOneWay = all.every((other) => other.view.cell === view.cell);
  // A single cell has the same elements in both orders.
  return isOneWay && (isPlanar === undefined || view.cells === 1) ? all[0] : null;
}
