/**
 * Shapes -> readings: every way in which a list of tensors can be what the config says, each with its heads.
 *
 * One reading left: that is the plan. None, or more than one: `plan.ts` refuses with the list, since a shape that
 * could mean two things is never guessed. All offsets and steps here are in elements, within one image of a batch.
 */
import type { Activation, Family, FamilyRules } from "./families.ts";
import { TensorError } from "./errors.ts";
import type { TensorSpec } from "./tensor.ts";
import { shape, volume } from "./tensor.ts";

/** A column of a tensor: `offset` of cell 0, `channel` from class to class (or bin to bin), `cell` from cell to cell. */
export interface Field {
  readonly tensor: number;
  readonly offset: number;
  readonly channel: number;
  readonly cell: number;
}

export type Kind = "grid" | "distance" | "prior" | "centre" | "corners" | "topleft";
export type Fn = "none" | "sigmoid" | "softmax" | "tanh" | "exp" | "square" | "squareSigmoid";

/** One (tensor, anchor) that is scanned, cell by cell. Plain data. */
export interface Head {
  /** For people: which tensor, which anchor, which layout. */
  readonly about: string;
  readonly cells: number;
  readonly kind: Kind;
  readonly score: Field;
  readonly classes: number;
  /** Class number of the first class channel. */
  readonly classBase: number;
  readonly scoreFn: Fn;
  /** Softmax: where the logits of cell 0 begin (background included), and how many. */
  readonly softmax: { readonly offset: number; readonly count: number } | null;
  readonly objectness: Field | null;
  readonly objectnessFn: Fn;
  readonly rule: "class" | "product" | "objectness" | "power";
  readonly label: Field | null;
  readonly marker: Field | null;
  readonly count: Field | null;
  /** `channel` is the step from bin to bin of a distribution. */
  readonly box: Field;
  /** Offsets from `box.offset` to the channels x, y, w, h (or x1 y1 x2 y2, or l t r b). */
  readonly boxChannels: readonly [number, number, number, number];
  readonly bins: number;
  readonly columns: number;
  readonly xyFn: Fn;
  readonly xyScale: number;
  readonly xyBias: number;
  readonly whFn: Fn;
  /** `grid`: factor on f(w), f(h): the anchor, normalised. */
  readonly size: readonly [number, number];
  /** To normalised coordinates. */
  readonly unit: readonly [number, number];
  /** `prior`: f32 rows cx cy w h, normalised, and the factors on the four channels. */
  readonly priors: Float32Array | null;
  readonly variances: readonly [number, number, number, number];
}

/** One way in which the shapes of the tensors make sense. */
export interface Reading {
  /** The name that the option `reading` takes. */
  readonly name: ReadingName;
  /** In words: which tensor is what. */
  readonly about: string;
  readonly batch: number;
  readonly classes: number;
  readonly activation: Activation;
  readonly heads: readonly Head[];
  /** Tensors it uses, by index. */
  readonly uses: readonly number[];
  readonly notes: readonly string[];
  /** Inferred where the config did not say. */
  readonly inputSize: readonly [number, number] | null;
}

/** What a set of tensors can be; the option `reading` names one where the shapes leave more. */
export type ReadingName =
  | "anchor-grid"
  | "point-grid"
  | "distance-grid"
  | "dfl-grid"
  | "objectness-rows"
  | "class-rows"
  | "point-rows"
  | "end-to-end"
  | "corner-rows"
  | "prior-rows"
  | "detection-output"
  | "postprocess"
  | "queries"
  | "boxes-scores";

/** What the readings need of the config; see `Config` for each. */
export interface Question {
  readonly family: Family;
  readonly rules: FamilyRules;
  readonly classes: number | null;
  readonly inputSize: readonly [number, number] | null;
  readonly strides: readonly number[] | null;
  readonly activation: Activation | null;
  /** Default of the config's source; `null`: by family and form. */
  readonly sourceActivation: Activation | null;
  readonly scaleXY: number | readonly number[] | null;
  readonly coordinates: "pixels" | "normalised" | null;
  readonly boxFormat: string | null;
  readonly priorFormat: string | null;
  readonly background: number | false | null;
  readonly variances: readonly [number, number, number, number] | null;
  readonly priors: Float32Array | null;
  readonly reading: string | null;
  readonly product: boolean;
  /** Anchors of the `rank`th largest of `of` maps, `null` if there are none for it. */
  readonly anchorsFor: (
    width: number,
    name: string,
    rank: number,
    of: number,
  ) => readonly (readonly [number, number])[] | null;
  /** Widths that the anchor masks name. */
  readonly anchorSides: readonly number[];
  readonly anchorsInCells: boolean;
  readonly role: (
    role: "boxes" | "scores" | "objectness" | "labels" | "priors" | "count",
  ) => readonly string[] | null;
  /** Raw values of a tensor where they are at hand (priors given as an input), else `null`. */
  readonly valuesOf: (index: number) => ArrayLike<number> | null;
}

export const DEFAULT_STRIDES: readonly (readonly number[])[] = [
  [8, 16, 32],
  [8, 16, 32, 64],
  [4, 8, 16, 32],
  [16, 32],
  [32],
  [16],
  [8],
];

// ---- Views: the ways in which a tensor has K channels ---------------------------------------------------

interface View {
  readonly batch: number;
  readonly cells: number;
  /** Width and height of a map; 0 for rows. */
  readonly w: number;
  readonly h: number;
  readonly channel: number;
  readonly cell: number;
  readonly layout: string;
}

/** Maps: [N,K,h,w], [N,h,w,K], and both without batch. */
export function maps(s: TensorSpec, k: number): View[] {
  const d = s.dims;
  const order = s.order?.toUpperCase() ?? null;
  const out: View[] = [];
  if ((d.length !== 4 && d.length !== 3) || order === "ROWS" || order === "PLANES") return out;
  const [n, a, b, c] = d.length === 4 ? d : [1, ...d];
  // [1,R,K] is rows with a batch of 1, not a map one cell high
  if (d.length === 3 && a === 1 && k !== 1) return out;
  const last = order === "NHWC" || order === "HWC";
  const first = order === "NCHW" || order === "CHW";
  if (a === k && !last)
    out.push({
      batch: n,
      cells: b * c,
      w: c,
      h: b,
      channel: b * c,
      cell: 1,
      layout: d.length === 4 ? "NCHW" : "CHW",
    });
  if (c === k && !first && !(a === k && b === 1))
    out.push({
      batch: n,
      cells: a * b,
      w: b,
      h: a,
      channel: 1,
      cell: k,
      layout: d.length === 4 ? "NHWC" : "HWC",
    });
  return out;
}

