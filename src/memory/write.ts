/** Writes a plan and its thresholds into memory, in the format of core/abi.ts. */
import * as A from "../core/abi.ts";
import type { Config } from "../config/types.ts";
import { highest, rawThresholds, smallestPassing } from "./thresholds.ts";
import type { Columns, MemoryLayout } from "./layout.ts";
import type { Memory } from "../core/memory.ts";
import { listStart, withGaps } from "../plan/classes.ts";
import type { GatherHead, Plan } from "../plan/plan.ts";
import { cellsOf } from "../shapes/grids.ts";
import type { Fn, Head, Kind } from "../heads/head.ts";
import { ELEMENTS, type TensorSpec, volume } from "../core/tensor.ts";
import { type Column, beside } from "../heads/channels.ts";

/** Transform of normalised boxes from input to image: x_image = x_input * scale + shift, as in the plan block. */
export type Affine = readonly [scaleX: number, scaleY: number, shiftX: number, shiftY: number];

/** The identity transform. */
export const IDENTITY: Affine = [1, 1, 0, 0];

/** A plan in memory, with all that an engine needs. */
export interface MemoryImage {
  readonly memory: Memory;
  readonly plan: Plan;
  readonly layout: MemoryLayout;
}

/** Thresholds that may change between frames. */
export type Thresholds = Pick<Config, "confidenceThreshold" | "iouThreshold" | "maxDetections">;

const KINDS: { readonly [K in Kind]: number } = {
  grid: A.KIND_GRID,
  distance: A.KIND_DISTANCE,
  prior: A.KIND_PRIOR,
  centre: A.KIND_CENTRE,
  corners: A.KIND_CORNERS,
  topleft: A.KIND_TOPLEFT,
};
const FNS: { readonly [F in Fn]: number } = {
  none: A.FN_NONE,
  sigmoid: A.FN_SIGMOID,
  softmax: A.FN_SOFTMAX,
  tanh: A.FN_TANH,
  exp: A.FN_EXP,
  square: A.FN_SQUARE,
  squareSigmoid: A.FN_SQUARE_SIGMOID,
  clamp: A.FN_CLAMP,
};
const HEAD_RULE_CODES: { readonly [R in Head["rule"]]: number } = {
  class: A.RULE_CLASS,
  product: A.RULE_PRODUCT,
  objectness: A.RULE_OBJECTNESS,
  power: A.RULE_POWER,
};
const NMS = { none: 0, class: A.FLAG_NMS_CLASS, all: A.FLAG_NMS_ALL };
const CLAMP = {
  none: 0,
  before: A.FLAG_CLAMP_BEFORE,
  after: A.FLAG_CLAMP_AFTER,
  centre: A.FLAG_CLAMP_CENTRE,
};

export function writeImage(image: MemoryImage, thresholds: Thresholds): void {
  writePlan(image);
  writeThresholds(image, thresholds);
  for (const block of image.layout.blocks) writeAffine(image.memory, block, IDENTITY);
}

/** Writes everything of a plan except thresholds and transforms, which may change between frames. */
export function writePlan(image: MemoryImage): void {
  const { memory: m, plan, layout } = image;
  layout.blocks.forEach((_, k) => {
    writeBlock(image, k);
    plan.heads.forEach((_, i) => writeHead(image, k, i));
  });
  plan.heads.forEach((h, i) => {
    if (h.priors) m.f32.set(h.priors, layout.priors[i] >> 2);
    m.i32.set(keptClasses(plan, h) ?? [], layout.classLists[i] >> 2);
  });
}

/** Returns the kept class channels of a head, or the kept class ids if the head has a column of ids. null: all. */
function keptClasses({ keep }: Plan, h: Head): readonly number[] | null {
  if (!keep || h.classId) return keep;
  return keep.map((c) => c - h.classBase).filter((c) => c >= 0 && c < h.classes);
}

/** Returns the class channel of a head that keeps only one, else null. The kernel then sees a head of one class. */
function onlyClass(plan: Plan, h: Head): number | null {
  const kept = keptClasses(plan, h);
  return kept?.length === 1 && !h.classId ? kept[0] : null;
}

const imageOf = (plan: Plan, block: number): number => block % plan.batch;

/** Returns the index of the first element of an image of the batch, in the tensor of a column. */
export const imageStart = (
  { tensors, batch }: Pick<Plan, "tensors" | "batch">,
  { tensor }: Pick<Column, "tensor">,
  image: number,
): number => (volume(tensors[tensor].dims) / batch) * image;

