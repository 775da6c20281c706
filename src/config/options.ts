/** Typed options, where there is no config file. */
import type { AnchorSet, Config, Roles } from "../config.ts";
import { CONVENTIONS, type ConventionSet, type Conventions } from "../conventions.ts";
import { ACTIVATIONS, FAMILIES, type Family } from "../families.ts";
import { checkRule } from "../options.ts";
import { blank } from "./blank.ts";
import { readMasks } from "./masks.ts";
import { type Json, type Reader, isObject } from "./reader.ts";

export function readOptions(r: Reader, o: Json): Config {
  const family = r.oneOf<Family>("family", o.family, FAMILIES);
  if (o.family === undefined || o.family === null)
    r.wrong("family", o.family, `one of ${FAMILIES.join(", ")}`);
  const labels = r.labels("labels", o.labels);
  const stated = r.count("classes", o.classes);
  if (stated !== null && labels !== null && labels.length !== stated)
    r.say("labels", `got ${labels.length} labels, expected ${stated} for classes = ${stated}`);
  const classes = stated ?? labels?.length ?? null;
  const confidence = readConfidence(r, o.confidenceThreshold, classes);
  const { set, rules } = readConventions(r, o.conventions);
  const settled = { ...CONVENTIONS[set], ...rules };
  const variances = r.positives("variances", o.variances, 4);
  const scales = r.positives("scales", o.scales, 4);
  if (variances !== null && scales !== null)
    r.say("scales", "got scales and variances, expected one: one is the inverse of the other");
  const priors = readPriors(r, o.priors);
  const scaleXY = typeof o.scaleXY === "number" ? o.scaleXY : r.positives("scaleXY", o.scaleXY);
  if (typeof scaleXY === "number" ? !(scaleXY > 0 && scaleXY < 100) : scaleXY?.length === 0)
    r.wrong("scaleXY", scaleXY, "a positive number, or one per map");
  const strides = r.positives("strides", o.strides);
  const inputSize = r.positives("inputSize", o.inputSize, 2) as [number, number] | null;
  if (inputSize !== null && !inputSize.every(Number.isSafeInteger))
    r.wrong("inputSize", inputSize, "[width, height] in whole pixels");
  const background = o.background;
  if (
    background !== undefined &&
    background !== null &&
    background !== false &&
    !(Number.isInteger(background) && (background as number) >= 0)
  )
    r.wrong("background", background, "a class column, or false");
  const keep = r.array("keep", o.keep);
  if (keep !== null && !keep.every((k) => typeof k === "string" || Number.isInteger(k)))
    r.wrong("keep", keep, "class names or class numbers");
  return {
    ...blank("options"),
    outputFormat: null,
    family,
    classes,
    labels,
    inputSize,
    confidenceThreshold: confidence,
    iouThreshold: r.unit("iouThreshold", o.iouThreshold) ?? 0.45,
    maxDetections: r.count("maxDetections", o.maxDetections) ?? settled.maxDetections,
    anchorSets: readAnchors(r, o, family, inputSize, strides),
    strides,
    scaleXY,
    activation: r.oneOf("activation", o.activation, ACTIVATIONS),
    reading: r.text("reading", o.reading),
    boxFormat: r.oneOf("boxFormat", o.boxFormat, ["cxcywh", "xyxy", "xywh", "yxyx", "cycxhw"]),
    coordinates: r.oneOf("coordinates", o.coordinates, ["pixels", "normalised"]),
    priors,
    priorFormat: r.oneOf("priorFormat", o.priorFormat, ["xyxy", "cxcywh", "cycxhw"]),
    background: (background ?? null) as Config["background"],
    variances: (variances ?? scales?.map((s) => 1 / s) ?? null) as Config["variances"],
    scalesGiven: scales !== null,
    keep: keep as Config["keep"],
    roles: readRoles(r, o.roles),
    conventions: set,
    rules,
  };
}

function readConfidence(r: Reader, x: unknown, classes: number | null): number | number[] {
  if (!Array.isArray(x)) return r.unit("confidenceThreshold", x) ?? 0.25;
  if (x.length === 0 || !Array.from(x).every((v) => typeof v === "number" && v >= 0 && v <= 1))
    r.wrong("confidenceThreshold", x, "numbers in 0..1, one per class");
  else if (classes !== null && x.length !== classes)
    r.say("confidenceThreshold", `got ${x.length} values, expected ${classes}, one per class`);
  return x as number[];
}

