/** Notes of a plan: sentences about likely mistakes in a config or in tensors. Decoding goes on despite a note. */
import type { Rules } from "../core/rules.ts";
import { FAMILIES, TRAITS } from "../core/families.ts";
import { type FamilyReason, notesOnNames } from "../core/family-names.ts";
import { READINGS, type ReadingName } from "../core/readings.ts";
import { few, list, shape, type TensorSpec, volume } from "../core/tensor.ts";
import { areAllCells, areUsualStrides, cellsOf, gridsOfRows } from "../shapes/grids.ts";
import type { HeadDraft, HeadTensor, Interpretation } from "../heads/head.ts";
import { type HeadQuery, namesOf } from "../heads/query.ts";
import { unreadMap } from "./check.ts";
import { notesOfLabels } from "./label-notes.ts";
import type { Plan } from "./plan.ts";

/** Usual counts of rows per cell: one, or one per anchor. */
const ROWS_PER_CELL = [1, 2, 3, 5];

/** Returns a note if the evidence that determined the family fits another family nearly as well. */
export function notesOfFamily({ family, traits }: HeadQuery, { kind, value }: FamilyReason): string[] {
  if (kind === "exporter")
    return [
      `read as ${family}: only tools.luxonis.com names a file like "${value}", and with anchors it ` +
        "takes YOLOv5 and v7 alone. Another network needs the option family",
    ];
  if (kind === "default" && traits.head === "anchor")
    return [
      `the family was guessed, as nothing names it: read as ${family}. ${FAMILIES.filter((other) => TRAITS[other].exports.includes("anchor-maps")).join(", ")} ` +
        "have maps of these shapes and other boxes: the option family says which it is",
    ];
  return kind === "subtype" && traits.objectness === "gate"
    ? [
        `scores are class scores alone, as in depthai-core. Archives mark ${traits.like} as "${value}" ` +
          `too: if it is one, say family: "${traits.like}", which multiplies by objectness`,
      ]
    : [];
}

/**
 * Returns a note if the cell count differs from that of the last plan with the same input size: the tensors may be of
 * another network.
 */
export function noteOfChange(before: Plan, { reading, inputSize, heads }: Plan): string | null {
  const size = inputSize?.join("x");
  const [was, is] = [before.heads, heads].map((all) => all.reduce((sum, { cells }) => sum + cells, 0));
  const hasGrid = READINGS[reading].cells === "map" && READINGS[before.reading].cells === "map";
  return hasGrid && was !== is && size !== undefined && size === before.inputSize?.join("x")
    ? `tensors of ${is} cells come after tensors of ${was}, and both would be of a ${size} input: are both of this network?`
    : null;
}

/** Returns the notes of an interpretation. */
export function notesOf(
  query: HeadQuery,
  { name, heads, notes, inputSize }: Interpretation,
  { pixelOffset }: Rules,
  specs: readonly TensorSpec[],
  leftOver: readonly TensorSpec[],
): string[] {
  const named = namesOf(query.roles);
  const reading = READINGS[name];
  const unused = areSums(leftOver, heads) ? [] : leftOver;
  return [
    ...notes,
    ...notesOnNames(query.family, query.boxFormat, [query.modelName, ...specs.map((spec) => spec.name)]),
    ...(reading.maps ? [...strangeMaps(heads, query), ...mixedOrders(heads, specs)] : []),
    ...(unused.length > 0
      ? [`left alone: ${list(unused)}${reading.maps ? lostBesides(heads, unused, inputSize) : ""}`]
      : []),
    ...(query.anchorSets?.length && query.traits.head !== "anchor"
      ? [`${query.family} has no anchors: those given are not used`]
      : []),
    ...notRead(query, name, heads),
    ...notesOfLabels(query, heads),
    ...(named.length > 0 && !specs.some((s) => named.includes(s.name))
      ? [`roles name none of these outputs: ${few(named, 6)}`]
      : []),
    ...(pixelOffset === 1 && inputSize === null
      ? ["pixelOffset waits for an input size: no pixel is added"]
      : []),
    ...(query.keep?.length === 0 ? ["keep names no class: nothing will be found"] : []),
    ...(reading.rowPerCell ? strangeRows(query, cellsOf(heads)) : []),
    ...(reading.looksRaw && areAllCells({ inputSize, strides: query.strides }, cellsOf(heads))
      ? [
          `${cellsOf(heads)} rows are all cells of the input: the network suppressed nothing, so boxes are suppressed here`,
        ]
      : []),
  ];
}

