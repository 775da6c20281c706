/**
 * Finds every way in which a list of tensors can be what the config says. One interpretation left makes the plan.
 * None, or more than one, is refused (`refuse.ts`): a shape that could mean two things is never guessed.
 */
import { READINGS } from "../core/readings.ts";
import { EXPORTS, isCounted } from "./exports.ts";
import { cellsOf, type Grid, gridsOf, gridsOfRows, USUAL_LIST } from "../shapes/grids.ts";
import type { HeadDraft, Interpretation, Specs } from "./head.ts";
import { preferred } from "./match.ts";
import { type HeadQuery, namesOf } from "./query.ts";

/**
 * Returns the distinct interpretations of the tensors. If some use every output that `roles` names, only those.
 */
export function interpret(query: HeadQuery, specs: Specs): readonly Interpretation[] {
  const named = namesOf(query.roles);
  return preferred(distinct(readAll(query, specs)), ({ uses }) =>
    specs.every(({ name }, i) => !named.includes(name) || uses.includes(i)),
  );
}

/** Returns the interpretations of all exports of the family, without accidents of shapes. */
export function readAll(query: HeadQuery, specs: Specs): readonly Interpretation[] {
  const all = query.traits.exports
    .flatMap((name) => {
      const form = EXPORTS[name];
      if (!form.counted) return form.read(query, specs);
      return isCounted(query) ? form.read(query, specs) : [];
    })
    .filter(({ name }) => query.reading === null || name === query.reading);
  return settleEndToEnd(query, settleMaps(query, fullest(all)));
}

/**
 * Drops a reading if another reading uses all of its tensors and at least one more. A map can be as wide as a cell has
 * channels: [1,64,80,80] beside 15 classes and an angle looks like 80 channels of 64 x 80 cells.
 */
export const fullest = <R extends Pick<Interpretation, "uses">>(all: readonly R[]): readonly R[] =>
  all.filter(
    ({ uses }) =>
      !all.some((other) => other.uses.length > uses.length && uses.every((i) => other.uses.includes(i))),
  );

/**
 * Drops one of two readings of [N,R,6]: rows of cells of a network with two classes (or one class and objectness), and
 * an end-to-end result. Rows of cells come one per cell of the maps, so the input size decides where it is known.
 */
function settleEndToEnd(query: HeadQuery, all: readonly Interpretation[]): readonly Interpretation[] {
  const isList = ({ name }: Interpretation): boolean => READINGS[name].looksRaw === true;
  const [list] = all.filter(isList);
  const rest = all.filter((r) => !isList(r));
  if (!list || rest.length === 0 || !query.inputSize) return all;
  const raw = rest.filter((r) => mapsOfRows(query, r) > (query.strides ? 0 : 2));
  // An input with as many cells as exporters list detections, such as 120x118, leaves both readings open.
  if (raw.length > 0) return cellsOf(list.heads) === USUAL_LIST ? all : raw;
  // The row count may equal the cells of one or two maps by chance, as with 300 detections and 20 x 15 cells.
  if (rest.some((r) => mapsOfRows(query, r) > 0)) return query.traits.endToEnd ? [list] : all;
  // A caller who states centres may mean rows of cells, since an export with NMS inside gives corners.
  if (query.boxFormat?.startsWith("c")) return all;
  return all.every(({ heads }) => cellsOf(heads) === cellsOf(list.heads)) ? all.filter(isList) : all;
}

/** Returns how many maps the input has that add up to the cells of an interpretation; 0 if none do. */
const mapsOfRows = (query: HeadQuery, { heads }: Interpretation): number =>
  gridsOfRows(query, cellsOf(heads))?.length ?? 0;

/**
 * Drops maps that the input does not have, and rows that are a map of the input. [N,K,1,w] is a map one cell high and
 * the shape of planes too; [N,R,K] is rows of a batch and a map without one. Rows that fill three maps stand beside the
 * map: [1,20,84] at 64x64 is 16 classes in planes, and 17 bins of 20 cells.
 */
function settleMaps(query: HeadQuery, all: readonly Interpretation[]): readonly Interpretation[] {
  const grids = gridsOf(query);
  const isMaps = ({ name }: Interpretation): boolean => READINGS[name].maps === true;
  const isGrid = ({ gridWidth, cells }: HeadDraft): boolean =>
    grids.some((g) => g.w === gridWidth && g.cells === cells);
  const ours = all.filter((r) => isMaps(r) && r.heads.every(isGrid));
  const isMapToo = ({ uses }: Interpretation): boolean =>
    ours.some((map) => uses.every((i) => map.uses.includes(i)));
  // A map that exporters add beside boxes and scores may have the shape of rows: [1,1,8,12] is 8 channels of 12 cells.
  const isBesides = ({ tensors }: Interpretation): boolean =>
    ours.length > 0 &&
    tensors.flat().every(({ dims }) => dims.length === 4 && grids.some((g) => isMapOf(dims, g)));
  const remaining = all.filter(
    (r) => !READINGS[r.name].rows || mapsOfRows(query, r) > 2 || !(isMapToo(r) || isBesides(r)),
  );
  return grids.length > 0 ? preferred(remaining, (r) => !isMaps(r) || ours.includes(r)) : remaining;
}

/** True if a tensor of four dimensions is a map of the grid, channels first or last. */
const isMapOf = ([, a, b, c]: readonly number[], { w, h }: Grid): boolean =>
  (b === h && c === w) || (a === h && b === w);

/** Drops interpretations whose heads compute the same as those of another one. */
export function distinct<R extends Pick<Interpretation, "heads">>(all: readonly R[]): readonly R[] {
  if (all.length < 2) return all;
  const seen = new Map<string, R>();
  for (const interpretation of all) {
    const key = keyOf(interpretation.heads);
    if (!seen.has(key)) seen.set(key, interpretation);
  }
  return [...seen.values()];
}

/** Returns a text that is the same for heads that compute the same. Compares arrays, such as priors, by length only. */
function keyOf(all: readonly HeadDraft[]): string {
  // With a single cell, the step from cell to cell means nothing; with a single class, the step from class to class.
  const isOneCell = all.every(({ cells }) => cells === 1);
  const heads = all.map(({ about: _, origin: __, ...head }) =>
    head.classes === 1 ? { ...head, score: { ...head.score, channel: 0 } } : head,
  );
  return JSON.stringify(heads, (key, value: unknown) => {
    if (isOneCell && key === "cell") return 0;
    return ArrayBuffer.isView(value) ? value.byteLength : value;
  });
}
