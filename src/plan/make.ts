/**
 * Room 2: Config + tensor specs -> Plan. A plan is frozen plain data that can be printed: a bug report is a plan
 * plus tensors. It says what every tensor is taken for, and why; it knows no addresses.
 */
import { keepIds } from "./classes.ts";
import type { Config } from "../config/types.ts";
import type { GatherHead, Plan } from "./plan.ts";
import { type Conventions, CONVENTIONS } from "../core/conventions.ts";
import { refuse, TensorError } from "../core/errors.ts";
import type { Activation, Family } from "../core/families.ts";
import { rangeOf } from "../core/number.ts";
import { cellsOf, gridsOfRows, preferred } from "../heads/match.ts";
import { familyOf, namesOf, outputsOf, type HeadQuery, queryOf } from "../heads/query.ts";
import { type Head, type Interpretation } from "../heads/head.ts";
import { interpret } from "../heads/interpret.ts";
import { nothingFits, tooMany } from "../heads/refusals.ts";
import { checkNames, list, few, isFloat, shape, type TensorSpec, volume } from "../core/tensor.ts";
import { type Column } from "../heads/channels.ts";

/** A quantisation step above which scores in 0..1 have lost their meaning. */
const COARSEST_STEP = 0.5;

/** Candidates of a multi-label plan: room for as many is taken at most; what finds none is counted. */
const MULTI_LABEL_ROOM = 1 << 18;

/** What a config and tensors can be. */
interface Found {
  readonly q: HeadQuery;
  /** Why the family is taken to be that of the question. */
  readonly why: string;
  /** The tensors that readings are of: the outputs of the head. */
  readonly used: readonly TensorSpec[];
  readonly rules: Conventions;
  readonly found: readonly Interpretation[];
}

/** Every reading of `specs` that the config leaves. `valuesOf`: raw values of tensors that are at hand. */
export function interpretConfig(
  config: Config,
  specs: readonly TensorSpec[],
  valuesOf: HeadQuery["valuesOf"] = () => null,
): Found {
  if (!config.decodes)
    throw new TensorError(config.note ?? "the config names no family: there is nothing to decode");
  if (specs.length === 0) refuse("", "no tensors", "the outputs of the network");
  checkNames(specs);
  const used = outputsOf(config, specs);
  const { family, why } = familyOf(config, used);
  const rules: Conventions = { ...CONVENTIONS[config.conventions], ...config.rules };
  const q = queryOf(config, family, rules, valuesOf);
  const named = namesOf(config.roles);
  // of several, those of the outputs that roles name
  const found = preferred(distinct(interpret(q, used)), ({ uses }) =>
    used.every((s, i) => !named.includes(s.name) || uses.includes(i)),
  );
  return { q, why, used, rules, found };
}

/** The plan of the one reading of `specs` that the config allows. `valuesOf`: raw values of tensors that are at hand. */
export function makePlan(
  config: Config,
  specs: readonly TensorSpec[],
  valuesOf?: HeadQuery["valuesOf"],
): Plan {
  return planOf(config, interpretConfig(config, specs, valuesOf));
}

/** The same of readings at hand. */
export function planOf(config: Config, { q, why, used, rules, found }: Found): Plan {
  if (found.length === 0) nothingFits(q, why, used);
  if (found.length > 1) throw new TensorError(tooMany(found, used));
  const { family } = q;
  const { name, uses, ...reading } = found[0];
  const { heads } = reading;
  const unused = used.filter((_, i) => !uses.includes(i));
  checkNamed(config, found[0], used, unused);
  checkBatch(used, heads, reading.batch);
  checkReading(config, family, found[0], used);
  const settled = settledRules(config, rules, found[0]);
  // a label column may hold any number; the lists that the config gives say how many are meant
  const labelled = heads.some((h) => h.classId);
  const listed = [config.confidenceThreshold].flat().length;
  const classes = Math.max(reading.classes, labelled ? listed : 0);
  const backgroundLast = typeof config.background === "number" && config.background > 0;
  const cells = cellsOf(heads);
  const pairs = heads.reduce((n, h) => n + h.cells * (h.classId ? 1 : h.classes), 0);
  const plan: Plan = {
    ...reading,
    family,
    familyWhy: why,
    reading: name,
    notes: notesOf(q, found[0], settled, used, unused),
    activationWhy:
      config.activation !== null
        ? "option activation"
        : `default of ${config.format === "options" ? `${family} ${name}` : `${config.format} files`}`,
    classes,
    // only what is read gets a slot; the order of use keeps memory and printing in one order
    ...compact(used, heads),
    rules: settled,
    keep: config.keep && keepIds(config, config.keep, { heads, classes, rules, backgroundLast }),
    backgroundLast,
    maxDetections: config.maxDetections,
    capacity: settled.multiLabel ? Math.max(cells, Math.min(pairs, MULTI_LABEL_ROOM)) : cells,
    gather: null,
  };
  return deepFreeze({ ...plan, gather: gatherOf(plan) });
}

