/** NN Archive `config.json`: `model.heads[]` with a parser and its metadata. */
import type { AnchorSet, Config, OutputSpec } from "../config.ts";
import { knownSubtype } from "../families.ts";
import { show } from "../tensor.ts";
import { blank } from "./blank.ts";
import { type Json, type Reader, isObject } from "./reader.ts";

/** A map, for a parser may be named as badly as "constructor". */
const PARSERS = new Map<string, "yolo" | "ssd">([
  ["yolo", "yolo"],
  ["yoloextendedparser", "yolo"],
  ["ssd", "ssd"],
  ["mobilenet", "ssd"],
]);

export function readArchive(r: Reader, root: Json): Config {
  const model = r.object("model", root.model);
  const heads = r.array("model.heads", model.heads) ?? [];
  const found: { index: number; kind: "yolo" | "ssd"; head: Json }[] = [];
  const unknown: string[] = [];
  heads.forEach((h, index) => {
    const path = `model.heads[${index}]`;
    if (!isObject(h)) return r.wrong(path, h, "an object");
    const parser = typeof h.parser === "string" ? h.parser : null;
    const kind = parser === null ? undefined : PARSERS.get(parser.toLowerCase());
    if (kind !== undefined) found.push({ index, kind, head: h });
    else unknown.push(`${path}.parser: ${show(h.parser)}`);
  });
  const size = inputSizeOf(r, model);
  const outputs = outputsOf(r, model);
  const metadata = r.object("model.metadata", model.metadata);
  const base: Config = {
    ...blank("nn-archive"),
    // the archive describes a network; who decodes is the device's business
    outputFormat: null,
    modelName: r.text("model.metadata.name", metadata.name),
    inputSize: size,
    outputs,
    conventions: "depthai",
  };
  if (found.length === 0) {
    if (unknown.length > 0)
      r.say(
        unknown[0].split(":")[0],
        `got ${unknown.map((u) => u.split(": ")[1]).join(" and ")}, expected a parser YOLO, YOLOExtendedParser, SSD or MOBILENET`,
      );
    return {
      ...base,
      decodes: false,
      note: "the archive has no heads: nothing says how to decode its outputs (option family does)",
    };
  }
  if (new Set(found.map((f) => f.kind)).size > 1)
    r.say("model.heads", "got heads of both YOLO and SSD, expected one kind");
  // as depthai-core: of several heads of a kind the last one counts
  const { index, kind, head } = found[found.length - 1];
  const path = `model.heads[${index}].metadata`;
  const m = r.object(path, head.metadata);
  const labels = r.labels(`${path}.classes`, m.classes);
  const n = r.count(`${path}.n_classes`, m.n_classes);
  // a list of names may stop short (the rest go by number); more names than classes contradict each other
  if (n !== null && labels !== null && labels.length > n)
    r.say(`${path}.n_classes`, `got ${n} for ${labels.length} names in classes, expected at least as many`);
  const subtype = r.text(`${path}.subtype`, m.subtype);
  if (subtype !== null && kind === "yolo" && (subtype.toLowerCase() in {} || !knownSubtype(subtype)))
    r.wrong(
      `${path}.subtype`,
      subtype,
      "a subtype of the archive format, for instance yolov5, yolov6r2, yolov8, yolo26",
    );
  const yoloOutputs = r.texts(`${path}.yolo_outputs`, m.yolo_outputs);
  const headOutputs = yoloOutputs ?? r.texts(`model.heads[${index}].outputs`, head.outputs);
  const boxes = r.text(`${path}.boxes_outputs`, m.boxes_outputs);
  const scores = r.text(`${path}.scores_outputs`, m.scores_outputs);
  const named: readonly (readonly [string, readonly (string | null)[] | null])[] = [
    [yoloOutputs !== null ? `${path}.yolo_outputs` : `model.heads[${index}].outputs`, headOutputs],
    [`${path}.boxes_outputs`, [boxes]],
    [`${path}.scores_outputs`, [scores]],
  ];
  for (const [at, names] of named) {
    for (const name of names ?? []) {
      if (name !== null && outputs !== null && !outputs.some((o) => o.name === name))
        r.say(
          at,
          `got "${name}", expected one of the model's outputs ${outputs.map((o) => o.name).join(", ")}`,
        );
    }
  }
  const strides = r.positives(`${path}.strides`, m.strides);
  const anchorSets = kind === "yolo" ? anchorsOf(r, path, m, yoloOutputs) : null;
  if (strides?.length && anchorSets?.length && anchorSets.length !== strides.length)
    r.say(
      `${path}.strides`,
      `got ${strides.length} strides for anchors of ${anchorSets.length} outputs, expected one for each`,
    );
  return {
    ...base,
    kind,
    subtype,
    classes: n ?? labels?.length ?? null,
    labels,
    confidenceThreshold: r.unit(`${path}.conf_threshold`, m.conf_threshold) ?? base.confidenceThreshold,
    iouThreshold: r.unit(`${path}.iou_threshold`, m.iou_threshold) ?? base.iouThreshold,
    maxDetections: r.count(`${path}.max_det`, m.max_det) ?? base.maxDetections,
    anchorSets,
    // strides[i] belongs to yolo_outputs[i]; in ascending order they follow the maps, largest first
    strides:
      strides !== null && strides.length === yoloOutputs?.length ? strides.sort((a, b) => a - b) : strides,
    headOutputs,
    // one output named for both holds whole detections, and needs no roles
    roles: boxes !== null && scores !== null && boxes !== scores ? { boxes, scores } : null,
  };
}

