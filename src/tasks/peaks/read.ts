/** Finds the maps of networks that mark the centres of objects. */
import { refuseFor } from "../../core/errors.ts";
import { type TensorSpec, list } from "../../core/tensor.ts";
import { FAMILIES, TRAITS } from "../../core/families.ts";
import type { FamilyTraits, PeakForm } from "../../core/family.ts";
import { buildInterpretation, softmax } from "../../heads/build.ts";
import { beside, maps } from "../../heads/channels.ts";
import { columnOf, matchOfViews, type TensorView } from "../../heads/extra.ts";
import type { HeadDraft, Interpretation, Specs } from "../../heads/head.ts";
import type { HeadQuery } from "../../heads/query.ts";
import type { PeakPlan } from "./plan.ts";

/** A tensor that is read as a map. */
interface MapView extends TensorView {
  /** Count of the channels. */
  readonly channels: number;
}

const ORDERS = ["NCHW", "NHWC"] as const;

/** Returns every interpretation of the tensors. Throws a TensorError with the expected shapes if there is none. */
export function readPeaks(query: HeadQuery, specs: Specs): readonly Interpretation[] {
  const { form } = factsOf(query);
  const interpretations = ORDERS.flatMap((order) => {
    const views = specs.flatMap((spec, index) => viewsIn(spec, index, order));
    return FORMS[form].read(query, views).filter((one) => isOfInput(query, one));
  });
  // A map that is as wide as it has channels has an interpretation in each storage order: the plan asks for the order.
  return interpretations.length > 0 ? interpretations : refuseMaps(query, specs, form);
}

/** Returns the family's facts about maps. Throws if the config names a family without this task. */
const factsOf = ({ traits, family }: HeadQuery): NonNullable<FamilyTraits["peaks"]> =>
  traits.peaks ??
  refuseFor(
    ["family"],
    "task",
    `"peaks" with family ${family}`,
    `a family that has this task: ${PEAK_FAMILIES.join(", ")}`,
  );

const PEAK_FAMILIES = /* @__PURE__ */ FAMILIES.filter((family) => TRAITS[family].peaks);

/** Returns the map in a tensor, for one storage order. Three dims are a map without a batch. */
function viewsIn(spec: TensorSpec, index: number, order: (typeof ORDERS)[number]): MapView[] {
  const { dims } = spec;
  if (dims.length < 3 || dims.length > 4) return [];
  const channels = dims[order === "NCHW" ? dims.length - 3 : dims.length - 1];
  const isLast = (layout: string): boolean => layout.endsWith("HWC");
  return maps(spec, channels)
    .filter(({ layout }) => isLast(layout) === (order === "NHWC"))
    .map((view) => ({ ...view, index, spec, channels }));
}

/** True if all maps have the same cells and the same batch. */
const areAlike = (first: MapView, ...others: readonly MapView[]): boolean =>
  others.every(({ w, h, batch }) => w === first.w && h === first.h && batch === first.batch);

/** True if a map fits the network's input, by its stride or aspect ratio. A transposed map does not. */
function isOfInput(query: HeadQuery, { heads: [head] }: Interpretation): boolean {
  const { inputSize } = query;
  if (!inputSize) return true;
  const { stride } = factsOf(query);
  const { gridWidth, cells } = head;
  const size = [gridWidth, cells / gridWidth];
  if (stride !== null) return size.every((side, axis) => side === Math.ceil(inputSize[axis] / stride));
  return Math.abs(size[0] * inputSize[1] - size[1] * inputSize[0]) < Math.max(...inputSize);
}

/** Returns the size of one cell, normalised. */
function unitOf(
  { inputSize }: HeadQuery,
  { w, h }: MapView,
  stride: number | null,
): readonly [number, number] {
  return stride !== null && inputSize ? [stride / inputSize[0], stride / inputSize[1]] : [1 / w, 1 / h];
}

interface Form {
  readonly read: (query: HeadQuery, views: readonly MapView[]) => Interpretation[];
  /** Returns the shapes of the form for an error. */
  readonly expected: (query: HeadQuery) => string;
}

/** Adds the task's part of the plan to an interpretation. */
const withTask = (
  interpretation: Interpretation,
  task: Omit<PeakPlan, "name" | "tensors" | "notInFiles">,
): Interpretation => ({
  ...interpretation,
  task: {
    name: "peaks",
    tensors: [],
    // Plan files can group cells, but have no code that finds peaks among neighbouring cells.
    ...(task.form !== "cells" && { notInFiles: true }),
    ...task,
  } as PeakPlan,
});

/** Reads FOMO: one map of the background and the classes. */
const cells: Form = {
  read: (query, views) =>
    views
      .filter(({ channels }) => (query.classes === null ? channels > 1 : channels === query.classes + 1))
      .map((view) => {
        const interpretation = buildInterpretation(query, {
          name: "cell-classes",
          title: "background and classes of each cell",
          usual: query.traits.raw,
          // A head needs box channels. Those below are not used: the task makes boxes from the positions of cells.
          fields: (match, logits) => ({
            classes: view.channels - 1,
            score: beside(match.score, 1),
            ...softmax(logits, 0, view.channels),
            boxChannels: [0, 0, 0, 0],
            xyScale: 0,
            xyBias: 0.5,
            size: [0, 0],
            unit: unitOf(query, view, null),
          }),
          matches: [matchOfViews(view, [view])],
          classes: view.channels - 1,
        });
        const groups = query.task?.cellGroups ?? "edge-impulse";
        const words = {
          "edge-impulse": "grouped as the SDK of Edge Impulse does",
          enclosing: "each group of cells that touch in its enclosing box",
        }[groups];
        return withTask(interpretation, {
          about: `cells: a ${view.w}x${view.h} map of ${view.channels - 1} classes, ${words}. Only centres have a meaning`,
          form: "cells",
          groups,
          height: view.h,
          points: 0,
        });
      }),
  expected: ({ classes }) => {
    const channels = classes === null ? "C+1" : classes + 1;
    return (
      `[1,h,w,${channels}], the background and ` +
      `${classes ?? "C"} ${classes === 1 ? "class" : "classes"} of each cell, in the proportions of the input`
    );
  },
};

