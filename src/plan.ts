/**
 * Room 2: Config + tensor specs -> Plan. A plan is frozen plain data that can be printed: a bug report is a plan
 * plus tensors. It says what every tensor is taken for, and why; it knows no addresses.
 */
import type { Config } from "./config.ts";
import { CONVENTIONS, type Conventions } from "./conventions.ts";
import { TensorError } from "./errors.ts";
import { RULES, type Activation, type Family, settleFamily } from "./families.ts";
import { rangeOf } from "./gates.ts";
import { blazefaceAnchors, ultrafacePriors } from "./priors.ts";
import { type Field, type Head, type Question, type Reading, readings } from "./reading.ts";
import { type TensorSpec, shape, volume } from "./tensor.ts";

/** How a set of tensors is decoded: frozen plain data, so that a plan and the tensors make a whole bug report. */
export interface Plan {
  readonly family: Family;
  readonly familyWhy: string;
  readonly reading: string;
  /** What each tensor is taken for, in words. */
  readonly about: string;
  readonly notes: readonly string[];
  readonly activation: Activation;
  readonly activationWhy: string;
  readonly inputSize: readonly [number, number] | null;
  readonly batch: number;
  readonly classes: number;
  readonly tensors: readonly TensorSpec[];
  readonly heads: readonly Head[];
  readonly rules: Conventions;
  /** Class numbers to look for; `null`: all. */
  readonly keep: readonly number[] | null;
  /** Rows of the detection columns, an upper bound for good. */
  readonly maxDetections: number;
  /** Rows of the candidate columns. */
  readonly capacity: number;
  /** How a caller's array can be read in part; `null`: it is copied whole. */
  readonly gather: readonly GatherHead[] | null;
}

/** One head whose cells are gated by objectness: only the rows that pass need to be copied. */
export interface GatherHead {
  readonly tensor: number;
  /** First channel of the row, in elements, and how many channels. */
  readonly offset: number;
  readonly channels: number;
  readonly channel: number;
  readonly cell: number;
}

/** A quantisation step above which scores in 0..1 have lost their meaning. */
const COARSEST_STEP = 0.5;

