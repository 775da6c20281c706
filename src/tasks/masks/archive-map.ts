/** Reads NN Archives whose network outputs a map: SegmentationParser and MapOutputParser of depthai. */
import { knownOf } from "../../core/json.ts";
import { ConfigError } from "../../core/errors.ts";
import { COUNT, FLAG } from "../../core/options.ts";
import type { PrepareRule } from "../../core/prepare-rule.ts";
import { show } from "../../core/tensor.ts";
import { pictureOf } from "../../config/archive-input.ts";
import { FieldReader, TEXT, isObject } from "../../config/fields.ts";
import { inputSizeOf } from "../../config/nn-archive.ts";
import type { ClassMapOptions } from "./semantic.ts";

/** An NN Archive's facts about a map. `mapOptions` returns this. */
export interface ArchiveMap {
  /** The function that reads the output. */
  readonly reader: "classMap" | "valueMap";
  readonly output: string;
  /** Options of the reader. For `valueMap`, only `inputSize`. */
  readonly options: ClassMapOptions;
  /** The preparation of a picture for the network: the rule for `prepareImage`. */
  readonly prepare: PrepareRule;
}

/**
 * Returns how to read the map of an NN Archive with a SegmentationParser or a MapOutputParser. Fields and defaults are
 * those of depthai-nodes.
 * @param archive the `config.json` of the archive, or what `readModel` made of the file
 * @throws ConfigError if the archive has another parser, states no shape of its input, or a field is wrong
 * @example
 * import { classMap, mapOptions, prepareImage } from "boxwright";
 *
 * const archive = {
 *   config_version: "1.0",
 *   model: {
 *     inputs: [{ name: "image", input_type: "image", shape: [1, 3, 2, 4] }],
 *     outputs: [{ name: "road", shape: [1, 1, 2, 4] }],
 *     heads: [{ parser: "SegmentationParser", outputs: ["road"], metadata: { classes: ["road"] } }],
 *   },
 * };
 * const { output, options, prepare } = mapOptions(archive);
 * const image = { data: new Uint8Array(4 * 4 * 2), width: 4, height: 2 };
 * const { frame } = prepareImage(image, prepare); // its tensor is the input of the network
 * const outputs = { road: { data: [-1, -1, 2, 3, -1, 4, 5, 6], dims: [1, 1, 2, 4] } };
 * const { data, labels } = classMap(outputs[output as "road"], { ...options, frame });
 * console.log([...data], labels?.[0]); // [255,255,0,0,255,0,0,0] road
 */
export function mapOptions(archive: unknown): ArchiveMap {
  const json = isObject(archive) && isObject(archive["archive"]) ? archive["archive"] : archive;
  const root = new FieldReader(isObject(json) ? json : {});
  const model = root.object("model");
  const heads = model.objects("heads") ?? [];
  const head = heads.find(({ json: { parser } }) => PARSERS.test(String(parser)));
  if (!head) {
    const found = heads.map(({ json: { parser } }) => show(parser)).join(", ") || "no heads";
    root.report("model.heads", found, "a parser SegmentationParser or MapOutputParser");
    throw new ConfigError(root.problems);
  }
  const [output, ...others] = head.texts("outputs") ?? [];
  if (output === undefined || others.length > 0) head.reportValue("outputs", "the name of one output");
  const inputSize = inputSizeOf(model);
  if (inputSize === null)
    model.report("inputs", "no shape of a picture", "one of whole numbers, such as [1, 3, 512, 1024]");
  const metadata = head.object("metadata");
  const isMap = /^map/i.test(head.take("parser", TEXT) ?? "");
  const options = { ...(inputSize && { inputSize }), ...(!isMap && classOptions(metadata)) };
  const { rule, problems } = pictureOf(model.array("inputs") ?? []);
  root.problems.push(...problems);
  root.throwProblems();
  return {
    reader: isMap ? "valueMap" : "classMap",
    output,
    options,
    // Stretch the picture, as the device does.
    prepare: { resize: "stretch", size: inputSize as [number, number], ...rule },
  };
}

const PARSERS = /^(segmentation|mapoutput)parser$/i;

/** Returns the options about classes. The threshold 0 is for one channel: depthai's argmax adds a channel of zeros. */
function classOptions(metadata: FieldReader): ClassMapOptions {
  const labels = metadata.labels("classes");
  const classes = metadata.take("n_classes", COUNT) ?? labels?.length;
  const ids = metadata.take("classes_in_one_layer", FLAG) ?? false;
  const background = metadata.take("background_class", FLAG) ?? false;
  return {
    ...knownOf({ labels, classes }),
    ids,
    threshold: 0,
    // Ignore background_class if the tensor holds ids, as depthai does.
    background: background && !ids && classes !== 1,
  };
}