/** Names of CenterNet's maps in its own code and in most ports. */
const HEAT_NAME = /^(hm|heat)|heat[-_]?map|[-_]hm$/i;
const SIZE_NAME = /^wh$|[-_]wh$|size/i;
const OFFSET_NAME = /^reg$|[-_]reg$|off/i;

/** Returns the map that a role names, else the map with a matching name. Returns `null` unless there is exactly one. */
function named(views: readonly MapView[], name: string | undefined, usual: RegExp): MapView | null {
  const maps = views.filter(({ spec }) => (name === undefined ? usual.test(spec.name) : spec.name === name));
  return maps.length === 1 ? maps[0] : null;
}

/** Reads CenterNet: maps of classes, of widths and heights, and of offsets. Without names, in the export's order. */
const centres: Form = {
  read: (query, views) => {
    const { roles } = query;
    const [size, offset] = [roles?.boxes ?? []].flat();
    const isNamed = views.some(({ spec: { name } }) =>
      [HEAT_NAME, SIZE_NAME, OFFSET_NAME].some((n) => n.test(name)),
    );
    const hm = named(views, [roles?.scores].flat()[0], HEAT_NAME) ?? (isNamed || roles ? null : views[0]);
    const wh = named(views, size, SIZE_NAME) ?? (isNamed || roles ? null : views[1]);
    const reg = named(views, offset, OFFSET_NAME) ?? (isNamed || roles ? null : views[2]) ?? null;
    if (!hm || !wh || wh.channels !== 2 || !areAlike(hm, wh)) return [];
    if (query.classes !== null && hm.channels !== query.classes) return [];
    if (reg && (reg.channels !== 2 || !areAlike(hm, reg))) return [];
    const interpretation = buildInterpretation(query, {
      name: "centre-maps",
      title: "centres, sizes and offsets",
      usual: query.traits.raw,
      fields: ({ box }) => ({
        classes: hm.channels,
        boxChannels: [0, 0, 0, box.channel],
        // Ignore the offset in the kernel. The task adds it from a separate tensor.
        xyScale: 0,
        xyBias: reg ? 0 : 0.5,
        size: unitOf(query, wh, 4),
        unit: unitOf(query, wh, 4),
        ...(reg && { extra: columnOf(reg) }),
      }),
      matches: [matchOfViews(wh, [hm])],
      alsoUses: reg ? [reg.index] : [],
      classes: hm.channels,
      inputSize: query.inputSize ?? [wh.w * 4, wh.h * 4],
    });
    return [
      withTask(interpretation, {
        about: `centres: peaks of 3x3 cells in a ${hm.w}x${hm.h} map, ${reg ? "with offsets" : "in the middle of their cells"}`,
        form: "centres",
        groups: null,
        height: hm.h,
        points: 0,
      }),
    ];
  },
  expected: ({ classes }) =>
    `hm [1,${classes ?? "C"},h,w] + wh [1,2,h,w] + reg [1,2,h,w], a quarter of the input, by these ` +
    'names or roles: {scores: "hm", boxes: ["wh", "reg"]}',
};

/** Count of the points of a face. */
const FACE_POINTS = 5;

/** Reads face_det_lite: scores, distances to the four sides, and five points. */
const faces: Form = {
  read: (query, views) => {
    const of = (channels: number): readonly MapView[] => views.filter((view) => view.channels === channels);
    const [[score, second], [box, secondBox], [points, secondPoints]] = [of(1), of(4), of(2 * FACE_POINTS)];
    if (!score || !box || !points || second || secondBox || secondPoints || !areAlike(score, box, points))
      return [];
    const interpretation = buildInterpretation(
      { ...query, classes: 1 },
      {
        name: "centre-maps",
        title: "centres, distances from the cell's left upper corner, points",
        usual: query.traits.raw,
        fields: (): Partial<HeadDraft> => ({
          kind: "distance",
          unit: unitOf(query, box, 8),
          extra: columnOf(points),
        }),
        matches: [matchOfViews(box, [score])],
        alsoUses: [points.index],
        inputSize: query.inputSize ?? [box.w * 8, box.h * 8],
      },
    );
    return [
      withTask(interpretation, {
        about: `faces: peaks of 3x3 cells in a ${box.w}x${box.h} map, with ${FACE_POINTS} points`,
        form: "faces",
        groups: null,
        height: box.h,
        points: FACE_POINTS,
      }),
    ];
  },
  expected: () =>
    "heatmap [1,1,h,w] + bbox [1,4,h,w] + landmark [1,10,h,w], an eighth of the input, channels first or last",
};

const FORMS: { readonly [F in PeakForm]: Form } = { cells, centres, faces };

function refuseMaps(query: HeadQuery, specs: Specs, form: PeakForm): never {
  const { family, inputSize, classes } = query;
  const of = inputSize ? ` of an input ${inputSize.join("x")} (width x height)` : "";
  return refuseFor(
    [
      ...(classes === null ? [] : ["classes" as const]),
      ...(inputSize ? ["inputSize" as const] : []),
      "roles",
    ],
    "",
    list(specs),
    `for ${family}${of}: ${FORMS[form].expected(query)}`,
  );
}
