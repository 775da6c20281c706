/** Readings of rows of boxes that the network decoded. */
import type { Activation } from "../core/families.ts";
import { mayPlay, pairs, type TensorMatch, matchOne } from "./match.ts";
import type { HeadQuery } from "./query.ts";
import {
  columnOf,
  each,
  type More,
  plain,
  type ReadShapes,
  buildInterpretation,
  type Interpretation,
  type ReadingName,
  softmax,
  type Specs,
  without,
} from "./head.ts";
import { volume } from "../core/tensor.ts";
import { beside, rows } from "./channels.ts";

/** Decoded rows or planes of 5+C: cx cy w h, objectness, classes. */
export const objectnessRows = (
  q: HeadQuery,
  specs: Specs,
  name: ReadingName = "objectness-rows",
  more = plain(q),
): Interpretation[] =>
  each(q, name, "boxes, objectness, classes", "sigmoid", more, matchOne(specs, rows, 5 + q.classes, 0, 5, 4));

/**
 * What networks of distances are exported as: [1,A,5+C] of the YOLO26 exporter, corners in pixels, whose confidence
 * repeats the best class, so that it only gates; 4+C in one tensor or in two; and one row per detection
 * (YOLOv10, YOLO26, exports with NMS inside).
 */
export const decodedDistances: ReadShapes = (q, specs) => {
  const c = q.classes;
  return [
    // of the others, YOLOv6 alone is exported with an objectness (of 1)
    ...(q.family === "yolo26"
      ? objectnessRows(
          q,
          specs,
          "corner-rows",
          plain(q, q.boxFormat ?? "xyxy", null, () => ({ rule: "class" })),
        )
      : q.family === "yolov6"
        ? objectnessRows(q, specs)
        : []),
    ...each(q, "class-rows", "boxes, classes", "sigmoid", plain(q), [
      ...matchOne(specs, rows, 4 + c, 0, 4),
      ...pairs(q, specs, rows, 4, c),
    ]),
    ...each(
      q,
      "end-to-end",
      "detections x1 y1 x2 y2 score class",
      null,
      plain(q, q.boxFormat ?? "xyxy", null, (p) => ({ classes: 1, classId: beside(p.box, 5) })),
      matchOne(specs, rows, 6, 0, 4).filter(isRows),
    ),
  ];
};

const isRows = (p: TensorMatch): boolean => p.layout === "rows";

/** DETR (softmax, last class = nothing) and RT-DETR (sigmoid): boxes cx cy w h in 0..1, one row per query. */
export const queries: ReadShapes = (q, specs) => {
  const c = q.classes;
  const { raw } = q.traits;
  const query = (
    what: string,
    a: Activation,
    places: readonly TensorMatch[],
    more?: More,
  ): Interpretation[] => each(q, "queries", what, a, plain(q, undefined, "normalised", more), places);
  return [
    ...query("boxes, independent classes (RT-DETR)", raw, pairs(q, specs, rows, 4, c)),
    ...query("boxes, classes and nothing (DETR)", raw, pairs(q, specs, rows, 4, c + 1), (_, logits) =>
      softmax(logits, 0, c + 1),
    ),
    // one tensor of rows [N,Q,4+C] (Ultralytics' export): probabilities already; roles that name two leave none to find
    ...(q.roles?.boxes && q.roles.scores
      ? []
      : query("boxes, classes", "sigmoid", matchOne(specs, rows, 4 + c, 0, 4))),
  ];
};

/** SSD DetectionOutput [1,1,N,7]: image, label, confidence, x1, y1, x2, y2; -1 as image ends the list. */
export const detectionOutput: ReadShapes = (q, specs) =>
  each(
    q,
    "detection-output",
    "image label score x1 y1 x2 y2",
    null,
    plain(q, "xyxy", "normalised", ({ box }) => ({
      classes: 1,
      classId: beside(box, -2),
      marker: beside(box, -3),
    })),
    matchOne(specs, rows, 7, 3, 2).filter(isRows),
  );

/** TFLite_Detection_PostProcess: boxes [1,N,4] (y1 x1 y2 x2), classes [1,N], scores [1,N], count [1], or one for each image. */
export const postprocess: ReadShapes = (q, specs) => {
  const format = q.boxFormat ?? "yxyx";
  // the operator's own names: no suffix boxes, :1 classes, :2 scores, :3 count. TensorFlow 2 counts from the other end: :0 count,
  // :1 scores, :2 classes, :3 boxes
  const turned = specs.some((s) => /[:_]3$/.test(s.name) && volume(s.dims) > 1 && rows(s, 4).length > 0);
  const usual = (suffix: number, word: string): string =>
    specs.find((s) => new RegExp(`[:_]${suffix}$|${word}`, "i").test(s.name) && rows(s, 1).length > 0)
      ?.name ?? "";
  const roles = {
    labels: usual(turned ? 2 : 1, "class|label"),
    scores: usual(turned ? 1 : 2, "score"),
    ...q.roles,
  };
  const own = { ...q, roles };
  const at = specs.findIndex((s) => s.name === roles.labels);
  const images = specs[at]?.dims.length > 1 ? specs[at].dims[0] : 1;
  const tensor = specs.findIndex(
    (s, i) =>
      i !== at &&
      [1, images].includes(volume(s.dims)) &&
      mayPlay(own, "count", s.name) &&
      !mayPlay(own, "scores", s.name),
  );
  const count = tensor < 0 ? null : { ...columnOf(tensor), channel: 0, cell: 0 };
  return at < 0
    ? []
    : pairs(own, without(specs, at), rows, 4, 1)
        .filter((p) => p.layout === "rows rows")
        .map((p) =>
          buildInterpretation(
            q,
            "postprocess",
            `boxes (${format}), scores, classes ${roles.labels}${count ? `, count ${specs[tensor].name}` : ""}`,
            null,
            plain(q, format, "normalised", () => ({
              classes: 1,
              classId: columnOf(at),
              count,
            })),
            [{ ...p, uses: [...p.uses, at, ...(count ? [tensor] : [])] }],
          ),
        );
};
