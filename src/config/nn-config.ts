/**
 * `NN_config` and its later spelling `nn_config`: family, classes, anchors and masks by the width of the output layer.
 */
import type { AnchorSet, Config } from "./types.ts";
import { hasBackground, KIND_NAMES, KINDS } from "../core/families.ts";
import { defaultConfig } from "./defaults.ts";
import { readMasks } from "./masks.ts";
import { type FieldReader, COUNT, UNIT, isObject, isText } from "./fields.ts";

export function readNnConfig(root: FieldReader, key: "NN_config" | "nn_config"): Config {
  const c = root.object(key);
  // known by its own name, without the block it stands in
  const metadata = c.object("NN_specific_metadata", "");
  c.misspelt(["NN_specific_metadata", "NN_family", "output_format", "input_size"]);
  metadata.misspelt([
    "classes",
    "coordinates",
    "anchors",
    "anchor_masks",
    "confidence_threshold",
    "iou_threshold",
  ]);
  const format = c.word("output_format", ["raw", "detection"], '"raw" or "detection"');
  const families = '"YOLO" or "mobilenet"';
  const spelled = c.word(
    "NN_family",
    KIND_NAMES.map((name) => KINDS[name].nnFamily),
    families,
  );
  if (!c.has("NN_family") && (format === "detection" || isObject(c.json.NN_specific_metadata)))
    c.wrong(
      "NN_family",
      `${families}, as ${format === "detection" ? 'output_format is "detection"' : "NN_specific_metadata is there"}`,
    );
  const kind = KIND_NAMES.find((name) => KINDS[name].nnFamily === spelled) ?? null;

  const labels = root.object("mappings").labels("labels");
  const stated = metadata.take("classes", COUNT);
  metadata.take("coordinates", ["4", (x) => x === 4]);
  const inputSize = readSize(c);
  // both thresholds: 0.5 where the file says nothing, as the files in circulation carry them
  const threshold = (name: string): number => metadata.take(name, UNIT) ?? c.take(name, UNIT) ?? 0.5;
  const hasAnchors = kind === null || KINDS[kind].anchors;
  if (kind !== null && hasAnchors && !metadata.has("classes") && !labels)
    metadata.wrong("classes", "the number of classes");
  // a mobilenet file's labels count the background as the first, which its classes may leave out
  const least = stated ?? 0;
  const most = hasBackground(kind, null) ? least + 1 : least;
  if (kind !== null && stated !== null && labels?.length && (labels.length < least || labels.length > most))
    root.say(
      "mappings.labels",
      `${labels.length} labels`,
      `${least}${most > least ? `, or ${most} with the background,` : ""} for NN_specific_metadata.classes = ${least}`,
    );
  // evidence for the head rule, no more: other tools keep other things here
  const model = isObject(root.json.model) ? root.json.model : {};
  const silent =
    root.json[key] === undefined ? "no config" : format === null ? "no output_format" : 'output_format "raw"';
  return {
    ...defaultConfig(key),
    outputFormat: format,
    decodes: kind !== null,
    note:
      kind === null
        ? `${silent} and no NN_family: the network's tensors go to the host as they are, and nothing here says how to decode them (option family does)`
        : null,
    kind,
    modelName: [model.model_name, model.xml].find(isText) ?? null,
    classes: stated ?? (labels?.length || null),
    labels,
    inputSize,
    confidenceThreshold: threshold("confidence_threshold"),
    iouThreshold: threshold("iou_threshold"),
    // of a family that is misspelt, to name all that is wrong at once
    anchorSets: hasAnchors && c.has("NN_family") ? readAnchors(metadata, inputSize) : null,
  };
}

/** "WxH", width first. */
function readSize(c: FieldReader): [number, number] | null {
  const size = /^\s*0*([1-9]\d{0,4})\s*[xX,]\s*0*([1-9]\d{0,4})\s*$/;
  const text = c.take<string>("input_size", [
    '"WIDTHxHEIGHT", for instance "416x416"',
    (x) => isText(x) && size.test(x),
  ]);
  const found = text && size.exec(text);
  return found ? [Number(found[1]), Number(found[2])] : null;
}

function readAnchors(metadata: FieldReader, inputSize: readonly [number, number] | null): AnchorSet[] | null {
  const anchors = metadata.pairs("anchors");
  const masks = Object.entries(metadata.object("anchor_masks").json);
  if (!anchors || anchors.length === 0) {
    if (masks.length > 0 && (!metadata.has("anchors") || anchors))
      metadata.wrong("anchors", "the anchors that anchor_masks point at");
    if (!anchors) readMasks(metadata, "anchor_masks", masks, null, inputSize);
    return anchors && [];
  }
  if (masks.length > 0) return readMasks(metadata, "anchor_masks", masks, anchors, inputSize);
  metadata.say(
    "anchor_masks",
    `no masks for ${anchors.length} anchors`,
    `one mask per output layer, for instance {"side13": [3,4,5]}`,
  );
  return null;
}
