/**
 * Shapes -> readings: every way in which a list of tensors can be what the config says.
 *
 * One reading left: that is the plan. None, or more than one: it is refused with the list (`refusals.ts`), since a shape that could mean two
 * things is never guessed.
 */
import type { AnchorSet } from "../config/types.ts";
import type { Family } from "../core/families.ts";
import { cellsOf, gridsOf, gridsOfRows, preferred } from "./match.ts";
import type { HeadQuery } from "./query.ts";
import type { ReadShapes, Interpretation, Specs } from "./head.ts";
import { anchorGrid, distances, fastestdet, points } from "./maps.ts";
import { decodedDistances, detectionOutput, objectnessRows, postprocess, queries } from "./rows.ts";
import { boxesScores, offsetsOrBoxes, priorRows } from "./ssd.ts";

/** Shapes for a message: tensors of so many channels each. */
const shapesOf = (channels: readonly (number | string)[], before: string, after: string): string =>
  channels.map((k) => `[1,${before}${k}${after}]`).join(" + ");

/** A map for each set of anchors. */
const mapsWithAnchors = (sets: readonly AnchorSet[], classes: number): string =>
  `${sets.map((s) => `[1,${s.anchors.length} x (5+${classes}),h,${s.side ?? "w"}]`).join(", ") || "maps"} (anchors: got ${sets.length || "none"}, one list for each map)`;

const mapsOf = (...channels: number[]): string => shapesOf(channels, "", ",h,w");

const rowsOf = (...channels: (number | string)[]): string => shapesOf(channels, "N,", "");

const rowsOfBoxes = (classes: number): string => rowsOf(4, classes || "C");

const rowsOfDetections = (): string => "[1,1,N,7]";

/** How many rows N there are of heads whose rows are the cells of all maps. */
const withInput = (q: HeadQuery): string =>
  q.inputSize
    ? `N = ${cellsOf(gridsOf(q, [8, 16, 32]))} for inputSize ${q.inputSize.join("x")}`
    : "with inputSize";

/** Readings, and the shapes they are for. */
type Readers = readonly [(classes: number, q: HeadQuery) => string, ...ReadShapes[]];

type GridHead = "anchor" | "point" | "distance";

/** Those of a family, or else, of the YOLOs, of their kind of head. */
const SHAPE_READERS: { readonly [name in GridHead | Exclude<Family, `yolo${string}`>]: Readers } = {
  anchor: [
    (c, { anchorSets }) => `${mapsWithAnchors(anchorSets ?? [], c)}; ${rowsOf(5 + c)}`,
    anchorGrid,
    objectnessRows,
  ],
  point: [(c, q) => `${mapsOf(5 + c)}; ${rowsOf(5 + c)}, ${withInput(q)}`, points],
  distance: [
    (c) => [rowsOf(4 + c), rowsOf(4, c), mapsOf(5 + c), mapsOf(64, c), rowsOf(6)].join("; "),
    distances,
    decodedDistances,
  ],
  nanodet: [(c, q) => `${rowsOf(32, c)}; ${rowsOf(32 + c)}; ${withInput(q)}`, distances],
  fastestdet: [(c) => mapsOf(5 + c), fastestdet],
  detr: [(c) => `${rowsOf(4, c)}; ${rowsOf(4, c + 1)}`, queries],
  ssd: [
    (_, { priors, variances }) =>
      `${rowsOfDetections()}; ${rowsOf(4, "C")} with 4 N numbers in the option priors (got ${priors?.length ?? "none"}; boxwright/priors makes those of standard networks), and variances or scales (got ${variances ? "them" : "none"}), or 8 N with variances behind`,
    priorRows,
    detectionOutput,
  ],
  "ssd-detection-output": [rowsOfDetections, detectionOutput],
  "tflite-postprocess": [
    () => `${rowsOf(4, 1, 1)} + [1], told apart by name or by roles: {boxes, labels, scores, count}`,
    postprocess,
  ],
  blazeface: [() => `${rowsOf(16, 1)} with inputSize`, priorRows],
  ultraface: [
    (c) => `${rowsOfBoxes(c)} with variances, or with boxFormat: "xyxy" if they are decoded`,
    offsetsOrBoxes,
  ],
  boxes: [
    (c) => `${rowsOfBoxes(c)}; ${rowsOf(4)} + [1,N] + [1,N] with roles: {boxes, scores, labels}`,
    boxesScores,
  ],
};