/** Writes the words P_HEADS to P_MAX_CANDIDATES of the plan block at `at`, and the sizes of the scratch. */
export function writeColumns(
  { i32 }: Memory,
  at: number,
  columns: Columns,
  image: number,
  heads: number,
  records: number,
  maxCandidates: number,
): void {
  const d = columns.detections[image];
  i32.set(
    [
      heads,
      records,
      columns.capacity,
      columns.scores,
      columns.classIds,
      columns.sources,
      columns.boxes,
      columns.order,
      columns.spare,
      columns.counts,
      columns.scratch,
      columns.chains,
      columns.kept,
      d.boxes,
      d.scores,
      d.classIds,
      d.sources,
      maxCandidates || 0x7fffffff,
    ],
    (at >> 2) + A.P_HEADS,
  );
  i32[(at >> 2) + A.P_COLUMN] = columns.scan.column;
  i32[(at >> 2) + A.P_ROWS] = columns.scan.rows;
}

function writeBlock({ memory: m, plan, layout }: MemoryImage, block: number): void {
  const { rules, inputSize, heads } = plan;
  const at = layout.blocks[block];
  const p = at >> 2;
  writeColumns(m, at, layout, imageOf(plan, block), heads.length, layout.records[block], rules.maxCandidates);
  m.i32[p + A.P_FLAGS] =
    // Suppression does not compare classes if all candidates have the same class.
    NMS[
      rules.suppress === "class" &&
      (plan.keep?.length === 1 || heads.every((h) => !h.classId && h.classes < 2))
        ? "all"
        : rules.suppress
    ] |
    CLAMP[rules.clamp] |
    (rules.iouGate === ">=" ? A.FLAG_SUPPRESS_EQUAL : 0) |
    (rules.multiLabel ? A.FLAG_MULTI_LABEL : 0);
  if (inputSize)
    m.f32.set(
      inputSize.map((n) => rules.pixelOffset / n),
      p + A.P_OFFSET_X,
    );
}

/** Writes a head record. In the block for gathered rows, channels are adjacent, and a list has the cell of each row. */
export function writeHead(image: MemoryImage, block: number, index: number): void {
  const { memory, plan, layout } = image;
  const { i32, f32 } = memory;
  const h = plan.heads[index];
  const source = cellsOf(plan.heads.slice(0, index));
  const r = (layout.records[block] >> 2) + index * A.HEAD_WORDS;
  const gathered = layout.blocks[block] === layout.gatherBlock ? (plan.gather?.[index] ?? null) : null;
  const spec = (f: Column): TensorSpec => plan.tensors[f.tensor];
  const bytes = (f: Column): number => ELEMENTS[spec(f).type].bytes;
  const address = (f: Column, offset = f.offset): number =>
    gathered
      ? gatherRegion(image, index) + ((offset - gathered.offset) / gathered.channel) * bytes(f)
      : layout.slots[f.tensor] + (imageStart(plan, f, imageOf(plan, block)) + offset) * bytes(f);
  const cellStep = (f: Column): number => (gathered?.channels ?? f.cell) * bytes(f);
  const channelStep = (f: Column): number => (gathered ? 1 : f.channel) * bytes(f);
  const typeOf = (f: Column): number => ELEMENTS[spec(f).type].code;
  // Write words that are adjacent in abi.ts together.
  const words = (first: number, ...values: number[]): void => i32.set(values, r + first);
  const floats = (first: number, ...values: number[]): void => f32.set(values, r + first);
  const scale = (first: number, f: Column): void => floats(first, spec(f).scale ?? 1, spec(f).zeroPoint);
  const { score, objectness, classId, marker, count, box, softmax } = h;
  const kept = keptClasses(plan, h);
  const only = onlyClass(plan, h);
  // Scan no cells if no class of the head is kept, or if no rows are gathered yet.
  words(A.H_CELLS, kept?.length === 0 || gathered ? 0 : h.cells);
  words(A.H_RULE, HEAD_RULE_CODES[h.rule]);
  words(A.H_SOURCE, source, gathered ? layout.gatherIndex + source * 4 : 0);
  words(
    A.H_SCORE_TYPE,
    typeOf(score),
    address(beside(score, only ?? 0)),
    channelStep(score),
    cellStep(score),
  );
  scale(A.H_SCORE_SCALE, score);
  words(A.H_SCORE_FN, FNS[h.scoreFn]);
  words(
    A.H_CLASSES,
    !kept || classId ? h.classes : kept.length,
    h.classBase + (only ?? 0),
    only === null ? layout.classLists[index] : 0,
  );
  if (softmax) words(A.H_SOFT, address(score, softmax.offset), softmax.count);
  if (objectness) {
    words(A.H_OBJ_TYPE, typeOf(objectness), address(objectness), cellStep(objectness));
    scale(A.H_OBJ_SCALE, objectness);
    words(A.H_OBJ_FN, FNS[h.objectnessFn]);
  }
  if (classId) {
    words(A.H_CLASS_ID_TYPE, typeOf(classId), address(classId), cellStep(classId));
    scale(A.H_CLASS_ID_SCALE, classId);
  }
  if (marker) words(A.H_MARKER, address(marker), cellStep(marker));
  if (count) words(A.H_COUNT, address(count), typeOf(count));
  words(
    A.H_KIND,
    KINDS[h.kind],
    typeOf(box),
    cellStep(box),
    ...h.boxChannels.map((c) => address(box, box.offset + c)),
  );
  scale(A.H_BOX_SCALE, box);
  words(A.H_BIN, channelStep(box), h.bins, h.gridWidth, FNS[h.xyFn]);
  floats(A.H_XY_SCALE, h.xyScale, h.xyBias);
  words(A.H_WH_FN, FNS[h.whFn]);
  floats(A.H_W, ...h.size, ...h.unit);
  words(A.H_TABLE, layout.priors[index]);
  floats(A.H_V0, ...h.variances);
  floats(A.H_MAX_PROBABILITY, highest(plan, score, h.scoreFn));
  floats(A.H_MAX_OBJECTNESS, highest(plan, objectness, h.objectnessFn));
}

