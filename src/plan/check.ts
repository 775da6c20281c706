/** Checks an interpretation against the config: unread tensors, batch sizes, element types and scores. */
import type { Config } from "../config/types.ts";
import { refuse, refuseFor } from "../core/errors.ts";
import { TRAITS } from "../core/families.ts";
import { namesHead } from "../core/family-names.ts";
import type { ScoreForm, Family } from "../core/family.ts";
import { rangeOf } from "../core/number.ts";
import { READINGS } from "../core/readings.ts";
import { isFloat, HALF_FLOATS, list, shape, type TensorSpec, volume } from "../core/tensor.ts";
import type { Column } from "../heads/channels.ts";
import { type Grid, gridsOf } from "../shapes/grids.ts";
import type { HeadDraft, Interpretation } from "../heads/head.ts";
import { type HeadQuery, namesOf } from "../heads/query.ts";

/** Quantisation step above which scores in 0..1 are meaningless. */
const COARSEST_STEP = 0.5;

/** Fields of a head that hold columns. */
export const COLUMNS = ["score", "objectness", "classId", "marker", "count", "box", "extra"] as const;

/** Returns the columns of a head. */
export const headColumns = (
  head: HeadDraft,
  names: readonly (typeof COLUMNS)[number][] = COLUMNS,
): Column[] => names.map((name) => head[name]).filter((column) => !!column);

/** True if scores go through a softmax. */
export const isSoftmax = (heads: readonly HeadDraft[]): boolean =>
  heads.some(({ scoreFn }) => scoreFn === "softmax");

/**
 * Throws a TensorError if a tensor that the config names is unread, or if the counts of strides and maps differ. If a
 * map were ignored because it does not fit, its boxes would be lost silently.
 */
export function checkNamed(
  { roles, strides, scaleXY }: Config,
  { name, about, heads }: Interpretation,
  specs: readonly TensorSpec[],
  unused: readonly TensorSpec[],
): void {
  const named = namesOf(roles);
  const isHere = (output: string): boolean => specs.some((s) => s.name === output);
  // If none of the tensors in `roles` exists, ignore the roles: they were written for another export of the network.
  // Refuse roles of which only some exist.
  const lacking = named.some(isHere) ? named.filter((output) => !isHere(output)) : [];
  if (lacking.length > 0) refuse("roles", `outputs ${list(specs)}`, `${lacking.join(", ")} among them`);
  const missed = unused.filter((s) => namesHead(s.name) || named.includes(s.name));
  if (missed.length > 0)
    refuse(
      "",
      `${list(missed)} left over by ${about}`,
      "every output of the head to fit. Leave out what the head does not need: pass its own outputs to decode(), " +
        "or name them by --only on the command line",
    );
  const { maps: isMaps, anchors } = READINGS[name];
  // Several heads may read the same tensor. With anchors, a map's heads differ by their first channel. Without anchors,
  // heads with different offsets are different maps.
  const first = ({ box }: HeadDraft): number => (anchors ? 0 : box.offset);
  const maps = new Set(heads.map((h) => `${h.box.tensor} ${h.cells} ${h.gridWidth} ${first(h)}`)).size;
  if (strides && isMaps && maps !== strides.length)
    refuse(about, `${maps} ${maps === 1 ? "map" : "maps"}`, `${strides.length}, one for each of strides`);
  if (anchors && typeof scaleXY === "object" && scaleXY !== null && maps !== scaleXY.length)
    refuse("scaleXY", `a list of ${scaleXY.length}`, `${maps}, one per map, or one number for all`);
}

/** A feature map that no head reads, with the unread tensors of its size. */
interface UnreadMap {
  readonly grid: Grid;
  readonly tensors: readonly TensorSpec[];
}

/** Returns the first map at stride 8, 16 or 32 that no head reads, although unread tensors have the map's size. */
export function unreadMap(
  heads: readonly HeadDraft[],
  unused: readonly TensorSpec[],
  inputSize: HeadQuery["inputSize"],
): UnreadMap | undefined {
  return gridsOf({ inputSize, strides: null }, [8, 16, 32])
    .filter(({ w, cells }) => !heads.some((head) => head.gridWidth === w && head.cells === cells))
    .map(({ w, h, ...grid }) => ({
      grid: { w, h, ...grid },
      tensors: unused.filter(
        ({ dims }) => dims.length > 2 && dims.some((d, i) => d === h && dims[i + 1] === w),
      ),
    }))
    .find(({ tensors }) => tensors.length > 0);
}

/**
 * Throws a TensorError if each map has a keypoint tensor and all tensors of one map are unread: objects found in that
 * map would be lost. This happens if a map is as wide as a cell has channels, since [1,4,4,4] may be boxes, scores or
 * keypoints.
 */
export function checkMaps(
  { heads, name, task }: Interpretation,
  unused: readonly TensorSpec[],
  inputSize: HeadQuery["inputSize"],
): void {
  const [head] = heads;
  if (task?.name !== "pose" || !READINGS[name].maps || !head.extra || head.extra.tensor === head.box.tensor)
    return;
  const tensorsOfMap = new Set(headColumns(head).map(({ tensor }) => tensor)).size;
  const unread = unreadMap(heads, unused, inputSize);
  if (!unread || unread.tensors.length < tensorsOfMap) return;
  refuseFor(
    ["roles"],
    list(unread.tensors),
    `a map at stride ${unread.grid.stride} in which boxes, scores and keypoints cannot be told apart`,
    "roles: { keypoints: [the name of each] }, or the order of each output (NCHW or NHWC). If they belong to " +
      "something else, leave these outputs out",
  );
}