/** Rows [N,R,K] and planes [N,K,R], without batch too, with dimensions of 1 anywhere. */
export function rows(s: TensorSpec, k: number): View[] {
  const d = s.dims;
  // of a map, the order says the same of its cells in a row
  const spoken = s.order?.toLowerCase() ?? null;
  const order = d.length !== 4 ? spoken : spoken === "nchw" ? "planes" : spoken === "nhwc" ? "rows" : spoken;
  const out: View[] = [];
  const add = (batch: number, tail: readonly number[]): void => {
    const t = tail.filter((x) => x !== 1);
    // dims of 1 may stand for a single row or a single channel
    const [a, b] =
      t.length === 2
        ? t
        : t.length === 1
          ? k === 1
            ? [t[0], 1]
            : [1, t[0]]
          : t.length === 0
            ? [1, 1]
            : [NaN, NaN];
    // a single cell is the same in both orders
    if (b === k && (order !== "planes" || a === 1))
      out.push({ batch, cells: a, w: 0, h: 0, channel: 1, cell: k, layout: "rows" });
    if (a === k && k !== 1 && b !== 1 && order !== "rows")
      out.push({ batch, cells: b, w: 0, h: 0, channel: b, cell: 1, layout: "planes" });
  };
  if (d.length >= 3) add(d[0], d.slice(1));
  // [R,K] or, of one channel, [N,R]
  else if (d.length === 2) {
    if (k === 1) add(d[0], [d[1]]);
    if (k !== 1 || (d[1] === 1 && d[0] !== 1)) add(1, d);
  } else if (d.length === 1) add(1, d);
  return out;
}

/** All in one row, [1, R*K] (Caffe's flattened outputs). */
function flat(s: TensorSpec, k: number): View[] {
  const n = volume(s.dims);
  const long = s.dims.filter((x) => x !== 1);
  if (long.length !== 1 || k < 2 || n % k !== 0 || n === k) return [];
  return [{ batch: 1, cells: n / k, w: 0, h: 0, channel: 1, cell: k, layout: "flat" }];
}

// ---- Heads ------------------------------------------------------------------------------------------------

const NO_SIZE = [1, 1] as const;
const NO_VARIANCES = [1, 1, 1, 1] as const;

type HeadParts = Pick<Head, "about" | "cells" | "kind" | "score" | "classes" | "box"> & Partial<Head>;

function head(parts: HeadParts): Head {
  const step = parts.box.channel;
  return {
    classBase: 0,
    scoreFn: "none",
    softmax: null,
    objectness: null,
    objectnessFn: "none",
    rule: "class",
    label: null,
    marker: null,
    count: null,
    boxChannels: [0, step, 2 * step, 3 * step],
    bins: 0,
    columns: 1,
    xyFn: "none",
    xyScale: 1,
    xyBias: 0,
    whFn: "none",
    size: NO_SIZE,
    unit: NO_SIZE,
    priors: null,
    variances: NO_VARIANCES,
    ...parts,
  };
}

function field(tensor: number, v: View, k: number, firstCell = 0): Field {
  return { tensor, offset: k * v.channel + firstCell * v.cell, channel: v.channel, cell: v.cell };
}

function describe(s: TensorSpec, v: View): string {
  return `${s.name} [${s.dims.join(",")}] as ${v.layout}`;
}

/** Cells per stride of an input, largest map first. */
function gridOf(
  input: readonly [number, number],
  strides: readonly number[],
): { w: number; h: number; s: number }[] {
  return strides.map((s) => ({ w: Math.ceil(input[0] / s), h: Math.ceil(input[1] / s), s }));
}

/** Strides whose maps add up to so many cells; the config's own come first. */
export function stridesFor(
  q: Pick<Question, "inputSize" | "strides">,
  cells: number,
): readonly number[] | null {
  if (q.inputSize === null) return null;
  const choices = q.strides !== null ? [q.strides] : DEFAULT_STRIDES;
  for (const strides of choices) {
    if (gridOf(q.inputSize, strides).reduce((n, g) => n + g.w * g.h, 0) === cells) return strides;
  }
  return null;
}

/** Activation of a form, with the word of the config before the defaults. */
function activationOf(q: Question, form: "maps" | "rows"): Activation {
  return (
    q.activation ??
    q.sourceActivation ??
    (form === "maps" ? (q.rules.maps ?? "logits") : (q.rules.rows ?? "sigmoid"))
  );
}

const sigmoidIf = (a: Activation): Fn => (a === "logits" ? "sigmoid" : "none");

/** Score rule where there is objectness. */
function ruleOf(q: Question): Head["rule"] {
  if (q.rules.objectness === "power") return "power";
  return q.rules.objectness === "gate" || !q.product ? "class" : "product";
}

// ---- Readings by head -------------------------------------------------------------------------------------

interface Draft {
  readonly name: ReadingName;
  readonly about: string;
  readonly batch: number;
  readonly classes: number;
  readonly activation: Activation;
  readonly heads: Head[];
  readonly uses: number[];
  readonly notes?: string[];
  readonly inputSize?: readonly [number, number] | null;
}

/** Every reading of `specs` under the question, best described first. Empty: none fits. */
export function readings(q: Question, specs: readonly TensorSpec[]): Reading[] {
  const drafts: Draft[] = [];
  const head = q.rules.head;
  if (q.family === "fastestdet") drafts.push(...fastestdet(q, specs));
  else if (head === "anchor") drafts.push(...anchorGrid(q, specs), ...objectnessRows(q, specs));
  else if (head === "point") drafts.push(...pointGrid(q, specs), ...pointRows(q, specs));
  else if (head === "distance") {
    drafts.push(...distanceGrid(q, specs), ...distanceSplit(q, specs), ...distanceFused(q, specs));
    if (q.family !== "nanodet") {
      // what stands before the classes of YOLO26 is a confidence of its exporter's, not objectness
      drafts.push(...(q.family === "yolo26" ? cornerRows(q, specs) : objectnessRows(q, specs)));
      drafts.push(...classRows(q, specs), ...splitRows(q, specs), ...endToEnd(q, specs));
    }
  } else if (q.family === "detr") drafts.push(...queries(q, specs));
  else if (q.family === "ssd-detection-output") drafts.push(...detectionOutput(q, specs));
  else if (q.family === "tflite-postprocess") drafts.push(...postprocess(q, specs));
  else if (q.family === "boxes") drafts.push(...boxesScores(q, specs));
  else if (q.family === "ultraface" && q.boxFormat === "xyxy") drafts.push(...boxesScores(q, specs));
  else {
    drafts.push(...priorRows(q, specs));
    if (q.family === "ssd") drafts.push(...detectionOutput(q, specs));
    // without variances or priors nothing tells decoded boxes from offsets: both stand
    if (q.family === "ultraface" && q.variances === null && q.priors === null)
      drafts.push(...boxesScores(q, specs));
  }
  const wanted = q.reading === null ? drafts : drafts.filter((d) => d.name === q.reading);
  return settleMaps(q, settleEndToEnd(q, wanted)).map((d) => ({ notes: [], inputSize: q.inputSize, ...d }));
}

