/**
 * Settings are the options that a caller states: typed options, or the second argument of `createDecoder`.
 * `readSettings` reads the settings of one of these sources. `overlay` overrides a config by settings, and checks that
 * both agree.
 */
import { RULE_SETS } from "../core/rules.ts";
import { TRAITS } from "../core/families.ts";
import { COCO80, COCO91 } from "../core/labels.ts";
import { few, show } from "../core/tensor.ts";
import type { FieldReader } from "./fields.ts";
import { type Row, SETTINGS, TASK_OPTIONS } from "./options.ts";
import { mayBePerClass } from "./per-class.ts";
import type { StatedRules } from "./readers.ts";
import type { Config } from "./types.ts";

/** The settings that one source states. */
export type Settings = Partial<Omit<Config, "rules">> & {
  /** Divisors of y, x, h, w, an alternative to `variances`. */
  readonly scales?: readonly number[];
  readonly rules?: StatedRules;
};

/** Reads the settings of one source. Reports wrong values, and values that contradict each other. */
export function readSettings(r: FieldReader): Settings {
  const entries = Object.entries<Row<unknown>>(SETTINGS)
    .map(([key, row]) => [key, typeof row === "function" ? row(r) : r.take(key, row)] as const)
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

/**
 * Returns the config overridden by the settings. Reports lists per class whose length does not fit the class count, and
 * other contradictions.
 */
export function overlay(r: FieldReader, config: Config, settings: Settings): Config {
  const { scales, rules: given, ...fields } = settings;
  const isSetNamed = (given?.set ?? null) !== null;
  const set = given?.set ?? config.ruleSet;
  // A named set of rules limits the count of detections. A limit stated as a rule or as an option overrides that of the
  // set.
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
    // Stated rules override the rules of the config. A named set replaces all rules of the config.
    rules: { ...(isSetNamed ? {} : config.rules), ...given?.rules },
  };
  const task = fields.task?.name;
  if (config.task && task && config.task.name !== task && !r.has("task"))
    for (const option of Object.keys(TASK_OPTIONS).filter(r.has, r))
      r.report(option, `it for a config of task "${config.task.name}"`, `task "${task}" beside it`);
  checkLists(r, config, settings, merged);
  checkSize(r, config, settings);
  // A config that names no family can be decoded if the settings state the family.
  return settings.family ? { ...merged, decodes: true, note: null } : merged;
}

/**
 * Returns the thresholds and the limit of detections that a family's authors use. They are the defaults of typed
 * options and model files.
 */
function usualSettings({ format }: Config, family: Config["family"] | undefined): Partial<Config> {
  if (format !== "options" || !family) return {};
  const { threshold, defaults } = TRAITS[family];
  return { ...(threshold !== undefined && { confidenceThreshold: threshold }), ...defaults };
}

/** Returns the factors on x, y, w, h for TensorFlow's divisors of y, x, h, w. */
const variancesOf = (scales: readonly number[]): Config["variances"] => [
  1 / scales[1],
  1 / scales[0],
  1 / scales[3],
  1 / scales[2],
];

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
  checkKeptIds(r, merged);
  if (!labels || !(settings.keep || settings.labels)) return;
  const known = new Set(["background", ...labels]);
  const unknown = keep?.find((k) => typeof k === "string" && !known.has(k));
  if (unknown) r.report("keep", `"${unknown}"`, `one of the labels ${few(labels, 8)}`);
}

/** Reports class ids in `keep` that cannot exist. The decoder later checks all ids against the shapes. */
function checkKeptIds(r: FieldReader, { classes, keep, labels }: Config): void {
  const ids = (keep ?? []).filter((k) => typeof k === "number");
  // The class count is exact only once the shapes are known. Allow one more id for a background, and the larger ids of
  // COCO's own numbering.
  const count = Math.max(classes ?? 0, labels?.length ?? 0);
  const most = count === COCO80.length ? COCO91.length : count + 1;
  // Allow any id if the class count is unknown or 1.
  const wrong = ids.find((id) => id < 0 || (count > 1 && id >= most));
  if (wrong === undefined) return;
  r.report("keep", `class ${wrong}`, count > 1 ? `class ids in 0..${count - 1}` : "class ids from 0 up");
}

/** Reports an option inputSize that equals the file's size with width and height swapped. */
function checkSize(r: FieldReader, { inputSize: ofFile }: Config, { inputSize }: Settings): void {
  if (ofFile && inputSize && ofFile[0] !== ofFile[1] && [...ofFile].reverse().join() === inputSize.join())
    r.report("inputSize", show(inputSize), `[width, height]: the file states ${ofFile.join("x")}`);
}
