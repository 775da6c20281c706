/** Finds the tensors of a network whose input is the crop of one object. Returns the only interpretation. */
import { refuseFor } from "../../../core/errors.ts";
import {
  type CropNetwork,
  type LandmarkFacts,
  POINT_FACTS,
  type Refinement,
} from "../../../core/pose-families.ts";
import { type TensorSpec, list, shape, volume } from "../../../core/tensor.ts";
import type { HeadDraft, HeadTensor, Interpretation, Specs } from "../../../heads/head.ts";
import { PLAIN, columnOf } from "../../../heads/build.ts";
import { stemOf } from "../../../heads/count.ts";
import type { HeadQuery } from "../../../heads/query.ts";
import type { CropPlan, HeatmapPlan, LandmarkPlan, SimccPlan, VectorPlan } from "./plan.ts";

type Shared = "name" | "names" | "edges" | "next" | "notInFiles" | "mostRows" | "crops";
type Own<P> = P extends CropPlan ? Omit<P, Shared> : never;

interface CropReading {
  readonly plan: Own<CropPlan>;
  readonly batch: number;
  readonly classes?: number;
  readonly notes?: readonly string[];
}

/** Arguments of a reader, and functions that throw its errors. */
interface Question {
  readonly query: HeadQuery;
  readonly specs: Specs;
  readonly input: readonly [number, number];
  readonly refuseAll: (expected: string) => never;
  readonly refuseFor: typeof refuseFor;
}

/** Returns the interpretation of the tensors. Throws a TensorError if they are not those of the network. */
export function readCrop(query: HeadQuery, specs: Specs, network: CropNetwork): readonly Interpretation[] {
  const { inputSize, family, task } = query;
  const input =
    inputSize ??
    refuseFor(
      ["inputSize"],
      list(specs),
      "no input size",
      `inputSize: [width, height], the size of the crop that ${family} gets`,
    );
  const refuseAll = (expected: string): never =>
    refuseFor(
      ["inputSize", "keypoints"],
      list(specs),
      `no tensors of ${family} for a ${input.join("x")} input`,
      expected,
    );
  const question = { query, specs, input, refuseAll, refuseFor };
  const { plan, batch, classes = 1, notes = [] } = readNetwork(question, network);
  checkCount(question, plan.count);
  const facts = POINT_FACTS[family] ?? {};
  const isUsual = facts.names?.length === plan.count;
  const names = task?.keypointNames ?? (isUsual ? facts.names : null) ?? null;
  if (names && names.length !== plan.count)
    refuseFor(["keypointNames"], "keypointNames", `${names.length} names`, `${plan.count}, one per keypoint`);
  const edges = task?.edges ?? (isUsual ? facts.edges : null) ?? null;
  const outside = edges?.flat().find((k) => k >= plan.count);
  if (outside !== undefined)
    refuseFor(["edges"], "edges", `keypoint ${outside}`, `one of 0..${plan.count - 1}`);
  const next = facts.next ?? null;
  const whole = {
    ...plan,
    name: "pose",
    names,
    edges,
    next,
    notInFiles: true,
    mostRows: 1,
    crops: "turned",
  } as const;
  return [
    {
      name: "postprocess",
      about: plan.about,
      batch,
      classes,
      scores: "probabilities",
      heads: [emptyHead(plan.tensors[0], classes)],
      tensors: [],
      uses: plan.tensors,
      notes,
      inputSize: input,
      task: whole as CropPlan,
    },
  ];
}

function readNetwork(question: Question, network: CropNetwork): CropReading {
  if (network.kind === "simcc") return readSimcc(question);
  if (network.kind === "heatmaps") return readHeatmaps(question, network.refinement);
  return network.kind === "vector" ? readVector(question) : readLandmarks(question, network);
}

function checkCount({ query: { task }, specs, refuseFor }: Question, count: number): void {
  const expectedCount = task?.keypoints?.[0] ?? count;
  if (expectedCount !== count)
    refuseFor(["keypoints"], list(specs), `${count} keypoints`, `${expectedCount} as keypoints says`);
}

/** Returns a head without cells: the network outputs no boxes to scan. */
function emptyHead(tensor: number, classes: number): HeadDraft {
  const column = columnOf(tensor);
  const origin = { tensors: [], anchor: null, rows: null };
  return { about: "no boxes", origin, ...PLAIN, kind: "corners", score: column, classes, box: column };
}

/**
 * Returns the stated refinement of points, or the usual one. Throws if the stated one is impossible for the network.
 */
function refinementOf(
  { query: { task, family }, refuseFor }: Question,
  usual: Refinement,
  allowed: readonly Refinement[],
): Refinement {
  const refinement = task?.keypointRefinement ?? usual;
  if (!allowed.includes(refinement))
    refuseFor(
      ["keypointRefinement"],
      "keypointRefinement",
      `"${refinement}"`,
      `${allowed.map((one) => `"${one}"`).join(" or ")} for ${family}`,
    );
  return refinement;
}

