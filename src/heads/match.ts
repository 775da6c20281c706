/** Finds tensors of boxes, scores and objectness that belong together, since they have the same cells. */
import type { Roles } from "../config/types.ts";
import { refuse } from "../core/errors.ts";
import type { TensorSpec } from "../core/tensor.ts";
import { type Column, type ChannelView, type Views, move } from "./channels.ts";
import { gridsOf, gridsOfRows } from "../shapes/grids.ts";
import { BOX_NAME, type ChannelPlan, planChannels, type TensorParts } from "../shapes/ways.ts";
import type { HeadOrigin, HeadTensor, Part, Specs } from "./head.ts";
import { originText } from "./print.ts";
import type { CountedQuery, HeadQuery } from "./query.ts";

/** A tensor of a match, with its index in the list of outputs. */
export interface MatchedTensor extends HeadTensor {
  readonly index: number;
}

/** Boxes and scores of the same cells, in one tensor or in several. */
export interface TensorMatch extends HeadOrigin {
  readonly tensors: readonly MatchedTensor[];
  /** Layout of the box tensor. */
  readonly view: ChannelView;
  readonly box: Column;
  readonly score: Column;
  readonly objectness: Column | null;
}

const PARTS: readonly Part[] = ["boxes", "objectness", "scores"];

/** Returns a match for each layout in which a tensor can hold these channels. */
export function matchOne(specs: Specs, views: Views, channels: ChannelPlan): TensorMatch[] {
  const parts = PARTS.filter((part) => channels[part] !== undefined);
  return specs.flatMap(({ name, dims, extra = 0 }, index) =>
    views(specs[index], channels.count + extra).map((view) => {
      const { channel, cell, layout } = view;
      const at = (c: number): Column => ({ tensor: index, offset: c * channel, channel, cell });
      return {
        tensors: [{ index, name, dims, layout, parts }],
        anchor: null,
        rows: null,
        view,
        box: at(channels.boxes ?? 0),
        score: at(channels.scores ?? 0),
        objectness: channels.objectness === undefined ? null : at(channels.objectness),
      };
    }),
  );
}

/** Returns the indices of the tensors that a match uses. */
export const usesOf = ({ tensors }: TensorMatch): number[] => tensors.map(({ index }) => index);

const layoutsOf = ({ tensors }: TensorMatch): string => tensors.map(({ layout }) => layout).join();

/** True if the tensor may have the role: `roles` does not give the role to another tensor. */
export function mayPlay({ roles }: Pick<HeadQuery, "roles">, role: keyof Roles, name: string): boolean {
  const wanted = roles?.[role];
  return wanted === undefined || [wanted].flat().includes(name);
}

/**
 * Returns all tensors, but empties the dims of those that `keep` rejects, so that no reader uses them. Indices stay.
 */
export const blankExcept = (specs: Specs, keep: (s: TensorSpec, i: number) => boolean): TensorSpec[] =>
  specs.map((s, i) => (keep(s, i) ? s : { ...s, dims: [] }));

/** Returns all tensors, but empties the dims of those that may not have the role. */
export const playersOf = (query: HeadQuery, specs: Specs, role: keyof Roles): Specs =>
  query.roles?.[role] === undefined ? specs : blankExcept(specs, (s) => mayPlay(query, role, s.name));

/** Joins each match with every other tensor that has as many cells and `k` channels. */
export function join(
  query: HeadQuery,
  specs: Specs,
  matches: readonly TensorMatch[],
  part: "scores" | "objectness",
  views: Views,
  k: number,
): TensorMatch[] {
  if (matches.length === 0) return [];
  const count = k + (part === "scores" ? (query.traits.ignored ?? 0) : 0);
  const others = matchOne(playersOf(query, specs, part), views, { count, [part]: 0 });
  return matches.flatMap((match) =>
    others
      .filter(
        ({ tensors: [{ index }], view }) =>
          !usesOf(match).includes(index) &&
          view.cells === match.view.cells &&
          view.batch === match.view.batch &&
          view.w === match.view.w &&
          // All maps of a network have the same storage order. A map of one channel fits both orders.
          (view.w === 0 || k === 1 || view.layout === match.view.layout),
      )
      .map((other) => ({
        ...match,
        tensors: [...match.tensors, ...other.tensors],
        [part === "scores" ? "score" : part]: other.box,
      })),
  );
}

/** Returns the items that pass the test, or all items if none passes. */
export function preferred<T>(all: readonly T[], passes: (x: T) => boolean): readonly T[] {
  const some = all.filter(passes);
  return some.length > 0 ? some : all;
}

/** Returns pairs of tensors with the same cells: one has `boxes` channels, the other has `scores` channels. */
export function pairs(
  query: HeadQuery,
  specs: Specs,
  views: Views,
  boxes: number,
  scores: number,
): readonly TensorMatch[] {
  const matches = matchOne(playersOf(query, specs, "boxes"), views, { count: boxes, boxes: 0 });
  // With as many classes as box channels, either tensor of a pair fits as the boxes. Prefer the one named like boxes.
  return preferred(
    join(query, specs, matches, "scores", views, scores),
    ({ tensors: [first, second] }) => BOX_NAME.test(first.name) && !BOX_NAME.test(second.name),
  );
}