/** Chooses the one reading of `specs` that the config allows. `valuesOf`: raw values of tensors that are at hand. */
export function makePlan(
  config: Config,
  specs: readonly TensorSpec[],
  valuesOf: (index: number) => ArrayLike<number> | null = () => null,
): Plan {
  if (!config.decodes)
    throw new TensorError(config.note ?? "the config names no family: there is nothing to decode");
  if (specs.length === 0) throw new TensorError("got no tensors, expected the outputs of the network");
  const named = config.headOutputs;
  const missing = named === null ? [] : named.filter((n) => !specs.some((s) => s.name === n));
  // outputs given as a bare array have no names of their own, so the file's names cannot be asked for
  const anonymous = specs.every((s, i) => s.name === `output${i}`);
  const used =
    named === null || (missing.length === named.length && anonymous)
      ? specs
      : specs.filter((s) => named.includes(s.name));
  if (missing.length > 0 && used !== specs)
    throw new TensorError(
      `got outputs ${list(specs)}, expected ${(named as readonly string[]).map((n) => `"${n}"`).join(", ")} as the config names them`,
    );

  const { family, why } = familyOf(config, used);
  const base = RULES[family];
  const rules: Conventions = { ...CONVENTIONS[config.conventions], ...config.rules };
  const q = questionOf(config, family, rules, valuesOf);
  const found = dominant(distinct(readings(q, used))).map((r) => restrict(r, rules));
  if (found.length !== 1)
    throw new TensorError(
      found.length === 0 ? nothingFits(config, q, family, why, used) : tooMany(found, used),
    );
  const reading = found[0];

  checkBatch(used, reading);
  const plain = reading.heads.some(
    (h) => h.kind === "centre" || h.kind === "corners" || h.kind === "topleft",
  );
  const normalisedForm =
    ["detection-output", "postprocess", "queries"].includes(reading.name) ||
    (family === "ultraface" && config.coordinates === null);
  if (plain && !normalisedForm && config.coordinates !== "normalised" && q.inputSize === null)
    throw new TensorError(
      `${reading.about}: got boxes in pixels and no input size, expected inputSize: [width, height] (or coordinates: "normalised" if they are 0..1 already)`,
    );
  const heads = reading.heads.map((h) => withRules(h, config));
  for (const h of heads) checkTypes(h, used, reading.activation);
  if (config.activation === "softmax" && !heads.some((h) => h.scoreFn === "softmax"))
    throw new TensorError(
      `${reading.about}: got activation "softmax", expected "sigmoid" or "logits": the classes of ${family} as ${reading.name} are independent`,
    );

  const noNms =
    base.nms === "none" ||
    ["end-to-end", "corner-rows", "detection-output", "postprocess", "queries"].includes(reading.name);
  const independent = reading.name === "queries" && heads[0].scoreFn !== "softmax";
  const settled: Conventions = {
    ...rules,
    nms: config.rules.nms ?? (noNms ? "none" : rules.nms),
    // what the network has finished stays as it is: coordinates a little outside are normal there
    clamp:
      config.rules.clamp ??
      (reading.name === "detection-output" || reading.name === "postprocess" ? "none" : rules.clamp),
    // RT-DETR takes the best (query, class) pairs, not the best class of each query
    multiLabel: config.rules.multiLabel ?? (independent ? true : rules.multiLabel),
  };
  // a label column may hold any number; the lists that the config gives say how many are meant
  const listed = typeof config.confidenceThreshold === "number" ? 0 : config.confidenceThreshold.length;
  const classes = heads.some((h) => h.label !== null) ? Math.max(reading.classes, listed) : reading.classes;
  const keep = config.keep === null ? null : keepIds(config, { heads, classes, rules });
  const maxDetections = config.maxDetections;
  const cells = heads.reduce((n, h) => n + h.cells, 0);
  const pairs = heads.reduce((n, h) => n + h.cells * (h.label !== null ? 1 : h.classes), 0);
  const notes = [...reading.notes];
  const unused = used.filter((_, i) => !reading.uses.includes(i));
  if (unused.length > 0) notes.push(`left alone: ${list(unused)}`);
  const plan: Plan = {
    family,
    familyWhy: why,
    reading: reading.name,
    about: reading.about,
    notes,
    activation: reading.activation,
    activationWhy:
      config.activation !== null
        ? "option activation"
        : q.sourceActivation !== null
          ? `default of ${config.source} files`
          : `default of ${family} ${reading.name}`,
    inputSize: reading.inputSize,
    batch: reading.batch,
    classes,
    // only what is read gets a slot; the order of use keeps memory and printing in one order
    ...compact(used, heads),
    rules: settled,
    keep,
    maxDetections,
    capacity: settled.multiLabel ? Math.max(cells, Math.min(pairs, MULTI_LABEL_ROOM)) : cells,
    gather: null,
  };
  return deepFreeze({ ...plan, gather: gatherOf(plan) });
}

/** Candidates of a multi-label plan: room for as many is taken at most; what finds none is counted. */
const MULTI_LABEL_ROOM = 1 << 18;

/** The family of a config and why; `null` names nothing else than what the shapes settle. */
export function familyOf(config: Config, specs: readonly TensorSpec[]): { family: Family; why: string } {
  if (config.family !== null) return { family: config.family, why: "option family" };
  if (config.kind === "ssd") return { family: "ssd", why: "family mobilenet" };
  return settleFamily({
    subtype: config.subtype,
    outputNames: specs.map((s) => s.name),
    modelName: config.modelName,
    anchors: config.anchorSets === null ? null : config.anchorSets.length > 0,
  });
}

function questionOf(
  config: Config,
  family: Family,
  rules: Conventions,
  valuesOf: (index: number) => ArrayLike<number> | null,
): Question {
  const size = config.inputSize;
  let priors = config.priors;
  let priorFormat: string | null = config.priorFormat;
  let variances = config.variances;
  let boxFormat: string | null = config.boxFormat;
  if (priors === null && size !== null) {
    // these two are always built with the same layout, so nobody should have to type it
    if (family === "blazeface") {
      priors = blazefaceAnchors(size);
      priorFormat = "cxcywh";
    } else if (family === "ultraface" && variances !== null) {
      priors = ultrafacePriors(size);
      priorFormat = "cxcywh";
    }
  }
  if (family === "blazeface" && variances === null && size !== null)
    variances = [1 / size[0], 1 / size[1], 1 / size[0], 1 / size[1]];
  // the scales of TensorFlow's box coder go with its order ty tx th tw and anchors ycenter xcenter h w
  if (family === "ssd" && config.scalesGiven && boxFormat === null) boxFormat = "cycxhw";
  if (family === "ssd" && config.scalesGiven && priorFormat === null) priorFormat = "cycxhw";
  const sets = config.anchorSets;
  return {
    family,
    rules: config.activation === "softmax" ? { ...RULES[family], softmax: true } : RULES[family],
    classes: config.classes,
    inputSize: size,
    strides: config.strides,
    activation: config.activation === "softmax" ? "logits" : config.activation,
    sourceActivation:
      config.source === "options"
        ? null
        : config.source === "nn-archive" && RULES[family].size === "exp"
          ? "logits"
          : "sigmoid",
    scaleXY: config.scaleXY,
    coordinates: config.coordinates,
    boxFormat,
    priorFormat,
    background: config.background,
    variances,
    priors,
    reading: config.reading,
    product: rules.score === "product",
    anchorSides: sets?.flatMap((s) => (s.side === null ? [] : [s.side])) ?? [],
    anchorsInCells: family === "yolov2",
    anchorsFor: (width, name, rank, of) => {
      if (sets === null) return null;
      const bySide = sets.find((s) => s.side === width);
      if (bySide !== undefined) return bySide.anchors;
      const byName = sets.find((s) => s.output !== null && s.output === name);
      if (byName !== undefined) return byName.anchors;
      // sides are given and none is this width: not one of ours
      if (sets.some((s) => s.side !== null)) return null;
      return sets.length === of ? sets[rank].anchors : null;
    },
    role: (role) => {
      const names = config.roles?.[role];
      return names === undefined ? null : typeof names === "string" ? [names] : names;
    },
    valuesOf,
  };
}