/** Reads SimCC: [B,K,Wx] and [B,K,Wy]. Wx and Wy are the sides of the input times the same whole number. */
function readSimcc(question: Question): CropReading {
  const { specs, input, query, refuseAll, refuseFor } = question;
  refinementOf(question, "none", ["none"]);
  const [w, h] = input;
  const isRows = ({ dims }: TensorSpec): boolean => dims.length === 3;
  const splitOf = ({ dims }: TensorSpec, side: number): number => dims[2] / side;
  const pairs = specs.flatMap((x, i) =>
    specs.flatMap((y, j) => {
      const fits =
        i !== j &&
        isRows(x) &&
        isRows(y) &&
        x.dims[0] === y.dims[0] &&
        x.dims[1] === y.dims[1] &&
        Number.isInteger(splitOf(x, w)) &&
        splitOf(x, w) === splitOf(y, h);
      return fits ? [[i, j] as const] : [];
    }),
  );
  // For a square input, both shapes are equal. Then use names, or else the order x, y.
  const named = pairs.filter(([i, j]) => AXIS_X.test(specs[i].name) && AXIS_Y.test(specs[j].name));
  const inOrder = pairs.filter(([i, j]) => i < j);
  const [pair] = named.length > 0 ? named : inOrder.length > 0 ? inOrder : pairs;
  if (!pair)
    return refuseAll(
      `simcc_x [1,K,${2 * w}] and simcc_y [1,K,${2 * h}], a row of scores for each keypoint and axis`,
    );
  const [batch, count] = specs[pair[0]].dims;
  const bins = pair.map((i) => specs[i].dims[2]) as [number, number];
  const misnamed = AXIS_Y.test(specs[pair[0]].name) && AXIS_X.test(specs[pair[1]].name);
  if (misnamed)
    refuseFor(
      [{ option: "inputSize", value: `${bins[1]}x${bins[0]}` }],
      list(specs),
      `${specs[pair[0]].name} with ${bins[0]} bins`,
      `${(bins[0] / w) * h} bins along y of a ${w}x${h} input: is that its width and height?`,
    );
  const plan: Own<SimccPlan> = {
    network: "simcc",
    values: 3,
    about: `pose: ${count} keypoints by SimCC, ${bins.join(" and ")} bins for a ${w}x${h} crop (${query.family})`,
    tensors: pair,
    maps: pair.map((at) => mapOf(specs[at], "planes")),
    count,
    bins,
  };
  return { plan, batch };
}

/** Returns the facts about a tensor that are needed to check its storage order. */
const mapOf = ({ name, dims }: TensorSpec, layout: HeadTensor["layout"]): HeadTensor => ({
  name,
  dims,
  layout,
  parts: [],
});

const AXIS_X = /(^|[^a-z])x$|x_?(output|logits)?$/i;
const AXIS_Y = /(^|[^a-z])y$|y_?(output|logits)?$/i;

/** True if the input's side is a multiple of the map's side, `cells`. */
const isMapOf = (cells: number, side: number): boolean => cells > 1 && Number.isInteger(side / cells);

/** Reads heat maps: [B,K,h,w] or [B,h,w,K]. h and w are the sides of the input divided by the same whole number. */
function readHeatmaps(question: Question, usual: Refinement): CropReading {
  const { specs, input, query, refuseAll, refuseFor } = question;
  const refinement = refinementOf(question, usual, ["none", "centre", "quarter", "dark-udp"]);
  const givenCount = query.task?.keypoints?.[0] ?? null;
  const [w, h] = input;
  const views = specs.flatMap((spec, tensor) => {
    const [batch, a, b, c] = spec.dims;
    const order = spec.order?.toUpperCase() ?? "";
    const view = (count: number, height: number, width: number, isFirst: boolean) => {
      const fits = isMapOf(width, w) && isMapOf(height, h) && w / width === h / height;
      return fits && order !== (isFirst ? "NHWC" : "NCHW") && (givenCount === null || givenCount === count)
        ? [{ tensor, batch, count, size: [width, height] as const, isFirst }]
        : [];
    };
    return spec.dims.length === 4 ? [...view(a, b, c, true), ...view(c, a, b, false)] : [];
  });
  const [found, other] = views;
  if (!found)
    return refuseAll(
      `one tensor [1,K,${h / 4},${w / 4}] or [1,${h / 4},${w / 4},K], a heat map for each keypoint`,
    );
  if (other)
    refuseFor(
      ["keypoints"],
      list(specs),
      `heat maps of ${found.count} or of ${other.count} keypoints`,
      "keypoints: [count, 3], or order with the tensor, that says which",
    );
  const { batch, count, size, isFirst, tensor } = found;
  const [width, height] = size;
  const plan: Own<HeatmapPlan> = {
    network: "heatmaps",
    values: 3,
    about:
      `pose: ${count} keypoints by heat maps of ${width}x${height} cells ${shape(specs[tensor])}, ` +
      `refinement "${refinement}" (${query.family})`,
    tensors: [tensor],
    maps: [mapOf(specs[tensor], isFirst ? "NCHW" : "NHWC")],
    count,
    refinement: refinement as HeatmapPlan["refinement"],
    size,
    channel: isFirst ? width * height : 1,
    cell: isFirst ? 1 : count,
  };
  return { plan, batch };
}