/**
 * [N,R,6] of a two-class (or one-class, with objectness) network is also the shape of an end-to-end result. Where
 * the input size is known, arithmetic tells: raw rows come one for each cell of the maps.
 */
function settleEndToEnd(q: Question, drafts: Draft[]): Draft[] {
  const ends = drafts.filter((d) => d.name === "end-to-end");
  if (ends.length === 0 || ends.length === drafts.length || q.inputSize === null) return drafts;
  const cells = (d: Draft): number => d.heads.reduce((n, h) => n + h.cells, 0);
  const raw = drafts.filter((d) => d.name !== "end-to-end" && stridesFor(q, cells(d)) !== null);
  if (raw.length > 0) return raw;
  return drafts.every((d) => cells(d) === cells(ends[0])) ? ends : drafts;
}

/** [N,K,1,w] is a map one cell high, and the shape of planes too. A map that the input has at some stride is that map. */
function settleMaps(q: Question, drafts: Draft[]): Draft[] {
  if (q.inputSize === null) return drafts;
  const sizes = gridOf(q.inputSize, q.strides ?? [4, 8, 16, 32, 64, 128]);
  const fits = (h: Head): boolean => sizes.some((g) => g.w === h.columns && g.w * g.h === h.cells);
  const grids = drafts.filter((d) => d.name.endsWith("-grid") && d.heads.every(fits));
  return drafts.filter(
    (d) => !d.name.endsWith("-rows") || !grids.some((g) => d.uses.every((i) => g.uses.includes(i))),
  );
}

/** [N, A*(5+C), h, w] per output, and [N,A,h,w,5+C]. */
function anchorGrid(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null) return [];
  const wantedNames = q.role("boxes");
  const channels = (c: number): number[] => (c === 1 ? [6, 5] : [5 + c]);
  const found: { index: number; view: View; k: number; anchors: number; layout: string; five: boolean }[] =
    [];
  specs.forEach((s, index) => {
    if (wantedNames !== null && !wantedNames.includes(s.name)) return;
    for (const k of channels(q.classes as number)) {
      const d = s.dims;
      if (d.length === 5 && d[4] === k) {
        // [N,A,h,w,K]: anchors outermost, rows of K
        found.push({
          index,
          k,
          anchors: d[1],
          five: true,
          layout: `${s.name} [${d.join(",")}]`,
          view: {
            batch: d[0],
            cells: d[2] * d[3],
            w: d[3],
            h: d[2],
            channel: 1,
            cell: k,
            layout: "[N,A,h,w,K]",
          },
        });
        continue;
      }
      for (let a = 1; a <= 16; a++) {
        // a map of one cell or one row fits both orders in memory alike
        for (const view of maps(s, a * k))
          found.push({ index, view, k, anchors: a, layout: describe(s, view), five: false });
      }
    }
  });
  if (found.length === 0) return [];
  // maps in order of size: which is which is told by width, or by name, or by rank
  const widths = [...new Set(found.map((f) => f.view.w))].sort((a, b) => b - a);
  const fits = found.filter((f) => {
    const anchors = q.anchorsFor(f.view.w, specs[f.index].name, widths.indexOf(f.view.w), widths.length);
    return anchors !== null && anchors.length === f.anchors;
  });
  // a mask without a map: outputs are missing, and half of the boxes would be too
  if (!q.anchorSides.every((side) => fits.some((f) => f.view.w === side))) return [];
  const byTensor = new Map<number, typeof fits>();
  for (const f of fits) byTensor.set(f.index, [...(byTensor.get(f.index) ?? []), f]);
  if (byTensor.size === 0) return [];
  let combos: (typeof fits)[] = [[]];
  for (const choices of byTensor.values()) combos = combos.flatMap((c) => choices.map((f) => [...c, f]));
  // a storage order that all outputs share comes before a mixture
  const uniform = combos.filter((c) => new Set(c.map((f) => f.view.layout)).size === 1);
  const activation = activationOf(q, "maps");
  const out: Draft[] = [];
  for (const combo of uniform.length > 0 ? uniform : combos) {
    const sorted = [...combo].sort((a, b) => b.view.cells - a.view.cells || a.index - b.index);
    const strides = q.strides ?? defaultStrides(sorted.length);
    const notes: string[] = [];
    let input = q.inputSize;
    if (input === null && !q.anchorsInCells) {
      const v = sorted[0].view;
      input = [v.w * strides[0], v.h * strides[0]];
      notes.push(
        `input size ${input[0]}x${input[1]} from the ${v.w}x${v.h} map at stride ${strides[0]}; the option inputSize settles it`,
      );
    }
    const heads: Head[] = [];
    sorted.forEach((f, rank) => {
      const { view: v, k } = f;
      const anchors = q.anchorsFor(v.w, specs[f.index].name, widths.indexOf(v.w), widths.length) ?? [];
      const scale = Array.isArray(q.scaleXY)
        ? (q.scaleXY[rank] ?? 1)
        : ((q.scaleXY as number | null) ?? q.rules.scaleXY ?? 1);
      const logits = activation === "logits";
      const classes = k - 5;
      for (let a = 0; a < f.anchors; a++) {
        const base = f.five ? a * v.cells * k : a * k * v.channel;
        const at = (c: number): Field => ({
          tensor: f.index,
          offset: base + c * v.channel,
          channel: v.channel,
          cell: v.cell,
        });
        const unit: readonly [number, number] = [1 / v.w, 1 / v.h];
        const [w, h] = anchors[a];
        heads.push(
          head({
            about: `${f.layout}, anchor ${a} (${w} x ${h} ${q.anchorsInCells ? "cells" : "px"})`,
            cells: v.cells,
            kind: "grid",
            score: at(classes === 0 ? 4 : 5),
            classes: Math.max(1, classes),
            scoreFn:
              q.rules.softmax === true && logits ? (classes > 0 ? "softmax" : "none") : sigmoidIf(activation),
            softmax:
              q.rules.softmax === true && logits && classes > 0
                ? { offset: at(5).offset, count: classes }
                : null,
            objectness: at(4),
            objectnessFn: sigmoidIf(activation),
            rule: classes === 0 ? "objectness" : ruleOf(q),
            box: at(0),
            columns: v.w,
            xyFn: sigmoidIf(activation),
            xyScale: scale,
            xyBias: -(scale - 1) / 2,
            whFn: q.rules.size === "square" ? (logits ? "squareSigmoid" : "square") : "exp",
            size: q.anchorsInCells
              ? [w / v.w, h / v.h]
              : [w / (input as readonly number[])[0], h / (input as readonly number[])[1]],
            unit,
          }),
        );
      }
    });
    out.push({
      name: "anchor-grid",
      about: `anchor grids: ${sorted.map((f) => f.layout).join(", ")}`,
      batch: oneBatch(
        specs,
        sorted.map((f) => ({ index: f.index, v: f.view })),
      ),
      classes: q.classes,
      activation,
      heads,
      uses: sorted.map((f) => f.index),
      notes,
      inputSize: input,
    });
  }
  return out;
}

