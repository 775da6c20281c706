/**
 * Makes a plan from a config and output shapes. `interpretConfig` determines family, outputs and rules, and finds every
 * interpretation of the tensors. `planOf` makes a plan if there is exactly one interpretation. Decoders, `compile` and
 * `inspect` use both functions.
 */
import type { Config } from "../config/types.ts";
import { RULE_SETS, type Rules, EXCEPTIONS } from "../core/rules.ts";
import { refuse, refuseFor, TensorError } from "../core/errors.ts";
import { deepFreeze } from "../core/freeze.ts";
import { TRAITS } from "../core/families.ts";
import { explainToSay } from "../core/parts.ts";
import type { FamilyReason } from "../core/family-names.ts";
import { READINGS } from "../core/readings.ts";
import { checkNames, list, type TensorSpec } from "../core/tensor.ts";
import type { Column } from "../heads/channels.ts";
import { areAllCells, cellsOf, squareOfRows } from "../shapes/grids.ts";
import type { Head, Interpretation, TaskPlan } from "../heads/head.ts";
import { interpret } from "../heads/interpret.ts";
import type { ScoresReason } from "../heads/print.ts";
import { familyOf, type HeadQuery, outputsOf, queryOf } from "../heads/query.ts";
import { priorsAmong } from "../heads/ssd.ts";
import { checkBatch, checkMaps, checkNamed, checkReading, COLUMNS, headColumns } from "./check.ts";
import { keepIds } from "./classes.ts";
import type { Explain } from "./explain.ts";
import type { GatherHead, Plan } from "./plan.ts";
import { type Planners, type TaskPlanner, plannerOf } from "./task.ts";

/** Largest count of candidates of a multi-label plan with fewer cells. Dropped candidates are counted. */
const MULTI_LABEL_ROOM = 1 << 18;

/** A config with known family, outputs and rules, and every interpretation of the tensors. */
export interface Interpreted {
  readonly config: Config;
  readonly query: HeadQuery;
  /** Evidence for the family. */
  readonly why: FamilyReason;
  /** All given tensors. */
  readonly specs: readonly TensorSpec[];
  /** Tensors that the config names as outputs of its head. If the config names none, all tensors. */
  readonly outputs: readonly TensorSpec[];
  readonly rules: Rules;
  readonly interpretations: readonly Interpretation[];
  /** Planner of the task that found the interpretations. Undefined if only boxes are read. */
  readonly planner: TaskPlanner | undefined;
  /** Output whose values a plan needs before it can be made: prior boxes, or distances of an unknown unit. */
  readonly awaits: TensorSpec | null;
}

/**
 * Finds every interpretation of `specs` that the config allows.
 * @param planners the tasks that may read the tensors
 * @param valuesOf returns the values of the tensor with this index, or `null` if they are unknown so far
 * @throws TensorError if the config decodes nothing, or if tensors that the config names are missing; ConfigError if
 * the config's task is not among `planners`
 */
export function interpretConfig(
  config: Config,
  specs: readonly TensorSpec[],
  planners: Planners,
  valuesOf: HeadQuery["valuesOf"] = () => null,
): Interpreted {
  if (!config.decodes)
    throw new TensorError(config.note ?? "the config names no family: there is nothing to decode", {
      options: [{ option: "family" }],
    });
  if (specs.length === 0) refuse("", "no tensors", "the outputs of the network");
  checkNames(specs);
  const outputs = outputsOf(config, specs);
  const { family, why } = familyOf(config, outputs);
  const rules: Rules = {
    ...RULE_SETS[config.ruleSet],
    ...TRAITS[family].rules,
    ...config.rules,
  };
  const query = queryOf(config, family, rules, (i) => valuesOf(specs.indexOf(outputs[i])));
  const planner = plannerOf(planners, config.task?.name ?? query.traits.task);
  const priors = query.traits.head === "prior" ? priorsAmong(outputs, config) : -1;
  const interpretations = planner ? planner.read(query, outputs) : interpret(query, outputs);
  const open =
    interpretations.length > 1
      ? interpretations.find(({ awaits }) => awaits !== undefined)?.awaits
      : undefined;
  const awaited = priors >= 0 ? priors : (open ?? -1);
  return {
    config,
    query,
    why,
    specs,
    outputs,
    rules,
    interpretations,
    planner,
    awaits: awaited >= 0 && query.valuesOf(awaited) === null ? outputs[awaited] : null,
  };
}

