/** Room 3: writes a plan into memory, hands out slots, fills them. */
import * as A from "./abi.ts";
import { sigmoid } from "./exp.ts";
import { rawGate, smallestPassing } from "./gates.ts";
import type { Layout } from "./layout.ts";
import type { Affine } from "./letterbox.ts";
import type { Memory } from "./memory.ts";
import { type Plan, listStart } from "./plan.ts";
import type { Field, Fn, Head, Kind } from "./reading.ts";
import { TYPE_BYTES, TYPE_CODES, type TensorSpec, volume } from "./tensor.ts";

const fround = Math.fround;

/** Thresholds that may change between frames. */
export interface Thresholds {
  /** One for all classes, or one per class. */
  readonly confidence: number | readonly number[];
  readonly iou: number;
  readonly maxDetections: number;
}

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
};

const RULES: { readonly [R in Head["rule"]]: number } = {
  class: A.RULE_CLASS,
  product: A.RULE_PRODUCT,
  objectness: A.RULE_OBJECTNESS,
  power: A.RULE_POWER,
};

/** Writes everything of the plan but what changes at run time. */
export function writePlan(m: Memory, plan: Plan, layout: Layout): void {
  layout.plans.forEach((at, image) => {
    writeBlock(m, plan, layout, at, layout.heads[image], image);
    let source = 0;
    plan.heads.forEach((h, i) => {
      writeHead(m, plan, layout, h, i, layout.heads[image] + i * A.HEAD_WORDS * 4, image, source);
      source += h.cells;
    });
  });
  if (layout.gatherPlan !== 0) {
    writeBlock(m, plan, layout, layout.gatherPlan, layout.gatherHeads, 0);
    let source = 0;
    plan.heads.forEach((h, i) => {
      const at = layout.gatherHeads + i * A.HEAD_WORDS * 4;
      writeHead(m, plan, layout, h, i, at, 0, source);
      writeGathered(m, plan, layout, i, at >> 2, source);
      source += h.cells;
    });
  }
  plan.heads.forEach((h, i) => {
    if (h.priors !== null) m.f32.set(h.priors, layout.priors[i] >> 2);
    if (plan.keep !== null) m.i32.set(keptClasses(plan, h), layout.classLists[i] >> 2);
  });
}

/** Class channels of a head that are looked at (numbers within the head), or labels where a column gives them. */
export function keptClasses(plan: Plan, h: Head): number[] {
  const keep = plan.keep as readonly number[];
  if (h.label !== null) return [...keep];
  return keep.map((c) => c - h.classBase).filter((c) => c >= 0 && c < h.classes);
}

/** The channel of a head of which one class is kept: a column of its own, for which the kernel reads no list. */
function onlyClass(plan: Plan, h: Head): number | null {
  if (plan.keep === null || h.label !== null) return null;
  const kept = keptClasses(plan, h);
  return kept.length === 1 ? kept[0] : null;
}

function writeBlock(m: Memory, plan: Plan, layout: Layout, at: number, heads: number, image: number): void {
  const { i32, f32 } = m;
  const p = at >> 2;
  const { rules } = plan;
  const d = layout.detections[image];
  i32[p + A.P_HEADS] = plan.heads.length;
  i32[p + A.P_HEAD0] = heads;
  i32[p + A.P_CAPACITY] = layout.capacity;
  i32[p + A.P_SCORES] = layout.scores;
  i32[p + A.P_LABELS] = layout.labels;
  i32[p + A.P_SOURCES] = layout.sources;
  i32[p + A.P_BOXES] = layout.boxes;
  i32[p + A.P_ORDER] = layout.order;
  i32[p + A.P_SPARE] = layout.spare;
  i32[p + A.P_COUNTS] = layout.counts;
  i32[p + A.P_BLOCK] = layout.scratch;
  i32[p + A.P_CHAINS] = layout.chains;
  i32[p + A.P_KEPT] = layout.kept;
  i32[p + A.P_DET_BOXES] = d.boxes;
  i32[p + A.P_DET_SCORES] = d.scores;
  i32[p + A.P_DET_LABELS] = d.labels;
  i32[p + A.P_DET_SOURCES] = d.sources;
  i32[p + A.P_MAX_CANDIDATES] = rules.maxCandidates === 0 ? 0x7fffffff : rules.maxCandidates;
  i32[p + A.P_FLAGS] =
    (rules.nms === "class" ? A.FLAG_NMS_CLASS : rules.nms === "all" ? A.FLAG_NMS_ALL : 0) |
    (rules.suppress === ">=" ? A.FLAG_SUPPRESS_EQUAL : 0) |
    (rules.clamp === "before" ? A.FLAG_CLAMP_BEFORE : 0) |
    (rules.clamp === "after" ? A.FLAG_CLAMP_AFTER : 0) |
    (rules.clamp === "centre" ? A.FLAG_CLAMP_CENTRE : 0) |
    (rules.multiLabel ? A.FLAG_MULTI_LABEL : 0);
  const size = plan.inputSize;
  f32[p + A.P_OFFSET_X] = size === null ? 0 : rules.pixelOffset / size[0];
  f32[p + A.P_OFFSET_Y] = size === null ? 0 : rules.pixelOffset / size[1];
}

