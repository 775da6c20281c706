/**
 * Settings: what a caller states in typed options, or in the options of `createDecoder` over any config. `readSettings`
 * reads the values of one source, `overlay` puts them over a config and checks that they agree.
 */
import { RULE_SETS, type RuleSet, type Rules } from "../core/rules.ts";
import { FAMILIES, TRAITS } from "../core/families.ts";
import { familyTyped } from "../core/family-names.ts";
import { SCORE_OPTIONS, type Family } from "../core/family.ts";
import { READING_NAMES } from "../core/readings.ts";
import { few, show } from "../core/tensor.ts";
import { namesFor } from "../core/names.ts";
import { CONFIDENCE, COUNT, type Rule, UNIT, nameComplaint, oneOf, valueComplaint } from "../core/options.ts";
import { type FieldReader, NAMES, TEXTS, isObject, isText, isWhole } from "./fields.ts";
import { mayBePerClass } from "./per-class.ts";
import { readTask, taskOptionNames } from "./task.ts";
import { readSuppression } from "./suppression.ts";
import { otherNameOf } from "../core/other-names.ts";
import type { Config, Roles } from "./types.ts";

/** A named set of rules, and single rules over it. */
interface StatedRules {
  readonly set: RuleSet | null;
  readonly rules: Partial<Rules>;
}

/** The settings that a source states; those that it does not state are absent. */
export type Settings = Partial<Omit<Config, "rules">> & {
  /** Divisors on y, x, h, w, in place of variances. */
  readonly scales?: readonly number[];
  readonly rules?: StatedRules;
};

/** Returns the family. A name in another spelling gets the one that is meant. */
function readFamily(r: FieldReader): Family | null {
  const { family } = r.json;
  const rule = oneOf(FAMILIES);
  const meant = isText(family) && !FAMILIES.includes(family as Family) ? familyMeant(family) : null;
  return r.take("family", [meant ? `${meant}, or ${rule[0]}` : rule[0], rule[1]]);
}

/** Returns words for an error that name the family closest to an unknown name, `null` if none is close. */
function familyMeant(name: string): string | null {
  const other = otherNameOf(name);
  if (other)
    return `"${other.family}"${other.options ? ` with ${other.options}` : ""} (${other.name} ${other.why})`;
  const typed = familyTyped(name);
  return typed && `"${typed}"`;
}

/** Copies a list: the caller may change his own later. */
const copied = <T>(x: T): T => (Array.isArray(x) ? ([...(x as unknown[])] as T) : x);

/** How each setting is read: by a rule, or by a function. */
const SETTINGS = {
  family: readFamily,
  rules: readRules,
  scores: oneOf(SCORE_OPTIONS),
  inputSize: (r: FieldReader) => r.positives("inputSize", 2),
  strides: (r: FieldReader) => r.positives("strides"),
  scaleXY: (r: FieldReader) => (typeof r.json.scaleXY === "number" ? r.json.scaleXY : r.positives("scaleXY")),
  priors: readPriors,
  priorFormat: oneOf(["xyxy", "cxcywh", "cycxhw"]),
  variances: (r: FieldReader) => r.positives("variances", 4),
  scales: (r: FieldReader) => r.positives("scales", 4),
  background: ["a class column, or false", (x) => x === false || isWhole(x)],
  boxFormat: oneOf(["cxcywh", "xyxy", "xywh", "yxyx", "cycxhw"]),
  coordinates: oneOf(["pixels", "normalised", "photo", "strides"]),
  roles: readRoles,
  task: readTask,
  reading: oneOf(READING_NAMES),
  // `prepareImage` checks the fields, also of a rule that comes without a config.
  prepare: ["a rule of prepareImage", isObject],
  labels: (r: FieldReader) => r.labels("labels"),
  classes: COUNT,
  confidenceThreshold: (r: FieldReader) => copied(r.take("confidenceThreshold", CONFIDENCE)),
  iouThreshold: UNIT,
  suppression: readSuppression,
  keep: NAMES,
  maxDetections: COUNT,
} as const satisfies Record<string, Rule<unknown> | ((r: FieldReader) => unknown)>;

/** Returns the name of every setting. */
export const settingNames = (): string[] => [...Object.keys(SETTINGS), ...taskOptionNames()];

