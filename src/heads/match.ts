/** Where boxes and scores stand: tensors, or parts of them, put together into what becomes the heads of a reading. */
import type { Roles } from "../config/types.ts";
import { refuse } from "../core/errors.ts";
import type { HeadQuery } from "./query.ts";
import { type TensorSpec, shape } from "../core/tensor.ts";
import { type Column, type ChannelView, type Views, move } from "./channels.ts";

/** Boxes and scores of the same cells, in one tensor or in several: one head, or one for each anchor. */
export interface TensorMatch {
  /** For people: which tensors, in which layout. */
  readonly about: string;
  /** Tensors, by index; that of the boxes first. */
  readonly uses: readonly number[];
  /** Of the boxes. */
  readonly view: ChannelView;
  /** Storage order of every tensor in it. */
  readonly layout: string;
  readonly box: Column;
  readonly score: Column;
  readonly objectness: Column | null;
}

/** Each tensor that has `k` channels, with the channels at which boxes, scores and objectness begin. */
export function matchOne(
  specs: readonly TensorSpec[],
  views: Views,
  k: number,
  box = 0,
  score = 0,
  objectness?: number,
): TensorMatch[] {
  return specs.flatMap((s, tensor) =>
    views(s, k).map((view) => {
      const { channel, cell, layout } = view;
      const at = (c: number): Column => ({ tensor, offset: c * channel, channel, cell });
      return {
        about: `${shape(s)} as ${layout}`,
        uses: [tensor],
        view,
        layout,
        box: at(box),
        score: at(score),
        objectness: objectness === undefined ? null : at(objectness),
      };
    }),
  );
}

/** Whether a tensor may play a part: the option `roles` does not name another. */
export const mayPlay = (q: HeadQuery, role: keyof Roles, name: string): boolean =>
  [q.roles?.[role] ?? name].flat().includes(name);

/** The tensors, those that do not pass without dims: nothing reads them then, and the others keep their indices. */
export const blankExcept = (
  specs: readonly TensorSpec[],
  keep: (s: TensorSpec, i: number) => boolean,
): TensorSpec[] => specs.map((s, i) => (keep(s, i) ? s : { ...s, dims: [] }));

/** The tensors that may play a part. */
export const playersOf = (q: HeadQuery, specs: readonly TensorSpec[], role: keyof Roles): TensorSpec[] =>
  blankExcept(specs, (s) => mayPlay(q, role, s.name));

/** Each of `places` together with each other tensor that has as many cells and `k` channels of the part given. */
export function join(
  q: HeadQuery,
  specs: readonly TensorSpec[],
  places: readonly TensorMatch[],
  part: "score" | "objectness",
  views: Views,
  k: number,
): TensorMatch[] {
  const others = matchOne(playersOf(q, specs, part === "score" ? "scores" : part), views, k);
  return places.flatMap((p) =>
    others
      .filter(
        ({ uses: [i], view: v }) =>
          !p.uses.includes(i) &&
          v.cells === p.view.cells &&
          v.batch === p.view.batch &&
          v.w === p.view.w &&
          // maps of one network lie one way; a single channel lies both ways
          (v.w === 0 || k === 1 || v.layout === p.view.layout),
      )
      .map((o) => ({
        ...p,
        about: `${p.about} + ${o.about}`,
        uses: [...p.uses, ...o.uses],
        layout: `${p.layout} ${o.layout}`,
        [part]: o.box,
      })),
  );
}

/** Those that pass, or all where none does. */
export function preferred<T>(all: readonly T[], passes: (x: T) => boolean): readonly T[] {
  const some = all.filter(passes);
  return some.length > 0 ? some : all;
}

/** What an output of boxes is usually called. */
export const BOX_NAME = /box|reg|loc|dis/i;

/** Two tensors with the same cells, one with `kb` channels, the other with `ks`. Names in `roles` come first. */
export function pairs(
  q: HeadQuery,
  specs: readonly TensorSpec[],
  views: Views,
  kb: number,
  ks: number,
): readonly TensorMatch[] {
  const nameOf = (p: TensorMatch, k: number): string => specs[p.uses[k]].name;
  const boxes = matchOne(playersOf(q, specs, "boxes"), views, kb);
  // where both readings of a pair exist (as many box channels as classes), names decide if they speak
  return preferred(
    join(q, specs, boxes, "score", views, ks),
    (p) => BOX_NAME.test(nameOf(p, 0)) && !BOX_NAME.test(nameOf(p, 1)),
  );
}

