/** Finds every interpretation of the tensors that fits the config. Callers refuse none or several. */
import { READINGS } from "../core/readings.ts";
import { EXPORTS, isCounted } from "./exports.ts";
import { cellsOf, type Grid, gridsOf, gridsOfRows, USUAL_LIST } from "../shapes/grids.ts";
import type { HeadDraft, Interpretation, Specs } from "./head.ts";
import { preferred } from "./match.ts";
import { type HeadQuery, namesOf } from "./query.ts";

/** Returns the distinct interpretations. If some use every output named in `roles`, returns only those. */
export function interpret(query: HeadQuery, specs: Specs): readonly Interpretation[] {
  const named = namesOf(query.roles);
  return preferred(distinct(readAll(query, specs)), ({ uses }) =>
    specs.every(({ name }, i) => !named.includes(name) || uses.includes(i)),
  );
}

/** Returns the interpretations by all forms of the family, without those that fit only by chance. */
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

/** Drops a reading if another one uses the same tensors and more. The first then fits by chance. */
export const fullest = <R extends Pick<Interpretation, "uses">>(all: readonly R[]): readonly R[] =>
  all.filter(
    ({ uses }) =>
      !all.some((other) => other.uses.length > uses.length && uses.every((i) => other.uses.includes(i))),
  );

/** Decides if [N,R,6] is a finished list or the undecoded rows of all cells, from R and the cell count of the input. */
function settleEndToEnd(query: HeadQuery, all: readonly Interpretation[]): readonly Interpretation[] {
  const isList = ({ name }: Interpretation): boolean => READINGS[name].looksRaw === true;
  const [list] = all.filter(isList);
  const rest = all.filter((r) => !isList(r));
  if (!list || rest.length === 0 || !query.inputSize) return all;
  const raw = rest.filter((r) => mapsOfRows(query, r) > (query.strides ? 0 : 2));
  // Keep both readings if the input has exactly as many cells as the usual list has rows, such as 120x118.
  if (raw.length > 0) return cellsOf(list.heads) === USUAL_LIST ? all : raw;
  // Prefer the list if the rows fit only one or two maps, since 300 rows may equal 20 x 15 cells by chance.
  if (rest.some((r) => mapsOfRows(query, r) > 0)) return query.traits.endToEnd ? [list] : all;
  // Keep both readings if the stated box format has centres, since lists of exports with NMS have corners.
  if (query.boxFormat?.startsWith("c")) return all;
  return all.every(({ heads }) => cellsOf(heads) === cellsOf(list.heads)) ? all.filter(isList) : all;
}

/** Returns how many maps of the input have, together, the cells of an interpretation. Returns 0 if none do. */
const mapsOfRows = (query: HeadQuery, { heads }: Interpretation): number =>
  gridsOfRows(query, cellsOf(heads))?.length ?? 0;

/**
 * Drops readings as maps that the input does not have, and readings as rows of tensors that are a map of the input. A
 * shape may fit both: [N,K,1,w] is planes or a map one cell high, [N,R,K] is rows or a map without a batch. Rows that
 * fit three maps are kept beside a map.
 */
function settleMaps(query: HeadQuery, all: readonly Interpretation[]): readonly Interpretation[] {
  const grids = gridsOf(query);
  const isMaps = ({ name }: Interpretation): boolean => READINGS[name].maps === true;
  const isGrid = ({ gridWidth, cells }: HeadDraft): boolean =>
    grids.some((g) => g.w === gridWidth && g.cells === cells);
  const ours = all.filter((r) => isMaps(r) && r.heads.every(isGrid));
  const isMapToo = ({ uses }: Interpretation): boolean =>
    ours.some((map) => uses.every((i) => map.uses.includes(i)));
  // True if all tensors of a reading as rows are 4D maps of the input's size, which exporters add to boxes and scores:
  // [1,1,8,12] looks like planes of 8 channels and 12 cells.
  const isBesides = ({ tensors }: Interpretation): boolean =>
    ours.length > 0 &&
    tensors.flat().every(({ dims }) => dims.length === 4 && grids.some((g) => isMapOf(dims, g)));
  const remaining = all.filter(
    (r) => !READINGS[r.name].rows || mapsOfRows(query, r) > 2 || !(isMapToo(r) || isBesides(r)),
  );
  return grids.length > 0 ? preferred(remaining, (r) => !isMaps(r) || ours.includes(r)) : remaining;
}

/** True if a tensor of four dimensions is a map of the grid, with channels first or last. */
const isMapOf = ([, a, b, c]: readonly number[], { w, h }: Grid): boolean =>
  (b === h && c === w) || (a === h && b === w);

/** Drops interpretations whose heads calculate the same boxes as those of another interpretation. */
export function distinct<R extends Pick<Interpretation, "heads">>(all: readonly R[]): readonly R[] {
  if (all.length < 2) return all;
  const seen = new Map<string, R>();
  for (const interpretation of all) {
    const key = keyOf(interpretation.heads);
    if (!seen.has(key)) seen.set(key, interpretation);
  }
  return [...seen.values()];
}

/** Returns a text that is equal for heads that calculate the same boxes. Compares prior tables only by length. */
function keyOf(all: readonly HeadDraft[]): string {
  // Ignore the step between cells if there is one cell, and the step between classes if there is one class.
  const isOneCell = all.every(({ cells }) => cells === 1);
  const heads = all.map(({ about: _, origin: __, ...head }) =>
    head.classes === 1 ? { ...head, score: { ...head.score, channel: 0 } } : head,
  );
  return JSON.stringify(heads, (key, value: unknown) => {
    if (isOneCell && key === "cell") return 0;
    return ArrayBuffer.isView(value) ? value.byteLength : value;
  });
}