function defaultStrides(n: number): readonly number[] {
  if (n === 3) return [8, 16, 32];
  if (n === 2) return [16, 32];
  return n === 1 ? [32] : Array.from({ length: n }, (_, i) => 8 * 2 ** i);
}

/** Decoded rows or planes of 5+C: cx cy w h, objectness, classes. */
function objectnessRows(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null) return [];
  return decodedRows(q, specs, 5 + q.classes, "objectness-rows", true);
}

/** Decoded rows or planes of 4+C: cx cy w h, classes. */
function classRows(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null) return [];
  return decodedRows(q, specs, 4 + q.classes, "class-rows", false);
}

/** [1,A,5+C] of the YOLO26 exporter: corners in pixels, confidence (the largest class), classes. */
function cornerRows(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null) return [];
  return decodedRows({ ...q, boxFormat: q.boxFormat ?? "xyxy" }, specs, 5 + q.classes, "corner-rows", true);
}

function decodedRows(
  q: Question,
  specs: readonly TensorSpec[],
  k: number,
  name: ReadingName,
  objectness: boolean,
): Draft[] {
  const out: Draft[] = [];
  specs.forEach((s, index) => {
    for (const v of rows(s, k)) {
      const activation = activationOf(q, "rows");
      out.push({
        name,
        about: `${objectness ? "boxes, objectness, classes" : "boxes, classes"}: ${describe(s, v)}`,
        batch: v.batch,
        classes: q.classes as number,
        activation,
        uses: [index],
        heads: [
          head({
            about: describe(s, v),
            cells: v.cells,
            ...plainBox(q),
            score: field(index, v, objectness ? 5 : 4),
            classes: q.classes as number,
            scoreFn: sigmoidIf(activation),
            objectness: objectness ? field(index, v, 4) : null,
            objectnessFn: sigmoidIf(activation),
            // the confidence of the YOLO26 export repeats the best class, so it only gates
            rule: objectness && name !== "corner-rows" ? ruleOf(q) : "class",
            box: field(index, v, 0),
          }),
        ],
      });
    }
  });
  return out;
}

/** Kind and unit of boxes that the network decoded. */
function plainBox(q: Question, byDefault = "cxcywh"): Pick<Head, "kind" | "unit"> {
  const format = q.boxFormat ?? byDefault;
  const kind: Kind =
    format === "xyxy" || format === "yxyx" ? "corners" : format === "xywh" ? "topleft" : "centre";
  const unit: readonly [number, number] =
    q.coordinates === "normalised" || q.inputSize === null
      ? NO_SIZE
      : [1 / q.inputSize[0], 1 / q.inputSize[1]];
  return { kind, unit };
}

/** Decoded boxes [N,4,R] and class scores [N,C,R] in tensors of their own. */
function splitRows(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null) return [];
  const pairs = pairTensors(q, specs, 4, q.classes, rows);
  return pairs.map(({ b, s, bv, sv }) => {
    const activation = activationOf(q, "rows");
    return {
      name: "class-rows",
      about: `boxes: ${describe(specs[b], bv)}; classes: ${describe(specs[s], sv)}`,
      batch: bv.batch,
      classes: q.classes as number,
      activation,
      uses: [b, s],
      heads: [
        head({
          about: `${specs[b].name} + ${specs[s].name}`,
          cells: bv.cells,
          ...plainBox(q),
          score: field(s, sv, 0),
          classes: q.classes as number,
          scoreFn: sigmoidIf(activation),
          box: field(b, bv, 0),
        }),
      ],
    };
  });
}

interface Pair {
  readonly b: number;
  readonly s: number;
  readonly bv: View;
  readonly sv: View;
}

/** Two tensors with the same cells, one with `kb` channels, the other with `ks`. Names in `roles` come first. */
function pairTensors(
  q: Question,
  specs: readonly TensorSpec[],
  kb: number,
  ks: number,
  views: (s: TensorSpec, k: number) => View[],
): Pair[] {
  const boxes = q.role("boxes");
  const scores = q.role("scores");
  const out: Pair[] = [];
  specs.forEach((sb, b) => {
    if (boxes !== null && !boxes.includes(sb.name)) return;
    specs.forEach((ss, s) => {
      if (s === b || (scores !== null && !scores.includes(ss.name))) return;
      for (const bv of views(sb, kb)) {
        for (const sv of views(ss, ks)) {
          if (bv.cells === sv.cells && bv.batch === sv.batch && bv.w === sv.w) out.push({ b, s, bv, sv });
        }
      }
    });
  });
  // where both readings of a pair exist (as many box channels as classes), names decide if they speak
  const named = out.filter(
    (p) => /box|reg|loc|dis/i.test(specs[p.b].name) && !/box|reg|loc|dis/i.test(specs[p.s].name),
  );
  return named.length > 0 ? named : out;
}

/** One row per detection: x1 y1 x2 y2 score class (YOLOv10, YOLO26, exports with NMS inside). */
function endToEnd(q: Question, specs: readonly TensorSpec[]): Draft[] {
  const out: Draft[] = [];
  specs.forEach((s, index) => {
    for (const v of rows(s, 6)) {
      if (v.layout !== "rows") continue;
      out.push({
        name: "end-to-end",
        about: `detections x1 y1 x2 y2 score class: ${describe(s, v)}`,
        batch: v.batch,
        classes: q.classes ?? 1,
        activation: "sigmoid",
        uses: [index],
        heads: [
          head({
            about: describe(s, v),
            cells: v.cells,
            ...plainBox(q, "xyxy"),
            score: field(index, v, 4),
            classes: 1,
            label: field(index, v, 5),
            box: field(index, v, 0),
          }),
        ],
      });
    }
  });
  return out;
}

