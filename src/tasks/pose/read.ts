import { addedCounts, finds } from "../../heads/exports.ts";
import { interpret } from "../../heads/interpret.ts";
import { splitChannels } from "../../heads/refuse.ts";
import { refuseFor } from "../../core/errors.ts";
import type { PointShape } from "../../core/keypoints.ts";
import { POINT_FACTS } from "../../core/pose-families.ts";
import { READINGS } from "../../core/readings.ts";
import { type TensorSpec, list } from "../../core/tensor.ts";
import { maps, rows } from "../../heads/channels.ts";
import { readAdded, readInOneOrder } from "../../heads/extra.ts";
import { gridsOf } from "../../shapes/grids.ts";
import { channelsBesideClasses, FINISHED_CHANNELS } from "../../shapes/ways.ts";
import type { Interpretation, Specs } from "../../heads/head.ts";
import type { HeadQuery } from "../../heads/query.ts";
import { readCrop } from "./crop/read.ts";
import type { Formed } from "./form.ts";
import { retinafaceMaps } from "./face-maps.ts";
import { FORMS } from "./forms.ts";
import type { PosePlan } from "./plan.ts";

/** Returns every interpretation of the tensors as boxes with points. Throws a TensorError if there is none. */
export function readPose(query: HeadQuery, specs: Specs): readonly Interpretation[] {
  const facts = POINT_FACTS[query.family] ?? {};
  if (facts.network) return readCrop(query, specs, facts.network);
  const shape = query.task?.keypoints ?? facts.keypoints ?? null;
  if (shape === null) return refuseShapeless(query, specs);
  const form = facts.form && FORMS[facts.form];
  const readings = form
    ? form.read(query, specs, shape)
    : [
        ...readInOneOrder(specs, (ordered) =>
          readAny(query, ordered, shape).map((formed) => ({ ...formed.interpretation, formed })),
        ).map(({ formed }) => formed),
        ...(facts.haveMaps ? retinafaceMaps(query, specs, shape) : []),
      ];
  if (readings.length === 0) refuseAll(query, specs, shape, form?.expected(query, shape) ?? null);
  return readings.map((formed) =>
    formed.lacksPoints
      ? formed.interpretation
      : { ...formed.interpretation, task: planOf(query, formed, specs) },
  );
}

/**
 * Returns the query for the boxes alone. Removes the role of the keypoints: `interpret` prefers interpretations that
 * use every named tensor, but boxes do not use the keypoints. Adds the variances of POINT_FACTS, and the priors that
 * they need.
 */
function withoutPoints(query: HeadQuery): HeadQuery {
  const roles = Object.entries({ ...query.roles, keypoints: undefined }).filter(([, names]) => names);
  const facts = POINT_FACTS[query.family];
  const boxes = { ...query, roles: roles.length > 0 ? Object.fromEntries(roles) : null };
  if (!facts?.variances) return boxes;
  const { inputSize, traits, priors, variances } = query;
  return {
    ...boxes,
    variances: variances ?? facts.variances,
    priors: priors ?? (inputSize && traits.buildPriors ? traits.buildPriors(inputSize) : null),
    priorFormat: priors ? query.priorFormat : (traits.priorFormat ?? null),
    // Do not count the background: the only class of these networks has the id 0.
    countBackground: false,
  };
}

/**
 * Returns a spec with all points in one dimension: [1,17,3,N] becomes [1,51,N], and [1,N,17,3] becomes [1,N,51]. Does
 * not change a tensor whose cells fit the input: [1,2,2,4] may be two points of two values, or 2 x 2 cells of four
 * channels.
 */
function flattened(query: HeadQuery, spec: TensorSpec, [count, values]: PointShape): TensorSpec {
  const { dims } = spec;
  const grids = gridsOf(query);
  const asMap = maps(spec, count * values);
  if (asMap.some(({ w, h }) => grids.some((grid) => grid.w === w && grid.h === h))) return spec;
  const [batch, a, b, c] = dims;
  if (dims.length === 4 && a === count && b === values)
    return { ...spec, dims: [batch, count * values, c], order: "planes" };
  if (dims.length === 4 && b === count && c === values)
    return { ...spec, dims: [batch, a, count * values], order: "rows" };
  return asMap.length > 0 && grids.length > 0 && rows(spec, count * values).length === 0
    ? { ...spec, dims: [] }
    : spec;
}

