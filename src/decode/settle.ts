/**
 * Chooses one interpretation if the shapes of the tensors allow several. For example, boxes [4,4] may be stored box by
 * box or column by column. Earlier frames decide, else the values, else the storage order of the other tensors.
 */
import { READINGS, type ReadingName } from "../core/readings.ts";
import { SLACK } from "../core/row-orders.ts";
import type { Column } from "../heads/channels.ts";
import type { HeadDraft, HeadTensor, Interpretation } from "../heads/head.ts";
import type { Interpreted } from "../plan/make.ts";
import type { Plan } from "../plan/plan.ts";

/** The interpretation of earlier frames. */
export interface Earlier {
  readonly reading: ReadingName;
  /** Storage order of each tensor, by the tensor's name. */
  readonly layouts: { readonly [name: string]: string };
}

/** Returns how a plan reads its tensors. */
export const earlierOf = ({ reading, heads }: Plan): Earlier => ({
  reading,
  layouts: Object.fromEntries(
    heads.flatMap(({ origin }) => origin.tensors.map(({ name, layout }) => [name, layout])),
  ),
});

/**
 * Returns `interpreted` reduced to the right interpretation, or unchanged if nothing shows which one is right. `note`
 * says if storage row by row was assumed without evidence.
 * @param numbersAt returns the numbers of a tensor of `interpreted.outputs`
 */
export function settleByFrame(
  interpreted: Interpreted,
  numbersAt: (index: number) => ArrayLike<number>,
  earlier: Earlier | null,
): { readonly settled: Interpreted; readonly note: string | null } {
  const { interpretations: all, awaits } = interpreted;
  if (all.length < 2 || awaits !== null || all.some(({ task, heads }) => task || heads.length !== 1))
    return { settled: interpreted, note: null };
  const settled = (interpretations: readonly Interpretation[]): Interpreted => ({
    ...interpreted,
    interpretations,
  });
  const asBefore = earlier ? all.filter((one) => isAsBefore(one, earlier)) : [];
  if (asBefore.length === 1) return { settled: settled(asBefore), note: null };
  const classes = interpreted.config.classes;
  const possible = all.filter((one) => isPossible(one, classes, numbersAt));
  if (possible.length === 1) return { settled: settled(possible), note: null };
  const left = possible.length > 0 ? possible : all;
  // Give up on raw cells: networks store them in either order. Only lists of found objects are assumed to be in rows.
  if (!left.every(({ name }) => READINGS[name].cells === undefined))
    return { settled: interpreted, note: null };
  const inOneOrder = left.filter(({ tensors }) => new Set(tensors.flat().flatMap(orderOf)).size === 1);
  if (inOneOrder.length === 1) return { settled: settled(inOneOrder), note: null };
  const asRows = left.filter(({ tensors }) => tensors.flat().every(({ layout }) => layout === "rows"));
  if (asRows.length !== 1) return { settled: interpreted, note: null };
  return {
    settled: settled(asRows),
    note:
      `${asRows[0].about} may have its columns one after the other too, and is read row by row: if it has, state ` +
      'order: "planes" with the tensor',
  };
}

const isAsBefore = ({ name, tensors }: Interpretation, earlier: Earlier): boolean =>
  name === earlier.reading && tensors.flat().every((t) => t.layout === earlier.layouts[t.name]);

/** Returns a list with the storage order of a tensor. The list is empty for dims that fit both, such as [1,N]. */
const orderOf = ({ dims, layout }: HeadTensor): string[] =>
  dims.filter((n) => n !== 1).length > 1 || (dims.length > 1 && dims[dims.length - 1] === 1) ? [layout] : [];

/** Largest count of cells that `isPossible` reads. */
const MOST_CELLS = 256;

function isPossible(
  { name, scores, heads: [head] }: Interpretation,
  classes: number | null,
  numbersAt: (index: number) => ArrayLike<number>,
): boolean {
  const at = (column: Column, cell: number, channel = 0): number =>
    numbersAt(column.tensor)[column.offset + cell * column.cell + channel * column.channel];
  const areProbabilities = READINGS[name].finished === true || scores === "probabilities";
  const channels = head.classId ? 1 : head.classes;
  for (let cell = 0; cell < Math.min(head.cells, MOST_CELLS); cell++) {
    let best = -Infinity;
    for (let c = 0; c < channels; c++) {
      const x = at(head.score, cell, c);
      best = Math.max(best, x);
      if (areProbabilities && (x > 1 + SLACK || (x < -SLACK && x !== -1))) return false;
    }
    if (head.classId) {
      const id = at(head.classId, cell);
      if (!Number.isInteger(id) || id < -1 || (classes !== null && id > classes)) return false;
    }
    if ((!areProbabilities || best > 0) && !isBox(head, cell, numbersAt)) return false;
  }
  return true;
}

/** True if the box of a cell has no negative side. */
function isBox(
  { kind, box, boxChannels }: HeadDraft,
  cell: number,
  numbersAt: (index: number) => ArrayLike<number>,
): boolean {
  const [x, y, z, w] = boxChannels.map(
    (channel) => numbersAt(box.tensor)[box.offset + cell * box.cell + channel],
  );
  if (kind === "corners") return z >= x && w >= y;
  return kind === "centre" || kind === "topleft" ? z >= 0 && w >= 0 : true;
}