/** Throws a TensorError if a column extends beyond its tensor: too few class ids, or different batch sizes. */
export function checkBatch(specs: readonly TensorSpec[], { heads, batch }: Interpretation): void {
  for (const head of heads) {
    for (const column of headColumns(head)) {
      const spec = specs[column.tensor];
      const elements = volume(spec.dims);
      const elementsOfImage = elements / (batch || 1);
      const cells = column === head.count ? 1 : head.cells;
      if (
        head.cells > 0 &&
        !(Number.isInteger(elementsOfImage) && column.offset + (cells - 1) * column.cell < elementsOfImage)
      )
        refuse(
          shape(spec),
          `${elements} elements`,
          `${cells} cell${cells === 1 ? "" : "s"} for each of ${batch} image${batch === 1 ? "" : "s"}, as ${head.about} has`,
        );
    }
  }
}

/** Throws a TensorError if the interpretation contradicts the config's element types or scores. */
export function checkReading(
  config: Config,
  family: Family,
  { name, about, scores, heads, task }: Interpretation,
  specs: readonly TensorSpec[],
): void {
  for (const at of task?.tensors ?? []) checkHasScale(specs[at]);
  for (const head of heads) {
    for (const column of headColumns(head, ["extra"])) checkHasScale(specs[column.tensor]);
    checkListEnds(head, specs);
    checkClassIdSteps(head, specs);
    for (const column of headColumns(head, ["score", "objectness", "box"]))
      checkScale(column, head, specs, scores);
  }
  if (config.coordinates === "strides" && !TRAITS[family].mayBePixels)
    refuse(
      about,
      'coordinates "strides"',
      `"pixels" or "normalised": boxes of ${family} as ${name} have no other unit`,
    );
  if (config.coordinates === "normalised" && TRAITS[family].mayBePixels)
    refuse(about, 'coordinates "normalised"', `"pixels" or "strides", the units of ${family}'s distances`);
  if (config.scores === "logits" && scores !== "logits")
    refuse(about, 'scores "logits"', `"probabilities": the network has finished the scores of ${name}`);
  if (config.scores === "softmax-logits" && !isSoftmax(heads))
    refuse(
      about,
      'scores "softmax-logits"',
      `"probabilities" or "logits": the classes of ${family} as ${name} are independent`,
    );
}

/** Throws a TensorError if quantisation changes the values that end a list: the count, or a marker in a row. */
function checkListEnds(head: HeadDraft, specs: readonly TensorSpec[]): void {
  for (const column of headColumns(head, ["marker", "count"])) {
    const { scale, zeroPoint, type, ...spec } = specs[column.tensor];
    // Allow any scale for markers: every value below zero ends the list.
    if (zeroPoint !== 0 || (column === head.count && (scale ?? 1) !== 1))
      refuse(
        shape(spec),
        `${type} of scale ${scale} and zeroPoint ${zeroPoint}`,
        "numbers as they stand, as they say where the list ends",
      );
  }
}

/** Throws a TensorError if the quantisation steps of a class id column skip some ids. */
function checkClassIdSteps(head: HeadDraft, specs: readonly TensorSpec[]): void {
  for (const column of headColumns(head, ["classId"])) {
    const spec = specs[column.tensor];
    const scale = spec.scale ?? 1;
    if (scale > 1 && !isFloat(spec))
      refuse(
        shape(spec),
        `class ids in steps of ${scale}`,
        "steps of 1 at most, since larger ones leave out classes: export the class ids as an output of their own",
      );
  }
}

/** Returns the scale of a tensor. Throws a TensorError if the tensor has integers but no scale. */
const checkHasScale = (spec: TensorSpec): number =>
  spec.scale ??
  refuseFor(
    ["quantisation"],
    shape(spec),
    `integers (${spec.type}) without a scale`,
    `scale and zeroPoint: real = (raw - zeroPoint) * scale${spec.type === "i16" ? HALF_FLOATS : ""}`,
  );

/** Throws a TensorError if a quantised column of scores or boxes has no scale, or if scores have a coarse scale. */
function checkScale(column: Column, head: HeadDraft, specs: readonly TensorSpec[], scores: ScoreForm): void {
  const spec = specs[column.tensor];
  const scale = checkHasScale(spec);
  const { zeroPoint } = spec;
  if (column === head.box || isFloat(spec) || scores === "logits") return;
  const [low, high] = rangeOf(spec);
  if (scale < COARSEST_STEP && high > 0 && low < 1) return;
  const shared =
    column.tensor === head.box.tensor
      ? "; boxes and scores share one scale here, which loses the scores: export them as outputs of their own"
      : "";
  refuse(
    shape(spec),
    `scale ${scale} and zero point ${zeroPoint} (values ${low}..${high} in steps of ${scale})`,
    `a scale that tells scores between 0 and 1 apart${shared}`,
  );
}