/** Readings that differ only in words are one. */
function distinct(all: readonly Reading[]): Reading[] {
  const seen = new Map<string, Reading>();
  for (const r of all) {
    // of a single cell, steps from cell to cell say nothing
    const what = JSON.stringify(
      r.heads.map((h) => ({ ...h, about: 0, priors: h.priors?.length })),
      (key, v: unknown) => (key === "cell" && r.heads.every((h) => h.cells === 1) ? 0 : v),
    );
    if (!seen.has(what)) seen.set(what, r);
  }
  return [...seen.values()];
}

/** A reading that explains only some of the tensors another one explains is an accident of their shapes. */
function dominant(all: readonly Reading[]): Reading[] {
  const covers = (a: Reading, b: Reading): boolean =>
    a.uses.length > b.uses.length && b.uses.every((i) => a.uses.includes(i));
  return all.filter((r) => !all.some((other) => covers(other, r)));
}

/** Score columns of SSD under a convention that does not count the background. */
function restrict(r: Reading, rules: Conventions): Reading {
  if (rules.countBackground || !r.heads.some((h) => h.classBase > 0 && h.label === null)) return r;
  return {
    ...r,
    classes: r.classes - 1,
    heads: r.heads.map((h) =>
      h.classBase > 0 && h.label === null ? { ...h, classBase: h.classBase - 1 } : h,
    ),
  };
}

/**
 * Class number that the first entry of a list per class (labels, thresholds) stands for. A list may leave out the
 * background that the numbers count (1), or name one that they leave out (-1); its length tells.
 */
export function listStart(plan: Pick<Plan, "heads" | "classes" | "rules">, length: number): number {
  const first = Math.min(...plan.heads.map((h) => (h.label === null ? h.classBase : 0)));
  if (length === plan.classes - first) return first;
  return !plan.rules.countBackground && length === plan.classes + 1 ? -1 : 0;
}

/** Labels by class number. */
export function labelsOf(
  plan: Pick<Plan, "heads" | "classes" | "rules">,
  labels: readonly string[] | null,
): readonly string[] | null {
  if (labels === null) return null;
  const start = listStart(plan, labels.length);
  return start < 0 ? labels.slice(-start) : [...Array.from({ length: start }, () => "background"), ...labels];
}

function withRules(h: Head, config: Config): Head {
  // [1,1,N,7] numbers its labels with the background as 0; nothing to do, the file's labels count it too
  return config.coordinates === "pixels" &&
    h.kind === "corners" &&
    config.inputSize !== null &&
    h.unit[0] === 1
    ? { ...h, unit: [1 / config.inputSize[0], 1 / config.inputSize[1]] }
    : h;
}

/** No column may end behind its tensor: a label column that is too short, batches that differ. */
function checkBatch(specs: readonly TensorSpec[], reading: Reading): void {
  for (const h of reading.heads) {
    for (const f of [h.label, h.score, h.box, h.objectness, h.marker]) {
      if (f === null || h.cells === 0) continue;
      const s = specs[f.tensor];
      const own = volume(s.dims) / Math.max(1, reading.batch);
      if (!(Number.isInteger(own) && f.offset + (h.cells - 1) * f.cell < own))
        throw new TensorError(
          `${shape(s)}: got ${volume(s.dims)} elements, expected ${h.cells} cells for each of ${reading.batch} image${reading.batch === 1 ? "" : "s"}, as ${h.about} has`,
        );
    }
  }
}

