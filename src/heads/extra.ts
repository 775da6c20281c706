/** Finds the extra channels of heads, which a task reads besides the boxes. Only imports of tasks use this file. */
import { type ChannelView, type Column, beside, maps, move, rows } from "./channels.ts";
import { cellsOf } from "./grids.ts";
import type { HeadDraft, Interpretation, Specs } from "./head.ts";

/** Returns the column that follows the last channel of a head in the tensor of its boxes. */
export function columnBehind({ box, bins, score, classes, classId, objectness }: HeadDraft): Column {
  const ends = [beside(box, 4 * (bins || 1)), beside(score, classes)];
  for (const column of [objectness, classId]) if (column) ends.push(beside(column, 1));
  const mine = ends.filter(({ tensor }) => tensor === box.tensor);
  return mine.reduce((last, end) => (end.offset > last.offset ? end : last));
}

/** Returns the interpretation with `extra` set in each head: the channels behind its own, in the box tensor. */
export const withExtra = (found: Interpretation): Interpretation => ({
  ...found,
  heads: found.heads.map((head) => ({ ...head, extra: columnBehind(head) })),
});

/**
 * Leaves out readings whose tensors another reading has too, with more beside them. A map can be as wide as a cell has
 * channels: [1,64,80,80] beside 15 classes and an angle looks like 80 channels of 64 x 80 cells.
 */
export const fullest = <R extends Pick<Interpretation, "uses">>(all: readonly R[]): readonly R[] =>
  all.filter(
    ({ uses }) =>
      !all.some(
        (other) => other.uses.length > uses.length && uses.every((tensor) => other.uses.includes(tensor)),
      ),
  );

/** The index of a tensor that may hold the extra channels, and one way to read its dims. */
interface TensorView {
  readonly tensor: number;
  readonly view: ChannelView;
}

/**
 * Returns the interpretation with `extra` set in each head, for extra channels in tensors of their own: one tensor for
 * each map, or one with the cells of all maps. Returns `null` if no tensor fits, or if several do.
 * @param channels count of the extra channels
 * @param mayHold true for the index of a tensor that may hold them
 */
export function joinExtra(
  found: Interpretation,
  specs: Specs,
  channels: number,
  mayHold: (index: number) => boolean,
): Interpretation | null {
  const { heads, batch } = found;
  const seen: TensorView[] = specs.flatMap((spec, tensor) =>
    found.uses.includes(tensor) || !mayHold(tensor)
      ? []
      : [...maps(spec, channels), ...rows(spec, channels)]
          .filter((view) => view.batch === batch)
          .map((view) => ({ tensor, view })),
  );
  const whole = pickOnly(seen.filter(({ view }) => view.cells === cellsOf(heads)));
  if (whole) {
    let first = 0;
    const placed = heads.map((head) => {
      const extra = move(columnOf(whole), first * whole.view.cell);
      first += head.cells;
      return { ...head, extra };
    });
    return { ...found, heads: placed, uses: [...found.uses, whole.tensor] };
  }
  const each = heads.map((head) =>
    pickOnly(
      seen.filter(({ view }) => view.cells === head.cells && (view.w === 0 || view.w === head.gridWidth)),
      head,
    ),
  );
  const tensors = each.map((one) => one?.tensor ?? -1);
  if (tensors.includes(-1) || new Set(tensors).size < tensors.length) return null;
  return {
    ...found,
    heads: heads.map((head, i) => ({ ...head, extra: columnOf(each[i] as TensorView) })),
    uses: [...found.uses, ...tensors],
  };
}

const columnOf = ({ tensor, view: { channel, cell } }: TensorView): Column => ({
  tensor,
  offset: 0,
  channel,
  cell,
});

/**
 * Returns the only tensor, or `null` if there is none or several. If one tensor can be read in two ways, picks the way
 * whose storage order is that of the head's boxes.
 */
function pickOnly(all: readonly TensorView[], head?: HeadDraft): TensorView | null {
  if (all.length === 0 || new Set(all.map(({ tensor }) => tensor)).size > 1) return null;
  // Take either way: with one channel, planes and rows have the same strides.
  if (all.every(({ view }) => view.cell === all[0].view.cell)) return all[0];
  const alike = all.filter(({ view }) => head && (view.cell === 1) === (head.box.cell === 1));
  return alike.length > 0 ? alike[0] : null;
}