/** From the largest map to the smallest. */
export const largestFirst = <P extends TensorMatch>(places: readonly P[]): P[] =>
  [...places].sort((a, b) => b.view.cells - a.view.cells);

/** Places whose maps lie the same way: those of channels first, those of channels last. */
export const byLayout = <P extends TensorMatch>(places: readonly P[]): P[][] =>
  [...new Set(places.map((p) => p.view.layout))].map((layout) =>
    places.filter((p) => p.view.layout === layout),
  );

/**
 * One place per tensor, all of one layout where that is possible, from the largest map to the smallest. A network has each map once: of two
 * tensors for one, told by its size or by what `mapOf` says, each makes a reading.
 */
export function levels<P extends TensorMatch>(
  specs: readonly TensorSpec[],
  places: readonly P[],
  mapOf: (p: P) => unknown = ({ view }) => `${view.w}x${view.h}`,
): P[][] {
  let combos: P[][] = [[]];
  specs.forEach((_, i) => {
    const choices = places.filter((p) => p.uses[0] === i);
    if (choices.length > 0) combos = combos.flatMap((c) => choices.map((p) => [...c, p]));
  });
  if (places.length === 0) return [];
  return preferred(combos, (c) => c.every((p) => p.layout === c[0].layout))
    .flatMap((all) =>
      [...new Set(all.map(mapOf))].reduce<P[][]>(
        (some, map) => some.flatMap((c) => all.filter((p) => mapOf(p) === map).map((p) => [...c, p])),
        [[]],
      ),
    )
    .map(largestFirst);
}

/** The batch size that all tensors share. */
export function oneBatch(places: readonly TensorMatch[]): number {
  const batches = places.map((p) => p.view.batch);
  if (batches.some((n) => n !== batches[0]))
    refuse(
      "",
      `${places.map((p) => p.about).join(", ")} with batches of ${batches.join(" and ")}`,
      "one batch size for all outputs",
    );
  return batches[0];
}

// ---- Strides: which maps an input has ---------------------------------------------------------------------

/** Cells of all of them. */
export const cellsOf = (all: readonly { readonly cells: number }[]): number =>
  all.reduce((n, h) => n + h.cells, 0);

interface Grid {
  readonly w: number;
  readonly h: number;
  readonly cells: number;
  readonly stride: number;
}

/** Maps of the input at the strides of the config, or else at those given, or else at any; none where the input size is not known. */
export function gridsOf(
  { inputSize, strides }: Pick<HeadQuery, "inputSize" | "strides">,
  usual: readonly number[] = [4, 8, 16, 32, 64, 128],
): Grid[] {
  if (!inputSize) return [];
  return (strides ?? usual).map((stride) => {
    const [w, h] = inputSize.map((n) => Math.ceil(n / stride));
    return { w, h, cells: w * h, stride };
  });
}

const STRIDES = [[8, 16, 32], [8, 16, 32, 64], [4, 8, 16, 32], [16, 32], [32], [16], [8]];

/** The maps that add up to so many cells, if there are such. */
export const gridsOfRows = (q: Pick<HeadQuery, "inputSize" | "strides">, cells: number): Grid[] | undefined =>
  STRIDES.map((usual) => gridsOf(q, usual)).find((grids) => grids.length > 0 && cellsOf(grids) === cells);

/** Rows of several maps, one after the other, as a place for each map; nothing where the maps do not add up. */
export function slices(q: HeadQuery, p: TensorMatch): TensorMatch[][] {
  let first = 0;
  const grids = gridsOfRows(q, p.view.cells);
  if (!grids) return [];
  const parts = grids.map(({ w, h, cells, stride }) => {
    const from = (f: Column): Column => move(f, first * f.cell);
    const part = {
      ...p,
      about: `${p.about}, cells ${first}..${first + cells - 1} at stride ${stride}`,
      view: { ...p.view, w, h, cells },
      box: from(p.box),
      score: from(p.score),
      objectness: p.objectness && from(p.objectness),
    };
    first += cells;
    return part;
  });
  return [parts];
}