/** Reads networks with a detector's boxes. Points follow the boxes and classes, or have their own tensors. */
function readAny(query: HeadQuery, specs: Specs, shape: PointShape): Formed[] {
  const plain = withoutPoints(query);
  const seen = specs.map((spec) => flattened(query, spec, shape));
  const names = query.roles?.keypoints ? [query.roles.keypoints].flat() : null;
  return readAdded(plain, specs, { channels: shape[0] * shape[1], names, seen }).map((interpretation) => {
    const [{ box, extra }] = interpretation.heads;
    const isFused = extra?.tensor === box.tensor;
    return formedOf(query, interpretation, isFused ? specs : seen, shape, isFused);
  });
}

/**
 * Returns the interpretation with the rule for its points. Points in feature maps, or after boxes in feature maps, are
 * raw. Points in rows or planes are decoded. Exporters of NN Archives decode x and y, but not the confidence.
 */
function formedOf(
  query: HeadQuery,
  interpretation: Interpretation,
  specs: Specs,
  shape: PointShape,
  isFused: boolean,
): Formed {
  const [head] = interpretation.heads;
  const { maps: areMaps, finished } = READINGS[interpretation.name];
  const extra = head.extra as NonNullable<typeof head.extra>;
  const hasMap = isFused || maps(specs[extra.tensor], shape[0] * shape[1]).length > 0;
  // A single tensor may hold raw or decoded points of all cells: both have the same shape.
  const mayBeRaw = areMaps === true && !hasMap;
  const isRaw = hasMap || query.task?.keypointCoordinates === "strides";
  const rule = head.priors ? "prior" : areMaps && isRaw ? "grid" : "decoded";
  const isExported = !isFused && query.format === "nn-archive" && !finished && areMaps === true;
  return {
    interpretation,
    shape,
    rule,
    logits: rule === "grid" || isExported,
    ...(mayBeRaw && rule === "decoded" && { mayBeRaw }),
  };
}

function planOf(query: HeadQuery, formed: Formed, specs: Specs): PosePlan {
  const { shape, rule, byAnchor, yFirst, alone, root, slots, mayBeRaw } = formed;
  const [count, values] = shape;
  const { task, traits, coordinates, inputSize, family } = query;
  const facts = POINT_FACTS[family] ?? {};
  const [factor, offset] = facts.grid ?? [2, 0];
  const isUsual = shape.join() === facts.keypoints?.join();
  const names = task?.keypointNames ?? (isUsual ? facts.names : null) ?? null;
  if (names && names.length !== count)
    refuseFor(["keypointNames"], "keypointNames", `${names.length} names`, `${count}, one per keypoint`);
  if (task?.keypointCoordinates === "strides" && rule !== "grid")
    refuseFor(
      ["keypointCoordinates"],
      list(specs),
      'keypointCoordinates "strides" for keypoints that belong to no cell of a map',
      '"pixels" or "normalised": only boxes in feature maps have raw keypoints',
    );
  const normalised = (task?.keypointCoordinates ?? coordinates ?? traits.coordinates) === "normalised";
  if (rule === "decoded" && !normalised && !inputSize)
    refuseFor(
      ["inputSize", { option: "coordinates", value: "normalised" }],
      list(specs),
      "keypoints in pixels and no input size",
      'inputSize: [width, height] (or coordinates: "normalised" if they are 0..1 already)',
    );
  const logits = values === 3 && (task?.keypointScores ? task.keypointScores === "logits" : formed.logits);
  const each =
    values === 2 ? "x and y" : logits ? "x, y and a raw confidence" : "x, y and a confidence in 0..1";
  const how = {
    decoded: `decoded, ${normalised ? "0..1" : "in pixels"}`,
    grid: byAnchor
      ? "raw x anchor + cell x stride"
      : `(${factor === 1 ? "" : `${factor} `}raw + ` +
        `cell${offset === 0 ? "" : ` ${offset < 0 ? "-" : "+"} ${Math.abs(offset)}`}) x stride`,
    prior: "offsets from priors",
  }[rule];
  return {
    rule,
    ...(byAnchor && { byAnchor }),
    ...(yFirst && { yFirst }),
    ...(mayBeRaw && { mayBeRaw }),
    ...(alone && { alone }),
    ...(root && { root }),
    ...(slots && { slots }),
    // Plan files do not support these networks: only code in TypeScript computes their boxes, scores or points.
    ...((alone || root || slots) && { notInFiles: true as const }),
    name: "pose",
    about: `pose: ${count} keypoints of ${each}, ${how}`,
    tensors: [],
    count,
    values,
    logits,
    factor,
    offset,
    normalised,
    names,
    edges: task?.edges ?? (isUsual ? facts.edges : null) ?? null,
  };
}