/** YOLOX and YOLOv6 r1 maps [N,5+C,h,w], and split ones: 4, 1 and C channels per stride. */
function pointGrid(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null) return [];
  const fused = levels(
    specs
      .map((s, index) => ({ index, views: maps(s, 5 + (q.classes as number)) }))
      .filter((x) => x.views.length > 0),
  );
  const activation = activationOf(q, "maps");
  const out: Draft[] = [];
  const build = (
    list: { v: View; box: Field; obj: Field; score: Field; about: string; uses: number[] }[],
  ): void => {
    if (list.length === 0) return;
    out.push({
      name: "point-grid",
      about: `point grids: ${list.map((x) => x.about).join(", ")}`,
      batch: list[0].v.batch,
      classes: q.classes as number,
      activation,
      uses: list.flatMap((x) => x.uses),
      heads: list.map((x) =>
        head({
          about: x.about,
          cells: x.v.cells,
          score: x.score,
          classes: q.classes as number,
          scoreFn: sigmoidIf(activation),
          objectness: x.obj,
          objectnessFn: sigmoidIf(activation),
          rule: ruleOf(q),
          box: x.box,
          ...pointBox(x.v.w, x.v.h),
        }),
      ),
    });
  };
  for (const combo of fused) {
    oneBatch(specs, combo);
    build(
      combo.map(({ index, v }) => ({
        v,
        box: field(index, v, 0),
        obj: field(index, v, 4),
        score: field(index, v, 5),
        about: describe(specs[index], v),
        uses: [index],
      })),
    );
  }
  const objectness = q.role("objectness");
  const split: { v: View; box: Field; obj: Field; score: Field; about: string; uses: number[] }[] = [];
  for (const p of sortPairs(pairTensors(q, specs, 4, q.classes, maps))) {
    specs.forEach((s, o) => {
      if (o === p.b || o === p.s || (objectness !== null && !objectness.includes(s.name))) return;
      for (const ov of maps(s, 1)) {
        if (ov.w !== p.bv.w || ov.h !== p.bv.h || ov.batch !== p.bv.batch) continue;
        split.push({
          v: p.bv,
          box: field(p.b, p.bv, 0),
          obj: field(o, ov, 0),
          score: field(p.s, p.sv, 0),
          about: `${specs[p.b].name} + ${s.name} + ${specs[p.s].name} [${specs[p.s].dims.join(",")}]`,
          uses: [p.b, o, p.s],
        });
        break;
      }
    });
  }
  if (split.length > 0)
    oneBatch(
      specs,
      split.map((x) => ({ index: x.uses[0], v: x.v })),
    );
  // of one class, objectness and score maps look alike: only names or roles tell
  if (split.length > 0 && new Set(split.flatMap((x) => x.uses)).size === split.length * 3) build(split);
  return out;
}

function pointBox(w: number, h: number): Pick<Head, "kind" | "columns" | "whFn" | "size" | "unit"> {
  return { kind: "grid", columns: w, whFn: "exp", size: [1 / w, 1 / h], unit: [1 / w, 1 / h] };
}

function sortPairs(pairs: Pair[]): Pair[] {
  return [...pairs].sort((a, b) => b.bv.cells - a.bv.cells);
}

/** The batch size that all tensors share. */
function oneBatch(specs: readonly TensorSpec[], list: readonly { index: number; v: View }[]): number {
  const [{ v }] = list;
  if (list.some((x) => x.v.batch !== v.batch)) {
    const shapes = list.map(({ index }) => shape(specs[index])).join(", ");
    throw new TensorError(
      `got ${shapes} with batches of ${list.map((x) => x.v.batch).join(" and ")}, expected one batch size for all outputs`,
    );
  }
  return v.batch;
}

/** One view per tensor, all of one layout where that is possible, from the largest map to the smallest. */
function levels(list: readonly { index: number; views: View[] }[]): { index: number; v: View }[][] {
  if (list.length === 0) return [];
  let combos: { index: number; v: View }[][] = [[]];
  for (const t of list) combos = combos.flatMap((c) => t.views.map((v) => [...c, { index: t.index, v }]));
  const uniform = combos.filter((c) => new Set(c.map((x) => x.v.layout)).size === 1);
  return (uniform.length > 0 ? uniform : combos).map((c) =>
    c.sort((a, b) => b.v.cells - a.v.cells || a.index - b.index),
  );
}

/** YOLOX rows [N,R,5+C] that the network left undecoded, the maps one after the other; or decoded ones. */
function pointRows(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null) return [];
  if (q.boxFormat !== null) return objectnessRows(q, specs);
  const out: Draft[] = [];
  specs.forEach((s, index) => {
    for (const v of rows(s, 5 + (q.classes as number))) {
      const strides = stridesFor(q, v.cells);
      if (strides === null || q.inputSize === null) continue;
      const activation = q.activation ?? q.sourceActivation ?? "sigmoid";
      let first = 0;
      const heads = gridOf(q.inputSize, strides).map((g) => {
        const h = head({
          about: `${describe(s, v)}, cells ${first}..${first + g.w * g.h - 1} at stride ${g.s}`,
          cells: g.w * g.h,
          score: field(index, v, 5, first),
          classes: q.classes as number,
          scoreFn: sigmoidIf(activation),
          objectness: field(index, v, 4, first),
          objectnessFn: sigmoidIf(activation),
          rule: ruleOf(q),
          box: field(index, v, 0, first),
          ...pointBox(g.w, g.h),
        });
        first += g.w * g.h;
        return h;
      });
      out.push({
        name: "point-rows",
        about: `undecoded boxes, objectness, classes at strides ${strides.join(", ")}: ${describe(s, v)}`,
        batch: v.batch,
        classes: q.classes as number,
        activation,
        uses: [index],
        heads,
        notes: [
          'boxes taken as undecoded (cell and stride still to be applied); boxFormat: "cxcywh" says they are decoded',
        ],
      });
    }
  });
  return out;
}

interface Level {
  readonly v: View;
  readonly box: Field;
  readonly bins: number;
  readonly binStep: number;
  readonly score: Field;
  readonly objectness: Field | null;
  readonly w: number;
  readonly h: number;
  readonly cells: number;
  readonly about: string;
}

function distanceDraft(
  q: Question,
  name: ReadingName,
  batch: number,
  list: readonly Level[],
  uses: number[],
  activation: Activation,
): Draft {
  return {
    name,
    about: `${list[0].bins > 0 ? `distance distributions of ${list[0].bins} bins` : "left-top-right-bottom distances"}: ${list.map((l) => l.about).join(", ")}`,
    batch,
    classes: q.classes as number,
    activation,
    uses,
    heads: list.map((l) => {
      const side = Math.max(1, l.bins) * l.binStep;
      return head({
        about: l.about,
        cells: l.cells,
        kind: "distance",
        score: l.score,
        classes: q.classes as number,
        scoreFn: sigmoidIf(activation),
        objectness: l.objectness,
        objectnessFn: sigmoidIf(activation),
        rule: "class",
        box: { ...l.box, channel: l.binStep },
        boxChannels: [0, side, 2 * side, 3 * side],
        bins: l.bins,
        columns: l.w,
        xyBias: 0.5,
        unit: [1 / l.w, 1 / l.h],
      });
    }),
  };
}