function writeHead(
  m: Memory,
  plan: Plan,
  layout: Layout,
  h: Head,
  index: number,
  at: number,
  image: number,
  source: number,
): void {
  const { i32, f32 } = m;
  const r = at >> 2;
  const spec = (f: Field): TensorSpec => plan.tensors[f.tensor];
  const bytes = (f: Field): number => TYPE_BYTES[spec(f).type];
  const address = (f: Field, offset = f.offset): number =>
    layout.slots[f.tensor] + ((volume(spec(f).dims) / plan.batch) * image + offset) * bytes(f);
  const column = (f: Field | null, type: number, word: number, cell: number): void => {
    if (f === null) return;
    i32[r + type] = TYPE_CODES[spec(f).type];
    i32[r + word] = address(f);
    i32[r + cell] = f.cell * bytes(f);
  };
  i32[r + A.H_CELLS] = h.cells;
  i32[r + A.H_RULE] = RULES[h.rule];
  i32[r + A.H_SOURCE] = source;
  i32[r + A.H_INDEX] = 0;

  column(h.score, A.H_SCORE_TYPE, A.H_SCORE, A.H_SCORE_CELL);
  i32[r + A.H_SCORE_CHANNEL] = h.score.channel * bytes(h.score);
  f32[r + A.H_SCORE_SCALE] = spec(h.score).scale ?? 1;
  f32[r + A.H_SCORE_ZERO] = spec(h.score).zeroPoint;
  i32[r + A.H_SCORE_FN] = FNS[h.scoreFn];
  const kept = plan.keep === null ? null : keptClasses(plan, h);
  i32[r + A.H_CLASSES] = kept === null || h.label !== null ? h.classes : kept.length;
  const only = onlyClass(plan, h);
  i32[r + A.H_SCORE] += (only ?? 0) * h.score.channel * bytes(h.score);
  i32[r + A.H_CLASS_BASE] = h.classBase + (only ?? 0);
  i32[r + A.H_CLASS_LIST] = kept === null || only !== null ? 0 : layout.classLists[index];
  if (h.label !== null) i32[r + A.H_LABELS] = kept === null ? 0 : kept.length;
  // nothing of this head is wanted: it is not scanned
  if (kept !== null && kept.length === 0) i32[r + A.H_CELLS] = 0;
  if (h.softmax !== null) {
    i32[r + A.H_SOFT] = address(h.score, h.softmax.offset);
    i32[r + A.H_SOFT_COUNT] = h.softmax.count;
  }

  if (h.objectness !== null) {
    column(h.objectness, A.H_OBJ_TYPE, A.H_OBJ, A.H_OBJ_CELL);
    f32[r + A.H_OBJ_SCALE] = spec(h.objectness).scale ?? 1;
    f32[r + A.H_OBJ_ZERO] = spec(h.objectness).zeroPoint;
    i32[r + A.H_OBJ_FN] = FNS[h.objectnessFn];
  }
  if (h.label !== null) {
    column(h.label, A.H_LABEL_TYPE, A.H_LABEL, A.H_LABEL_CELL);
    f32[r + A.H_LABEL_SCALE] = spec(h.label).scale ?? 1;
    f32[r + A.H_LABEL_ZERO] = spec(h.label).zeroPoint;
  }
  if (h.marker !== null) {
    i32[r + A.H_MARKER] = address(h.marker);
    i32[r + A.H_MARKER_CELL] = h.marker.cell * bytes(h.marker);
  }
  if (h.count !== null) {
    i32[r + A.H_COUNT] = address(h.count);
    i32[r + A.H_COUNT_TYPE] = TYPE_CODES[spec(h.count).type];
  }

  i32[r + A.H_KIND] = KINDS[h.kind];
  i32[r + A.H_BOX_TYPE] = TYPE_CODES[spec(h.box).type];
  i32[r + A.H_BOX_CELL] = h.box.cell * bytes(h.box);
  h.boxChannels.forEach((c, k) => (i32[r + A.H_BOX_0 + k] = address(h.box, h.box.offset + c)));
  f32[r + A.H_BOX_SCALE] = spec(h.box).scale ?? 1;
  f32[r + A.H_BOX_ZERO] = spec(h.box).zeroPoint;
  i32[r + A.H_BIN] = h.box.channel * bytes(h.box);
  i32[r + A.H_BINS] = h.bins;
  i32[r + A.H_GRID_W] = h.columns;
  i32[r + A.H_XY_FN] = FNS[h.xyFn];
  f32[r + A.H_XY_SCALE] = h.xyScale;
  f32[r + A.H_XY_BIAS] = h.xyBias;
  i32[r + A.H_WH_FN] = FNS[h.whFn];
  f32[r + A.H_W] = h.size[0];
  f32[r + A.H_H] = h.size[1];
  f32[r + A.H_KX] = h.unit[0];
  f32[r + A.H_KY] = h.unit[1];
  i32[r + A.H_TABLE] = layout.priors[index];
  h.variances.forEach((v, k) => (f32[r + A.H_V0 + k] = v));
  f32[r + A.H_CHECK] = Math.min(
    highest(plan, h.score, h.scoreFn),
    highest(plan, h.objectness, h.objectnessFn),
  );
}

