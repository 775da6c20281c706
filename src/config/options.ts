/** Typed options, where there is no config file, and the settings they have in common with the options of `createDecoder`. */
import type { AnchorSet, Config, Roles } from "../config.ts";
import { CONVENTIONS, type ConventionSet, type Conventions } from "../conventions.ts";
import { ACTIVATIONS, FAMILIES } from "../families.ts";
import { show } from "../tensor.ts";
import { blank } from "./blank.ts";
import { readMasks } from "./masks.ts";
import { type Reader, CONFIDENCE, isConfidence, isNames, isText } from "./reader.ts";

export function readOptions(r: Reader): Config {
  const config: Config = {
    ...blank("options"),
    confidenceThreshold: 0.25,
    iouThreshold: 0.45,
    conventions: "ultralytics",
  };
  const settings = readSettings(r, config);
  const { family, labels, classes } = settings;
  if (!r.has("family")) r.wrong("family", `one of ${FAMILIES.join(", ")}`);
  if (classes !== null && labels !== null && labels.length !== classes)
    r.say("labels", `${labels.length} labels`, `${classes} for classes = ${classes}`);
  return {
    ...settings,
    classes: classes ?? labels?.length ?? null,
    anchorSets: readAnchors(r, settings, family),
  };
}

/** The config with what the settings say over it. A stated family is what a file should have said: then there is something to decode. */
export function readSettings(r: Reader, config: Config): Config {
  const family = r.oneOf("family", FAMILIES);
  const labels = r.labels("labels");
  const classes = r.count("classes") ?? config.classes;
  const variances = r.positives("variances", 4);
  const scales = r.positives("scales", 4);
  if (variances && scales) r.say("scales", "scales and variances", "one: one is the inverse of the other");
  const inputSize = r.positives("inputSize", 2);
  if (inputSize && !inputSize.every(Number.isSafeInteger))
    r.wrong("inputSize", "[width, height] in whole pixels");
  const scale = r.json.scaleXY;
  const scaleXY = typeof scale === "number" ? scale : r.positives("scaleXY");
  if (typeof scaleXY === "number" ? !(scaleXY > 0 && scaleXY < 100) : scaleXY?.length === 0)
    r.wrong("scaleXY", "a positive number, or one per map");
  const strides = r.positives("strides");
  if (strides?.length === 0) r.wrong("strides", "some positive numbers");
  const { set, rules } = readConventions(r, config);
  const cap = { ...CONVENTIONS[set], ...rules }.maxDetections;
  const known = {
    family,
    labels,
    classes,
    inputSize,
    strides,
    scaleXY,
    activation: r.oneOf("activation", ACTIVATIONS),
    reading: r.text("reading"),
    boxFormat: r.oneOf("boxFormat", ["cxcywh", "xyxy", "xywh", "yxyx", "cycxhw"]),
    coordinates: r.oneOf("coordinates", ["pixels", "normalised"]),
    priors: readPriors(r),
    priorFormat: r.oneOf("priorFormat", ["xyxy", "cxcywh", "cycxhw"]),
    background: r.take(
      "background",
      "a class column, or false",
      (x) => x === false || (Number.isInteger(x) && (x as number) >= 0),
    ),
    variances: variances ?? scales?.map((s) => 1 / s),
    keep: r.take("keep", "class names or class numbers", isNames),
    confidenceThreshold: readConfidence(r, classes),
    iouThreshold: r.unit("iouThreshold"),
    // a set named here brings its own cap along, a bound given here goes over both
    maxDetections:
      r.count("maxDetections") ?? (r.has("conventions") ? Math.min(config.maxDetections, cap) : null),
    roles: readRoles(r),
  };
  const said: Partial<Config> = Object.fromEntries(
    Object.entries(known).filter(([, value]) => value !== null && value !== undefined),
  );
  const decodes = config.decodes || family !== null;
  return {
    ...config,
    ...said,
    decodes,
    note: decodes ? null : config.note,
    scalesGiven: scales !== null || (variances === null && config.scalesGiven),
    conventions: set,
    rules,
  };
}

function readConfidence(r: Reader, classes: number | null): Config["confidenceThreshold"] | null {
  const key = "confidenceThreshold";
  const x = r.take<Config["confidenceThreshold"]>(key, CONFIDENCE, isConfidence);
  if (typeof x === "object" && classes !== null && x?.length !== undefined && x.length !== classes)
    r.wrong(key, `${classes} values, one per class`);
  return x;
}

