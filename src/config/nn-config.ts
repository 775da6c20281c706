/** `NN_config` and its later spelling `nn_config`: family, classes, anchors and masks by the width of the output layer. */
import type { AnchorSet, Config } from "../config.ts";
import { CONVENTIONS } from "../conventions.ts";
import { blank } from "./blank.ts";
import { type Json, type Reader, isObject } from "./reader.ts";

/** Where the file says nothing: both thresholds as the files in circulation carry them. */
const DEFAULT_CONFIDENCE = 0.5;
const DEFAULT_IOU = 0.5;

export function readNnConfig(r: Reader, root: Json, key: "NN_config" | "nn_config"): Config {
  const c = r.object(key, root[key]);
  const format = r.text(`${key}.output_format`, c.output_format)?.toLowerCase() ?? null;
  if (format !== null && format !== "raw" && format !== "detection") r.wrong(`${key}.output_format`, c.output_format, '"raw" or "detection"');
  const metadata = r.object("NN_specific_metadata", c.NN_specific_metadata);
  const familyText = r.text(`${key}.NN_family`, c.NN_family);
  const family = familyText?.toLowerCase() ?? null;
  if (family !== null && family !== "yolo" && family !== "mobilenet") r.wrong(`${key}.NN_family`, familyText, '"YOLO" or "mobilenet"');
  if (family === null && (format === "detection" || isObject(c.NN_specific_metadata)))
    r.wrong(`${key}.NN_family`, c.NN_family, `"YOLO" or "mobilenet", as ${format === "detection" ? 'output_format is "detection"' : "NN_specific_metadata is there"}`);
  const kind = family === "yolo" ? "yolo" : family === "mobilenet" ? "ssd" : null;

  const labels = r.labels("mappings.labels", r.object("mappings", root.mappings).labels);
  const stated = r.count("NN_specific_metadata.classes", metadata.classes);
  const coordinates = metadata.coordinates;
  if (coordinates !== undefined && coordinates !== null && coordinates !== 4) r.wrong("NN_specific_metadata.coordinates", coordinates, "4");
  const inputSize = readSize(r, `${key}.input_size`, c.input_size);
  const confidence =
    r.unit("NN_specific_metadata.confidence_threshold", metadata.confidence_threshold) ??
    r.unit(`${key}.confidence_threshold`, c.confidence_threshold) ??
    DEFAULT_CONFIDENCE;
  const iou = r.unit("NN_specific_metadata.iou_threshold", metadata.iou_threshold) ?? r.unit(`${key}.iou_threshold`, c.iou_threshold) ?? DEFAULT_IOU;

  let anchorSets: AnchorSet[] | null = null;
  if (kind === "yolo") {
    if (stated === null && (metadata.classes === undefined || metadata.classes === null) && labels === null)
      r.wrong("NN_specific_metadata.classes", metadata.classes, "the number of classes");
    if (stated !== null && labels !== null && labels.length > 0 && labels.length !== stated)
      r.say("mappings.labels", `got ${labels.length} labels, expected ${stated} for NN_specific_metadata.classes = ${stated}`);
    anchorSets = readMasks(r, metadata, inputSize);
  }
  const model = r.object("model", root.model);
  const note =
    kind !== null
      ? null
      : `${root[key] === undefined ? "no config" : `output_format "raw"`} and no NN_family: the network's tensors go to the host as they are, and nothing here says how to decode them (option family does)`;
  return {
    ...blank(key),
    outputFormat: format as Config["outputFormat"],
    decodes: kind !== null,
    note,
    kind,
    modelName: r.text("model.model_name", model.model_name) ?? r.text("model.xml", model.xml) ?? null,
    // a mobilenet file's labels count the background as the first
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

function readMasks(r: Reader, metadata: Json, inputSize: readonly [number, number] | null): AnchorSet[] | null {
  const anchors = r.pairs("NN_specific_metadata.anchors", metadata.anchors);
  const masks = r.object("NN_specific_metadata.anchor_masks", metadata.anchor_masks);
  const names = Object.keys(masks);
  if (anchors === null) {
    if (names.length > 0 && (metadata.anchors === undefined || metadata.anchors === null))
      r.wrong("NN_specific_metadata.anchors", metadata.anchors, "the anchors that anchor_masks point at");
    return null;
  }
  if (names.length === 0) {
    if (anchors.length === 0) return [];
    r.say("NN_specific_metadata.anchor_masks", `got no masks for ${anchors.length} anchors, expected one mask per output layer, for instance {"side13": [3,4,5]}`);
    return null;
  }
  const sets: AnchorSet[] = [];
  for (const name of names) {
    const path = `NN_specific_metadata.anchor_masks.${name}`;
    const found = /^side0*(\d{1,5})$/.exec(name);
    const side = found === null ? 0 : Number(found[1]);
    if (side === 0) {
      r.say(path, `got the name "${name}", expected "sideN" with N the width of the output layer`);
      continue;
    }
    if (sets.some((s) => s.side === side)) r.say(path, `got side ${side} twice, expected each width once`);
    if (inputSize !== null && ![4, 8, 16, 32, 64, 128].some((s) => Math.ceil(inputSize[0] / s) === side))
      r.say(path, `got an output layer ${side} wide, expected one of ${[8, 16, 32, 64].map((s) => Math.ceil(inputSize[0] / s)).join(", ")} for an input ${inputSize[0]} wide: no output has this side`);
    const mask = r.array(path, masks[name]);
    if (mask === null) {
      if (masks[name] === null) r.wrong(path, null, "an array of anchor numbers");
      continue;
    }
    if (mask.length === 0) r.say(path, "got no anchors, expected at least one");
    const list: [number, number][] = [];
    mask.forEach((index, i) => {
      const pair = Number.isInteger(index) ? anchors[index as number] : undefined;
      if (pair === undefined) r.wrong(`${path}[${i}]`, index, `0..${anchors.length - 1}, as there are ${anchors.length} anchors`);
      else list.push(pair);
    });
    sets.push({ side, output: null, anchors: list });
  }
  // order in the JSON means nothing: largest map first, as everywhere
  return sets.sort((a, b) => (b.side as number) - (a.side as number));
}
