/**
 * Reads unknown JSON and the options over it into one `Config`. Tensors are not known here: what only they can tell
 * stays `null`.
 */
import { ConfigError, type ConfigProblem, mismatch } from "../core/errors.ts";
import { ENGINE_NAMES } from "../core/engine-name.ts";
import { SPEC_NAMES, few, kindOf, show, type TensorSpecInput } from "../core/tensor.ts";
import { readAnchors } from "./anchors.ts";
import { alignLabels } from "./background.ts";
import { oneOf } from "../core/options.ts";
import { FieldReader, isObject, type Json } from "./fields.ts";
import { isModel, missingIn, readModelConfig } from "./model-config.ts";
import { readArchive } from "./nn-archive.ts";
import { readNnConfig } from "./nn-config.ts";
import { overlay, readSettings, settingNames } from "./settings.ts";
import { readTypedOptions } from "./typed.ts";
import type { Config, DecoderOptions, OutputSpec } from "./types.ts";

/**
 * Reads a config: parsed JSON or its text, an `NN_config` or `nn_config` file, an NN Archive `config.json`, typed
 * options `{family, classes, inputSize, ...}`, or what `readModel` returned. Unknown keys are ignored, except where a
 * key of typed options or of an NN_config looks like a misspelt one. Nothing at all (`undefined`, `null`, "{}") reads
 * as output_format "raw": a config that decodes nothing and says so.
 *
 * Defaults of files: confidence 0.5 and IoU 0.5 (as depthai-core and depthai-nodes have them), at most 300 detections,
 * rules `depthai`. Defaults of typed options: 0.25, 0.45, 300 and `ultralytics` (as that project has them).
 * @throws ConfigError, and nothing else, with every problem at once, each with its path
 * @example
 * import { parseConfig } from "boxwright";
 *
 * const config = parseConfig({ family: "yolov8", labels: ["person", "cat"], inputSize: [640, 640] });
 * console.log(config.classes, config.confidenceThreshold, config.ruleSet); // 2 0.25 ultralytics
 */
export const parseConfig = (json: unknown): Config => readConfig(json, {});

/**
 * Reads a config and the options of `createDecoder` over it, each of them once.
 * @throws ConfigError with every problem of both at once; paths of options begin with `options`
 */
export function readConfig(json: unknown, options: DecoderOptions): Config {
  try {
    return read(json, options);
  } catch (e) {
    if (e instanceof ConfigError) throw e;
    // A getter or proxy of the caller's, or nesting deeper than the stack. No config looks like that.
    return fail("a value that cannot be read through", "plain data");
  }
}

/** Throws a ConfigError about the whole document. */
function fail(got: string, expected: string): never {
  throw new ConfigError([{ path: "", message: mismatch(got, expected) }]);
}

function read(json: unknown, options: DecoderOptions): Config {
  const root = rootOf(json);
  const r = new FieldReader(root);
  const file = readFormat(r, root);
  const over = new FieldReader({ options }, "", r.problems).object("options");
  over.reportUnknown(["engine", "onNote", "fresh", ...settingNames(), "anchors", "anchorMasks", "outputs"]);
  over.take("engine", oneOf(["auto", ...ENGINE_NAMES]));
  over.take("onNote", ["a function", (x) => typeof x === "function"]);
  over.take("fresh", ["true or false", (x) => typeof x === "boolean"]);
  const settings = readSettings(over);
  const outputs = over.take<NonNullable<DecoderOptions["outputs"]>>("outputs", [
    "an array or a record of {dims, type}",
    (x) => typeof x === "object" && Object.values(x as object).every(isObject),
  ]);
  for (const [name, output] of Object.entries(outputs ?? {}))
    new FieldReader(output as unknown as Json, `options.outputs.${name}`, r.problems).reportMisspelt(
      SPEC_NAMES,
    );
  if (isModel(root)) r.problems.push(...missingIn(root, over));
  dropSettled(r.problems, over);
  // A config that is half read would give further problems that are none.
  r.throwProblems();
  const config = alignLabels(overlay(over, file, settings));
  const anchorSets = readAnchors(over, config) ?? config.anchorSets;
  r.throwProblems();
  return { ...config, anchorSets, ...(outputs && { outputs: outputSpecs(outputs) }) };
}

