/** Typed options, where there is no config file, and the settings they have in common with the options of `createDecoder`. */
import { mayBePerClass } from "./per-class.ts";
import type { AnchorSet, Config, Roles } from "./types.ts";

import { CONVENTIONS, type ConventionSet, type Conventions } from "../core/conventions.ts";
import { ACTIVATIONS, FAMILIES, type Family, TRAITS, familyTyped } from "../core/families.ts";
import { READING_NAMES } from "../core/readings.ts";
import { few, show } from "../core/tensor.ts";
import { defaultConfig } from "./defaults.ts";
import { readMasks } from "./masks.ts";
import {
  FieldReader,
  type Rule,
  CONFIDENCE,
  COUNT,
  NAMES,
  TEXTS,
  UNIT,
  inPairs,
  isText,
  isWhole,
  oneOf,
} from "./fields.ts";

export function readOptions(r: FieldReader): Config {
  const config: Config = {
    ...defaultConfig("options"),
    confidenceThreshold: 0.25,
    iouThreshold: 0.45,
    conventions: "ultralytics",
  };
  const settings = readSettings(r, config);
  const { family } = settings;
  r.misspelt([...SETTING_NAMES, "anchors", "anchorMasks"], ELSEWHERE);
  for (const key of ["engine", "outputs"])
    if (r.has(key))
      r.say(key, "it among what describes the network", "it in the second argument of createDecoder");
  if (!r.has("family")) r.wrong("family", `one of ${FAMILIES.join(", ")}`);
  return {
    ...settings,
    anchorSets: readAnchors(r, settings, family),
  };
}

/** What other decoders call it, in small letters and without what joins words. */
const ELSEWHERE = {
  confidenceThreshold:
    "conf confidence threshold confthres confthresh confthreshold scorethreshold minconfidence",
  iouThreshold: "iou iouthres iouthresh nmsthresh nmsthreshold nmsiou",
  maxDetections: "maxdet topk maxboxes",
  inputSize: "imgsz imagesize imgsize inputshape",
  activation: "sigmoid",
  anchors: "anchorboxes",
  coordinates: "normalised normalized",
  conventions: "agnostic agnosticnms classagnostic",
  classes: "nc numclasses",
  labels: "names classnames",
};

/** One of the families; a name that is written otherwise gets the one that is meant. */
function readFamily(r: FieldReader): Family | null {
  const { family } = r.json;
  const name = isText(family) ? family : "";
  const meant = familyTyped(name);
  const rule = oneOf(FAMILIES);
  return r.take("family", [meant ? `"${meant}", or ${rule[0]}` : rule[0], rule[1]]);
}

/** A list of the caller's may change under us. */
export const ownList = <T>(x: T): T => (Array.isArray(x) ? ([...(x as unknown[])] as T) : x);

/** How each setting is read: by a rule, or by a function. */
const SETTINGS = {
  family: readFamily,
  conventions: readConventions,
  activation: oneOf(ACTIVATIONS),
  inputSize: (r: FieldReader) => r.positives("inputSize", 2),
  strides: (r: FieldReader) => r.positives("strides"),
  scaleXY: (r: FieldReader) => (typeof r.json.scaleXY === "number" ? r.json.scaleXY : r.positives("scaleXY")),
  priors: readPriors,
  priorFormat: oneOf(["xyxy", "cxcywh", "cycxhw"]),
  variances: (r: FieldReader) => r.positives("variances", 4),
  scales: (r: FieldReader) => r.positives("scales", 4),
  background: ["a class column, or false", (x) => x === false || isWhole(x)],
  boxFormat: oneOf(["cxcywh", "xyxy", "xywh", "yxyx", "cycxhw"]),
  coordinates: oneOf(["pixels", "normalised"]),
  roles: readRoles,
  reading: oneOf(READING_NAMES),
  labels: (r: FieldReader) => r.labels("labels"),
  classes: COUNT,
  confidenceThreshold: (r: FieldReader) => ownList(r.take("confidenceThreshold", CONFIDENCE)),
  iouThreshold: UNIT,
  keep: NAMES,
  maxDetections: COUNT,
} as const satisfies Record<string, Rule<unknown> | ((r: FieldReader) => unknown)>;

/** The names of all that `readSettings` reads. */
export const SETTING_NAMES = /* @__PURE__ */ Object.keys(SETTINGS);

