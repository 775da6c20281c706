/**
 * Room 1: unknown JSON -> Config. Knows no tensors; what only the tensors can tell stays `null` here.
 */
import { readArchive } from "./nn-archive.ts";
import { readNnConfig } from "./nn-config.ts";
import { readOptions } from "./options.ts";
import { FieldReader, isObject } from "./fields.ts";
import type { Conventions, ConventionSet } from "../core/conventions.ts";
import { ConfigError, mismatch } from "../core/errors.ts";
import type { ActivationOption, Family } from "../core/families.ts";
import { few, kindOf, show } from "../core/tensor.ts";

/** Anchors of one output layer. Which layer it is: `side` (its width), or `output` (its name), or its rank by size. */
export interface AnchorSet {
  /** Width of the output layer (`sideN` of an NN_config). */
  readonly side: number | null;
  /** Name of the output tensor (NN Archive: anchors[i] belongs to yolo_outputs[i]). */
  readonly output: string | null;
  /** [width, height] pairs, in input pixels (YOLOv2: in cells). */
  readonly anchors: readonly (readonly [number, number])[];
}

/** What a file says beforehand of one output tensor. */
export interface OutputSpec {
  readonly name: string;
  readonly dims: readonly number[] | null;
  readonly type: string | null;
  /** Letters of an archive for the storage order. They are wrong in some files, so shapes decide and these are not asked. */
  readonly layout: string | null;
  /** Storage order as the option `outputs` states it, which is taken at its word. */
  readonly order: string | null;
  /** Quantised outputs: real = (raw - zeroPoint) * scale. */
  readonly scale?: number;
  readonly zeroPoint?: number;
}

/** Which output plays which part, by name. A value is a name, or names from the largest map to the smallest. */
export interface Roles {
  readonly boxes?: string | readonly string[];
  readonly scores?: string | readonly string[];
  readonly objectness?: string | readonly string[];
  readonly labels?: string;
  readonly priors?: string;
  readonly count?: string;
}

/** A config file or typed options as read: every field is there, `null` where nothing was said. What makes a plan, together with shapes. */
export interface Config {
  /** Where it came from. */
  readonly format: "NN_config" | "nn_config" | "nn-archive" | "options";
  /** `null` where the file says neither; the host then decodes, as for "raw". */
  readonly outputFormat: "detection" | "raw" | null;
  /** False: the file names no family ("raw" and nothing else), so there is nothing to decode; `note` says so. */
  readonly decodes: boolean;
  readonly note: string | null;

  /** The kind of network the file names; "yolo" leaves the head rule open, see `settleFamily`. */
  readonly kind: "yolo" | "ssd" | null;
  /** A family stated outright (typed options). */
  readonly family: Family | null;
  /** NN Archive `subtype`, as written. */
  readonly subtype: string | null;
  /** `model.model_name` or the archive's `model.metadata.name`: evidence for the head rule. */
  readonly modelName: string | null;

  readonly classes: number | null;
  readonly labels: readonly string[] | null;
  /** [width, height] of the network input in pixels. */
  readonly inputSize: readonly [number, number] | null;
  /** One value for all classes, or one per class. */
  readonly confidenceThreshold: number | readonly number[];
  readonly iouThreshold: number;
  readonly maxDetections: number;

  /** `[]`: the file says there are none (left-top-right-bottom distances); `null`: it says nothing. */
  readonly anchorSets: readonly AnchorSet[] | null;
  /** Pixels per cell, from the largest map to the smallest. */
  readonly strides: readonly number[] | null;
  readonly scaleXY: number | readonly number[] | null;
  readonly activation: ActivationOption | null;
  readonly reading: string | null;
  readonly boxFormat: "cxcywh" | "xyxy" | "xywh" | "yxyx" | "cycxhw" | null;
  readonly coordinates: "pixels" | "normalised" | null;
  readonly priors: Float32Array | null;
  /** Class column that means "nothing here", `false` for none. */
  readonly background: number | false | null;
  /** Factors on (x, y, w, h) of a prior-based box: variances 0.1,0.1,0.2,0.2 or the inverse of scales 10,10,5,5. */
  readonly variances: readonly [number, number, number, number] | null;
  /** The factors came as TensorFlow-style `scales`: box channels are then ty tx th tw. */
  readonly scalesGiven: boolean;
  /** How the rows of `priors` are written; `null`: corners where variances go with them, centre and size else. */
  readonly priorFormat: "xyxy" | "cxcywh" | "cycxhw" | null;
  /** Class names or numbers to look for; `null`: all. */
  readonly keep: readonly (string | number)[] | null;
  readonly outputs: readonly OutputSpec[] | null;
  /** Names of the outputs that belong to the detection head; other outputs are left alone. */
  readonly headOutputs: readonly string[] | null;
  readonly roles: Roles | null;
  readonly conventions: ConventionSet;
  /** Single rules over the set. */
  readonly rules: Partial<Conventions>;
}

