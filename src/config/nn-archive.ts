/** NN Archive `config.json`: `model.heads[]` with a parser and its metadata. */
import type { AnchorSet, Config, OutputSpec } from "./types.ts";
import { KIND_NAMES, KINDS, isSubtype } from "../core/families.ts";
import { show } from "../core/tensor.ts";
import { defaultConfig } from "./defaults.ts";
import { type FieldReader, COUNT, TEXT, UNIT, isText } from "./fields.ts";

export function readArchive(root: FieldReader): Config {
  const model = root.object("model");
  const heads = (model.objects("heads") ?? []).map((head) => {
    const { parser } = head.json;
    const name = isText(parser) ? parser.toLowerCase() : "";
    return { head, parser, kind: KIND_NAMES.find((kind) => KINDS[kind].parsers.includes(name)) ?? null };
  });
  const inputSize = inputSizeOf(model);
  const outputs = outputsOf(model);
  const base: Config = {
    // the archive describes a network; who decodes is the device's business
    ...defaultConfig("nn-archive"),
    modelName: model.object("metadata").take("name", TEXT),
    inputSize,
    outputs,
  };
  const found = heads.filter(({ kind }) => kind !== null);
  // as depthai-core: of several heads of a kind the last one counts
  const last = [...heads, ...found].pop();
  if (found.length === 0)
    heads[0]?.head.say(
      "parser",
      heads.map(({ parser }) => show(parser)).join(" and "),
      "a parser YOLO, YOLOExtendedParser, SSD or MOBILENET",
    );
  if (!last)
    return {
      ...base,
      decodes: false,
      note: "the archive has no heads: nothing says how to decode its outputs (option family does)",
    };
  const { head, kind } = last;
  if (found.some((f) => f.kind !== kind)) model.say("heads", "heads of both YOLO and SSD", "one kind");
  const m = head.object("metadata");
  const labels = m.labels("classes");
  const classes = m.take("n_classes", COUNT);
  // a list of names may stop short (the rest go by number); more names than classes contradict each other
  if (classes !== null && labels && labels.length > classes)
    m.say("n_classes", `${classes} for ${labels.length} names in classes`, "at least as many");
  const subtype = m.take("subtype", TEXT);
  if (subtype !== null && kind && KINDS[kind].anchors && !isSubtype(subtype))
    m.wrong("subtype", "a subtype of the archive format, for instance yolov5, yolov6r2, yolov8, yolo26");
  const yoloOutputs = m.texts("yolo_outputs");
  const headOutputs = yoloOutputs ?? head.texts("outputs");
  const boxes = m.take("boxes_outputs", TEXT);
  const scores = m.take("scores_outputs", TEXT);
  const checkNames = (r: FieldReader, key: string, names: readonly (string | null)[] | null): void =>
    names?.forEach((name) => {
      if (name !== null && outputs && !outputs.some((o) => o.name === name))
        r.say(key, `"${name}"`, `one of the model's outputs ${outputs.map((o) => o.name).join(", ")}`);
    });
  if (yoloOutputs) checkNames(m, "yolo_outputs", yoloOutputs);
  else checkNames(head, "outputs", headOutputs);
  checkNames(m, "boxes_outputs", [boxes]);
  checkNames(m, "scores_outputs", [scores]);
  const strides = m.positives("strides");
  const anchorSets = kind && KINDS[kind].anchors ? anchorsOf(m, yoloOutputs) : null;
  if (strides?.length && anchorSets?.length && anchorSets.length !== strides.length)
    m.say("strides", `${strides.length} strides for anchors of ${anchorSets.length} outputs`, "one for each");
  return {
    ...base,
    kind,
    subtype,
    classes: classes ?? labels?.length ?? null,
    labels,
    confidenceThreshold: m.take("conf_threshold", UNIT) ?? base.confidenceThreshold,
    iouThreshold: m.take("iou_threshold", UNIT) ?? base.iouThreshold,
    maxDetections: m.take("max_det", COUNT) ?? base.maxDetections,
    anchorSets,
    // strides[i] belongs to yolo_outputs[i]; in ascending order they follow the maps, largest first
    strides: strides && strides.length === yoloOutputs?.length ? strides.sort((a, b) => a - b) : strides,
    headOutputs,
    // one output named for both holds whole detections, and needs no roles
    roles: boxes !== null && scores !== null && boxes !== scores ? { boxes, scores } : null,
  };
}

function anchorsOf(m: FieldReader, names: readonly string[] | null): AnchorSet[] | null {
  const anchors = m.array("anchors");
  if (!anchors) return m.json.anchors === null ? [] : null;
  const sets = m.nestedPairs("anchors", anchors);
  if (sets && names && sets.length > 0 && sets.length !== names.length)
    m.say(
      "anchors",
      `anchors for ${sets.length} outputs`,
      `${names.length}, one set for each of yolo_outputs`,
    );
  return sets && sets.map((list, i) => ({ side: null, output: names?.[i] ?? null, anchors: list }));
}

/** Whole numbers, or `null` where the network leaves one open (written -1 or 0). */
function shapeOf(r: FieldReader): number[] | null {
  const a = r.array("shape");
  if (a && !a.every(Number.isSafeInteger)) r.wrong("shape", "whole numbers");
  return a?.every((d) => Number.isSafeInteger(d) && (d as number) > 0) ? (a as number[]) : null;
}

/**
 * Width and height of the image input (declared as such, else the first with a shape); layout letters say where they
 * stand.
 */
function inputSizeOf(model: FieldReader): [number, number] | null {
  const isImage = (r: FieldReader): number => (r.json.input_type === "image" ? 1 : 0);
  let size: [number, number] | null = null;
  // an image among other inputs may stand anywhere
  for (const input of model.objects("inputs")?.sort((a, b) => isImage(b) - isImage(a)) ?? []) {
    const shape = shapeOf(input);
    const layout = (input.take("layout", TEXT) ?? "NCHW").toUpperCase();
    if (size !== null || !shape || shape.length < 3) continue;
    // letters are wrong in some archives, but an image has few channels: where one end alone could be those, it is
    const [first, middle, last] = shape.slice(-3);
    const letteredLast = layout.length === shape.length && layout.endsWith("C");
    const channelsLast = letteredLast ? last <= 4 || first > 4 : last <= 4 && first > 4;
    size = channelsLast ? [middle, first] : [last, middle];
  }
  return size;
}

function outputsOf(model: FieldReader): OutputSpec[] | null {
  const outputs = model.objects("outputs")?.map((o) => {
    const name = o.take("name", TEXT);
    if (name === null) o.wrong("name", "a name");
    return {
      name: name as string,
      dims: shapeOf(o),
      type: o.take("dtype", TEXT),
      // a hint that third-party archives get wrong ("NCDE"), so it only stands in the description
      layout: o.take("layout", TEXT),
      order: null,
    };
  });
  return outputs?.filter(({ name }) => name !== null) ?? null;
}
