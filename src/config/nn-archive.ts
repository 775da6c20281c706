/** Reads `config.json` of NN Archives: `model.heads[]` with a parser and its metadata. */
import type { AnchorSet, Config, OutputSpec } from "./types.ts";
import { isSubtype } from "../core/family-names.ts";
import { OTHER_PARSERS, PARSERS, type ParserTraits } from "../core/archive-parsers.ts";
import { KIND_NAMES, KINDS, type NetworkKind } from "../core/parsers.ts";
import { show } from "../core/tensor.ts";
import { areChannelsLast, pictureOf } from "./archive-input.ts";
import { ARCHIVE_PICTURES } from "./archive-picture.ts";
import { defaultConfig } from "./defaults.ts";
import { archiveTask } from "./archive-task.ts";
import { COUNT, UNIT } from "../core/options.ts";
import { type FieldReader, TEXT, isText } from "./fields.ts";

/** A head of an archive. The name of its parser determines the kind of network (`kind`), or the family (`special`). */
interface ArchiveHead {
  readonly head: FieldReader;
  readonly kind: NetworkKind | null;
  readonly special: ParserTraits | null;
}

/** Returns advice for a parser whose networks no decoder reads. Returns undefined for other parsers. */
function otherReader(parser: unknown): string | undefined {
  const name = isText(parser) ? parser.toLowerCase() : "";
  return Object.hasOwn(OTHER_PARSERS, name) ? OTHER_PARSERS[name] : undefined;
}

/** Returns the config of an archive. An archive does not state whether the device or the host decodes. */
export function readArchive(root: FieldReader): Config {
  const model = root.object("model");
  const heads = (model.objects("heads") ?? []).map((head): ArchiveHead => {
    const parser = isText(head.json.parser) ? head.json.parser.toLowerCase() : "";
    return {
      head,
      kind: KIND_NAMES.find((kind) => KINDS[kind].parsers.includes(parser)) ?? null,
      special: PARSERS.find((one) => one.parser.toLowerCase() === parser) ?? null,
    };
  });
  const inputSize = inputSizeOf(model);
  const outputs = outputsOf(model);
  const picture = model.json.inputs ?? null;
  if (Array.isArray(picture)) ARCHIVE_PICTURES.set(picture, (prepare) => pictureOf(picture, prepare));
  const base: Config = {
    ...defaultConfig("nn-archive"),
    modelName: model.object("metadata").take("name", TEXT),
    inputSize,
    outputs,
    picture,
  };
  const known = heads.filter(({ kind, special }) => kind !== null || special !== null);
  const other = heads.map(({ head }) => otherReader(head.json.parser)).find((x) => x);
  if (known.length === 0 && other !== undefined)
    heads[0].head.report(
      "parser",
      heads.map(({ head }) => show(head.json.parser)).join(" and "),
      `a parser that a decoder reads; for this one ${other}`,
    );
  else if (known.length === 0)
    heads[0]?.head.report(
      "parser",
      heads.map(({ head }) => show(head.json.parser)).join(" and "),
      "a parser YOLO, YOLOExtendedParser, SSD, MOBILENET, " +
        `${PARSERS.map(({ parser }) => parser).join(", ")}, or the option family`,
      "family",
    );
  // If there are several heads, use the last one, as depthai-core does.
  const last = [...heads, ...known].pop();
  if (!last)
    return {
      ...base,
      decodes: false,
      note: "the archive has no heads: nothing says how to decode its outputs (option family does)",
    };
  if (known.some(({ kind, special }) => kind !== last.kind || special !== last.special))
    model.report(
      "heads",
      `heads of both ${[...new Set(known.map(({ head }) => String(head.json.parser)))].join(" and ")}`,
      "one kind",
    );
  return readHead(last, base);
}

/** Returns `from`, the archive's config, with the facts that its head states. */
function readHead({ head, kind, special }: ArchiveHead, from: Config): Config {
  const base = { ...from, ...special?.defaults };
  const metadata = head.object("metadata");
  const hasAnchors = kind !== null && KINDS[kind].anchors;
  const labels = metadata.labels("classes");
  const classes = metadata.take("n_classes", COUNT);
  // Allow fewer names than classes: classes without a name have only their id. More names than classes are an error.
  if (classes !== null && labels && labels.length > classes)
    metadata.report("n_classes", `${classes} for ${labels.length} names in classes`, "at least as many");
  const subtype = metadata.take("subtype", TEXT);
  if (subtype !== null && hasAnchors && !isSubtype(subtype))
    metadata.reportValue(
      "subtype",
      "a subtype of the archive format, for instance yolov5, yolov6r2, yolov8, yolo26",
    );
  const yoloOutputs = metadata.texts("yolo_outputs");
  const allOutputs = yoloOutputs ?? head.texts("outputs");
  if (yoloOutputs) checkOutputs(metadata, "yolo_outputs", yoloOutputs, base);
  else checkOutputs(head, "outputs", allOutputs ?? [], base);
  const ordered = special?.outputs ? orderedOutputs(head, allOutputs ?? []) : null;
  const headOutputs = ordered ? Object.values(ordered) : allOutputs;
  const roles = ordered ?? rolesOf(metadata, base);
  const columns = base.outputs?.find(({ name }) => name === ordered?.scores)?.dims?.slice(-1)[0];
  const strides = metadata.positives("strides") ?? (special && metadata.positives("feat_stride_fpn"));
  // In heads of MediaPipe's parser, `scale` is the side of the network input in pixels.
  const scale = special && metadata.take("scale", COUNT);
  const anchorSets = hasAnchors ? anchorsOf(metadata, yoloOutputs) : null;
  if (strides?.length && anchorSets?.length && anchorSets.length !== strides.length)
    metadata.report(
      "strides",
      `${strides.length} strides for anchors of ${anchorSets.length} outputs`,
      "one for each",
    );
  const config = {
    ...base,
    kind,
    subtype,
    inputSize: base.inputSize ?? (scale ? [scale, scale] : null),
    classes: columns ?? classes ?? labels?.length ?? special?.defaults.classes ?? null,
    labels,
    ...(special?.softmaxKey &&
      metadata.json[special.softmaxKey] === false && { scores: "softmax-logits" as const }),
    confidenceThreshold: metadata.take("conf_threshold", UNIT) ?? base.confidenceThreshold,
    iouThreshold: metadata.take("iou_threshold", UNIT) ?? base.iouThreshold,
    maxDetections: metadata.take("max_det", COUNT) ?? base.maxDetections,
    anchorSets,
    // strides[i] belongs to yolo_outputs[i]. A config has the largest map first, so sort the strides in ascending
    // order.
    strides: strides && strides.length === yoloOutputs?.length ? strides.sort((a, b) => a - b) : strides,
    headOutputs,
    roles,
    ...(ordered?.masks !== undefined && { task: { name: "segment" as const } }),
  };
  const read = { ...config, ...archiveTask(metadata, config) };
  const { keypointRefinement } = special ?? {};
  return keypointRefinement ? { ...read, task: { name: "pose", ...read.task, keypointRefinement } } : read;
}