function readConventions(r: Reader, x: unknown): { set: ConventionSet; rules: Partial<Conventions> } {
  const sets = Object.keys(CONVENTIONS) as ConventionSet[];
  if (x === undefined || x === null) return { set: "ultralytics", rules: {} };
  if (typeof x === "string") return { set: r.oneOf("conventions", x, sets) ?? "ultralytics", rules: {} };
  const { set, ...rules } = r.object("conventions", x);
  // "constructor" and its like are in every object, and no rule
  for (const [name, value] of Object.entries(rules)) {
    if (name in {})
      r.wrong(`conventions.${name}`, value, `a rule: ${Object.keys(CONVENTIONS.depthai).join(", ")}`);
    else checkRule(name, value, (path, got, expected) => r.wrong(path, got, expected));
  }
  return {
    set: r.oneOf("conventions.set", set, sets) ?? "ultralytics",
    rules: rules as Partial<Conventions>,
  };
}

function readPriors(r: Reader, x: unknown): Float32Array | null {
  if (x === undefined || x === null) return null;
  const list = x as ArrayLike<number>;
  if ((ArrayBuffer.isView(x) && !(x instanceof DataView)) || Array.isArray(x)) {
    for (let i = 0; i < list.length; i++) {
      // one report is enough, there may be thousands
      if (typeof list[i] !== "number" || !Number.isFinite(Math.fround(list[i]))) {
        r.wrong(`priors[${i}]`, list[i], "a finite number");
        return null;
      }
    }
    if (list.length > 0 && list.length % 4 === 0)
      return x instanceof Float32Array ? x : Float32Array.from(list);
    r.say(
      "priors",
      `got ${list.length} numbers, expected four for each box (or eight, with the variances behind)`,
    );
  } else r.wrong("priors", x, "a Float32Array of four numbers a box");
  return null;
}

/** Flat [w,h,...] with masks, flat without (split evenly, largest map first), or [output][anchor][w,h]. */
function readAnchors(
  r: Reader,
  o: Json,
  family: Family | null,
  inputSize: readonly [number, number] | null,
  strides: readonly number[] | null,
): AnchorSet[] | null {
  const list = r.array("anchors", o.anchors);
  const masked = o.anchorMasks !== undefined && o.anchorMasks !== null;
  const bare = (sets: readonly AnchorSet["anchors"][]): AnchorSet[] =>
    sets.map((anchors) => ({ side: null, output: null, anchors }));
  if (list === null) {
    if (masked) r.wrong("anchors", o.anchors, "the anchors that anchorMasks point at");
    return null;
  }
  let sets: AnchorSet[];
  if (list.length > 0 && Array.isArray(list[0])) {
    const groups = r.nestedPairs("anchors", list);
    if (masked)
      r.say("anchorMasks", "got masks for anchors that stand by output already, expected one or the other");
    if (groups === null) return null;
    sets = bare(groups);
  } else {
    const anchors = r.pairs("anchors", list);
    if (anchors === null) return null;
    if (masked) {
      // a list of masks: from the largest map to the smallest; an object: by side or by output name
      const masks = o.anchorMasks;
      const named: [string | null, unknown][] = Array.isArray(masks)
        ? Array.from(masks, (m): [null, unknown] => [null, m])
        : Object.entries(r.object("anchorMasks", masks));
      if (named.length === 0 && anchors.length > 0)
        r.say("anchorMasks", `got no masks for ${anchors.length} anchors, expected one per output`);
      sets = readMasks(r, "anchorMasks", named, anchors, inputSize, true);
    } else if (anchors.length === 0) return [];
    else {
      // YOLOv2 has one map; elsewhere the strides tell how many, or the three anchors a map that most networks have
      const maps =
        strides?.length || (family !== "yolov2" && anchors.length % 3 === 0 ? anchors.length / 3 : 1);
      const each = anchors.length / maps;
      if (!Number.isInteger(each)) {
        r.say(
          "anchors",
          `got ${anchors.length} anchors for ${maps} maps, expected as many for each, or anchorMasks`,
        );
        return null;
      }
      sets = bare(Array.from({ length: maps }, (_, i) => anchors.slice(i * each, (i + 1) * each)));
    }
  }
  if (strides !== null && strides.length > 0 && sets.length > 0 && sets.length !== strides.length)
    r.say(
      "anchors",
      `got anchors for ${sets.length} maps, expected ${strides.length}, one set for each of strides`,
    );
  return sets;
}

function readRoles(r: Reader, x: unknown): Roles | null {
  if (x === undefined || x === null) return null;
  const roles = r.object("roles", x);
  for (const [role, value] of Object.entries(roles)) {
    if (!["boxes", "scores", "objectness", "labels", "priors", "count"].includes(role))
      r.say(
        `roles.${role}`,
        "got an unknown role, expected boxes, scores, objectness, labels, priors or count",
      );
    else if (
      typeof value !== "string" &&
      !(
        ["boxes", "scores", "objectness"].includes(role) &&
        Array.isArray(value) &&
        Array.from(value).every((v) => typeof v === "string")
      )
    )
      r.wrong(`roles.${role}`, value, "an output's name, or names");
  }
  return isObject(roles) ? (roles as Roles) : null;
}