/** Reads the settings of one source. Reports each value that cannot be, alone or beside another of the same source. */
export function readSettings(r: FieldReader): Settings {
  const entries = Object.entries<Rule<unknown> | ((r: FieldReader) => unknown)>(SETTINGS)
    .map(([key, rule]) => [key, typeof rule === "function" ? rule(r) : r.take(key, rule)] as const)
    .filter(([, value]) => value !== null);
  const settings = Object.fromEntries(entries) as Settings;
  const { variances, scales, inputSize, scaleXY, strides } = settings;
  if (variances && scales) r.report("scales", "scales and variances", "one: one is the inverse of the other");
  if (variances?.some((v) => v > 1))
    r.reportValue(
      "variances",
      "factors up to 1, as [0.1, 0.1, 0.2, 0.2]; of larger ones, which divide, say scales",
    );
  if (scales?.some((s) => s < 1))
    r.reportValue(
      "scales",
      "divisors from 1 up, as [10, 10, 5, 5]; of smaller ones, which are factors, say variances",
    );
  if (inputSize && !inputSize.every(Number.isSafeInteger))
    r.reportValue("inputSize", "[width, height] in whole pixels");
  if (typeof scaleXY === "number" ? !(scaleXY > 0 && scaleXY < 100) : scaleXY?.length === 0)
    r.reportValue("scaleXY", "a positive number, or one per map");
  if (strides?.length === 0) r.reportValue("strides", "some positive numbers");
  return settings;
}

/** Returns the config with the settings over it. Reports lists that have not an entry per class. */
export function overlay(r: FieldReader, config: Config, settings: Settings): Config {
  const { scales, rules: given, ...fields } = settings;
  const isSetNamed = (given?.set ?? null) !== null;
  const set = given?.set ?? config.ruleSet;
  // A named set brings its own cap. A bound that is stated, as a rule or by itself, overrides both.
  const cap = isSetNamed ? RULE_SETS[set].maxDetections : Infinity;
  const usual = { ...config, ...usualSettings(config, fields.family) };
  const merged: Config = {
    ...usual,
    maxDetections: given?.rules.maxDetections ?? Math.min(usual.maxDetections, cap),
    ...(scales && { variances: variancesOf(scales) }),
    ...fields,
    familyExporter: fields.family ? undefined : config.familyExporter,
    task: fields.task ? { ...config.task, ...fields.task } : config.task,
    classes: fields.classes ?? config.classes ?? fields.labels?.length ?? config.labels?.length ?? null,
    scalesGiven: scales !== undefined || (fields.variances === undefined && config.scalesGiven),
    ruleSet: set,
    // Single rules override those of the config, but a named set replaces them all.
    rules: { ...(isSetNamed ? {} : config.rules), ...given?.rules },
  };
  const task = fields.task?.name;
  if (config.task && task && config.task.name !== task && !r.has("task"))
    for (const option of taskOptionNames().filter(r.has, r))
      r.report(option, `it for a config of task "${config.task.name}"`, `task "${task}" beside it`);
  checkLists(r, config, settings, merged);
  checkSize(r, config, settings);
  // A stated family makes a config decodable that names none.
  return settings.family ? { ...merged, decodes: true, note: null } : merged;
}

/** Returns thresholds and cap of a family's authors, where typed options or a model file state none. */
function usualSettings({ format }: Config, family: Config["family"] | undefined): Partial<Config> {
  if (format !== "options" || !family) return {};
  const { threshold, defaults } = TRAITS[family];
  return { ...(threshold !== undefined && { confidenceThreshold: threshold }), ...defaults };
}

/** Returns the factors on x, y, w, h. TensorFlow's divisors have the order of its box channels, y x h w. */
const variancesOf = (scales: readonly number[]): Config["variances"] => [
  1 / scales[1],
  1 / scales[0],
  1 / scales[3],
  1 / scales[2],
];