/** Returns a match for each layout in which one tensor can hold these parts. */
export const matchParts = (
  query: CountedQuery,
  specs: Specs,
  views: Views,
  parts: TensorParts,
): TensorMatch[] => matchOne(specs, views, planChannels(parts, query.classes, query.traits));

const largestFirst = <M extends TensorMatch>(matches: readonly M[]): M[] =>
  [...matches].sort((a, b) => b.view.cells - a.view.cells);

/** Groups matches by storage order: channels first, channels last. */
export const byLayout = <M extends TensorMatch>(matches: readonly M[]): M[][] =>
  [...new Set(matches.map(({ view }) => view.layout))].map((layout) =>
    matches.filter(({ view }) => view.layout === layout),
  );

/**
 * Returns every choice of one match per map, from the largest map to the smallest. Prefers choices with one storage
 * order. Two tensors that fit the same map give two choices. `mapOf` identifies the map of a match, by default by size.
 */
export function levels<M extends TensorMatch>(
  specs: Specs,
  matches: readonly M[],
  mapOf: (match: M) => unknown = ({ view }) => `${view.w}x${view.h}`,
): M[][] {
  if (matches.length === 0) return [];
  let combos: M[][] = [[]];
  specs.forEach((_, i) => {
    const choices = matches.filter(({ tensors }) => tensors[0].index === i);
    if (choices.length > 0) combos = combos.flatMap((c) => choices.map((match) => [...c, match]));
  });
  return preferred(combos, (c) => c.every((match) => layoutsOf(match) === layoutsOf(c[0])))
    .flatMap((all) =>
      [...new Set(all.map(mapOf))].reduce<M[][]>(
        (some, map) =>
          some.flatMap((c) => all.filter((match) => mapOf(match) === map).map((match) => [...c, match])),
        [[]],
      ),
    )
    .map(largestFirst);
}

/**
 * Returns two choices of matches, largest map first. No two matches of a choice share a tensor. The first choice takes
 * the matches in order, the second in reverse. The choices differ only if two tensors can exchange their roles, such as
 * objectness and the scores of one class.
 */
export function disjoint(matches: readonly TensorMatch[]): TensorMatch[][] {
  const all = largestFirst(matches);
  const used = new Set<number>();
  const take = (match: TensorMatch): boolean => {
    const isFree = !usesOf(match).some((i) => used.has(i));
    if (isFree) usesOf(match).forEach((i) => used.add(i));
    return isFree;
  };
  const first = all.filter(take);
  used.clear();
  const last = all.reverse().filter(take).reverse();
  return all.length > 0 ? [first, last] : [];
}

/** Returns the batch size that all tensors share. Throws a TensorError if batch sizes differ. */
export function oneBatch(matches: readonly TensorMatch[]): number {
  const batches = matches.map(({ view }) => view.batch);
  if (batches.some((n) => n !== batches[0]))
    refuse(
      "",
      `${matches.map(originText).join(", ")} with batches of ${batches.join(" and ")}`,
      "one batch size for all outputs",
    );
  return batches[0];
}

/** Splits rows into the cells of several maps, map after map. Returns an empty list if the cells do not add up. */
export function slices(query: HeadQuery, match: TensorMatch): TensorMatch[][] {
  const grids = gridsOfRows(query, match.view.cells);
  if (!grids) return [];
  let first = 0;
  const parts = grids.map(({ w, h, cells, stride }, i) => {
    const earlier = grids.slice(0, i).filter((grid) => grid.w === w && grid.h === h).length;
    const from = (column: Column): Column => move(column, first * column.cell);
    const part = {
      ...match,
      rows: { first, count: cells, stride },
      view: { ...match.view, w, h, cells, earlier },
      box: from(match.box),
      score: from(match.score),
      objectness: match.objectness && from(match.objectness),
    };
    first += cells;
    return part;
  });
  return [parts];
}

/** Drops a match of mixed storage orders if another match reads the same tensors in one order. */
export const preferOneOrder = (matches: readonly TensorMatch[]): readonly TensorMatch[] =>
  matches.filter(
    (match) =>
      isOfOneOrder(match) ||
      !matches.some((other) => isOfOneOrder(other) && usesOf(other).join() === usesOf(match).join()),
  );

const isOfOneOrder = ({ tensors: [{ layout }, ...others] }: TensorMatch): boolean =>
  others.every((other) => other.layout === layout);

/** Returns matches of rows as maps: each gets the size of the input's map with as many cells. Drops the others. */
export const asMaps = (query: HeadQuery, matches: readonly TensorMatch[]): TensorMatch[] =>
  matches.flatMap((match) => {
    const map = gridsOf(query).find(({ cells }) => cells === match.view.cells);
    return map ? { ...match, view: { ...match.view, w: map.w, h: map.h } } : [];
  });