const COUNT = "a whole number";
const BOOLEAN = [true, false];
/** Values a single rule may have. */
const RULES: { readonly [rule: string]: readonly unknown[] | typeof COUNT } = {
  score: ["product", "class"],
  gate: [">", ">="],
  nms: ["class", "all", "none"],
  suppress: [">", ">="],
  pixelOffset: [0, 1],
  clamp: ["none", "before", "after", "centre"],
  multiLabel: BOOLEAN,
  maxCandidates: COUNT,
  maxDetections: COUNT,
  countBackground: BOOLEAN,
};

/** A set by its name, or single rules over a named set or over that of the config. */
function readConventions(r: Reader, config: Config): { set: ConventionSet; rules: Partial<Conventions> } {
  const sets = Object.keys(CONVENTIONS) as ConventionSet[];
  if (!r.has("conventions")) return { set: config.conventions, rules: config.rules };
  if (isText(r.json.conventions))
    return { set: r.oneOf("conventions", sets) ?? config.conventions, rules: {} };
  const c = r.object("conventions");
  const rules = Object.fromEntries(Object.entries(c.json).filter(([name]) => name !== "set"));
  const known = Object.keys(RULES);
  for (const [name, value] of Object.entries(rules)) {
    // "constructor" and its like are in every object, and no rule
    const values = known.includes(name) ? RULES[name] : undefined;
    if (values === undefined) c.wrong(name, `a rule: ${known.join(", ")}`);
    else if (
      values === COUNT ? !(Number.isInteger(value) && (value as number) >= 0) : !values.includes(value)
    )
      c.wrong(name, values === COUNT ? COUNT : (values as unknown[]).map(show).join(" or "));
  }
  const set = c.oneOf("set", sets);
  return { set: set ?? config.conventions, rules: set === null ? { ...config.rules, ...rules } : rules };
}

function readPriors(r: Reader): Float32Array | null {
  const x = r.take<ArrayLike<number>>(
    "priors",
    "a Float32Array of four numbers a box",
    (v) => (ArrayBuffer.isView(v) && !(v instanceof DataView)) || Array.isArray(v),
  );
  if (x === null) return null;
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

/** Flat [w,h,...] with masks, flat without (split evenly, largest map first), or [output][anchor][w,h]. */
function readAnchors(
  r: Reader,
  { inputSize, strides }: Config,
  family: Config["family"],
): AnchorSet[] | null {
  const list = r.array("anchors");
  const masks = r.has("anchorMasks") ? r.json.anchorMasks : null;
  const bare = (sets: readonly AnchorSet["anchors"][]): AnchorSet[] =>
    sets.map((anchors) => ({ side: null, output: null, anchors }));
  if (list === null) {
    if (masks !== null) r.wrong("anchors", "the anchors that anchorMasks point at");
    return null;
  }
  let sets: AnchorSet[];
  if (Array.isArray(list[0])) {
    const groups = r.nestedPairs("anchors", list);
    if (masks !== null)
      r.say("anchorMasks", "masks for anchors that stand by output already", "one or the other");
    if (groups === null) return null;
    sets = bare(groups);
  } else {
    const anchors = r.pairs("anchors");
    if (anchors === null) return null;
    if (masks !== null) {
      // a list of masks: from the largest map to the smallest; an object: by side or by output name
      const named: [string | null, unknown][] = Array.isArray(masks)
        ? Array.from(masks, (m): [null, unknown] => [null, m])
        : Object.entries(r.object("anchorMasks").json);
      if (named.length === 0 && anchors.length > 0)
        r.say("anchorMasks", `no masks for ${anchors.length} anchors`, "one per output");
      sets = readMasks(r, "anchorMasks", named, anchors, inputSize, true);
    } else if (anchors.length === 0) return [];
    else {
      // YOLOv2 has one map; elsewhere the strides tell how many, or the three anchors a map that most networks have
      const maps =
        strides?.length || (family !== "yolov2" && anchors.length % 3 === 0 ? anchors.length / 3 : 1);
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

function readRoles(r: Reader): Roles | null {
  if (!r.has("roles")) return null;
  const roles = r.object("roles");
  for (const role of Object.keys(roles.json)) {
    if (!MANY.includes(role) && !ONE.includes(role))
      roles.say(role, "an unknown role", "boxes, scores, objectness, labels, priors or count");
    else if (!isText(roles.json[role]) && !(MANY.includes(role) && isTexts(roles.json[role])))
      roles.wrong(role, "an output's name, or names");
  }
  return roles.json as Roles;
}

const isTexts = (x: unknown): boolean => Array.isArray(x) && Array.from(x).every(isText);