/** The config with what the settings say over it. A family that is stated makes a config decodable that names none. */
export function readSettings(r: FieldReader, config: Config): Config {
  const said = Object.entries<Rule<unknown> | ((r: FieldReader) => unknown)>(SETTINGS)
    .map(([key, rule]) => [key, typeof rule === "function" ? rule(r) : r.take(key, rule)] as const)
    .filter(([, value]) => value !== null);
  const { scales, conventions, ...settings } = Object.fromEntries(said) as Omit<
    Partial<Config>,
    "conventions"
  > & { scales?: readonly number[]; conventions?: ReturnType<typeof readConventions> };
  const { variances, inputSize, scaleXY, strides, confidenceThreshold: confidence } = settings;
  if (variances && scales) r.say("scales", "scales and variances", "one: one is the inverse of the other");
  if (variances?.some((v) => v > 1))
    r.wrong(
      "variances",
      "factors up to 1, as [0.1, 0.1, 0.2, 0.2]; of larger ones, which divide, say scales",
    );
  if (scales?.some((s) => s < 1))
    r.wrong(
      "scales",
      "divisors from 1 up, as [10, 10, 5, 5]; of smaller ones, which are factors, say variances",
    );
  if (inputSize && !inputSize.every(Number.isSafeInteger))
    r.wrong("inputSize", "[width, height] in whole pixels");
  if (typeof scaleXY === "number" ? !(scaleXY > 0 && scaleXY < 100) : scaleXY?.length === 0)
    r.wrong("scaleXY", "a positive number, or one per map");
  if (strides?.length === 0) r.wrong("strides", "some positive numbers");
  // single rules go over those of the config, but not over a set that is named
  const set = conventions?.set ?? config.conventions;
  const rules = { ...(conventions?.set ? {} : config.rules), ...conventions?.rules };
  const cap = conventions?.set ? CONVENTIONS[set].maxDetections : Infinity;
  const merged: Config = {
    ...config,
    // a set named here brings its own cap along; a bound given here, as a rule or by itself, goes over both
    maxDetections: conventions?.rules.maxDetections ?? Math.min(config.maxDetections, cap),
    // TensorFlow's go by the order of its box channels, y x h w
    ...(scales && { variances: [1, 0, 3, 2].map((i) => 1 / scales[i]) as unknown as Config["variances"] }),
    ...settings,
    classes: settings.classes ?? config.classes ?? settings.labels?.length ?? null,
    scalesGiven: scales !== undefined || (variances === undefined && config.scalesGiven),
    conventions: set,
    rules,
  };
  const { classes, keep, labels } = merged;
  if (typeof confidence === "object" && !mayBePerClass(merged, confidence))
    r.wrong("confidenceThreshold", `${classes} values, one per class`);
  if (settings.labels && !mayBePerClass(merged, settings.labels))
    r.say("labels", `${settings.labels.length} labels`, `${classes} for classes = ${classes}`);
  else if (labels && classes !== config.classes && !mayBePerClass(merged, labels))
    r.say(
      "classes",
      `${classes}, and ${labels.length} labels in the config`,
      "as many of both: say labels too",
    );
  const unknown =
    labels &&
    (settings.keep || settings.labels) &&
    keep?.find((k) => typeof k === "string" && !["background", ...labels].includes(k));
  if (labels && unknown) r.say("keep", `"${unknown}"`, `one of the labels ${few(labels, 8)}`);
  return settings.family ? { ...merged, decodes: true, note: null } : merged;
}

/* @__NO_SIDE_EFFECTS__ */
const among = (...values: unknown[]): Rule<unknown> => [
  values.map((v) => show(v)).join(" or "),
  (x) => values.includes(x),
];
/** Values a single rule may have. */
const RULES: { readonly [R in keyof Conventions]: Rule<unknown> } = {
  score: among("product", "class"),
  gate: among(">", ">="),
  nms: among("class", "all", "none"),
  suppress: among(">", ">="),
  pixelOffset: among(0, 1),
  clamp: among("none", "before", "after", "centre"),
  multiLabel: among(true, false),
  maxCandidates: ["a whole number", isWhole],
  maxDetections: ["a positive whole number", (x) => COUNT[1](x)],
  countBackground: among(true, false),
};

/** A set by its name, or single rules, over a named set or not. */
function readConventions(r: FieldReader): { set: ConventionSet | null; rules: Partial<Conventions> } | null {
  const sets = oneOf(Object.keys(CONVENTIONS) as ConventionSet[]);
  if (!r.has("conventions")) return null;
  if (isText(r.json.conventions)) return { set: r.take("conventions", sets), rules: {} };
  const c = r.object("conventions");
  const { set, ...rules } = c.json;
  const known = Object.keys(RULES);
  for (const [name, value] of Object.entries(rules)) {
    // "constructor" and its like are in every object, and no rule
    const rule = known.includes(name) ? RULES[name as keyof Conventions] : null;
    if (!rule?.[1](value)) c.wrong(name, rule?.[0] ?? `a rule: ${known.join(", ")}`);
  }
  return { set: c.take("set", sets, set), rules };
}

