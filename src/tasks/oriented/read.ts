/** Finds boxes and angles among a network's tensors. */
import { interpret } from "../../heads/interpret.ts";
import { refuseFor } from "../../core/errors.ts";
import { list, volume } from "../../core/tensor.ts";
import { READINGS } from "../../core/readings.ts";
import { readAdded } from "../../heads/extra.ts";
import type { HeadDraft, Interpretation, Specs } from "../../heads/head.ts";
import type { HeadQuery } from "../../heads/query.ts";
import { channelsBesideClasses, FINISHED_CHANNELS } from "../../shapes/ways.ts";
import type { TaskConfig } from "../../config/types.ts";
import type { Rules } from "../../core/rules.ts";
import { type AngleForm, ORIENTED_NMS, type OrientedPlan, SIGMOID_RANGE } from "./plan.ts";

/** A query of a config that states the task. */
type Query = HeadQuery & { readonly task: TaskConfig | null; readonly rules?: Partial<Rules> };

/** Returns every interpretation of the tensors as oriented boxes. Throws if there is none. */
export function readOriented(query: HeadQuery, specs: Specs): readonly Interpretation[] {
  const angles = query.roles?.angles;
  const readings = readAdded(query, specs, {
    channels: 1,
    names: angles === undefined ? null : [angles].flat(),
    readBoxes: (tensors) => interpretBoxes(query, tensors),
  });
  if (readings.length === 0) refuseShapes(query, specs);
  return readings.map((boxes) => {
    if (boxes.inputSize === null)
      refuseFor(
        ["inputSize"],
        boxes.about,
        "oriented boxes and no input size",
        "inputSize: [width, height]. Angles are measured in pixels, where both axes count alike",
      );
    return { ...boxes, task: planOf(query as Query, boxes) };
  });
}

/** Returns the interpretations of boxes. Without a stated format, finished rows are cx cy w h, corners are dropped. */
function interpretBoxes(query: HeadQuery, specs: Specs): Interpretation[] {
  const asCentres = (head: HeadDraft): HeadDraft => ({ ...head, kind: "centre" });
  return interpret(query, specs).flatMap((interpretation) => {
    const hasCorners =
      query.boxFormat === null && interpretation.heads.some(({ kind }) => kind === "corners");
    if (!hasCorners) return interpretation;
    return READINGS[interpretation.name].finished
      ? { ...interpretation, heads: interpretation.heads.map(asCentres) }
      : [];
  });
}

function planOf(query: Query, interpretation: Interpretation): OrientedPlan {
  const { task, traits, rules } = query;
  const { heads } = interpretation;
  // Some exporters write the angles of all feature maps as one tensor. These exporters use different angle forms.
  const hasJoinedAngles =
    heads.length > 1 &&
    heads.every(({ extra, box }) => extra?.tensor === heads[0].extra?.tensor && extra?.tensor !== box.tensor);
  const isRaw = READINGS[interpretation.name].maps === true;
  const usualForm: AngleForm = isRaw ? (traits.angle ?? "logits") : "radians";
  if (hasJoinedAngles && isRaw && !task?.angleForm)
    refuseFor(
      ["angleForm"],
      interpretation.about,
      "raw maps, and the angles of all maps in one tensor",
      'angleForm: "radians" if the exporter decoded the angles, "fractions" if it applied the sigmoid ' +
        '(rknn), "logits" if they are raw',
    );
  const angle = task?.angleForm ?? usualForm;
  const suppression = task?.orientedSuppression ?? "ultralytics";
  const orEqual = rules?.iouGate ? rules.iouGate === ">=" : ORIENTED_NMS[suppression].orEqual;
  const regular = task?.angleRange !== "raw";
  const { iou, method } = ORIENTED_NMS[suppression];
  const way =
    `"${suppression}" (${iou === "probiou" ? "ProbIoU" : "polygon IoU"} ` +
    `${orEqual ? ">=" : ">"}, ${method === "fast" ? "suppressed boxes suppress too" : "greedy"})`;
  const isDone = rules?.suppress
    ? rules.suppress === "none"
    : READINGS[interpretation.name].suppressed === true;
  return {
    name: "oriented",
    crops: "none",
    about:
      `oriented boxes: ${ANGLES[angle]}; suppression ${isDone ? "none" : way}; angles of results ` +
      (regular ? "in [0, pi/2)" : "as the network gives them"),
    tensors: [],
    angle,
    range: traits.angle ? null : SIGMOID_RANGE,
    regular,
    suppression,
    orEqual,
  };
}

const ANGLES: { readonly [A in AngleForm]: string } = {
  radians: "angles in radians",
  logits: "angles (sigmoid(v) - 0.25) pi",
  fractions: "angles (v - 0.25) pi",
};

/** Throws a TensorError that lists the shapes of oriented networks, and the class counts that the channels allow. */
function refuseShapes(query: HeadQuery, specs: Specs): never {
  const { classes, family, traits } = query;
  const c = classes ?? "C";
  const first = channelsBesideClasses(traits);
  const channels = specs.flatMap(({ dims }) => (dims.length === 3 ? Math.min(...dims.slice(1)) : []));
  const readings = [...new Set(channels)]
    .filter((n) => n > first + 1)
    .map((n) => `${n} channels are ${n - first - 1} classes and an angle, or ${n - first} classes without`);
  const forms = [
    `[1,${classes === null ? `${first}+C+1` : first + classes + 1},N] or rows of it (cx cy w h, ${c} classes, angle)`,
    `[1,N,${FINISHED_CHANNELS + 1}] (cx cy w h, score, class, angle)`,
    ...(traits.head === "distance"
      ? [
          `maps of boxes, of ${c} classes and of angles [1,1,h,w] (roles: {angles: ["name", ...]} tells them from classes)`,
        ]
      : []),
  ];
  const counted = classes === null ? "the number of classes (option classes, or labels), for " : "";
  return refuseFor(
    classes === null ? ["classes", "labels"] : ["classes"],
    "",
    specs.some(({ dims }) => volume(dims) > 0) ? list(specs) : "no tensors",
    [`oriented boxes of ${family}: ${counted}${forms.join("; ")}`, ...readings].join("; "),
  );
}