/**
 * Returns the plan of the only interpretation.
 * @param explain functions for detailed errors and for notes; null: errors are short, and there are no notes
 * @throws TensorError if there is no interpretation or more than one, or if the interpretation contradicts the config
 */
export function planOf(interpreted: Interpreted, explain: Explain | null): Plan {
  const { config, query, why, outputs: specs, rules, interpretations, planner } = interpreted;
  if (interpretations.length !== 1) refuseReadings(interpreted, explain);
  const [interpretation] = interpretations;
  const { name, uses, scores, about, inputSize, batch, listIds, inPhoto } = interpretation;
  const unused = specs.filter((_, i) => !uses.includes(i));
  checkNamed(config, interpretation, specs, unused);
  checkMaps(interpretation, unused, query.inputSize);
  checkBatch(specs, interpretation);
  const heads = withUnits(interpretation);
  checkReading(config, query.family, interpretation, specs);
  const settled = settledRules(interpreted, interpretation);
  const classes = countClasses(config, interpretation);
  const backgroundLast = typeof config.background === "number" && config.background > 0;
  const compacted = compact(specs, heads, interpretation.task, settled, planner);
  const { family } = query;
  const classFields = { family, heads, classes, rules, backgroundLast, listIds, task: interpretation.task };
  const plan: Plan = {
    family,
    familyWhy: why,
    reading: name,
    about,
    notes: explain
      ? [
          ...explain.notesOfFamily(query, why),
          ...explain.notesOf(query, interpretation, settled, specs, unused),
        ]
      : [],
    scores,
    scoresWhy: scoresWhy(config, query, interpretation),
    inputSize,
    batch,
    classes,
    // Give slots only to tensors that are read. Keep the order of the outputs.
    ...compacted,
    keep: config.keep && keepIds(config, config.keep, classFields),
    backgroundLast,
    ...(listIds && { listIds }),
    ...(inPhoto && { inPhoto }),
    maxDetections: Math.min(config.maxDetections, interpretation.task?.mostRows ?? Infinity),
    ...(config.suppression && {
      suppression: { ...config.suppression, suppress: rules.suppress === "all" ? "all" : "class" },
    }),
    capacity: capacityOf(heads, settled),
    // Do not gather for a task, since tasks read more channels of a row than are gathered.
    gather: batch === 1 && !interpretation.task ? gatherOf(compacted.heads) : null,
  };
  return deepFreeze(plan);
}

/** Throws for tensors that fit no interpretation, or several. */
function refuseReadings(
  { query, why, outputs: specs, interpretations }: Interpreted,
  explain: Explain | null,
): never {
  const names = [...new Set(interpretations.map(({ name }) => name))];
  if (explain && names.length === 0) explain.refuseAll(query, why, specs);
  if (explain) explain.refuseSeveral(interpretations, specs);
  refuseFor(
    names.length > 1 ? [{ option: "reading", value: names[0] }] : [],
    "",
    list(specs),
    (names.length > 0
      ? `tensors that can be read in one way, and not in ${interpretations.length} (${names.join(", ")})`
      : `tensors of ${query.family}`) + `; ${explainToSay("which")}`,
  );
}

/** Returns the heads with their units. Throws a TensorError if boxes are in pixels but the input size is unknown. */
function withUnits({ about, heads, name }: Interpretation): Head[] {
  const side = READINGS[name].rowPerCell ? squareOfRows(cellsOf(heads)) : null;
  const hint = side === null ? "" : `; ${cellsOf(heads)} rows are those of a ${side}x${side} input`;
  return heads.map(({ unit, ...head }) => ({
    ...head,
    unit:
      unit ??
      refuseFor(
        [
          { option: "inputSize", ...(side !== null && { value: `${side}x${side}` }) },
          { option: "coordinates", value: "normalised" },
        ],
        about,
        "boxes in pixels and no input size",
        `inputSize: [width, height] (or coordinates: "normalised" if they are 0..1 already)${hint}`,
      ),
  }));
}