/**
 * True if the tensors are the one-channel maps that Rockchip's exporters write beside distances and classes. They hold
 * the sum of each cell's class scores, by which Rockchip's decoders skip cells early.
 */
const areSums = (tensors: readonly TensorSpec[], heads: readonly HeadDraft[]): boolean =>
  tensors.length === heads.length &&
  heads.every(
    ({ kind, classes, gridWidth, cells }) =>
      kind === "distance" &&
      classes > 1 &&
      tensors.some(
        ({ dims }) =>
          dims.length === 4 &&
          dims.includes(1, 1) &&
          dims.includes(gridWidth, 2) &&
          volume(dims) === dims[0] * cells,
      ),
  );

/** Returns a note if maps of a network are read in different storage orders that no option states. */
function mixedOrders(heads: readonly HeadDraft[], specs: readonly TensorSpec[]): string[] {
  // The storage order does not matter for a map with one cell or one channel.
  const isTold = ({ name, dims }: HeadTensor): boolean =>
    dims.filter((d) => d !== 1).length > 1 && specs.find((s) => s.name === name)?.order === null;
  const tensors = heads.flatMap(({ origin }) => origin.tensors).filter(isTold);
  const odd = tensors.find(({ layout }) => layout !== tensors[0].layout);
  return odd
    ? [
        `${shape(tensors[0])} is read as ${tensors[0].layout}, and ${shape(odd)} as ${odd.layout}: do all dims say the ` +
          "order of the data? An order beside the dims settles it",
      ]
    : [];
}

/** Readings that may have a score column for the background. */
const WITH_BACKGROUND: readonly ReadingName[] = [
  ...(["detection-output", "postprocess", "queries", "boxes-scores", "class-scores"] as const),
  ...(["prior-rows", "prior-maps"] as const),
];

/** Returns a note about options that the interpretation ignores: the caller may expect another network. */
function notRead(query: HeadQuery, name: ReadingName, heads: readonly HeadDraft[]): string[] {
  const { priors, anchors, finished } = READINGS[name];
  // Skip priors that were built for the family: the caller did not pass them.
  const isBuilt = query.traits.buildPriors !== undefined;
  const hasPriors = priors === true || isBuilt || heads.some((head) => head.priors !== null);
  const isVaried = query.variances !== null;
  const unread = [
    ...(hasPriors ? [] : [query.priors && "priors", query.priorFormat && "priorFormat"]),
    ...(hasPriors || !isVaried ? [] : [query.scalesGiven ? "scales" : "variances"]),
    ...(query.background === null || WITH_BACKGROUND.includes(name) ? [] : ["background"]),
    ...(anchors || query.scaleXY === null ? [] : ["scaleXY"]),
    ...(finished && query.strides ? ["strides"] : []),
  ].filter((option) => option !== null);
  if (unread.length === 0) return [];
  const are = unread.length > 1 ? "are" : "is";
  return [
    `${unread.join(", ")} ${are} not used: ${query.family} is read as "${name}", which has no such thing`,
  ];
}

/** Returns a note if the row count does not fit the cell count of maps at usual strides. */
const strangeRows = (query: HeadQuery, rows: number): string[] =>
  query.inputSize && !ROWS_PER_CELL.some((n) => gridsOfRows(query, rows / n))
    ? [
        `${rows} rows are not the cells of a ${query.inputSize.join("x")} input at the usual strides: is that its size?`,
      ]
    : [];

