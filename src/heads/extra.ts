/** Finds the extra channels of heads: what a task reads besides boxes. Only imports of tasks use this file. */
import { type ChannelView, type Column, beside, maps, move, rows } from "./channels.ts";
import { cellsOf } from "./grids.ts";
import type { HeadDraft, Interpretation, Specs } from "./head.ts";

/** Returns the column behind the last channel of a head, in the tensor of its boxes. */
export function columnBehind({ box, bins, score, classes, classId, objectness }: HeadDraft): Column {
  const ends = [beside(box, 4 * (bins || 1)), beside(score, classes)];
  for (const column of [objectness, classId]) if (column) ends.push(beside(column, 1));
  const mine = ends.filter(({ tensor }) => tensor === box.tensor);
  return mine.reduce((last, end) => (end.offset > last.offset ? end : last));
}

/** Returns an interpretation whose heads have their extra channels behind those of the boxes. */
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

/** A tensor of `channels` extra channels, in one of the ways to see it. */
interface Seen {
  readonly tensor: number;
  readonly view: ChannelView;
}

/**
 * Returns an interpretation whose heads have their extra channels in tensors of their own: one for each map, or one
 * with the cells of all maps. `null` if the tensors do not fit, or fit in several ways. `mayHold`: true for the tensors
 * that may hold them.
 */
export function joinExtra(
  found: Interpretation,
  specs: Specs,
  channels: number,
  mayHold: (index: number) => boolean,
): Interpretation | null {
  const { heads, batch } = found;
  const seen: Seen[] = specs.flatMap((spec, tensor) =>
    found.uses.includes(tensor) || !mayHold(tensor)
      ? []
      : [...maps(spec, channels), ...rows(spec, channels)]
          .filter((view) => view.batch === batch)
          .map((view) => ({ tensor, view })),
  );
  const whole = only(seen.filter(({ view }) => view.cells === cellsOf(heads)));
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
    only(
      seen.filter(({ view }) => view.cells === head.cells && (view.w === 0 || view.w === head.gridWidth)),
      head,
    ),
  );
  const tensors = each.map((one) => one?.tensor ?? -1);
  if (tensors.includes(-1) || new Set(tensors).size < tensors.length) return null;
  return {
    ...found,
    heads: heads.map((head, i) => ({ ...head, extra: columnOf(each[i] as Seen) })),
    uses: [...found.uses, ...tensors],
  };
}

const columnOf = ({ tensor, view: { channel, cell } }: Seen): Column => ({
  tensor,
  offset: 0,
  channel,
  cell,
});

/** Returns the only one; of two ways to see one tensor that whose storage order the head's boxes have. */
function only(all: readonly Seen[], head?: HeadDraft): Seen | null {
  if (all.length === 0 || new Set(all.map(({ tensor }) => tensor)).size > 1) return null;
  // A tensor with one channel is a map and rows, in the same steps.
  if (all.every(({ view }) => view.cell === all[0].view.cell)) return all[0];
  const alike = all.filter(({ view }) => head && (view.cell === 1) === (head.box.cell === 1));
  return alike.length > 0 ? alike[0] : null;
}