/** Turns a head record into one over gathered rows: channels side by side, cell numbers in an index. */
function writeGathered(
  m: Memory,
  plan: Plan,
  layout: Layout,
  index: number,
  r: number,
  source: number,
): void {
  const { i32 } = m;
  const h = plan.heads[index];
  const g = (plan.gather as NonNullable<Plan["gather"]>)[index];
  const size = TYPE_BYTES[plan.tensors[g.tensor].type];
  const base = gatherRegion(plan, layout, index);
  const at = (offset: number): number => base + ((offset - g.offset) / g.channel) * size;
  const row = g.channels * size;
  i32[r + A.H_CELLS] = 0;
  i32[r + A.H_INDEX] = layout.gatherIndex + source * 4;
  i32[r + A.H_SCORE] = at(h.score.offset + (onlyClass(plan, h) ?? 0) * h.score.channel);
  i32[r + A.H_SCORE_CHANNEL] = size;
  i32[r + A.H_SCORE_CELL] = row;
  if (h.softmax !== null) i32[r + A.H_SOFT] = at(h.softmax.offset);
  i32[r + A.H_OBJ] = at((h.objectness as Field).offset);
  i32[r + A.H_OBJ_CELL] = row;
  i32[r + A.H_BOX_CELL] = row;
  h.boxChannels.forEach((c, k) => (i32[r + A.H_BOX_0 + k] = at(h.box.offset + c)));
}

/** Where the gathered rows of a head stand: the heads of a tensor share its slot, each with room for all its cells. */
export function gatherRegion(plan: Plan, layout: Layout, index: number): number {
  const gather = plan.gather as NonNullable<Plan["gather"]>;
  const { tensor } = gather[index];
  const size = TYPE_BYTES[plan.tensors[tensor].type];
  let at = layout.slots[tensor];
  for (let i = 0; i < index; i++)
    if (gather[i].tensor === tensor) at += plan.heads[i].cells * gather[i].channels * size;
  return at;
}

/** Largest number that counts as a probability: 1, and one step of the number type. Where logits are expected, any. */
function highest(plan: Plan, f: Field | null, fn: Fn): number {
  if (f === null || fn !== "none" || plan.activation === "logits") return Infinity;
  const s = plan.tensors[f.tensor];
  if (s.type === "f32") return 1 + 1e-5;
  return s.type === "f16" ? 1 + 2 ** -9 : 1 + fround(s.scale ?? 1);
}