/** Exporter maps [N,5+C,h,w]: distances in cells, a confidence that gates, classes; and fused DFL maps [N,4*bins+C,h,w]. */
function distanceGrid(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null) return [];
  const c = q.classes;
  const out: Draft[] = [];
  const form = (k: number, bins: number, objectness: boolean, name: ReadingName): void => {
    const list = specs.map((s, index) => ({ index, views: maps(s, k) })).filter((x) => x.views.length > 0);
    for (const combo of levels(list)) {
      // exporters of plain distances put the sigmoid into the network, raw DFL maps do not have it
      const activation = q.activation ?? q.sourceActivation ?? (bins > 0 ? "logits" : "sigmoid");
      out.push(
        distanceDraft(
          q,
          name,
          oneBatch(specs, combo),
          combo.map(({ index, v }) => ({
            v,
            box: field(index, v, 0),
            bins,
            binStep: v.channel,
            objectness: objectness ? field(index, v, 4) : null,
            score: field(index, v, objectness ? 5 : Math.max(1, bins) * 4),
            w: v.w,
            h: v.h,
            cells: v.cells,
            about: describe(specs[index], v),
          })),
          combo.map((x) => x.index),
          activation,
        ),
      );
    }
  };
  form(5 + c, 0, true, "distance-grid");
  form(4 + c, 0, false, "distance-grid");
  for (const bins of BINS) form(4 * bins + c, bins, false, "dfl-grid");
  return out;
}

/** Bins of a side that networks are built with: 16 in YOLOv8, 8 in NanoDet, 17 in PP-YOLOE and YOLOv6. */
const BINS = [16, 8, 17, 32];

/** Box maps and class maps of their own, per stride; as maps, or as rows (NanoDet). */
function distanceSplit(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null) return [];
  const out: Draft[] = [];
  for (const bins of [0, ...BINS]) {
    const kb = bins === 0 ? 4 : 4 * bins;
    for (const views of [maps, rows]) {
      let pairs = sortPairs(pairTensors(q, specs, kb, q.classes, views));
      if (views === rows) {
        // decoded boxes are `splitRows`' business; distances in rows come as distributions
        if (bins === 0) continue;
        pairs = pairs.filter((p) => mapOf(q, p.bv.cells) !== null);
      }
      const uniform = pairs.filter(
        (p) => p.bv.layout === pairs[0].bv.layout && p.sv.layout === pairs[0].sv.layout,
      );
      const uses = uniform.flatMap((p) => [p.b, p.s]);
      if (uniform.length === 0) continue;
      const activation = q.activation ?? q.sourceActivation ?? q.rules.maps ?? "logits";
      const draft = distanceDraft(
        q,
        bins === 0 ? "distance-grid" : "dfl-grid",
        oneBatch(
          specs,
          uniform.map((p) => ({ index: p.b, v: p.bv })),
        ),
        uniform.map((p) => {
          const g =
            views === maps ? { w: p.bv.w, h: p.bv.h } : (mapOf(q, p.bv.cells) as { w: number; h: number });
          return {
            v: p.bv,
            box: field(p.b, p.bv, 0),
            bins,
            binStep: p.bv.channel,
            score: field(p.s, p.sv, 0),
            objectness: null,
            ...g,
            cells: p.bv.cells,
            about: `${specs[p.b].name} + ${specs[p.s].name} [${specs[p.s].dims.join(",")}]`,
          };
        }),
        uses,
        activation,
      );
      // a tensor that is box in one pair and class in another (4*bins classes) leaves two readings
      if (new Set(uses).size === uses.length) out.push(draft);
      else
        out.push(draft, {
          ...draft,
          about: "the same maps with boxes and classes exchanged (name them with roles: {boxes, scores})",
        });
    }
  }
  return out;
}

/** The map that has so many cells at one of the strides. */
function mapOf(q: Question, cells: number): { w: number; h: number } | null {
  if (q.inputSize === null) return null;
  for (const g of gridOf(q.inputSize, q.strides ?? [8, 16, 32, 64, 4, 128]))
    if (g.w * g.h === cells) return g;
  return null;
}

/** All maps of a DFL head in one tensor: [N,4*bins+C,R] (boxes first), or rows [N,R,C+4*bins] of NanoDet (classes first). */
function distanceFused(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null || q.inputSize === null) return [];
  const c = q.classes;
  const out: Draft[] = [];
  const scoresFirst = q.family === "nanodet";
  for (const bins of BINS) {
    specs.forEach((s, index) => {
      for (const v of rows(s, 4 * bins + c)) {
        const strides = stridesFor(q, v.cells);
        if (strides === null) continue;
        let first = 0;
        const list = gridOf(q.inputSize as readonly [number, number], strides).map((g) => {
          const level: Level = {
            v,
            box: field(index, v, scoresFirst ? c : 0, first),
            bins,
            binStep: v.channel,
            score: field(index, v, scoresFirst ? 0 : 4 * bins, first),
            objectness: null,
            w: g.w,
            h: g.h,
            cells: g.w * g.h,
            about: `${describe(s, v)}, stride ${g.s}`,
          };
          first += g.w * g.h;
          return level;
        });
        const activation = q.activation ?? q.sourceActivation ?? q.rules.maps ?? "logits";
        out.push(distanceDraft(q, "dfl-grid", v.batch, list, [index], activation));
      }
    });
  }
  return out;
}

/** [N,5+C,h,w]: objectness, then tx ty tw th, then classes; all scores activated by the network. */
function fastestdet(q: Question, specs: readonly TensorSpec[]): Draft[] {
  if (q.classes === null) return [];
  const list = specs
    .map((s, index) => ({ index, views: maps(s, 5 + (q.classes as number)) }))
    .filter((x) => x.views.length > 0);
  const activation = activationOf(q, "maps");
  return levels(list).map((combo) => ({
    name: "anchor-grid",
    about: `FastestDet map: ${combo.map(({ index, v }) => describe(specs[index], v)).join(", ")}`,
    batch: oneBatch(specs, combo),
    classes: q.classes as number,
    activation,
    uses: combo.map((x) => x.index),
    heads: combo.map(({ index, v }) =>
      head({
        about: describe(specs[index], v),
        cells: v.cells,
        kind: "grid",
        score: field(index, v, 5),
        classes: q.classes as number,
        scoreFn: sigmoidIf(activation),
        objectness: field(index, v, 0),
        objectnessFn: sigmoidIf(activation),
        rule: "power",
        box: field(index, v, 1),
        columns: v.w,
        xyFn: "tanh",
        whFn: "sigmoid",
        unit: [1 / v.w, 1 / v.h],
      }),
    ),
  }));
}

