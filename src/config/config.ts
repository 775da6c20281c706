/**
 * Room 1: unknown JSON -> Config. Knows no tensors; what only the tensors can tell stays `null` here.
 */
import { readArchive } from "./nn-archive.ts";
import { readNnConfig } from "./nn-config.ts";
import { readOptions } from "./options.ts";
import { FieldReader, isObject } from "./fields.ts";
import { ConfigError, mismatch } from "../core/errors.ts";
import type { Config } from "./types.ts";
import { few, kindOf, show } from "../core/tensor.ts";

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
