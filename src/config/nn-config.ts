/** `NN_config` and its later spelling `nn_config`: family, classes, anchors and masks by the width of the output layer. */
import type { AnchorSet, Config } from "../config.ts";
import { CONVENTIONS } from "../conventions.ts";
import { blank } from "./blank.ts";
import { readMasks } from "./masks.ts";
import { type Json, type Reader, isObject } from "./reader.ts";

/** Where the file says nothing: both thresholds as the files in circulation carry them. */
const DEFAULT_CONFIDENCE = 0.5;
const DEFAULT_IOU = 0.5;

export function readNnConfig(r: Reader, root: Json, key: "NN_config" | "nn_config"): Config {
  const c = r.object(key, root[key]);
  const format = r.text(`${key}.output_format`, c.output_format)?.toLowerCase() ?? null;
  if (format !== null && format !== "raw" && format !== "detection")
    r.wrong(`${key}.output_format`, c.output_format, '"raw" or "detection"');
  const metadata = r.object("NN_specific_metadata", c.NN_specific_metadata);
  const familyText = r.text(`${key}.NN_family`, c.NN_family);
  const family = familyText?.toLowerCase() ?? null;
  if (family !== null && family !== "yolo" && family !== "mobilenet")
    r.wrong(`${key}.NN_family`, familyText, '"YOLO" or "mobilenet"');
  if (family === null && (format === "detection" || isObject(c.NN_specific_metadata)))
    r.wrong(
      `${key}.NN_family`,
      c.NN_family,
      `"YOLO" or "mobilenet", as ${format === "detection" ? 'output_format is "detection"' : "NN_specific_metadata is there"}`,
    );
  const kind = family === "yolo" ? "yolo" : family === "mobilenet" ? "ssd" : null;

  const labels = r.labels("mappings.labels", r.object("mappings", root.mappings).labels);
  const stated = r.count("NN_specific_metadata.classes", metadata.classes);
  const coordinates = metadata.coordinates;
  if (coordinates !== undefined && coordinates !== null && coordinates !== 4)
    r.wrong("NN_specific_metadata.coordinates", coordinates, "4");
  const inputSize = readSize(r, `${key}.input_size`, c.input_size);
  const confidence =
    r.unit("NN_specific_metadata.confidence_threshold", metadata.confidence_threshold) ??
    r.unit(`${key}.confidence_threshold`, c.confidence_threshold) ??
    DEFAULT_CONFIDENCE;
  const iou =
    r.unit("NN_specific_metadata.iou_threshold", metadata.iou_threshold) ??
    r.unit(`${key}.iou_threshold`, c.iou_threshold) ??
    DEFAULT_IOU;

  let anchorSets: AnchorSet[] | null = null;
  if (kind === "yolo") {
    if (stated === null && (metadata.classes === undefined || metadata.classes === null) && labels === null)
      r.wrong("NN_specific_metadata.classes", metadata.classes, "the number of classes");
    if (stated !== null && labels !== null && labels.length > 0 && labels.length !== stated)
      r.say(
        "mappings.labels",
        `got ${labels.length} labels, expected ${stated} for NN_specific_metadata.classes = ${stated}`,
      );
    anchorSets = readAnchors(r, metadata, inputSize);
  }
  // a mobilenet file's labels count the background as the first, which its classes may leave out
  if (
    kind === "ssd" &&
    stated !== null &&
    labels !== null &&
    labels.length > 0 &&
    labels.length !== stated &&
    labels.length !== stated + 1
  )
    r.say(
      "mappings.labels",
      `got ${labels.length} labels, expected ${stated}, or ${stated + 1} with the background, for NN_specific_metadata.classes = ${stated}`,
    );
  // evidence for the head rule, no more: other tools keep other things here
  const model = isObject(root.model) ? root.model : {};
  const note =
    kind !== null
      ? null
      : `${root[key] === undefined ? "no config" : format === null ? "no output_format" : `output_format "raw"`} and no NN_family: the network's tensors go to the host as they are, and nothing here says how to decode them (option family does)`;
  return {
    ...blank(key),
    outputFormat: format as Config["outputFormat"],
    decodes: kind !== null,
    note,
    kind,
    modelName: [model.model_name, model.xml].find((name) => typeof name === "string") ?? null,
    classes: stated ?? (labels !== null && labels.length > 0 ? labels.length : null),
    labels,
    inputSize,
    confidenceThreshold: confidence,
    iouThreshold: iou,
    maxDetections: CONVENTIONS.depthai.maxDetections,
    anchorSets,
    conventions: "depthai",
  };
}

/** "WxH", width first. */
function readSize(r: Reader, path: string, x: unknown): [number, number] | null {
  if (x === undefined || x === null) return null;
  const found = typeof x === "string" ? /^\s*(\d{1,5})\s*[xX,]\s*(\d{1,5})\s*$/.exec(x) : null;
  const size: [number, number] | null = found === null ? null : [Number(found[1]), Number(found[2])];
  if (size === null || size[0] === 0 || size[1] === 0) {
    r.wrong(path, x, '"WIDTHxHEIGHT", for instance "416x416"');
    return null;
  }
  return size;
}

function readAnchors(
  r: Reader,
  metadata: Json,
  inputSize: readonly [number, number] | null,
): AnchorSet[] | null {
  const anchors = r.pairs("NN_specific_metadata.anchors", metadata.anchors);
  const masks = r.object("NN_specific_metadata.anchor_masks", metadata.anchor_masks);
  const names = Object.keys(masks);
  if (anchors === null || anchors.length === 0) {
    if (names.length > 0 && (metadata.anchors === undefined || metadata.anchors === null || anchors !== null))
      r.wrong("NN_specific_metadata.anchors", metadata.anchors, "the anchors that anchor_masks point at");
    return anchors === null ? null : [];
  }
  if (names.length === 0) {
    r.say(
      "NN_specific_metadata.anchor_masks",
      `got no masks for ${anchors.length} anchors, expected one mask per output layer, for instance {"side13": [3,4,5]}`,
    );
    return null;
  }
  return readMasks(r, "NN_specific_metadata.anchor_masks", Object.entries(masks), anchors, inputSize);
}