/** Boxes and scores as the config says they are: in a unit, of a type and with an activation that the reading can have. */
function checkReading(
  config: Config,
  family: Family,
  { name, about, activation, heads }: Interpretation,
  specs: readonly TensorSpec[],
): void {
  if (Number.isNaN(heads[0].unit[0]))
    refuse(
      about,
      "boxes in pixels and no input size",
      'inputSize: [width, height] (or coordinates: "normalised" if they are 0..1 already)',
    );
  for (const h of heads) checkTypes(h, specs, activation);
  if (config.activation === "logits" && activation !== "logits")
    refuse(about, 'activation "logits"', `"sigmoid": the network has finished the scores of ${name}`);
  if (config.activation === "softmax" && !isSoftmax(heads))
    refuse(
      about,
      'activation "softmax"',
      `"sigmoid" or "logits": the classes of ${family} as ${name} are independent`,
    );
}

const isSoftmax = (heads: readonly Head[]): boolean => heads.some((h) => h.scoreFn === "softmax");

/** The rules of a reading: what the network has done is not done again, unless the config names the rule. */
function settledRules(config: Config, rules: Conventions, { name, heads }: Interpretation): Conventions {
  const single = isFinished(name) || name === "corner-rows" || name === "queries";
  // what the network has finished stays as it is: coordinates a little outside are normal there
  const finished = isFinished(name) && name !== "end-to-end";
  return {
    ...rules,
    // the other script of that time, for mobilenets
    gate: config.conventions === "gen1" && name === "detection-output" ? ">" : rules.gate,
    nms: single ? "none" : rules.nms,
    clamp: finished ? "none" : rules.clamp,
    // RT-DETR takes the best (query, class) pairs, not the best class of each query, as Ultralytics does of its own export of one tensor
    multiLabel:
      (name === "queries" && !isSoftmax(heads) && heads[0].score.tensor !== heads[0].box.tensor) ||
      rules.multiLabel,
    ...config.rules,
    // the cap of the set, or else the bound that the config or an option gives
    maxDetections: config.maxDetections,
  };
}

/** What is worth saying of a reading that stands. */
function notesOf(
  q: HeadQuery,
  { name, heads, notes, inputSize }: Interpretation,
  { pixelOffset }: Conventions,
  specs: readonly TensorSpec[],
  unused: readonly TensorSpec[],
): string[] {
  const named = namesOf(q.roles);
  const cells = cellsOf(heads);
  return [
    ...notes,
    ...(/-grid$/.test(name) && q.strides === null ? strangeMaps(heads, q.inputSize) : []),
    ...(unused.length > 0 ? [`left alone: ${list(unused)}`] : []),
    ...(q.anchorSets?.length && q.traits.head !== "anchor"
      ? [`${q.family} has no anchors: those given are not used`]
      : []),
    ...(named.length > 0 && !specs.some((s) => named.includes(s.name))
      ? [`roles name none of these outputs: ${few(named, 6)}`]
      : []),
    ...(pixelOffset === 1 && inputSize === null
      ? ["pixelOffset waits for an input size: no pixel is added"]
      : []),
    ...(q.keep?.length === 0 ? ["keep names no class: nothing will be found"] : []),
    // as many rows as cells, or so many for each cell: as many as there are anchors
    ...(isRowsOf(q.family, name) && q.inputSize && ![1, 2, 3, 5].some((n) => gridsOfRows(q, cells / n))
      ? [
          `${cells} rows are not the cells of a ${q.inputSize.join("x")} input at the usual strides: is that its size?`,
        ]
      : []),
  ];
}