/** Returns the rules of a plan. Omits steps that the network itself has done, unless the config states their rule. */
function settledRules({ config, query, rules }: Interpreted, interpretation: Interpretation): Rules {
  const { name, heads, pairs, inPhoto } = interpretation;
  const { suppressed, unclamped, looksRaw } = READINGS[name];
  const { inputSize } = interpretation;
  // Exports for DeepStream look like a finished list, but contain every cell, so suppression is still needed.
  const isOpen = looksRaw && areAllCells({ inputSize, strides: config.strides }, cellsOf(heads));
  const settled: Rules = {
    ...rules,
    ...EXCEPTIONS[config.ruleSet]?.[name],
    suppress: suppressed && !isOpen ? "none" : rules.suppress,
    clamp: unclamped || query.traits.unclamped ? "none" : rules.clamp,
    ...(pairs && { multiLabel: true, maxCandidates: cellsOf(heads) }),
    ...config.rules,
    // `config.maxDetections` already combines the limits of the rule set, the config and the option.
    maxDetections: config.maxDetections,
    ...(config.suppression && { suppress: "none" }),
  };
  // Boxes in pixels of the photo cannot be clamped to the input before suppression. Clamp them after it.
  return inPhoto && settled.clamp === "before" ? { ...settled, clamp: "after" } : settled;
}

/**
 * Returns the class count. If a column holds class ids, shapes do not limit it, so a longer list of confidence
 * thresholds is the count.
 */
function countClasses({ confidenceThreshold }: Config, { classes, heads }: Interpretation): number {
  const hasClassIds = heads.some(({ classId }) => classId);
  return Math.max(classes, hasClassIds ? [confidenceThreshold].flat().length : 0);
}

/** Returns which statement determined whether scores are probabilities or logits. */
function scoresWhy(
  { scores, format }: Config,
  { family }: HeadQuery,
  { name }: Interpretation,
): ScoresReason {
  if (scores !== null) return { kind: "option" };
  return format === "options"
    ? { kind: "family", value: family, reading: name }
    : { kind: "format", value: format };
}

/** Returns the row count of the candidate columns: one per cell, or one per cell and class, within limits. */
function capacityOf(heads: readonly Head[], { multiLabel }: Rules): number {
  const cells = cellsOf(heads);
  const pairs = heads.reduce((n, head) => n + head.cells * (head.classId ? 1 : head.classes), 0);
  return multiLabel ? Math.max(cells, Math.min(pairs, MULTI_LABEL_ROOM)) : cells;
}

/** Drops unread tensors, and replaces the tensor indices in heads and task by the new ones. */
function compact(
  specs: readonly TensorSpec[],
  heads: readonly Head[],
  task: TaskPlan | undefined,
  rules: Rules,
  planner: TaskPlanner | undefined,
): Pick<Plan, "tensors" | "heads" | "task" | "rules"> {
  const { tensors = [] } = task ?? {};
  const read = new Set([
    ...tensors,
    ...heads.flatMap((head) => headColumns(head).map(({ tensor }) => tensor)),
  ]);
  const kept = specs.map((_, i) => i).filter((i) => read.has(i));
  const moved = (column?: Column | null): Column | null | undefined =>
    column && { ...column, tensor: kept.indexOf(column.tensor) };
  return {
    ...(task && { task: { ...task, rules, tensors: tensors.map((i) => kept.indexOf(i)) } }),
    rules: { ...rules, ...planner?.rules },
    tensors: kept.map((i) => specs[i]).map(({ finished: _, ...tensor }) => tensor),
    heads: heads.map((head) => ({
      ...head,
      ...Object.fromEntries(COLUMNS.map((name) => [name, moved(head[name])])),
    })),
  };
}

/**
 * Returns how to gather rows of each head from a caller's array, so that only rows that pass the gate are copied.
 * Returns `null` unless this is possible for all heads. A head needs objectness, and all its columns must lie in one
 * tensor with equal steps.
 */
function gatherOf(heads: readonly Head[]): GatherHead[] | null {
  const gathered = heads.flatMap(({ objectness, score, box, bins, classes }) => {
    if (!objectness || bins > 0 || score.channel !== box.channel) return [];
    if ([score, box].some(({ tensor, cell }) => tensor !== objectness.tensor || cell !== objectness.cell))
      return [];
    const { channel } = score;
    const offset = Math.min(box.offset, objectness.offset);
    const last = Math.max(
      score.offset + (classes - 1) * channel,
      box.offset + 3 * channel,
      objectness.offset,
    );
    const { tensor, cell } = objectness;
    return { tensor, offset, channels: (last - offset) / channel + 1, channel, cell };
  });
  return gathered.length === heads.length ? gathered : null;
}