/** Largest number of possible `keypoints` options that an error lists. */
const MOST = 6;

/** Largest keypoint count of published networks. */
const MOST_POINTS = 200;

/** Throws a TensorError that asks for the keypoint count. Lists the counts that the channels allow. */
function refuseShapeless(query: HeadQuery, specs: Specs): never {
  const words = specs.flatMap((spec) => readingsOf(query, spec));
  const few = [...new Set(words)].slice(0, MOST);
  return refuseFor(
    ["keypoints"],
    list(specs),
    "no number of keypoints",
    `keypoints: [count, 2 or 3]${few.length > 0 ? `; ${few.join(", or ")}` : ""}`,
  );
}

/** Returns text for an error: the keypoint counts that a tensor could have after boxes and classes. */
function readingsOf(query: HeadQuery, spec: TensorSpec): string[] {
  const classes = query.classes ?? 1;
  const { known, extra, isFinished } = splitChannels(query, spec, classes) ?? { known: 0, extra: 0 };
  if (extra < 2 || extra > 3 * MOST_POINTS) return [];
  const channels = known + extra;
  const of = `${channels} ${isFinished ? "columns of a list" : `channels of ${classes} ${classes === 1 ? "class" : "classes"}`}`;
  return [
    ...[3, 2]
      .filter((values) => extra % values === 0)
      .map((values) => `${of} would be keypoints: [${extra / values}, ${values}]`),
    ...(query.classes === null && !isFinished
      ? [`without keypoints they would be ${extra + classes} classes`]
      : []),
  ];
}

/** Throws a TensorError since no tensor fits the stated keypoints. Lists the expected shapes. */
function refuseAll(query: HeadQuery, specs: Specs, [count, values]: PointShape, form: string | null): never {
  const points = count * values;
  const { classes, traits } = query;
  const of = `${count} keypoints of ${values} values`;
  if (form === null && classes === null && traits.classes === undefined)
    refuseFor(["classes", "labels"], list(specs), of, "the number of classes too");
  const first = channelsBesideClasses(traits);
  const boxAndClasses = first + (classes ?? 1);
  const expected =
    form ??
    `[1,${boxAndClasses + points},N] (boxes, ${classes ?? 1} ${classes === 1 ? "class" : "classes"}, ` +
      `${points} values of points), [1,N,${FINISHED_CHANNELS + points}] (one row per detection), ` +
      `${boxAndClasses > 4 + (classes ?? 1) ? `maps [1,A x ${boxAndClasses + points},h,w] with anchors, ` : ""}or the ` +
      `tensors of the boxes and [1,${points},h,w] or [1,${points},N] beside them`;
  const plain = withoutPoints(query);
  // If the boxes fit without points, only the points are missing.
  const fits = form === null && finds(() => interpret(plain, specs));
  return refuseFor(
    ["keypoints", "classes", ...(query.inputSize ? [] : ["inputSize" as const])],
    list(specs),
    `no tensor with ${of}${fits ? ", although the boxes are there" : ""}`,
    `for ${query.family}: ${expected}${form === null ? adviceOnKeypoints(query, specs, [count, values]) : ""}`,
  );
}

/** Returns advice: the `keypoints` options with which the tensors fit, the nearest first. Empty for more than two. */
function adviceOnKeypoints(query: HeadQuery, specs: Specs, [count, values]: PointShape): string {
  const dims = specs.flatMap((spec) => (spec.dims.length === 3 ? spec.dims.slice(1) : []));
  const added = addedCounts(query.traits, dims, 3 * MOST_POINTS, query.classes ?? 1);
  const fitting = added
    .flatMap((points) => [values, values === 2 ? 3 : 2].map((each) => [points / each, each] as PointShape))
    .filter(
      (shape) =>
        Number.isInteger(shape[0]) && shape[0] <= MOST_POINTS && finds(() => readAny(query, specs, shape)),
    );
  const near = fitting.filter(([n, each]) => n === count || each === values);
  const listed = near.some(([n]) => n === count)
    ? near.filter(([n]) => n === count)
    : near.length > 0
      ? near
      : fitting;
  return listed.length === 0 || listed.length > 2
    ? ""
    : `; with keypoints: ${listed.map((shape) => `[${shape.join(", ")}]`).join(" or ")} these would fit`;
}