/** Returns the batch size of a tensor with `each` elements per image; 0 unless it is 1 or the first dimension. */
function batchOf({ dims }: TensorSpec, each: number): number {
  const batch = volume(dims) / each;
  return Number.isInteger(batch) && (batch === 1 || batch === dims[0]) ? batch : 0;
}

/** Returns the divisors that convert x, y and z to 0..1 of the input. */
function divisorsOf(
  { query, input }: Question,
  usual: "pixels" | "normalised",
  depth: number,
): readonly [number, number, number] {
  const unit = query.task?.keypointCoordinates ?? usual;
  return unit === "normalised" ? [1, 1, depth] : [input[0], input[1], input[0] * depth];
}

/** Reads points that the network outputs as numbers: KeypointParser of depthai-nodes. */
function readVector(question: Question): CropReading {
  const { specs, query, refuseAll, refuseFor } = question;
  const count =
    query.task?.keypoints?.[0] ??
    refuseFor(["keypoints"], list(specs), "no number of keypoints", "keypoints: [count, 2 or 3]");
  const fits = specs.flatMap((spec, tensor) =>
    ([2, 3] as const).flatMap((values) => {
      const batch = batchOf(spec, count * values);
      return batch > 0 ? [{ tensor, values, batch }] : [];
    }),
  );
  const givenValues = query.task?.keypoints?.[1];
  const [view] = [...fits.filter(({ values }) => values === givenValues), ...fits];
  if (!view || specs.length > 1)
    return refuseAll(
      `one tensor of ${count} x 2 or ${count} x 3 values, x, y and perhaps z of each keypoint`,
    );
  const { tensor, values, batch } = view;
  checkRows(question, specs[tensor], count, values);
  const scale = query.task?.keypointScale;
  const divisors =
    scale === undefined ? divisorsOf(question, "normalised", 1) : ([scale, scale, scale] as const);
  const plan: Own<VectorPlan> = {
    network: "vector",
    about: `pose: ${count} keypoints of ${values} values, divided by ${divisors.slice(0, values).join(", ")} (${query.family})`,
    tensors: [tensor],
    count,
    values,
    divisors,
  };
  return { plan, batch };
}

/** Throws if the dims show that the values of a point are not adjacent. */
function checkRows({ refuseFor }: Question, spec: TensorSpec, rows: number, values: number): void {
  const long = spec.dims.slice(spec.dims.length > 1 ? 1 : 0).filter((n) => n > 1);
  const isFlat = long.length <= 1;
  if (!isFlat && long.join() !== `${rows},${values}`)
    refuseFor(
      [],
      shape(spec),
      `dims [${spec.dims.join(",")}]`,
      `${rows} rows of ${values} values, [1,${rows * values}] or [1,${rows},${values}]: are the values of a point apart?`,
    );
}