/**
 * Returns a note if the strides are whole numbers but differ from those of published networks. With a wrong input size,
 * boxes would be too large or too small.
 */
function strangeStrides(
  heads: readonly HeadDraft[],
  [width, height]: readonly [number, number],
  family: string,
): string[] {
  const maps = new Map(heads.map(({ gridWidth, cells }) => [gridWidth, cells / gridWidth]));
  const widths = [...maps.keys()].sort((a, b) => b - a);
  const strides = widths.map((w) => width / w);
  const isWhole = widths.every(
    (w, i) => Number.isInteger(strides[i]) && (maps.get(w) as number) * strides[i] === height,
  );
  if (!isWhole) return [];
  if (areUsualStrides(strides)) return lostMaps(strides, heads[0].bins > 0);
  // Two maps usually have strides 16 and 32, three maps 8, 16 and 32.
  const scale = strides.length > 3 ? 8 / strides[0] : 32 / strides[strides.length - 1];
  const isScaled = strides.length > 1 && areUsualStrides(strides.map((s) => s * scale));
  const meant = isScaled ? `${width * scale}x${height * scale}` : "of this size";
  return [
    `maps ${widths.join(", ")} cells wide have the strides ${strides.join(", ")} in a ${width}x${height} input, ` +
      `and ${family} usually has 8, 16, 32: is the input ${meant}? The option strides settles it`,
  ];
}

/**
 * Returns a note if a map seems to be missing. Published networks with fewer than three maps have strides 16 and 32, or
 * a single map. Networks with distributions of distances always have maps at strides 8, 16 and 32.
 */
function lostMaps(strides: readonly number[], isDistribution: boolean): string[] {
  const lost = [8, 16, 32].filter((stride) => !strides.includes(stride));
  return lost.length > 0 && (isDistribution || (strides[0] === 8 && strides.length > 1))
    ? [`no map has stride ${lost.join(" or ")}: ${LOST}. The option strides settles it`]
    : [];
}

const LOST = "objects of that size are lost if the network has one";

/** Returns text about the first map that no head reads, if unread tensors have its size. Empty if there is none. */
function lostBesides(
  heads: readonly HeadDraft[],
  unused: readonly TensorSpec[],
  inputSize: HeadQuery["inputSize"],
): string {
  const lost = unreadMap(heads, unused, inputSize)?.grid;
  return lost ? `; no map at stride ${lost.stride} is read: ${LOST}. Do anchors and classes fit it?` : "";
}

/**
 * Returns a note if a map does not fit the input at any stated stride, or, without stated strides, at any power of two.
 * Nearly every cell count fits some stride, so others do not count: 26 cells in 640 pixels have stride 25.
 */
function strangeMaps(
  heads: readonly HeadDraft[],
  { inputSize: size, family, strides, traits }: HeadQuery,
): string[] {
  if (size === null) return [];
  // Networks may count the incomplete cell at the input's edge or omit it.
  const roundings = [Math.ceil, Math.floor];
  const fits = (map: readonly number[]): boolean =>
    (strides ?? POWERS).some((stride) =>
      map.every((cells, axis) => roundings.some((round) => round(size[axis] / stride) === cells)),
    );
  const maps = heads.map(({ gridWidth, cells }) => [gridWidth, cells / gridWidth]);
  const strange = new Set(maps.filter((map) => !fits(map)).map((map) => map.join("x")));
  const told = strides === null && !traits.peaks ? strangeStrides(heads, size, family) : [];
  if (told.length > 0 || strange.size === 0) return told;
  const usual = strides?.join(", ") ?? "8, 16, 32 or another power of two";
  return [
    `a ${size.join("x")} input has no map of ${[...strange].join(" or ")} cells at a stride of ` +
      `${usual}: is that its width and height? The option strides settles it`,
  ];
}

/** Powers of two from 2 to 1024: possible strides. */
const POWERS = /* @__PURE__ */ Array.from({ length: 10 }, (_, i) => 2 << i);