/** Maps that an input of this size has at no stride of whole pixels. */
function strangeMaps(heads: readonly Head[], size: HeadQuery["inputSize"]): string[] {
  if (size === null) return [];
  const roundings = [Math.ceil, Math.floor];
  const fits = (map: readonly number[]): boolean => {
    // one stride for both axes: the smallest that is enough for one of them, or the largest that leaves something over
    const strides = map.flatMap((cells, axis) => roundings.map((round) => round(size[axis] / cells)));
    return strides.some((stride) =>
      map.every((cells, axis) => roundings.some((round) => round(size[axis] / stride) === cells)),
    );
  };
  const strange = new Set(
    heads
      .map((h) => [h.gridWidth, h.cells / h.gridWidth])
      .filter((map) => !fits(map))
      .map((map) => map.join("x")),
  );
  return strange.size === 0
    ? []
    : [
        `a ${size.join("x")} input has no map of ${[...strange].join(" or ")} cells at any stride of whole pixels: is that its width and height?`,
      ];
}

/** Whether each row usually is one cell of a map. */
const isRowsOf = (family: Family, name: string): boolean =>
  /^yolo/.test(family) && (name === "class-rows" || name === "objectness-rows");

/** Whether the network itself has put the scores and the list of boxes right. */
export const isFinished = (name: string): boolean => /^(end-to-end|detection-output|postprocess)$/.test(name);

/**
 * Every tensor that is named as part of the head has to be in the reading, and every stride has its map: leaving alone a map that does not
 * fit would silently lose its boxes.
 */
function checkNamed(
  { roles, strides, scaleXY }: Config,
  { name, about, heads }: Interpretation,
  specs: readonly TensorSpec[],
  unused: readonly TensorSpec[],
): void {
  const named = namesOf(roles);
  const isHere = (n: string): boolean => specs.some((s) => s.name === n);
  // roles of which none is here were written for another export of the network
  const lacking = named.some(isHere) ? named.filter((n) => !isHere(n)) : [];
  if (lacking.length > 0) refuse("roles", `outputs ${list(specs)}`, `${lacking.join(", ")} among them`);
  const missed = unused.filter((s) => /_yolo/i.test(s.name) || named.includes(s.name));
  if (missed.length > 0)
    refuse("", `${list(missed)} left over by ${about}`, "every output of the head to fit");
  // anchors of a map begin at channels of their own, maps in one tensor at cells of their own
  const first = (h: Head): number => (name === "anchor-grid" ? 0 : h.box.offset);
  const maps = new Set(heads.map((h) => `${h.box.tensor} ${h.cells} ${h.gridWidth} ${first(h)}`)).size;
  if (strides && /-grid$/.test(name) && maps !== strides.length)
    refuse(about, `${maps} ${maps === 1 ? "map" : "maps"}`, `${strides.length}, one for each of strides`);
  if (name === "anchor-grid" && typeof scaleXY === "object" && scaleXY !== null && maps !== scaleXY.length)
    refuse("scaleXY", `a list of ${scaleXY.length}`, `${maps}, one per map, or one number for all`);
}

/** Readings that differ only in words are one. */
function distinct(all: readonly Interpretation[]): Interpretation[] {
  const seen = new Map<string, Interpretation>();
  for (const r of all) {
    // of a single cell, steps from cell to cell say nothing
    const one = r.heads.every((h) => h.cells === 1);
    // and of a single class, steps from class to class
    const heads = r.heads.map((h) => (h.classes === 1 ? { ...h, score: { ...h.score, channel: 0 } } : h));
    const what = JSON.stringify(heads, (key, v: unknown) =>
      key === "about" || (one && key === "cell") ? 0 : ArrayBuffer.isView(v) ? v.byteLength : v,
    );
    if (!seen.has(what)) seen.set(what, r);
  }
  return [...seen.values()];
}

/** The columns of a head. */
const FIELDS = ["score", "objectness", "classId", "marker", "count", "box"] as const;

const fieldsOf = (h: Head, names: readonly (typeof FIELDS)[number][] = FIELDS): Column[] =>
  names.map((n) => h[n]).filter((f) => f !== null);