/** Reads MediaPipe's landmarks. The order of the export, or numbers in names, distinguish tensors of equal size. */
function readLandmarks(question: Question, facts: LandmarkFacts): CropReading {
  const { specs, query, refuseAll, refuseFor } = question;
  const { rows: allowed, values, points, depth = 1, presence, sides, world, heat } = facts;
  const order = inOrderOfExport(specs);
  const sized = (each: number): number[] => order.filter((i) => batchOf(specs[i], each) > 0);
  const rows = allowed.find((n) => sized(n * values).length > 0);
  const expected = [
    `the points ${allowed.map((n) => `[1,${n * values}]`).join(" or ")}`,
    "the presence [1,1]",
    ...(sides ? ["the side [1,1], unless the name of the only [1,1] says presence or score"] : []),
    ...(heat ? [`perhaps heat maps [1,h,w,${allowed[0]}]`] : []),
    ...(world ? [`perhaps points in metres [1,${allowed[0] * 3}]`] : []),
  ].join(", ");
  if (rows === undefined) return refuseAll(expected);
  const [pointsAt, second] = sized(rows * values);
  const batch = batchOf(specs[pointsAt], rows * values);
  const singles = order.filter((i) => volume(specs[i].dims) === batch);
  // Networks before MediaPipe 0.8 do not output the side.
  const isPresence = singles.length === 1 && PRESENCE_NAME.test(specs[singles[0]].name);
  const hasSide = sides !== undefined && !isPresence;
  const [presenceAt, sideAt] = presenceAndSide(question, singles, pointsAt, hasSide ? 2 : 1);
  if (presenceAt === undefined || (hasSide && sideAt === undefined)) return refuseAll(expected);
  const worldAt = !world ? undefined : values === 3 ? second : sized(rows * 3)[0];
  const heatAt = !heat ? undefined : order.find((i) => isHeatOf(specs[i], rows, question.input));
  checkRows(question, specs[pointsAt], rows, values);
  const tensors = [pointsAt, presenceAt];
  const place = (at: number | undefined): number => (at === undefined ? -1 : tensors.push(at) - 1);
  const side = place(hasSide ? sideAt : undefined);
  const worldPlace = place(worldAt);
  const usual = heatAt === undefined ? "none" : "heatmap";
  const refinement = refinementOf(question, usual, heatAt === undefined ? ["none"] : ["none", "heatmap"]);
  const heatPlace = place(refinement === "heatmap" ? heatAt : undefined);
  for (const at of tensors)
    if (volume(specs[at].dims) % batch !== 0 || (batch > 1 && specs[at].dims[0] !== batch))
      refuseFor(
        [],
        shape(specs[at]),
        `dims [${specs[at].dims.join(",")}]`,
        `a batch of ${batch}, as ${specs[pointsAt].name} has`,
      );
  const logits = (query.scores ?? presence) === "logits";
  const plan: Own<LandmarkPlan> = {
    network: "landmarks",
    about:
      `pose: ${points ?? rows} landmarks of ${values} values ${shape(specs[pointsAt])}, presence ` +
      `${shape(specs[presenceAt])} ${logits ? "raw" : "in 0..1"}` +
      `${heatPlace < 0 ? "" : ", refined by heat maps"} (${query.family})`,
    tensors,
    ...(heatPlace >= 0 && { maps: [mapOf(specs[tensors[heatPlace]], "NHWC")] }),
    count: points ?? rows,
    rows,
    values,
    divisors: divisorsOf(question, "pixels", depth),
    logits,
    side,
    world: worldPlace,
    heat: heatPlace,
    heatSize: heatAt === undefined ? [0, 0] : [specs[heatAt].dims[2], specs[heatAt].dims[1]],
    ...(hasSide && { labels: sides }),
  };
  return { plan, batch, classes: hasSide ? 2 : 1 };
}

const PRESENCE_NAME = /presen|flag|score|conf|prob|exist/i;
const SIDE_NAME = /hand_?ed|side|left|right/i;

/** Returns the tensors of presence and side, by names or dims. Throws if more tensors than these fit. */
function presenceAndSide(
  { specs, refuseFor }: Question,
  singles: readonly number[],
  pointsAt: number,
  most: 1 | 2,
): (number | undefined)[] {
  const named = [PRESENCE_NAME, SIDE_NAME]
    .slice(0, most)
    .map((word) => singles.filter((i) => word.test(specs[i].name)));
  if (named.every((found) => found.length === 1) && new Set(named.flat()).size === most) return named.flat();
  // In MediaPipe's newer face networks, the presence has as many dims as the points, [1,1,1,1]. The score for the
  // tongue has [1,1].
  const alike = singles.filter((i) => specs[i].dims.length === specs[pointsAt].dims.length);
  if (singles.length > most && alike.length === most) return alike;
  const points = specs[pointsAt].name;
  const left =
    singles.length > most ? singles.filter((i) => stemOf(specs[i].name) === stemOf(points)) : singles;
  if (left.length <= most && left.length > 0) return [...left];
  if (singles.length <= most) return [...singles];
  return refuseFor(
    [],
    list(singles.map((i) => specs[i])),
    `${singles.length} outputs of one value`,
    `${most === 1 ? "the presence alone" : "the presence and the side alone"}: leave the others out, or name the ` +
      `presence so that its name says so ("presence"${most === 1 ? "" : ', "handedness"'})`,
  );
}

const isHeatOf = ({ dims }: TensorSpec, rows: number, [width, height]: readonly [number, number]): boolean =>
  dims.length === 4 && dims[3] === rows && dims[1] > 1 && dims[2] * height === dims[1] * width;

/** Returns the tensor indices, sorted by the number at the end of the names if the names differ in nothing else. */
function inOrderOfExport(specs: Specs): number[] {
  const parts = specs.map(({ name }) => /^(.*?)[_:]?(\d*)$/.exec(name) as RegExpExecArray);
  const isSeries = new Set(parts.map(([, stem]) => stem)).size === 1;
  const at = specs.map((_, i) => i);
  return isSeries ? at.sort((a, b) => Number(parts[a][2] || 0) - Number(parts[b][2] || 0)) : at;
}