function anchorsOf(r: Reader, path: string, m: Json, names: readonly string[] | null): AnchorSet[] | null {
  const anchors = r.array(`${path}.anchors`, m.anchors);
  if (anchors === null) return m.anchors === null ? [] : null;
  const sets = r.nestedPairs(`${path}.anchors`, anchors);
  if (sets === null) return null;
  if (names !== null && sets.length > 0 && sets.length !== names.length)
    r.say(
      `${path}.anchors`,
      `got anchors for ${sets.length} outputs, expected ${names.length}, one set for each of yolo_outputs`,
    );
  return sets.map((list, i) => ({ side: null, output: names?.[i] ?? null, anchors: list }));
}

/** Whole numbers, or `null` where the network leaves one open (written -1 or 0). */
function shapeOf(r: Reader, path: string, x: unknown): number[] | null {
  const a = r.array(path, x);
  if (a === null) return null;
  if (!a.every(Number.isSafeInteger)) r.wrong(path, x, "whole numbers");
  return a.every((d) => Number.isSafeInteger(d) && (d as number) > 0) ? ([...a] as number[]) : null;
}

/** Width and height of the image input (declared as such, else the first with a shape); layout letters say where they stand. */
function inputSizeOf(r: Reader, model: Json): [number, number] | null {
  const inputs = [...(r.array("model.inputs", model.inputs) ?? [])].map((input, i) => ({
    input: r.object(`model.inputs[${i}]`, input),
    i,
  }));
  // an image among other inputs may stand anywhere
  inputs.sort((a, b) => Number(b.input.input_type === "image") - Number(a.input.input_type === "image"));
  let size: [number, number] | null = null;
  for (const { input, i } of inputs) {
    const shape = shapeOf(r, `model.inputs[${i}].shape`, input.shape);
    const layout = (r.text(`model.inputs[${i}].layout`, input.layout) ?? "NCHW").toUpperCase();
    if (size !== null || shape === null || shape.length < 3) continue;
    // letters are wrong in some archives, but an image has few channels: where one end alone could be those, it is
    const [first, middle, last] = shape.slice(-3);
    const letteredLast = layout.length === shape.length && layout.endsWith("C");
    const channelsLast = letteredLast ? last <= 4 || first > 4 : last <= 4 && first > 4;
    size = channelsLast ? [middle, first] : [last, middle];
  }
  return size;
}

function outputsOf(r: Reader, model: Json): OutputSpec[] | null {
  const list = r.array("model.outputs", model.outputs);
  if (list === null) return null;
  const out: OutputSpec[] = [];
  list.forEach((o, i) => {
    if (!isObject(o)) return r.wrong(`model.outputs[${i}]`, o, "an object");
    const name = r.text(`model.outputs[${i}].name`, o.name);
    if (name === null) return r.wrong(`model.outputs[${i}].name`, o.name, "a name");
    const dims = shapeOf(r, `model.outputs[${i}].shape`, o.shape);
    out.push({
      name,
      dims,
      type: r.text(`model.outputs[${i}].dtype`, o.dtype),
      // a hint that third-party archives get wrong ("NCDE"), so it only stands in the description
      order: r.text(`model.outputs[${i}].layout`, o.layout),
    });
  });
  return out;
}
