/** Reads `NN_config`, later spelt `nn_config`: kind of network, classes, anchors, anchor masks by map width. */
import { hasBackground, KIND_NAMES, KINDS, type NetworkKind } from "../core/parsers.ts";
import { defaultConfig } from "./defaults.ts";
import { COUNT, UNIT } from "../core/options.ts";
import { type FieldReader, isObject, isText } from "./fields.ts";
import { readMasks } from "./masks.ts";
import type { AnchorSet, Config } from "./types.ts";

/** Known keys of NN_specific_metadata. */
const METADATA = [
  "classes",
  "coordinates",
  "anchors",
  "anchor_masks",
  "confidence_threshold",
  "iou_threshold",
];

const BLOCK = [
  "NN_specific_metadata",
  "NN_family",
  "output_format",
  "input_size",
  "confidence_threshold",
  "iou_threshold",
];

/** Default of both thresholds: the value in nearly all published files. */
const THRESHOLD = 0.5;

/** Returns the config of a file with the block `key`. */
export function readNnConfig(root: FieldReader, key: "NN_config" | "nn_config"): Config {
  const block = root.object(key);
  // Omit the block's name from error paths, since users know `NN_specific_metadata`.
  const metadata = block.object("NN_specific_metadata", "");
  const mappings = root.object("mappings");
  root.reportMisspelt(["NN_config", "nn_config", "mappings"]);
  block.reportMisspelt(BLOCK);
  metadata.reportMisspelt(METADATA);
  mappings.reportMisspelt(["labels"]);
  const format = block.word("output_format", ["raw", "detection"], '"raw" or "detection"');
  const kind = readKind(block, format);
  const labels = mappings.labels("labels");
  const classes = readClasses(root, metadata, kind, labels);
  metadata.take("coordinates", ["4", (x) => x === 4]);
  const inputSize = readSize(block);
  const threshold = (name: string): number =>
    metadata.take(name, UNIT) ?? block.take(name, UNIT) ?? THRESHOLD;
  // Read only the name from `model`, as evidence for the family. Other tools write other fields there.
  const model = isObject(root.json.model) ? root.json.model : {};
  const hasAnchors = kind === null || KINDS[kind].anchors;
  return {
    ...defaultConfig(key),
    outputFormat: format,
    decodes: kind !== null,
    note: kind === null ? noteOf(root.json[key] === undefined, format) : null,
    kind,
    modelName: [model.model_name, model.xml].find(isText) ?? null,
    classes: classes ?? (labels?.length || null),
    labels,
    inputSize,
    confidenceThreshold: threshold("confidence_threshold"),
    iouThreshold: threshold("iou_threshold"),
    // Read the anchors even if NN_family is misspelt, so that all problems are reported at once.
    anchorSets: hasAnchors ? readAnchors(metadata, inputSize) : null,
  };
}

/**
 * Returns the kind of network that NN_family names. Reports a missing NN_family if the file asks for detections or has
 * NN_specific_metadata.
 */
function readKind(block: FieldReader, format: Config["outputFormat"]): NetworkKind | null {
  const families = '"YOLO" or "mobilenet"';
  const spelled = block.word(
    "NN_family",
    KIND_NAMES.map((name) => KINDS[name].nnFamily),
    families,
  );
  if (!block.has("NN_family") && (format === "detection" || isObject(block.json.NN_specific_metadata)))
    block.reportMissing(
      "family",
      `${families}, as ` +
        `${format === "detection" ? 'output_format is "detection"' : "NN_specific_metadata is there"}, or ` +
        "the option family",
      "NN_family",
    );
  return KIND_NAMES.find((name) => KINDS[name].nnFamily === spelled) ?? null;
}

function readClasses(
  root: FieldReader,
  metadata: FieldReader,
  kind: NetworkKind | null,
  labels: readonly string[] | null,
): number | null {
  const classes = metadata.take("classes", COUNT);
  if (kind !== null && KINDS[kind].anchors && !metadata.has("classes") && !labels)
    metadata.reportMissing("classes", "the number of classes");
  if (kind === null || classes === null || !labels?.length) return classes;
  // For a MobileNet-SSD, allow one label more than classes: labels begin with the background, which the class count may
  // omit.
  const most = hasBackground(kind, null) ? classes + 1 : classes;
  if (labels.length < classes || labels.length > most)
    root.report(
      "mappings.labels",
      `${labels.length} labels`,
      `${classes}${most > classes ? `, or ${most} with the background,` : ""} for NN_specific_metadata.classes = ${classes}`,
    );
  return classes;
}

function noteOf(isEmpty: boolean, format: Config["outputFormat"]): string {
  const silent = isEmpty ? "no config" : format === null ? "no output_format" : 'output_format "raw"';
  return (
    `${silent} and no NN_family: the network's tensors go to the host as they are, and nothing here ` +
    "says how to decode them (option family does)"
  );
}

/** Reads the input size: "WxH", width first. */
function readSize(block: FieldReader): [number, number] | null {
  const size = /^\s*0*([1-9]\d{0,4})\s*[xX,]\s*0*([1-9]\d{0,4})\s*$/;
  const text = block.take<string>("input_size", [
    '"WIDTHxHEIGHT", for instance "416x416"',
    (x) => isText(x) && size.test(x),
  ]);
  const match = text && size.exec(text);
  return match ? [Number(match[1]), Number(match[2])] : null;
}

function readAnchors(metadata: FieldReader, inputSize: readonly [number, number] | null): AnchorSet[] | null {
  const anchors = metadata.pairs("anchors");
  const masks = Object.entries(metadata.object("anchor_masks").json);
  if (!anchors || anchors.length === 0) {
    if (masks.length > 0 && (!metadata.has("anchors") || anchors))
      metadata.reportValue("anchors", "the anchors that anchor_masks point at");
    if (!anchors) readMasks(metadata, "anchor_masks", masks, null, inputSize);
    return anchors && [];
  }
  if (masks.length > 0) return readMasks(metadata, "anchor_masks", masks, anchors, inputSize);
  metadata.report(
    "anchor_masks",
    `no masks for ${anchors.length} anchors`,
    `one mask per output layer, for instance {"side13": [3,4,5]}`,
  );
  return null;
}