function readPriors(r: FieldReader): Float32Array | null {
  const x = r.take<ArrayLike<number>>("priors", [
    "a Float32Array of four numbers a box",
    (v) => (ArrayBuffer.isView(v) && !(v instanceof DataView)) || Array.isArray(v),
  ]);
  if (!x) return null;
  for (let i = 0; i < x.length; i++) {
    // one report is enough, there may be thousands
    if (typeof x[i] !== "number" || !Number.isFinite(Math.fround(x[i]))) {
      r.wrong(`priors[${i}]`, "a finite number", x[i]);
      return null;
    }
  }
  if (x.length === 0 || x.length % 4 !== 0)
    r.say("priors", `${x.length} numbers`, "four for each box (or eight, with the variances behind)");
  return x instanceof Float32Array ? x : Float32Array.from(x);
}

/** Anchors as networks' own files have them, in one of the two forms that `readAnchors` reads: [w,h] pairs in one list, and a flat list a map. */
function evenForm(anchors: unknown): unknown {
  const isPairs = (list: unknown): list is number[] =>
    Array.isArray(list) &&
    list.length > 0 &&
    list.length % 2 === 0 &&
    list.every((x) => typeof x === "number");
  if (!Array.isArray(anchors) || !anchors.every(isPairs)) return anchors;
  if (anchors.every((list) => list.length === 2)) return anchors.flat();
  return anchors.map(inPairs);
}

/** Flat [w,h,...] or pairs with masks, the same without (split evenly, largest map first), or [output][anchor][w,h]. */
function readAnchors(
  given: FieldReader,
  { inputSize, strides }: Config,
  family: Config["family"],
): AnchorSet[] | null {
  const r = new FieldReader(
    { ...given.json, anchors: evenForm(given.json.anchors) },
    given.path,
    given.problems,
  );
  const list = r.array("anchors");
  const masks = r.has("anchorMasks") ? r.json.anchorMasks : null;
  const bare = (sets: readonly AnchorSet["anchors"][]): AnchorSet[] =>
    sets.map((anchors) => ({ side: null, output: null, anchors }));
  if (!list) {
    if (masks !== null) r.wrong("anchors", "the anchors that anchorMasks point at");
    return null;
  }
  let sets: AnchorSet[];
  if (Array.isArray(list[0])) {
    const groups = r.nestedPairs("anchors", list);
    if (masks !== null)
      r.say("anchorMasks", "masks for anchors that stand by output already", "one or the other");
    if (!groups) return null;
    sets = bare(groups);
  } else {
    const anchors = r.pairs("anchors");
    if (masks !== null) {
      // a list of masks: from the largest map to the smallest; an object: by side or by output name
      const named: [string | null, unknown][] = Array.isArray(masks)
        ? Array.from(masks, (m): [null, unknown] => [null, m])
        : Object.entries(r.object("anchorMasks").json);
      if (named.length === 0 && anchors?.length)
        r.say("anchorMasks", `no masks for ${anchors.length} anchors`, "one per output");
      sets = readMasks(r, "anchorMasks", named, anchors, inputSize, true);
    } else if (!anchors) return null;
    else if (anchors.length === 0) return [];
    else {
      // The strides tell how many maps there are, else the three anchors per map that most networks have.
      const isOneMap = family !== null && TRAITS[family].oneMap;
      const maps = strides?.length || (!isOneMap && anchors.length % 3 === 0 ? anchors.length / 3 : 1);
      const each = anchors.length / maps;
      if (!Number.isInteger(each)) {
        r.say("anchors", `${anchors.length} anchors for ${maps} maps`, "as many for each, or anchorMasks");
        return null;
      }
      sets = bare(Array.from({ length: maps }, (_, i) => anchors.slice(i * each, (i + 1) * each)));
    }
  }
  if (strides?.length && sets.length > 0 && sets.length !== strides.length)
    r.say("anchors", `anchors for ${sets.length} maps`, `${strides.length}, one set for each of strides`);
  return sets;
}

/** Parts that several outputs may play, and parts for one. */
const MANY = ["boxes", "scores", "objectness"];
const ONE = ["labels", "priors", "count"];

function readRoles(r: FieldReader): Roles | null {
  if (!r.has("roles")) return null;
  const roles = r.object("roles");
  for (const role of Object.keys(roles.json)) {
    if (!MANY.includes(role) && !ONE.includes(role))
      roles.say(role, "an unknown role", `one of ${[...MANY, ...ONE].join(", ")}`);
    else if (!isText(roles.json[role]) && !(MANY.includes(role) && TEXTS[1](roles.json[role])))
      roles.wrong(role, "an output's name, or names");
  }
  return roles.json as Roles;
}