/** Reports lists per class that do not fit the count of classes, and names to keep that are no labels. */
function checkLists(r: FieldReader, config: Config, settings: Settings, merged: Config): void {
  const { classes, keep, labels } = merged;
  const { confidenceThreshold: confidence } = settings;
  if (typeof confidence === "object" && !mayBePerClass(merged, confidence))
    r.reportValue("confidenceThreshold", `${classes} values, one per class`);
  if (settings.labels && !mayBePerClass(merged, settings.labels))
    r.report("labels", `${settings.labels.length} labels`, `${classes} for classes = ${classes}`);
  else if (labels && classes !== config.classes && !mayBePerClass(merged, labels))
    r.report(
      "classes",
      `${classes}, and ${labels.length} labels in the config`,
      "as many of both: say labels too",
    );
  if (!labels || !(settings.keep || settings.labels)) return;
  const known = new Set(["background", ...labels]);
  const unknown = keep?.find((k) => typeof k === "string" && !known.has(k));
  if (unknown) r.report("keep", `"${unknown}"`, `one of the labels ${few(labels, 8)}`);
}

/** Reports an option inputSize that is the file's size with width and height exchanged. */
function checkSize(r: FieldReader, { inputSize: ofFile }: Config, { inputSize }: Settings): void {
  if (ofFile && inputSize && ofFile[0] !== ofFile[1] && [...ofFile].reverse().join() === inputSize.join())
    r.report("inputSize", show(inputSize), `[width, height]: the file states ${ofFile.join("x")}`);
}

/* @__NO_SIDE_EFFECTS__ */
const among = (...values: unknown[]): Rule<unknown> => [
  values.map((v) => show(v)).join(" or "),
  (x) => values.includes(x),
];
/** Values that each rule may have. */
const RULES: { readonly [R in keyof Rules]: Rule<unknown> } = {
  score: among("product", "class"),
  gate: among(">", ">="),
  suppress: among("class", "all", "none"),
  iouGate: among(">", ">="),
  pixelOffset: among(0, 1),
  clamp: among("none", "before", "after", "centre"),
  multiLabel: among(true, false),
  maxCandidates: ["a whole number", isWhole],
  maxDetections: ["a positive whole number", (x) => COUNT[1](x)],
  countBackground: among(true, false),
};

/** Reads a set by its name, or single rules, over a named set or not. */
function readRules(r: FieldReader): StatedRules | null {
  const sets = oneOf(Object.keys(RULE_SETS) as RuleSet[]);
  if (!r.has("rules")) return null;
  if (isText(r.json.rules)) return { set: r.take("rules", sets), rules: {} };
  const c = r.object("rules");
  const { set, ...rules } = c.json;
  const known = Object.keys(RULES);
  for (const [name, value] of Object.entries(rules)) {
    // "constructor" and its like are in every object, and no rules.
    const rule = known.includes(name) ? RULES[name as keyof Rules] : null;
    const complaint = nameComplaint(name, known) ?? valueComplaint(value, rule!);
    if (complaint) c.report(name, ...complaint);
  }
  return { set: c.take("set", sets, set), rules };
}

/** Reads prior boxes: four numbers per box, or eight. */
function readPriors(r: FieldReader): Float32Array | null {
  const x = r.take<ArrayLike<number>>("priors", [
    "a Float32Array of four numbers a box",
    (v) => (ArrayBuffer.isView(v) && !(v instanceof DataView)) || Array.isArray(v),
  ]);
  if (!x) return null;
  for (let i = 0; i < x.length; i++) {
    // One report is enough, there may be thousands.
    if (typeof x[i] !== "number" || !Number.isFinite(Math.fround(x[i]))) {
      r.reportValue(`priors[${i}]`, "a finite number", x[i]);
      return null;
    }
  }
  if (x.length === 0 || x.length % 4 !== 0)
    r.report("priors", `${x.length} numbers`, "four for each box (or eight, with the variances after them)");
  // Copy: a plan may read them as late as the first frame, and the caller may have reused the array by then.
  return new Float32Array(x);
}

/** Roles that several outputs may play, and roles for one. */
const MANY = ["boxes", "scores", "objectness", "keypoints", "coefficients", "angles"];
const ONE = ["classIds", "priors", "count", "prototypes", "masks"];

/** Reads which output plays which role. */
function readRoles(r: FieldReader): Roles | null {
  if (!r.has("roles")) return null;
  const roles = r.object("roles");
  for (const role of Object.keys(roles.json)) {
    if (!MANY.includes(role) && !ONE.includes(role))
      roles.report(role, "an unknown name", namesFor(role, [...MANY, ...ONE]));
    else if (!isText(roles.json[role]) && !(MANY.includes(role) && TEXTS[1](roles.json[role])))
      roles.reportValue(role, "an output's name, or names");
  }
  return roles.json as Roles;
}
