/** Reads unknown JSON, and options that override it, into a `Config`. Fields that depend on tensors stay `null`. */
import { ConfigError, type ConfigProblem, refuseConfig } from "../core/errors.ts";
import { nearestName } from "../core/names.ts";
import { SPEC_NAMES, few, kindOf, show, type TensorSpecInput } from "../core/tensor.ts";
import { readAnchors } from "./anchors.ts";
import { alignLabels } from "./background.ts";
import { FieldReader, isObject, type Json } from "./fields.ts";
import type { FileFormats } from "./file-formats.ts";
import { isModel, missingIn, readModelConfig } from "./model-config.ts";
import { CALL_OPTIONS, DETECTOR_OPTIONS, settingNames } from "./options.ts";
import { overlay, readSettings } from "./settings.ts";
import { readTypedOptions } from "./typed.ts";
import type { Config, DecoderOptions, OutputSpec } from "./types.ts";

/**
 * Reads like `readConfig`, but loads the readers of config files only if needed. Before loading, copies both arguments,
 * since the caller may change them meanwhile.
 */
export async function fetchConfig(json: unknown, options: DecoderOptions): Promise<Config> {
  const config = readBy(json, options, () => null);
  if (config !== null) return config;
  const [file, over] = [json, options].map(copyIfPlain);
  const formats = (await import("./file-formats.ts")).fileFormats;
  return readBy(file, over as DecoderOptions, () => formats) as Config;
}

/** Returns a copy of plain data. If copying throws, returns the data themselves: the reader then reports the cause. */
function copyIfPlain(data: unknown): unknown {
  try {
    return copyOf(data);
  } catch {
    return data;
  }
}

/** Returns a deep copy of plain objects and arrays. Other values, such as functions, are not copied. */
const copyOf = (data: unknown): unknown =>
  typeof data === "object" && data !== null && ["Object", "Array"].includes(kindOf(data))
    ? Array.isArray(data)
      ? data.map(copyOf)
      : Object.fromEntries(Object.entries(data).map(([key, x]) => [key, copyOf(x)]))
    : data;

/** Reads a config, and options that override it. Returns null if `formats`, called only for a file, does. */
export function readBy(
  json: unknown,
  options: DecoderOptions,
  formats: () => FileFormats | null,
): Config | null {
  try {
    return read(json, options, formats);
  } catch (e) {
    if (e instanceof ConfigError) throw e;
    // The cause is a getter or proxy of the caller that threw, or data nested deeper than the stack allows.
    return refuseConfig("", "a value that cannot be read through", "plain data");
  }
}

function read(json: unknown, options: DecoderOptions, formats: () => FileFormats | null): Config | null {
  const root = rootOf(json);
  const r = new FieldReader(root);
  const file = readFormat(r, root, formats);
  if (file === null) return null;
  const over = new FieldReader({ options }, "", r.problems).object("options");
  const misplaced = DETECTOR_OPTIONS.filter((key) => over.has(key));
  over.reportUnknown([...Object.keys(CALL_OPTIONS), ...settingNames(), ...misplaced]);
  for (const key of misplaced)
    over.report(key, "it among the options of a decoder", "it as an option of createDetector");
  const call = Object.entries(CALL_OPTIONS).map(([key, rule]) => [key, over.take<unknown>(key, rule)]);
  const settings = readSettings(over);
  const { outputs } = Object.fromEntries(call) as Pick<DecoderOptions, "outputs">;
  for (const [name, output] of Object.entries(outputs ?? {}))
    new FieldReader(output as unknown as Json, `options.outputs.${name}`, r.problems).reportMisspelt(
      SPEC_NAMES,
    );
  if (isModel(root)) r.problems.push(...missingIn(root, over));
  dropSettled(r.problems, over);
  // Stop here, since later problems may only be consequences of a wrong field.
  r.throwProblems();
  const config = alignLabels(overlay(over, file, settings));
  const anchorSets = readAnchors(over, config) ?? config.anchorSets;
  r.throwProblems();
  return { ...config, anchorSets, ...(outputs && { outputs: outputSpecs(outputs) }) };
}

/** Removes the problems of a file that options resolve. The option `labels` also states the class count. */
function dropSettled(problems: ConfigProblem[], over: FieldReader): void {
  const isOpen = ({ option }: ConfigProblem): boolean =>
    option === undefined || !(over.has(option) || (option === "classes" && over.has("labels")));
  problems.splice(0, Infinity, ...problems.filter(isOpen));
}