/** DETR (softmax, last class = nothing) and RT-DETR (sigmoid): boxes cx cy w h in 0..1, one row per query. */
function queries(q: Question, specs: readonly TensorSpec[]): Draft[] {
  const out: Draft[] = [];
  const box = plainBox({ ...q, coordinates: q.coordinates ?? "normalised" });
  if (q.classes === null) return out;
  for (const extra of [0, 1]) {
    for (const { b, s, bv, sv } of pairTensors(q, specs, 4, q.classes + extra, rows)) {
      const activation = activationOf(q, "rows");
      const softmax = extra === 1;
      out.push({
        name: "queries",
        about: `${softmax ? "DETR, softmax with a last class for nothing" : "RT-DETR, independent classes"}: ${describe(specs[s], sv)}, boxes ${describe(specs[b], bv)}`,
        batch: bv.batch,
        classes: q.classes,
        activation,
        uses: [b, s],
        heads: [
          head({
            about: `${specs[b].name} + ${specs[s].name}`,
            cells: bv.cells,
            ...box,
            score: field(s, sv, 0),
            classes: q.classes,
            scoreFn: softmax ? (activation === "logits" ? "softmax" : "none") : sigmoidIf(activation),
            softmax: softmax && activation === "logits" ? { offset: 0, count: q.classes + 1 } : null,
            box: field(b, bv, 0),
          }),
        ],
      });
    }
  }
  // roles that name two tensors leave nothing to find in one
  if (q.role("boxes") !== null && q.role("scores") !== null) return out;
  // one tensor of rows [N,Q,4+C] (Ultralytics' export): probabilities already
  out.push(
    ...decodedRows(
      { ...q, coordinates: q.coordinates ?? "normalised", activation: q.activation ?? "sigmoid" },
      specs,
      4 + q.classes,
      "queries",
      false,
    ),
  );
  return out;
}

/** SSD DetectionOutput [1,1,N,7]: image, label, confidence, x1, y1, x2, y2; -1 as image ends the list. */
function detectionOutput(q: Question, specs: readonly TensorSpec[]): Draft[] {
  const out: Draft[] = [];
  specs.forEach((s, index) => {
    for (const v of rows(s, 7)) {
      if (v.layout !== "rows") continue;
      out.push({
        name: "detection-output",
        about: `rows image, label, confidence, x1, y1, x2, y2: ${describe(s, v)}`,
        batch: v.batch,
        classes: q.classes ?? 1,
        activation: "sigmoid",
        uses: [index],
        heads: [
          head({
            about: describe(s, v),
            cells: v.cells,
            kind: "corners",
            score: field(index, v, 2),
            classes: 1,
            label: field(index, v, 1),
            marker: field(index, v, 0),
            box: field(index, v, 3),
          }),
        ],
      });
    }
  });
  return out;
}

/** TFLite_Detection_PostProcess: boxes [1,N,4] (y1 x1 y2 x2), classes [1,N], scores [1,N], count [1]. */
function postprocess(q: Question, specs: readonly TensorSpec[]): Draft[] {
  const boxes = specs.findIndex(
    (s) => rows(s, 4).some((v) => v.layout === "rows") && (q.role("boxes")?.includes(s.name) ?? true),
  );
  if (boxes < 0) return [];
  const bv = rows(specs[boxes], 4).find((v) => v.layout === "rows") as View;
  const columns = specs
    .map((_, i) => i)
    .filter(
      (i) => i !== boxes && rows(specs[i], 1).some((v) => v.cells === bv.cells && v.batch === bv.batch),
    );
  const named = (role: "labels" | "scores", suffix: RegExp): number =>
    columns.find((i) => q.role(role)?.includes(specs[i].name) ?? suffix.test(specs[i].name)) ?? -1;
  // the operator's own names: no suffix boxes, :1 classes, :2 scores, :3 count
  const labels = named("labels", /(:|_)1$|class|label/i);
  const scores = named("scores", /(:|_)2$|score/i);
  if (labels < 0 || scores < 0 || labels === scores) return [];
  const count = specs.findIndex(
    (s, i) => i !== boxes && i !== labels && i !== scores && volume(s.dims) === 1,
  );
  return [
    {
      name: "postprocess",
      about: `boxes ${specs[boxes].name} (y1 x1 y2 x2), classes ${specs[labels].name}, scores ${specs[scores].name}${count < 0 ? "" : `, count ${specs[count].name}`}`,
      batch: bv.batch,
      classes: q.classes ?? 1,
      activation: "sigmoid",
      uses: count < 0 ? [boxes, labels, scores] : [boxes, labels, scores, count],
      heads: [
        head({
          about: specs[boxes].name,
          cells: bv.cells,
          kind: "corners",
          score: { tensor: scores, offset: 0, channel: 1, cell: 1 },
          classes: 1,
          label: { tensor: labels, offset: 0, channel: 1, cell: 1 },
          count: count < 0 ? null : { tensor: count, offset: 0, channel: 0, cell: 0 },
          box: field(boxes, bv, 0),
          boxChannels: [bv.channel, 0, 3 * bv.channel, 2 * bv.channel],
          unit:
            q.coordinates === "pixels" && q.inputSize !== null
              ? [1 / q.inputSize[0], 1 / q.inputSize[1]]
              : NO_SIZE,
        }),
      ],
    },
  ];
}

/** Boxes the network decoded, with scores [N], [N,C] and perhaps labels [N]. */
function boxesScores(q: Question, specs: readonly TensorSpec[]): Draft[] {
  const out: Draft[] = [];
  const labelNames = q.role("labels");
  const labels = labelNames === null ? -1 : specs.findIndex((s) => labelNames.includes(s.name));
  const counts = labels >= 0 ? [1] : q.classes === null ? columnsBeside(specs) : backgroundChoices(q);
  const seen = new Set<string>();
  for (const k of counts) {
    for (const { b, s, bv, sv } of pairTensors(q, specs, 4, k, rows)) {
      if (b === labels || s === labels || seen.has(`${b},${s},${bv.layout},${sv.layout},${k}`)) continue;
      seen.add(`${b},${s},${bv.layout},${sv.layout},${k}`);
      const activation = activationOf(q, "rows");
      const format = q.boxFormat ?? "xyxy";
      const c = bv.channel;
      const classes = scoreColumns(q, k);
      out.push({
        name: "boxes-scores",
        about: `decoded boxes (${format}): ${describe(specs[b], bv)}; scores: ${describe(specs[s], sv)}`,
        batch: bv.batch,
        classes: Math.max(q.classes ?? 0, classes.base + classes.count),
        activation,
        uses: labels < 0 ? [b, s] : [b, s, labels],
        heads: [
          head({
            about: `${specs[b].name} + ${specs[s].name}`,
            cells: bv.cells,
            ...plainBox(
              { ...q, coordinates: q.coordinates ?? (q.family === "ultraface" ? "normalised" : null) },
              "xyxy",
            ),
            boxChannels: format === "yxyx" ? [c, 0, 3 * c, 2 * c] : [0, c, 2 * c, 3 * c],
            ...scores(q, s, sv, classes, k, activation),
            label: labels < 0 ? null : { tensor: labels, offset: 0, channel: 1, cell: 1 },
            box: field(b, bv, 0),
          }),
        ],
      });
    }
  }
  return out;
}