const readersOf = (q: HeadQuery): Readers =>
  (SHAPE_READERS as { readonly [F in Family]?: Readers })[q.family] ??
  SHAPE_READERS[q.traits.head as GridHead];

/** What the family's tensors look like, for a message. */
export const expectedShapes = (q: HeadQuery): string =>
  Number.isNaN(q.classes) && /anchor|point|distance|detr/.test(q.traits.head + q.family)
    ? "the number of classes (option classes, or labels)"
    : `${readersOf(q)[0](q.classes, q)}, channels first or last`;

/** Every reading of `specs` under the question. Empty: none fits. */
export function interpret(q: HeadQuery, specs: Specs): readonly Interpretation[] {
  const [, ...readers] = readersOf(q);
  const all = readers
    .flatMap((read) => read(q, specs))
    .filter((r) => q.reading === null || r.name === q.reading);
  return settleEndToEnd(q, settleMaps(q, dominant(all)));
}

/** A reading that explains only some of the tensors another one explains is an accident of their shapes. */
const dominant = (all: readonly Interpretation[]): Interpretation[] =>
  all.filter(
    (r) => !all.some((o) => o.uses.length > r.uses.length && r.uses.every((i) => o.uses.includes(i))),
  );

/**
 * [N,R,6] of a two-class (or one-class, with objectness) network is also the shape of an end-to-end result. Where
 * the input size is known, arithmetic tells: raw rows come one for each cell of the maps.
 */
function settleEndToEnd(q: HeadQuery, all: readonly Interpretation[]): readonly Interpretation[] {
  const [end] = all.filter(isEnd);
  const rest = all.filter((r) => !isEnd(r));
  if (!end || rest.length === 0 || !q.inputSize) return all;
  const cells = (r: Interpretation): number => cellsOf(r.heads);
  const raw = rest.filter((r) => mapsOfRows(q, r) > (q.strides ? 0 : 2));
  if (raw.length > 0) return raw;
  // as many as one or two maps have cells may be chance: 300 detections, and 20 x 15 cells
  if (rest.some((r) => mapsOfRows(q, r))) return /10|26/.test(q.family) ? [end] : all;
  // an export with NMS inside gives corners: whoever says otherwise may mean the other reading
  if (q.boxFormat?.startsWith("c")) return all;
  return all.every((r) => cells(r) === cells(end)) ? all.filter(isEnd) : all;
}

const isEnd = (r: Interpretation): boolean => r.name === "end-to-end";

/** How many maps the input has that add up to the cells of a reading. */
const mapsOfRows = (q: HeadQuery, r: Interpretation): number => gridsOfRows(q, cellsOf(r.heads))?.length ?? 0;

/**
 * [N,K,1,w] is a map one cell high, and the shape of planes too; [N,R,K] is rows of a batch, and a map without one. A map that
 * the input has at some stride is that map, and one that it has at none is no map where another reading stands. Rows that fill
 * three maps stand beside it: [1,20,84] at 64x64 is 16 classes in planes, and 17 bins of 20 cells.
 */
function settleMaps(q: HeadQuery, all: readonly Interpretation[]): readonly Interpretation[] {
  const sizes = gridsOf(q);
  const isGrid = (r: Interpretation): boolean => /-grid$/.test(r.name);
  const grids = all.filter(
    (r) => isGrid(r) && r.heads.every((h) => sizes.some((g) => g.w === h.gridWidth && g.cells === h.cells)),
  );
  const left = all.filter(
    (r) =>
      !/-rows$/.test(r.name) ||
      mapsOfRows(q, r) > 2 ||
      !grids.some((g) => r.uses.every((i) => g.uses.includes(i))),
  );
  return sizes.length > 0 ? preferred(left, (r) => !isGrid(r) || grids.includes(r)) : left;
}