/** Returns the address of a head's gathered rows. Heads of one tensor divide its slot, each with room for all cells. */
export function gatherRegion({ plan, layout }: MemoryImage, index: number): number {
  const gather = plan.gather as readonly GatherHead[];
  const { tensor } = gather[index];
  let at = layout.slots[tensor];
  for (let i = 0; i < index; i++)
    if (gather[i].tensor === tensor)
      at += plan.heads[i].cells * gather[i].channels * ELEMENTS[plan.tensors[tensor].type].bytes;
  return at;
}

/** Writes the thresholds, also converted to raw thresholds for each head. */
export function writeThresholds({ memory, plan, layout }: MemoryImage, t: Thresholds): void {
  const { i32, f32 } = memory;
  const { gate } = plan.rules;
  const { confidenceThreshold: confidence } = t;
  const lowest = Math.min(...[confidence].flat());
  const perClass = typeof confidence === "number" ? null : withGaps(plan, confidence, lowest);
  const passing = (x: number): number => smallestPassing(plan.task?.root ? x * x : x, gate);
  for (const at of layout.blocks) {
    f32[(at >> 2) + A.P_IOU] = t.iouThreshold;
    i32[(at >> 2) + A.P_MAX_DETECTIONS] = t.maxDetections;
  }
  plan.heads.forEach((h, i) => {
    const { classId, objectness, score } = h;
    let smallest = passing(lowest);
    let count = 0;
    const kept = keptClasses(plan, h);
    if (perClass) {
      count = kept?.length ?? (classId ? plan.classes : h.classes);
      const start = listStart(plan, perClass.length) - (classId ? 0 : h.classBase);
      const ofClasses = Array.from({ length: count }, (_, k) =>
        passing(perClass[(kept?.[k] ?? k) - start] ?? lowest),
      );
      f32.set(ofClasses, layout.classThresholds[i] >> 2);
      if (count > 0) smallest = Math.min(...ofClasses);
    }
    const raw = rawThresholds(plan, h, smallest);
    const put = (word: number, f: Column, value: number, real = false): void => {
      (real || plan.tensors[f.tensor].type === "f32" ? f32 : i32)[word] = value;
    };
    for (const at of layout.records) {
      const r = (at >> 2) + i * A.HEAD_WORDS;
      f32[r + A.H_THRESHOLD] = smallest;
      i32[r + A.H_CLASS_THRESHOLDS] = count > 0 ? layout.classThresholds[i] : 0;
      if (classId) i32[r + A.H_LIST_LENGTH] = kept?.length ?? count;
      put(r + A.H_SCORE_RAW_THRESHOLD, score, raw.score, h.scoreFn === "softmax");
      if (objectness) put(r + A.H_OBJ_RAW_THRESHOLD, objectness, raw.objectness);
    }
  });
}

/** Writes the transform from network input to image into an image's plan block. */
export function writeAffine({ f32 }: Memory, block: number, affine: Affine): void {
  const p = block >> 2;
  f32[p + A.P_SCALE_X] = affine[0];
  f32[p + A.P_SCALE_Y] = affine[1];
  f32[p + A.P_SHIFT_X] = affine[2];
  f32[p + A.P_SHIFT_Y] = affine[3];
}