/** Scores and boxes of quantised tensors need a scale, and one that leaves something of the scores. */
function checkTypes(h: Head, specs: readonly TensorSpec[], activation: Activation): void {
  const scores = [h.score, h.objectness].filter((f): f is Field => f !== null);
  for (const f of [...scores, h.box]) {
    const s = specs[f.tensor];
    if (s.scale === null)
      throw new TensorError(
        `${shape(s)}: got ${s.type} data without a scale, expected scale and zeroPoint: real = (raw - zeroPoint) * scale`,
      );
  }
  for (const f of scores) {
    const s = specs[f.tensor];
    const integer = s.type !== "f32" && s.type !== "f16";
    if (!integer) continue;
    const step = s.scale as number;
    const [low, high] = rangeOf(s.type, step, s.zeroPoint);
    if (activation === "sigmoid" && (step >= COARSEST_STEP || high <= 0 || low >= 1)) {
      const shared =
        f.tensor === h.box.tensor
          ? "; boxes and scores share one scale here, which loses the scores: export them as outputs of their own"
          : "";
      throw new TensorError(
        `${shape(s)}: got scale ${step} and zero point ${s.zeroPoint} (values ${low}..${high} in steps of ${step}), expected a scale that tells scores between 0 and 1 apart${shared}`,
      );
    }
  }
}

/** `keep` as class numbers, checked against the labels. */
function keepIds(config: Config, plan: Pick<Plan, "heads" | "classes" | "rules">): number[] {
  const ids = new Set<number>();
  const labels = labelsOf(plan, config.labels);
  for (const k of config.keep as readonly (string | number)[]) {
    if (typeof k === "number") ids.add(k);
    else {
      if (labels === null || !labels.includes(k))
        throw new TensorError(
          `keep: got "${k}", expected ${config.labels === null ? "class numbers, as the config has no labels" : `one of the labels ${config.labels.slice(0, 8).join(", ")}${config.labels.length > 8 ? ", ..." : ""}`}`,
        );
      labels.forEach((l, i) => l === k && ids.add(i));
    }
  }
  const { classes } = plan;
  for (const id of ids) {
    if (!Number.isInteger(id) || id < 0 || (classes > 1 && id >= Math.max(classes, labels?.length ?? 0)))
      throw new TensorError(`keep: got class ${id}, expected 0..${classes - 1}`);
  }
  return [...ids].sort((a, b) => a - b);
}

/** Drops tensors that no head reads. */
function compact(
  specs: readonly TensorSpec[],
  heads: readonly Head[],
): { tensors: TensorSpec[]; heads: Head[] } {
  const fields = (h: Head): Field[] =>
    [h.score, h.objectness, h.label, h.marker, h.count, h.box].filter((f): f is Field => f !== null);
  const read = [...new Set(heads.flatMap((h) => fields(h).map((f) => f.tensor)))].sort((a, b) => a - b);
  const place = (f: Field): Field => ({ ...f, tensor: read.indexOf(f.tensor) });
  const maybe = (f: Field | null): Field | null => (f === null ? null : place(f));
  return {
    tensors: read.map((i) => specs[i]),
    heads: heads.map((h) => ({
      ...h,
      score: place(h.score),
      objectness: maybe(h.objectness),
      label: maybe(h.label),
      marker: maybe(h.marker),
      count: maybe(h.count),
      box: place(h.box),
    })),
  };
}

/**
 * Objectness-gated heads of one image, whose fields lie in one tensor with one pair of steps: a caller's array
 * then need not be copied whole, only the rows whose objectness passes.
 */
function gatherOf(plan: Plan): GatherHead[] | null {
  if (plan.batch !== 1) return null;
  const out: GatherHead[] = [];
  for (const h of plan.heads) {
    const o = h.objectness;
    if (o === null || o.tensor !== h.score.tensor || o.tensor !== h.box.tensor || h.bins > 0) return null;
    if (o.cell !== h.score.cell || o.cell !== h.box.cell || h.score.channel !== h.box.channel) return null;
    const channel = h.score.channel;
    const offset = Math.min(h.box.offset, o.offset);
    const last = Math.max(h.score.offset + (h.classes - 1) * channel, h.box.offset + 3 * channel, o.offset);
    out.push({ tensor: o.tensor, offset, channels: (last - offset) / channel + 1, channel, cell: o.cell });
  }
  return out;
}

