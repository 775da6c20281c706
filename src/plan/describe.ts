/** Describes a config or a plan, as text for people and as data for programs. */
import type { AnchorSet, Config } from "../config/types.ts";
import { adviceOnCocoLabels } from "../core/labels.ts";
import type { RuleSet } from "../core/rules.ts";
import { GIVEN_BY } from "../core/tasks.ts";
import { few, isFloat, type TensorSpec } from "../core/tensor.ts";
import { cellsOf } from "../shapes/grids.ts";
import type { Head } from "../heads/head.ts";
import { scoresReason, familyReason } from "../heads/print.ts";
import { familyOf } from "../heads/query.ts";
import type { Plan } from "./plan.ts";

/** Description of how a decoder reads its tensors, and why. */
export interface Description {
  readonly text: string;
  /** Data for programs and bug reports. Survives JSON. */
  readonly json: ConfigDescription | PlanDescription;
}

/** Description of a config before the shapes are known. */
export interface ConfigDescription {
  readonly kind: "config";
  /** The config. `priors` is text that states the count of numbers. */
  readonly config: Omit<Config, "priors"> & { readonly priors: string | null };
}

/** A head of a described plan. */
export interface HeadDescription extends Omit<Head, "priors"> {
  /** Index of the head's first cell among the cells of all heads. `Detections.sources` counts the same way. */
  readonly firstSource: number;
  /** Text that states the count of numbers in the prior boxes. */
  readonly priors: string | null;
}

/** Description of a plan, with the current thresholds. */
export interface PlanDescription extends Omit<Plan, "heads"> {
  readonly kind: "plan";
  readonly heads: readonly HeadDescription[];
  readonly ruleSet: RuleSet;
  readonly confidenceThreshold: number | readonly number[];
  readonly iouThreshold: number;
}

/** Describes a config whose tensors are not known yet. */
export function describeConfig(config: Config): Description {
  const { labels, classes, inputSize, decodes, anchorSets } = config;
  const outputs = (config.outputs ?? []).filter(({ name }) => config.headOutputs?.includes(name) ?? true);
  const { family, why } = familyOf(config, outputs);
  const lines = [
    `config: ${config.format}${formatText(config)}`,
    ...(decodes ? [`family: ${family} (${familyReason(why)})`] : []),
    `classes: ${classes ?? NOT_GIVEN}${labels ? `, labels ${few(labels, 3)}` : namesText(config, classes)}`,
    ...(anchorSets?.length ? [`anchors: ${anchorSets.map(anchorsText).join("; ")}`] : []),
    `input: ${inputSize?.join("x") ?? NOT_GIVEN}`,
    `thresholds: confidence ${confidenceText(config)}, IoU ${config.iouThreshold}, at most ${config.maxDetections} detections`,
    "tensors: not known yet; the plan is made at the first decode, or from the option outputs",
  ];
  return { text: lines.join("\n"), json: throughJson<ConfigDescription>({ kind: "config", config }) };
}

const namesText = ({ labels }: Config, classes: number | null): string => {
  const advice = adviceOnCocoLabels(labels, classes);
  return advice === null ? "" : ` without names (${advice})`;
};

const NOT_GIVEN = "not given";

/** Returns text about the file's output_format. Empty for typed options, which have no such field. */
function formatText({ decodes, note, format, outputFormat }: Config): string {
  if (!decodes) return `, ${note ?? "nothing to decode"}`;
  return format === "options" ? "" : `, output_format ${outputFormat ?? "not given (raw: the host decodes)"}`;
}

const anchorsText = ({ side, output, anchors }: AnchorSet, i: number): string =>
  `${anchors.map((a) => a.join(" x ")).join(", ")} for ${output ?? (side === null ? `map ${i + 1}` : `the map ${side} wide`)}`;

const confidenceText = ({ confidenceThreshold }: Config): string =>
  typeof confidenceThreshold === "number" ? String(confidenceThreshold) : "per class";