/** Writes thresholds, turned into the raw domain of each head. */
export function writeThresholds(m: Memory, plan: Plan, layout: Layout, t: Thresholds): void {
  const { i32, f32 } = m;
  const { gate } = plan.rules;
  const one = typeof t.confidence === "number" ? t.confidence : Math.min(...t.confidence);
  const smallest = smallestPassing(one, gate);
  const blocks = layout.gatherPlan === 0 ? layout.plans : [...layout.plans, layout.gatherPlan];
  for (const at of blocks) {
    const p = at >> 2;
    f32[p + A.P_IOU] = t.iou;
    i32[p + A.P_MAX_DETECTIONS] = t.maxDetections;
  }
  const records = layout.gatherHeads === 0 ? layout.heads : [...layout.heads, layout.gatherHeads];
  plan.heads.forEach((h, i) => {
    const gates: number[] = [];
    if (typeof t.confidence !== "number") {
      const kept = plan.keep === null ? null : keptClasses(plan, h);
      const n = kept?.length ?? (h.label !== null ? plan.classes : h.classes);
      const start = listStart(plan, t.confidence.length);
      for (let k = 0; k < n; k++) {
        const label = (kept?.[k] ?? k) + (h.label !== null ? 0 : h.classBase);
        gates.push(smallestPassing(t.confidence[label - start] ?? one, gate));
      }
      m.f32.set(gates, layout.classGates[i] >> 2);
    }
    const raw = rawGates(plan, h, gates.length > 0 ? Math.min(...gates) : smallest);
    for (const at of records) {
      const r = (at >> 2) + i * A.HEAD_WORDS;
      f32[r + A.H_GATE] = gates.length > 0 ? Math.min(...gates) : smallest;
      i32[r + A.H_CLASS_GATES] = gates.length > 0 ? layout.classGates[i] : 0;
      if (h.label !== null && gates.length > 0 && plan.keep === null) i32[r + A.H_LABELS] = gates.length;
      else if (h.label !== null && plan.keep === null) i32[r + A.H_LABELS] = 0;
      const scoreType = plan.tensors[h.score.tensor].type;
      if (scoreType === "f32" || h.scoreFn === "softmax") f32[r + A.H_SCORE_GATE] = raw.score;
      else i32[r + A.H_SCORE_GATE] = raw.score;
      if (h.objectness !== null) {
        if (plan.tensors[h.objectness.tensor].type === "f32") f32[r + A.H_OBJ_GATE] = raw.objectness;
        else i32[r + A.H_OBJ_GATE] = raw.objectness;
      }
    }
  });
}

/** Gates of a head for scores from `smallest` up. */
function rawGates(plan: Plan, h: Head, smallest: number): { score: number; objectness: number } {
  // the kernel's own conversion, so that raw gate and converted gate agree to the last value
  const convert = (fn: Fn, x: number): number => (fn === "none" ? x : fround(sigmoid(x)));
  const o = h.objectness;
  let objectness = 0;
  let most = 1;
  if (o !== null) {
    const s = plan.tensors[o.tensor];
    objectness = rawGate(s.type, s.scale ?? 1, s.zeroPoint, (x) => {
      const c = convert(h.objectnessFn, x);
      // a score of powers may pass with an objectness below the threshold, as long as the class is sure enough
      return h.rule === "power" ? c > 0 && c ** 0.6 >= smallest * (1 - 1e-6) : c >= smallest;
    });
    if (h.objectnessFn === "none") most = Math.max(1, highest(plan, o, h.objectnessFn));
    if (!Number.isFinite(most)) most = 1;
  }
  if (h.scoreFn === "softmax")
    return { score: smallest > 0 ? Math.log(smallest) - 1e-3 : -Infinity, objectness };
  const s = plan.tensors[h.score.tensor];
  const score = rawGate(s.type, s.scale ?? 1, s.zeroPoint, (x) => {
    const c = convert(h.scoreFn, x);
    if (h.rule === "product") return fround(most * c) >= smallest;
    // pow here and in the kernel may differ by a step: let a little too much through, the kernel decides
    if (h.rule === "power") return c > 0 ? most ** 0.6 * c ** 0.4 >= smallest * (1 - 1e-6) : smallest <= 0;
    return c >= smallest;
  });
  return { score, objectness };
}

/** Letterbox undo of the next frame, for every image of the batch. */
export function writeAffine(m: Memory, layout: Layout, a: Affine): void {
  for (const at of layout.plans) writeAffineAt(m, at, a);
  if (layout.gatherPlan !== 0) writeAffineAt(m, layout.gatherPlan, a);
}

function writeAffineAt(m: Memory, at: number, a: Affine): void {
  const p = at >> 2;
  m.f32[p + A.P_SCALE_X] = a.scaleX;
  m.f32[p + A.P_SCALE_Y] = a.scaleY;
  m.f32[p + A.P_SHIFT_X] = a.shiftX;
  m.f32[p + A.P_SHIFT_Y] = a.shiftY;
}

/** A tensor's place in memory, in the array type of its elements: f16 as bits. */
export type SlotArray = Float32Array | Uint16Array | Uint8Array | Int8Array | Int16Array | Int32Array;

/** View of a tensor's slot, in the array type of its elements. */
export function slotView(m: Memory, spec: TensorSpec, at: number): SlotArray {
  const n = volume(spec.dims);
  switch (spec.type) {
    case "f32":
      return new Float32Array(m.buffer, at, n);
    case "f16":
      return new Uint16Array(m.buffer, at, n);
    case "u8":
      return new Uint8Array(m.buffer, at, n);
    case "i8":
      return new Int8Array(m.buffer, at, n);
    case "i16":
      return new Int16Array(m.buffer, at, n);
    case "i32":
      return new Int32Array(m.buffer, at, n);
  }
}