function list(specs: readonly TensorSpec[]): string {
  return specs.map(shape).join(", ");
}

function tooMany(found: readonly Reading[], specs: readonly TensorSpec[]): string {
  const lines = found.map((r) => `  - ${r.about}   (reading: "${r.name}")`);
  const names = new Set(found.map((r) => r.name));
  const orders = new Set(found.flatMap((r) => r.about.match(/as (\w+)/g) ?? []));
  const settle =
    names.size > 1
      ? `the option reading settles it, for instance reading: "${found[0].name}"`
      : orders.size > 1
        ? `the tensor's order settles it: outputs: [{name: "${specs[0].name}", dims, order: "rows" or "planes", "NCHW" or "NHWC"}], or order beside data and dims`
        : 'roles settles it: {boxes: "name", scores: "name"}';
  return `got ${list(specs)}, which can be read in ${found.length} ways:\n${lines.join("\n")}\n${settle}`;
}

function nothingFits(
  config: Config,
  q: Question,
  family: Family,
  why: string,
  specs: readonly TensorSpec[],
): string {
  const c = q.classes;
  const head = q.rules.head;
  const expected: string[] = [];
  if (c === null && ["anchor", "point", "distance"].includes(head))
    expected.push("the number of classes (option classes, or labels)");
  else if (head === "anchor" && family !== "fastestdet") {
    const k = 5 + (c as number);
    const sets = config.anchorSets;
    const sides =
      sets
        ?.filter((s) => s.side !== null)
        .map((s) => `width ${s.side}: [1,${s.anchors.length * k},h,${s.side}]`) ?? [];
    if (sides.length > 0)
      expected.push(`maps of A x (5+${c}) channels by the anchor masks, ${sides.join(", ")} (or NHWC)`);
    else if (sets !== null && sets.length > 0)
      expected.push(
        `${sets.length} maps of A x (5+${c}) channels: ${sets.map((s) => s.anchors.length * k).join(", ")}`,
      );
    else expected.push("anchors for maps");
    expected.push(`rows [1,N,${k}]`);
  } else if (head === "point" || family === "fastestdet")
    expected.push(
      `maps [1,${5 + (c as number)},h,w]`,
      `rows [1,N,${5 + (c as number)}]${q.inputSize === null ? " with inputSize" : " with N the cells of the maps"}`,
    );
  else if (head === "distance")
    expected.push(
      `planes [1,${4 + (c as number)},N] or rows [1,N,${4 + (c as number)}]`,
      `maps [1,${5 + (c as number)},h,w]`,
      `DFL maps [1,64,h,w] + [1,${c},h,w]`,
      "detections [1,N,6]",
    );
  else if (family === "ssd") {
    expected.push("detections [1,1,N,7]");
    if (q.priors === null && !specs.some((s) => /prior|anchor/i.test(s.name)))
      expected.push("or offsets [1,N,4] and scores [1,N,C] with the option priors");
    else
      expected.push(
        "or offsets [1,N,4] and scores [1,N,C] with 4 N priors (8 N with variances), and variances or scales",
      );
  } else if (family === "tflite-postprocess")
    expected.push(
      "boxes [1,N,4], classes [1,N], scores [1,N], count [1], told apart by name or by roles: {boxes, labels, scores, count}",
    );
  else if (family === "ssd-detection-output") expected.push("[1,1,N,7]");
  else if (family === "detr")
    expected.push(`logits [1,N,${(c ?? 0) + 1}] (DETR) or [1,N,${c}] (RT-DETR) and boxes [1,N,4]`);
  else if (family === "boxes" || family === "ultraface") expected.push("boxes [1,N,4] and scores [1,N,C]");
  else expected.push("regressors [1,896,16] and scores [1,896,1] with inputSize");
  const reading = q.reading === null ? "" : ` and reading "${q.reading}"`;
  const batches = new Set(specs.filter((s) => s.dims.length > 2).map((s) => s.dims[0]));
  if (batches.size > 1) expected.push("all with the same batch, the first dimension");
  return `got ${list(specs)}, expected for ${family} (${why})${c === null ? "" : ` of ${c} class${c === 1 ? "" : "es"}`}${reading}: ${expected.join("; ")}`;
}

/** Frozen all the way down, but for typed arrays, which cannot be. */
function deepFreeze<T>(x: T): T {
  if (typeof x === "object" && x !== null && !ArrayBuffer.isView(x)) {
    Object.values(x).forEach(deepFreeze);
    Object.freeze(x);
  }
  return x;
}