/** Describes a plan, with the thresholds of `config`. */
export function describePlan(config: Config, plan: Plan): Description {
  const { scores, classes, inputSize, batch } = plan;
  const { ruleSet, confidenceThreshold, iouThreshold, maxDetections } = config;
  const heads = plan.heads.map((head, i) => ({ ...head, firstSource: cellsOf(plan.heads.slice(0, i)) }));
  const fn = heads.some(({ scoreFn }) => scoreFn === "softmax") ? "softmax" : "sigmoid";
  const holds =
    scores === "probabilities" ? "the tensor holds probabilities" : `the decoder applies the ${fn}`;
  const lines = [
    `family: ${plan.family} (${familyReason(plan.familyWhy)})`,
    `reading: ${plan.reading}: ${plan.about}`,
    `scores: ${scores} (${holds}) (${scoresReason(plan.scoresWhy)})`,
    `input: ${inputSize?.join("x") ?? `${NOT_GIVEN}, boxes are normalised`}; batch ${batch}; ` +
      `${classes} class${classes === 1 ? "" : "es"}${namesText(config, classes)}`,
    ...plan.tensors.map(tensorText),
    ...heads.map((head) => headText(head, inputSize)),
    rulesText(config, plan),
    ...(plan.task ? [plan.task.about] : []),
    ...(plan.keep ? [`keep: classes ${plan.keep.join(", ")}`] : []),
    ...plan.notes.map((note) => `note: ${note}`),
  ];
  return {
    text: lines.join("\n"),
    json: throughJson<PlanDescription>({
      kind: "plan",
      ...plan,
      ...(plan.task && { task: { ...plan.task, name: GIVEN_BY[plan.task.name] ?? plan.task.name } }),
      heads,
      ruleSet,
      confidenceThreshold,
      iouThreshold,
      maxDetections,
    }),
  };
}

function tensorText(spec: TensorSpec): string {
  const { name, dims, type, scale, zeroPoint } = spec;
  const sign = zeroPoint < 0 ? "+" : "-";
  const real =
    isFloat(spec) || scale === null ? "" : `, real = (raw ${sign} ${Math.abs(zeroPoint)}) * ${scale}`;
  return `tensor ${name}: [${dims.join(",")}] ${type}${real}`;
}

function headText(head: Head & { firstSource: number }, inputSize: Plan["inputSize"]): string {
  const { about, cells, firstSource, kind, bins, rule, scoreFn } = head;
  const box = `box ${kind}${bins > 0 ? ` of ${bins} bins` : ""}`;
  const score = `score ${rule}${scoreFn === "none" ? "" : `, ${scoreFn}`}`;
  return `head: ${about}: ${cells} cells from number ${firstSource}${strideText(head, inputSize)}, ${box}, ${score}`;
}

/** Returns text with the stride of a head in pixels of the input. Empty for heads without a grid. */
function strideText({ kind, unit }: Head, inputSize: Plan["inputSize"]): string {
  if (inputSize === null || (kind !== "grid" && kind !== "distance")) return "";
  const [x, y] = unit.map((cell, axis) => Number((cell * inputSize[axis]).toPrecision(4)));
  return `, stride ${x === y ? x : `${x} x ${y}`}`;
}

const SUPPRESSION = { none: "none", class: "per class at", all: "across classes at" };

function rulesText(config: Config, { rules, inputSize, task, suppression: named }: Plan): string {
  // If a task has its own suppression, the task's line describes it.
  const nms = named?.suppress ?? task?.rules?.suppress ?? rules.suppress;
  const by = task?.rules ? "" : `IoU ${rules.iouGate} `;
  const suppression = SUPPRESSION[nms] + (nms === "none" ? "" : ` ${by}${config.iouThreshold}`);
  const candidates = rules.maxCandidates === 0 ? "" : `${rules.maxCandidates} candidates, `;
  return [
    `rules: ${config.ruleSet}: score ${rules.score}`,
    `confidence ${rules.gate} ${confidenceText(config)}`,
    `suppression ${named ? `${named.method} ` : ""}${suppression}`,
    `clamp ${rules.clamp}`,
    ...(rules.multiLabel ? ["multi-label"] : []),
    ...(rules.pixelOffset === 1 && inputSize !== null ? ["+1 pixel"] : []),
    `at most ${candidates}${config.maxDetections} detections`,
  ].join(", ");
}

/** Copies data through JSON. A typed array becomes text that states the count of its numbers. */
const throughJson = <T>(data: object): T =>
  JSON.parse(
    JSON.stringify(data, (_, value: unknown) =>
      ArrayBuffer.isView(value) ? `${(value as Float32Array).length} numbers` : value,
    ),
  ) as T;
