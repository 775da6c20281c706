/**
 * Reads a config of any format synchronously. `fetchConfig` of read.ts reads asynchronously, and loads the readers of
 * config files only when needed.
 */
import { fileFormats } from "./file-formats.ts";
import { readBy } from "./read.ts";
import type { Config, DecoderOptions } from "./types.ts";

/**
 * Reads a config: parsed JSON or its text, an `NN_config` or `nn_config` file, an NN Archive `config.json`, typed
 * options `{family, classes, inputSize, ...}`, or what `readModel` returned. Unknown keys are ignored, except where a
 * key of typed options or of an NN_config looks like a misspelt one. An absent config (`undefined`, `null`, "{}") is
 * read as output_format "raw": the result decodes nothing, and its `note` says so.
 *
 * Defaults of files: confidence threshold 0.5 and IoU threshold 0.5 (as in depthai-core and depthai-nodes), at most 300
 * detections, rules `depthai`. Defaults of typed options: 0.25, 0.45, 300 and rules `ultralytics` (as in that project).
 * @throws ConfigError, and nothing else, with every problem at once, each with its path
 * @example
 * import { parseConfig } from "boxwright";
 *
 * const config = parseConfig({ family: "yolov8", labels: ["person", "cat"], inputSize: [640, 640] });
 * console.log(config.classes, config.confidenceThreshold, config.ruleSet); // 2 0.25 ultralytics
 */
export const parseConfig = (json: unknown): Config => readConfig(json, {});

/**
 * Reads a config and the options of `createDecoder`, which override the config. Reads each argument only once.
 * @throws ConfigError with every problem of both at once; paths of options begin with `options`
 */
export const readConfig = (json: unknown, options: DecoderOptions): Config =>
  readBy(json, options, () => fileFormats) as Config;