/** Removes the problems of a file that an option over it settles. Labels state the number of classes too. */
function dropSettled(problems: ConfigProblem[], over: FieldReader): void {
  const isOpen = ({ option }: ConfigProblem): boolean =>
    option === undefined || !(over.has(option) || (option === "classes" && over.has("labels")));
  problems.splice(0, Infinity, ...problems.filter(isOpen));
}

/** Returns the document as an object. Throws a ConfigError for what can be no config. */
function rootOf(json: unknown): Json {
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
  if (root === undefined || root === null) return {};
  if (ArrayBuffer.isView(root)) fail("bytes", "JSON; a model file or an NN Archive is read by readModel");
  if (!isObject(root)) return fail(show(root), `an object: ${FORMATS}`);
  // A promise or a Map has nothing under keys of its own, and would read as no config at all.
  if (kindOf(root) !== "Object" && Object.keys(root).length === 0)
    fail(show(root), kindOf(root) === "Promise" ? "what it resolves to: await it" : `plain data: ${FORMATS}`);
  return root;
}

/** Reads the document in the format that its keys tell. */
function readFormat(r: FieldReader, root: Json): Config {
  reportBeside(r, root);
  if (isModel(root))
    return isObject(root.archive)
      ? readFormat(new FieldReader(root.archive, "", r.problems), root.archive)
      : readModelConfig(r);
  const keys = Object.keys(root);
  const givenKeys = keys.filter(r.has, r);
  const blocks = givenKeys.filter((key) => key.toLowerCase() === "nn_config");
  if (blocks.length > 1) r.report("", `both ${blocks.join(" and ")}`, "one of them");
  const [spelled] = blocks;
  if (spelled !== undefined) {
    const key = spelled === "nn_config" ? "nn_config" : "NN_config";
    return readNnConfig(new FieldReader({ ...root, [key]: root[spelled] }, "", r.problems), key);
  }
  if (isArchive(root)) return readArchive(r);
  const hasFamily = givenKeys.some((key) => /^(NN_)?family$/.test(key));
  if (givenKeys.length === 0 || ("mappings" in root && !hasFamily)) return readNnConfig(r, "NN_config");
  if (!TYPED.some((key) => key in root)) fail(`an object with ${few(keys, 6)}`, FORMATS);
  return readTypedOptions(r);
}

/**
 * Reports options that stand beside a file's own keys, or beside those of `readModel`: no code would read them. Fields
 * that `readModel` itself returns are no options.
 */
function reportBeside(r: FieldReader, root: Json): void {
  const block = Object.keys(root).find((key) => key.toLowerCase() === "nn_config" && r.has(key));
  const file = block ?? (isModel(root) ? "what readModel returned" : isArchive(root) ? "model" : null);
  if (file === null) return;
  const modelFields = isModel(root) ? MODEL_FIELDS : [];
  for (const option of [...settingNames(), "anchors", "anchorMasks", ...OPTIONS_ONLY])
    if (r.has(option) && !modelFields.includes(option))
      r.report(option, `it beside ${file}`, "it in the second argument of createDecoder");
}

/** Fields of what `readModel` returned that have the name of an option. */
const MODEL_FIELDS: readonly string[] = ["task", "inputSize", "keypoints", "outputs"];
/** Options that do not describe the network. */
const OPTIONS_ONLY: readonly string[] = ["engine", "outputs", "onNote", "fresh"];

/** True if the document has the keys of an NN Archive's config.json. */
const isArchive = ({ model, ...root }: Json): boolean =>
  isObject(model) &&
  (Array.isArray(model.heads) || model.heads === null || "outputs" in model || "config_version" in root);

/** The formats of a config, each with the key that tells it. */
const FORMATS = "NN_config, nn_config, model (NN Archive config.json) or family (typed options)";

/** Any of these keys tells typed options, so that a forgotten `family` is reported as such. */
const TYPED = ["family", "classes", "labels", "inputSize", "anchors", "roles"];

/** Returns the outputs that the option `outputs` states. */
function outputSpecs(outputs: NonNullable<DecoderOptions["outputs"]>): OutputSpec[] {
  const isRecord = !Array.isArray(outputs);
  return Object.entries(outputs as { readonly [name: string]: TensorSpecInput }).map(([name, o]) => ({
    name: isRecord ? name : (o.name ?? `output${name}`),
    dims: o.dims,
    type: o.type ?? null,
    layout: null,
    order: o.order ?? null,
    scale: o.scale,
    zeroPoint: o.zeroPoint,
    axis: o.axis,
  }));
}