function checkOutputs(r: FieldReader, key: string, names: readonly string[], { outputs }: Config): void {
  for (const name of names)
    if (outputs && !outputs.some((o) => o.name === name))
      r.report(key, `"${name}"`, `one of the model's outputs ${outputs.map((o) => o.name).join(", ")}`);
}

/** Returns the roles of outputs for parsers that identify them by order. Without masks, there is no third output. */
function orderedOutputs(
  head: FieldReader,
  names: readonly string[],
): { readonly boxes: string; readonly scores: string; readonly masks?: string } | null {
  const [boxes, scores, masks] = names;
  if (names.length >= 2) return { boxes, scores, ...(masks !== undefined && { masks }) };
  head.report("outputs", `[${names.join()}]`, "the names of boxes and scores, in this order");
  return null;
}

/** Returns the roles of boxes and scores, null if both name the same output, which holds whole detections. */
function rolesOf(metadata: FieldReader, base: Config): Config["roles"] {
  const [boxes, scores] = ["boxes_outputs", "scores_outputs"].map((key) => {
    const name = metadata.take(key, TEXT);
    if (name !== null) checkOutputs(metadata, key, [name], base);
    return name;
  });
  return boxes !== null && scores !== null && boxes !== scores ? { boxes, scores } : null;
}

/** Reads one anchor set per output. If the file states `null`, there are no anchors. */
function anchorsOf(metadata: FieldReader, names: readonly string[] | null): AnchorSet[] | null {
  const anchors = metadata.array("anchors");
  if (!anchors) return metadata.json.anchors === null ? [] : null;
  const sets = metadata.nestedPairs("anchors", anchors);
  if (sets && names && sets.length > 0 && sets.length !== names.length)
    metadata.report(
      "anchors",
      `anchors for ${sets.length} outputs`,
      `${names.length}, one set for each of yolo_outputs`,
    );
  return sets && sets.map((list, i) => ({ side: null, output: names?.[i] ?? null, anchors: list }));
}

/** Returns a shape. Returns `null` if a dimension is open, which files write as -1 or 0. */
function shapeOf(r: FieldReader): number[] | null {
  const a = r.array("shape");
  if (a && !a.every(Number.isSafeInteger)) r.reportValue("shape", "whole numbers");
  return a?.every((d) => Number.isSafeInteger(d) && (d as number) > 0) ? (a as number[]) : null;
}

/** Returns width and height of the image input, or otherwise of the first input with a shape. */
export function inputSizeOf(model: FieldReader): [number, number] | null {
  const isImage = (r: FieldReader): number => (r.json.input_type === "image" ? 1 : 0);
  let size: [number, number] | null = null;
  // Look first at inputs declared as images, which may be anywhere in the list.
  for (const input of model.objects("inputs")?.sort((a, b) => isImage(b) - isImage(a)) ?? []) {
    const shape = shapeOf(input);
    const layout = (input.take("layout", TEXT) ?? "NCHW").toUpperCase();
    if (size !== null || !shape || shape.length < 3) continue;
    const [first, middle, last] = shape.slice(-3);
    size = areChannelsLast(shape, layout) ? [middle, first] : [last, middle];
  }
  return size;
}

/** Returns what the archive states about its outputs. */
function outputsOf(model: FieldReader): OutputSpec[] | null {
  const outputs = model.objects("outputs")?.map((o) => {
    const name = o.take("name", TEXT);
    if (name === null) o.reportValue("name", "a name");
    return {
      name: name as string,
      dims: shapeOf(o),
      type: o.take("dtype", TEXT),
      // The layout letters are only printed: some tools write wrong letters, such as "NCDE".
      layout: o.take("layout", TEXT),
      order: null,
    };
  });
  return outputs?.filter(({ name }) => name !== null) ?? null;
}