/**
 * Reads a config: parsed JSON or its text, an `NN_config` or `nn_config` file, an NN Archive `config.json`, or typed
 * options `{family, classes, inputSize, ...}`. Unknown keys are ignored, but for those of typed
 * options and of an NN_config that look like a misspelt one. Nothing at all (`undefined`, `null`, "{}")
 * reads as output_format "raw": a config that decodes nothing and says so.
 *
 * Where a file is silent: confidence 0.5 and IoU 0.5 (what depthai-core and depthai-nodes fall back to), at most 300
 * detections, conventions `depthai`; typed options: 0.25, 0.45, 300 and `ultralytics` (that project's defaults).
 * @throws ConfigError, and nothing else, with every problem at once, each with its path.
 */
export function parseConfig(json: unknown): Config {
  try {
    return read(json);
  } catch (e) {
    if (e instanceof ConfigError) throw e;
    // a getter or proxy of the caller's, or nesting deeper than the stack; no config looks like that
    return fail("a value that cannot be read through", "plain data");
  }
}

/** Refuses the whole of it. */
function fail(got: string, expected: string): never {
  throw new ConfigError([{ path: "", message: mismatch(got, expected) }]);
}

function read(json: unknown): Config {
  let root = json;
  if (typeof json === "string") {
    if (json.trim() === "") fail("an empty text", FORMATS);
    try {
      root = JSON.parse(json.charCodeAt(0) === 0xfeff ? json.slice(1) : json);
    } catch (e) {
      const more = json.includes("{") ? "" : "; a path or a name, perhaps: files are read by the caller";
      fail(`text that is not JSON (${(e as Error).message})`, FORMATS + more);
    }
  }
  if (ArrayBuffer.isView(root))
    fail("bytes", "JSON; an NN Archive is opened by createArchiveDecoder of boxwright/node");
  if (root !== undefined && root !== null && !isObject(root)) fail(show(root), `an object: ${FORMATS}`);
  // a promise, a Map: what keeps nothing under keys of its own would read as no config at all
  if (isObject(root) && kindOf(root) !== "Object" && Object.keys(root).length === 0)
    fail(show(root), kindOf(root) === "Promise" ? "what it resolves to: await it" : `plain data: ${FORMATS}`);
  const o = isObject(root) ? root : {};
  const r = new FieldReader(o);
  const keys = Object.keys(o);
  const said = keys.filter(r.has, r);
  const blocks = said.filter((k) => k.toLowerCase() === "nn_config");
  if (blocks.length > 1) r.say("", `both ${blocks.join(" and ")}`, "one of them");
  const [spelled] = blocks;
  const { model } = o;
  let config: Config;
  if (spelled !== undefined) {
    const key = spelled === "nn_config" ? "nn_config" : "NN_config";
    config = readNnConfig(new FieldReader({ ...o, [key]: o[spelled] }, "", r.problems), key);
  } else if (
    isObject(model) &&
    (Array.isArray(model.heads) || model.heads === null || "outputs" in model || "config_version" in o)
  )
    config = readArchive(r);
  else if (said.length === 0 || ("mappings" in o && !said.some((k) => /^(NN_)?family$/.test(k))))
    config = readNnConfig(r, "NN_config");
  else {
    if (!OPTIONS.some((k) => k in o)) fail(`an object with ${few(keys, 6)}`, FORMATS);
    config = readOptions(r);
  }
  r.done();
  return config;
}

/** What a config is, and the key it is known by. */
const FORMATS = "NN_config, nn_config, model (NN Archive config.json) or family (typed options)";

/** Typed options are known by any of these, so that a forgotten `family` is reported as such. */
const OPTIONS = ["family", "classes", "labels", "inputSize", "anchors", "roles"];