/** No column may end behind its tensor: a label column that is too short, batches that differ, one count for several images. */
function checkBatch(specs: readonly TensorSpec[], heads: readonly Head[], batch: number): void {
  for (const h of heads) {
    for (const f of fieldsOf(h)) {
      const s = specs[f.tensor];
      const all = volume(s.dims);
      const own = all / (batch || 1);
      const cells = f === h.count ? 1 : h.cells;
      if (h.cells > 0 && !(Number.isInteger(own) && f.offset + (cells - 1) * f.cell < own))
        refuse(
          shape(s),
          `${all} elements`,
          `${cells} cell${cells === 1 ? "" : "s"} for each of ${batch} image${batch === 1 ? "" : "s"}, as ${h.about} has`,
        );
    }
  }
}

/** Scores and boxes of quantised tensors need a scale, and one that leaves something of the scores. */
function checkTypes(h: Head, specs: readonly TensorSpec[], activation: Activation): void {
  for (const f of fieldsOf(h, ["marker", "count"])) {
    const s = specs[f.tensor];
    // the marker says "no more" below zero, so a scale alone does no harm there
    if (s.zeroPoint !== 0 || (f === h.count && (s.scale ?? 1) !== 1))
      refuse(
        shape(s),
        `${s.type} of scale ${s.scale} and zeroPoint ${s.zeroPoint}`,
        "numbers as they stand, as they say where the list ends",
      );
  }
  for (const f of fieldsOf(h, ["score", "objectness", "box"])) {
    const s = specs[f.tensor];
    const { scale, zeroPoint } = s;
    if (scale === null)
      return refuse(
        shape(s),
        `integers (${s.type}) without a scale`,
        "scale and zeroPoint: real = (raw - zeroPoint) * scale",
      );
    if (f === h.box || isFloat(s) || activation === "logits") continue;
    const [low, high] = rangeOf(s);
    if (scale >= COARSEST_STEP || high <= 0 || low >= 1)
      refuse(
        shape(s),
        `scale ${scale} and zero point ${zeroPoint} (values ${low}..${high} in steps of ${scale})`,
        `a scale that tells scores between 0 and 1 apart${f.tensor === h.box.tensor ? "; boxes and scores share one scale here, which loses the scores: export them as outputs of their own" : ""}`,
      );
  }
}

/** Drops tensors that no head reads. */
function compact(specs: readonly TensorSpec[], heads: readonly Head[]): Pick<Plan, "tensors" | "heads"> {
  const read = new Set(heads.flatMap((h) => fieldsOf(h).map((f) => f.tensor)));
  const kept = specs.map((_, i) => i).filter((i) => read.has(i));
  return {
    tensors: kept.map((i) => specs[i]),
    heads: heads.map((h) => ({
      ...h,
      ...Object.fromEntries(FIELDS.map((n) => [n, h[n] && { ...h[n], tensor: kept.indexOf(h[n].tensor) }])),
    })),
  };
}

/**
 * Objectness-gated heads of one image, whose fields lie in one tensor with one pair of steps: a caller's array
 * then need not be copied whole, only the rows whose objectness passes.
 */
function gatherOf({ batch, heads }: Plan): GatherHead[] | null {
  const out = heads.flatMap(({ objectness: o, score: s, box: b, bins, classes }) => {
    if (!o || bins > 0 || s.channel !== b.channel) return [];
    if ([s, b].some((f) => f.tensor !== o.tensor || f.cell !== o.cell)) return [];
    const { channel } = s;
    const offset = Math.min(b.offset, o.offset);
    const last = Math.max(s.offset + (classes - 1) * channel, b.offset + 3 * channel, o.offset);
    return { tensor: o.tensor, offset, channels: (last - offset) / channel + 1, channel, cell: o.cell };
  });
  return batch === 1 && out.length === heads.length ? out : null;
}

/** Frozen all the way down, but for typed arrays, which cannot be. */
function deepFreeze<T>(x: T): T {
  if (typeof x === "object" && x !== null && !ArrayBuffer.isView(x)) {
    Object.values(x).forEach(deepFreeze);
    Object.freeze(x);
  }
  return x;
}