/** Score channels with and without a background one. */
function backgroundChoices(q: Question): number[] {
  const c = q.classes as number;
  // "classes" may count the background (labels of a mobilenet config do) or leave it out
  return q.background === false ? [c] : [c, c + 1];
}

function columnsBeside(specs: readonly TensorSpec[]): number[] {
  return [...new Set(specs.map((s) => s.dims[s.dims.length - 1]).filter((n) => n !== 4 || specs.length > 2))];
}

/** Which of `k` score channels are classes: base is the number of the first. */
function scoreColumns(q: Question, k: number): { base: number; count: number } {
  if (q.family === "blazeface" || q.background === false || k === 1) return { base: 0, count: k };
  if (q.background === null && q.family === "boxes") return { base: 0, count: k };
  const background = q.background ?? 0;
  return background === 0 ? { base: 1, count: k - 1 } : { base: 0, count: k - 1 };
}

function scores(
  q: Question,
  tensor: number,
  v: View,
  classes: { base: number; count: number },
  k: number,
  activation: Activation,
): Pick<Head, "score" | "classes" | "classBase" | "scoreFn" | "softmax"> {
  const softmax = activation === "logits" && q.rules.softmax === true;
  return {
    score: field(tensor, v, classes.base),
    classes: classes.count,
    classBase: classes.base,
    scoreFn: softmax ? "softmax" : sigmoidIf(activation),
    softmax: softmax ? { offset: 0, count: k } : null,
  };
}

/** Raw SSD: offsets [N,R,4], scores [N,R,C], and a prior (anchor, default box) for each row. */
function priorRows(q: Question, specs: readonly TensorSpec[]): Draft[] {
  const out: Draft[] = [];
  const kb = q.family === "blazeface" ? specs.flatMap((s) => s.dims.filter((d) => d >= 12 && d <= 18)) : [4];
  const priorNames = q.role("priors");
  const both = (s: TensorSpec, k: number): View[] => {
    const v = rows(s, k);
    return v.length > 0 ? v : flat(s, k);
  };
  const priorAt = specs.findIndex((s) =>
    priorNames !== null ? priorNames.includes(s.name) : /prior|anchor/i.test(s.name),
  );
  const rest = specs.map((s, i) => (i === priorAt ? { ...s, dims: [-1], name: "" } : s));
  const widths =
    q.classes === null ? scoreWidths(rest) : q.family === "blazeface" ? [q.classes] : backgroundChoices(q);
  const seen = new Set<string>();
  for (const k of new Set(kb)) {
    for (const width of new Set(widths)) {
      for (const { b, s, bv, sv } of pairTensors(q, rest, k, width, both)) {
        if (seen.has(`${b},${s},${bv.layout},${sv.layout},${width}`)) continue;
        seen.add(`${b},${s},${bv.layout},${sv.layout},${width}`);
        const table = priorAt >= 0 ? q.valuesOf(priorAt) : q.priors;
        const box = priorBox(q, table, bv.cells);
        if (box === null) continue;
        const activation = activationOf(q, "rows");
        const classes = scoreColumns(q, width);
        const c = bv.channel;
        out.push({
          name: "prior-rows",
          about: `offsets: ${describe(specs[b], bv)}; scores: ${describe(specs[s], sv)}; ${box.about}`,
          batch: bv.batch,
          classes: Math.max(q.classes ?? 0, classes.base + classes.count),
          activation,
          uses: priorAt >= 0 ? [b, s, priorAt] : [b, s],
          notes: box.notes,
          heads: [
            head({
              about: `${specs[b].name} + ${specs[s].name}`,
              cells: bv.cells,
              kind: "prior",
              ...scores(q, s, sv, classes, width, activation),
              box: field(b, bv, 0),
              boxChannels: box.yx ? [c, 0, 3 * c, 2 * c] : [0, c, 2 * c, 3 * c],
              whFn: q.family === "blazeface" ? "none" : "exp",
              priors: box.table,
              variances: box.variances,
            }),
          ],
        });
      }
    }
  }
  return out;
}

function scoreWidths(specs: readonly TensorSpec[]): number[] {
  const out: number[] = [];
  const boxCells = specs.flatMap((s) => [...rows(s, 4), ...flat(s, 4)].map((v) => v.cells));
  for (const s of specs) {
    const n = volume(s.dims);
    for (const cells of boxCells)
      if (cells > 0 && n % cells === 0 && n / cells > 1 && n / cells !== 4) out.push(n / cells);
  }
  return out;
}

interface PriorBox {
  readonly table: Float32Array;
  readonly variances: readonly [number, number, number, number];
  /** Box channels in the order y x h w. */
  readonly yx: boolean;
  readonly about: string;
  readonly notes: string[];
}

/** A table of priors as cx cy w h normalised, and the factors that go with it. `null`: no table of that length. */
function priorBox(q: Question, given: ArrayLike<number> | null, cells: number): PriorBox | null {
  if (given === null) return null;
  const n = given.length;
  if (n !== cells * 4 && n !== cells * 8) return null;
  const format =
    q.priorFormat ??
    (n === cells * 8
      ? "xyxy"
      : q.family === "ssd" && q.boxFormat === "cycxhw"
        ? "cycxhw"
        : q.family === "ssd"
          ? "xyxy"
          : "cxcywh");
  const table = new Float32Array(cells * 4);
  for (let i = 0; i < cells; i++) {
    const [a, b, c, d] = [given[i * 4], given[i * 4 + 1], given[i * 4 + 2], given[i * 4 + 3]];
    const row =
      format === "xyxy"
        ? [(a + c) / 2, (b + d) / 2, c - a, d - b]
        : format === "cycxhw"
          ? [b, a, d, c]
          : [a, b, c, d];
    table.set(row, i * 4);
  }
  let variances = q.variances;
  const notes: string[] = [];
  if (variances === null && n === cells * 8) {
    variances = [given[cells * 4], given[cells * 4 + 1], given[cells * 4 + 2], given[cells * 4 + 3]];
    for (let i = 0; i < cells * 4; i++) {
      // one set of variances for all, as every PriorBox layer writes; else the table holds what no factor can say
      if (given[cells * 4 + i] !== variances[i % 4]) return null;
    }
    notes.push(`variances ${variances.map((v) => Math.fround(v).toPrecision(3)).join(", ")} from the priors`);
  }
  if (variances === null) return null;
  return {
    table,
    variances,
    yx: q.boxFormat === "cycxhw" || q.boxFormat === "yxyx",
    about: `${cells} priors (${format})`,
    notes,
  };
}