/** Returns the document as an object. Throws a ConfigError if it cannot be a config. */
function rootOf(json: unknown): Json {
  let root = json;
  if (typeof json === "string") {
    if (json.trim() === "") refuseConfig("", "an empty text", FORMATS);
    try {
      root = JSON.parse(json.charCodeAt(0) === 0xfeff ? json.slice(1) : json);
    } catch (e) {
      const more = json.includes("{") ? "" : "; a path or a name, perhaps: files are read by the caller";
      refuseConfig("", `text that is not JSON (${(e as Error).message})`, FORMATS + more);
    }
  }
  if (root === undefined || root === null) return {};
  if (ArrayBuffer.isView(root))
    refuseConfig("", "bytes", "JSON; a model file or an NN Archive is read by readModel");
  if (isObject(root)) return root;
  if (kindOf(root) === "Promise") return refuseConfig("", show(root), "what it resolves to: await it");
  const isBuiltIn = typeof root === "object" && !Array.isArray(root);
  return refuseConfig("", show(root), `${isBuiltIn ? "plain data" : "an object"}: ${FORMATS}`);
}

/** Reads the document in the format that its keys show. Returns null for a config file if `formats` returns null. */
function readFormat(r: FieldReader, root: Json, formats: () => FileFormats | null): Config | null {
  reportBeside(r, root);
  if (isModel(root))
    return isObject(root.archive)
      ? readFormat(new FieldReader(root.archive, "", r.problems), root.archive, formats)
      : readModelConfig(r);
  const keys = Object.keys(root);
  const givenKeys = keys.filter(r.has, r);
  const blocks = givenKeys.filter((key) => key.toLowerCase() === "nn_config");
  if (blocks.length > 1) r.report("", `both ${blocks.join(" and ")}`, "one of them");
  const [spelled] = blocks;
  if (spelled !== undefined) {
    const key = spelled === "nn_config" ? "nn_config" : "NN_config";
    const block = { ...root, [key]: root[spelled] };
    return formats()?.readNnConfig(new FieldReader(block, "", r.problems), key) ?? null;
  }
  if (isArchive(root)) return formats()?.readArchive(r) ?? null;
  const hasFamily = givenKeys.some((key) => /^(NN_)?family$/.test(key));
  if (givenKeys.length === 0 || ("mappings" in root && !hasFamily))
    return formats()?.readNnConfig(r, "NN_config") ?? null;
  if (!TYPED.some((key) => key in root)) {
    const meant = keys
      .map((key) => nearestName(key, ["NN_config", ...TYPED]))
      .find((name) => name !== undefined);
    refuseConfig(
      "",
      `an object with ${few(keys, 6)}`,
      FORMATS + (meant === undefined ? "" : `; did you mean ${meant}?`),
    );
  }
  return readTypedOptions(r);
}

/** Reports options among the keys of a config file or of `readModel`'s result: they would have no effect. */
function reportBeside(r: FieldReader, root: Json): void {
  const block = Object.keys(root).find((key) => key.toLowerCase() === "nn_config" && r.has(key));
  const file = block ?? (isModel(root) ? "what readModel returned" : isArchive(root) ? "model" : null);
  if (file === null) return;
  const modelFields = isModel(root) ? MODEL_FIELDS : [];
  for (const option of [...settingNames(), ...Object.keys(CALL_OPTIONS)])
    if (r.has(option) && !modelFields.includes(option))
      r.report(option, `it beside ${file}`, "it in the second argument of createDecoder");
}

/** Fields of `readModel`'s result that share their name with an option. `reportBeside` does not report them. */
const MODEL_FIELDS: readonly string[] = ["task", "inputSize", "keypoints", "outputs"];

const isArchive = ({ model, ...root }: Json): boolean =>
  isObject(model) &&
  (Array.isArray(model.heads) || model.heads === null || "outputs" in model || "config_version" in root);

/** Formats of a config, each with the key that identifies it, as text for an error. */
const FORMATS = "NN_config, nn_config, model (NN Archive config.json) or family (typed options)";

/** Keys that identify typed options. One of them suffices, so that a missing `family` is reported. */
const TYPED = ["family", "classes", "labels", "inputSize", "anchors", "roles"];

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
