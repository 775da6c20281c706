/** Typed options, where there is no config file. */
import type { AnchorSet, Config, Roles } from "../config.ts";
import { CONVENTIONS, type ConventionSet, type Conventions } from "../conventions.ts";
import { FAMILIES, type Family } from "../families.ts";
import { checkRule } from "../options.ts";
import { blank } from "./blank.ts";
import { type Json, type Reader, isObject } from "./reader.ts";

export function readOptions(r: Reader, o: Json): Config {
  const family = r.oneOf<Family>("family", o.family, FAMILIES);
  if (o.family === undefined || o.family === null) r.wrong("family", o.family, `one of ${FAMILIES.join(", ")}`);
  const labels = r.labels("labels", o.labels);
  const stated = r.count("classes", o.classes);
  if (stated !== null && labels !== null && labels.length !== stated) r.say("labels", `got ${labels.length} labels, expected ${stated} for classes = ${stated}`);
  const classes = stated ?? labels?.length ?? null;
  const confidence = readConfidence(r, o.confidenceThreshold, classes);
  const { set, rules } = readConventions(r, o.conventions);
  const settled = { ...CONVENTIONS[set], ...rules };
  const variances = r.positives("variances", o.variances, 4);
  const scales = r.positives("scales", o.scales, 4);
  if (variances !== null && scales !== null) r.say("scales", "got scales and variances, expected one: one is the inverse of the other");
  const priors = readPriors(r, o.priors);
  const scaleXY = typeof o.scaleXY === "number" ? o.scaleXY : r.positives("scaleXY", o.scaleXY);
  if (typeof scaleXY === "number" && !(scaleXY > 0 && scaleXY < 100)) r.wrong("scaleXY", scaleXY, "a positive number, or one per map");
  const strides = r.positives("strides", o.strides);
  const background = o.background;
  if (background !== undefined && background !== null && background !== false && !(Number.isInteger(background) && (background as number) >= 0)) r.wrong("background", background, "a class column, or false");
  const keep = r.array("keep", o.keep);
  if (keep !== null && !keep.every((k) => typeof k === "string" || Number.isInteger(k))) r.wrong("keep", keep, "class names or class numbers");
  return {
    ...blank("options"),
    outputFormat: null,
    family,
    classes,
    labels,
    inputSize: r.positives("inputSize", o.inputSize, 2) as [number, number] | null,
    confidenceThreshold: confidence,
    iouThreshold: r.unit("iouThreshold", o.iouThreshold) ?? 0.45,
    maxDetections: r.count("maxDetections", o.maxDetections) ?? settled.maxDetections,
    anchorSets: readAnchors(r, o),
    strides,
    scaleXY,
    activation: r.oneOf("activation", o.activation, ["sigmoid", "logits"]),
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
  if (x.length === 0 || !x.every((v) => typeof v === "number" && v >= 0 && v <= 1)) r.wrong("confidenceThreshold", x, "numbers in 0..1, one per class");
  else if (classes !== null && x.length !== classes) r.say("confidenceThreshold", `got ${x.length} values, expected ${classes}, one per class`);
  return x as number[];
}

function readConventions(r: Reader, x: unknown): { set: ConventionSet; rules: Partial<Conventions> } {
  const sets = Object.keys(CONVENTIONS) as ConventionSet[];
  if (x === undefined || x === null) return { set: "ultralytics", rules: {} };
  if (typeof x === "string") return { set: r.oneOf("conventions", x, sets) ?? "ultralytics", rules: {} };
  const { set, ...rules } = r.object("conventions", x);
  for (const [name, value] of Object.entries(rules)) checkRule(name, value, (path, got, expected) => r.wrong(path, got, expected));
  return { set: r.oneOf("conventions.set", set, sets) ?? "ultralytics", rules: rules as Partial<Conventions> };
}

function readPriors(r: Reader, x: unknown): Float32Array | null {
  if (x === undefined || x === null) return null;
  const list = x as ArrayLike<number>;
  if ((ArrayBuffer.isView(x) && !(x instanceof DataView)) || Array.isArray(x)) {
    const a = x instanceof Float32Array ? x : Float32Array.from(list, Number);
    if (a.length > 0 && a.length % 4 === 0) return a;
    r.say("priors", `got ${a.length} numbers, expected four for each box (or eight, with the variances behind)`);
  } else r.wrong("priors", x, "a Float32Array of four numbers a box");
  return null;
}

/** Flat [w,h,...] with masks, flat without (split evenly, largest map first), or [output][anchor][w,h]. */
function readAnchors(r: Reader, o: Json): AnchorSet[] | null {
  const list = r.array("anchors", o.anchors);
  if (list === null) {
    if (o.anchorMasks !== undefined && o.anchorMasks !== null) r.wrong("anchors", o.anchors, "the anchors that anchorMasks point at");
    return null;
  }
  if (list.length > 0 && Array.isArray(list[0])) {
    const sets = r.nestedPairs("anchors", list);
    return sets?.map((anchors) => ({ side: null, output: null, anchors })) ?? null;
  }
  const anchors = r.pairs("anchors", list);
  if (anchors === null) return null;
  if (o.anchorMasks === undefined || o.anchorMasks === null) {
    const maps = Array.isArray(o.strides) && o.strides.length > 0 ? o.strides.length : anchors.length % 3 === 0 && anchors.length > 3 ? anchors.length / 3 : 1;
    if (anchors.length % maps !== 0) {
      r.say("anchors", `got ${anchors.length} anchors for ${maps} maps, expected as many for each, or anchorMasks`);
      return null;
    }
    const each = anchors.length / maps;
    return Array.from({ length: maps }, (_, i) => ({ side: null, output: null, anchors: anchors.slice(i * each, (i + 1) * each) }));
  }
  const masks = o.anchorMasks;
  // a list of masks: from the largest map to the smallest; an object: by side or by output name
  const named: [string | null, unknown][] = Array.isArray(masks) ? masks.map((m): [null, unknown] => [null, m]) : Object.entries(r.object("anchorMasks", masks));
  const sets: AnchorSet[] = [];
  named.forEach(([name, mask], i) => {
    const path = name === null ? `anchorMasks[${i}]` : `anchorMasks.${name}`;
    const numbers = r.array(path, mask);
    if (numbers === null) return;
    const chosen: [number, number][] = [];
    numbers.forEach((index, k) => {
      const pair = Number.isInteger(index) ? anchors[index as number] : undefined;
      if (pair === undefined) r.wrong(`${path}[${k}]`, index, `0..${anchors.length - 1}, as there are ${anchors.length} anchors`);
      else chosen.push(pair);
    });
    const side = name === null ? null : /^side(\d+)$/.exec(name);
    sets.push({ side: side ? Number(side[1]) : null, output: name !== null && !side ? name : null, anchors: chosen });
  });
  return sets.sort((a, b) => (b.side ?? 0) - (a.side ?? 0));
}

function readRoles(r: Reader, x: unknown): Roles | null {
  if (x === undefined || x === null) return null;
  const roles = r.object("roles", x);
  for (const [role, value] of Object.entries(roles)) {
    if (!["boxes", "scores", "objectness", "labels", "priors", "count"].includes(role)) r.say(`roles.${role}`, "got an unknown role, expected boxes, scores, objectness, labels, priors or count");
    else if (typeof value !== "string" && !(Array.isArray(value) && value.every((v) => typeof v === "string"))) r.wrong(`roles.${role}`, value, "an output's name, or names");
  }
  return isObject(roles) ? (roles as Roles) : null;
}
