/** Finds the prototypes and the coefficients among the tensors of a network. */
import { refuseFor } from "../../core/errors.ts";
import type { TensorSpec } from "../../core/tensor.ts";
import { few, shape } from "../../core/tensor.ts";
import { classCounts } from "../../heads/exports.ts";
import { readAdded } from "../../heads/extra.ts";
import type { Interpretation, Specs, TaskPlan } from "../../heads/head.ts";
import type { HeadQuery } from "../../heads/query.ts";
import { PROTOTYPE_TYPES, type PrototypeType, type Prototypes } from "./source.ts";

/** The plan of a network with masks. */
export interface SegmentPlan extends TaskPlan {
  /** The prototypes of one image. */
  readonly prototypes: Prototypes;
  /** True if each row has one map of logits, and no coefficients. `prototypes` then describes the map of one row. */
  readonly isMapOfRow?: boolean;
}

/** One possible layout of a tensor of prototypes. */
interface PrototypeView {
  readonly tensor: number;
  /** True if the shape has a batch dimension. */
  readonly batched: boolean;
  readonly batch: number;
  readonly count: number;
  readonly width: number;
  readonly height: number;
  readonly order: "NCHW" | "NHWC";
}

/** Returns every possible layout of a tensor as prototypes: [N,M,h,w] or [N,h,w,M], each also without N. */
export function prototypeViews({ dims, order }: TensorSpec, tensor = 0): PrototypeView[] {
  const batched = dims.length === 4;
  const [batch, a, b, c] = batched ? dims : [1, ...dims];
  if (dims.length < 3 || dims.length > 4 || dims.includes(0)) return [];
  const orderWord = order?.toUpperCase() ?? "";
  const ways: PrototypeView[] = [];
  if (!/HWC$/.test(orderWord))
    ways.push({ tensor, batched, batch, count: a, width: c, height: b, order: "NCHW" });
  if (!/CHW$/.test(orderWord))
    ways.push({ tensor, batched, batch, count: c, width: b, height: a, order: "NHWC" });
  return ways;
}

/** Returns the address steps, element type and quantisation of prototypes. */
export function prototypesOf(
  seen: Pick<PrototypeView, "count" | "width" | "height" | "order">,
  spec: TensorSpec,
): Prototypes {
  const { count, width, height, order } = seen;
  const type = spec.type as PrototypeType;
  const { bytes } = PROTOTYPE_TYPES[type];
  const isPlanes = order === "NCHW";
  return {
    type,
    count,
    width,
    height,
    column: isPlanes ? bytes : bytes * count,
    row: isPlanes ? bytes * width : bytes * count * width,
    plane: isPlanes ? bytes * width * height : bytes,
    scale: spec.scale ?? 1,
    zeroPoint: spec.zeroPoint,
  };
}

/** Returns [got, expected] if masks cannot be made from prototypes of this element type, else `null`. */
export function typeProblem({ type, scale }: TensorSpec): [got: string, expected: string] | null {
  if (!Object.hasOwn(PROTOTYPE_TYPES, type)) return [`type ${type}`, "f32, f16, u8 or i8"];
  return scale === null ? [`${type} without a scale`, "scale and zeroPoint of the tensor"] : null;
}

const listOf = (names: string | readonly string[] | undefined): readonly string[] => [names ?? []].flat();

/** Returns every interpretation with masks. Throws unless the prototypes can be read in exactly one way. */
export function readSegment(query: HeadQuery, specs: Specs): readonly Interpretation[] {
  const remaining = waysToRead(query, specs);
  const got = specs.map(shape).join(", ");
  const other = remaining.length === 0 ? wayOfOtherProportions(query, specs) : undefined;
  if (other && query.inputSize) {
    const { tensor, width, height } = other;
    refuseFor(
      ["inputSize"],
      "segment",
      `prototypes ${shape(specs[tensor])}, ${width}x${height}, for an input of ${query.inputSize.join("x")}`,
      "prototypes with the proportions of the input: inputSize is [width, height]",
    );
  }
  const fitting = remaining.length === 0 && query.classes === null ? likelyClasses(query, specs) : [];
  if (fitting.length > 0)
    refuseFor(
      ["classes", "labels"],
      "segment",
      `${got}, and no number of classes`,
      `option classes, or labels (these shapes would be of ${fitting.join(" or ")} classes), or rows ` +
        "with class ids, 6 columns before the coefficients",
    );
  if (remaining.length === 0)
    refuseFor(["maskCoefficients", "classes", "roles"], "segment", got, expectedShapes(query));
  if (remaining.length > 1)
    refuseFor(
      ["maskCoefficients", "outputs", "roles"],
      "segment",
      `${got}, which can be read in ${remaining.length} ways: ${few(
        remaining.map(
          ({ seen: { tensor, count, width, height, order } }) =>
            `"${specs[tensor].name}" as ${count} prototypes of ${width}x${height} (${order})`,
        ),
        4,
      )}`,
      "order of the prototypes (NCHW or NHWC), maskCoefficients, or roles: {prototypes}",
    );
  const [{ seen, interpretations }] = remaining;
  const spec = specs[seen.tensor];
  const problem = typeProblem(spec);
  if (problem) refuseFor(["quantisation"], `prototypes "${spec.name}"`, ...problem);
  const { count, width, height, order } = seen;
  const plan: SegmentPlan = {
    name: "segment",
    crops: "none",
    about: `masks: ${count} coefficients, prototypes ${shape(spec)} ${spec.type} as ${order}, ${width}x${height}`,
    tensors: [seen.tensor],
    prototypes: prototypesOf(seen, spec),
  };
  return interpretations.map((reading) => ({ ...reading, uses: [...reading.uses, seen.tensor], task: plan }));
}

/** One possible layout of the prototypes, with the interpretations of the other tensors. */
interface PrototypeReading {
  readonly seen: PrototypeView;
  readonly interpretations: readonly Interpretation[];
}

/** Returns every layout of every tensor as prototypes that does not contradict the config. */
function candidates({ roles, task }: HeadQuery, specs: Specs): readonly PrototypeView[] {
  const wanted = roles?.prototypes;
  const isNamed = specs.some(({ name }) => name === wanted);
  return specs
    .flatMap((spec, i) => (isNamed && spec.name !== wanted ? [] : prototypeViews(spec, i)))
    .filter(({ count }) => task?.maskCoefficients === undefined || count === task.maskCoefficients);
}

/** Returns prototypes that fit except for their aspect ratio. Returns undefined if there are none. */
const wayOfOtherProportions = (query: HeadQuery, specs: Specs): PrototypeView | undefined =>
  candidates(query, specs).find(
    (seen) => !hasProportions(seen, query.inputSize) && withCoefficients(query, specs, seen).length > 0,
  );

/** Returns the class counts with which the masks use the most tensors, and the likeliest prototypes. */
function likelyClasses(query: HeadQuery, specs: Specs): readonly number[] {
  // The coefficients may follow the classes.
  const masks = [0, ...candidates(query, specs).map(({ count }) => count)];
  const channels = specs.flatMap(({ dims }) => dims.flatMap((d) => masks.map((count) => d - count)));
  const ranked = classCounts(query.traits, channels, Infinity).flatMap((classes) =>
    waysToRead({ ...query, classes }, specs).map(({ seen, interpretations }) => ({
      classes,
      rank: [Math.max(...interpretations.map(({ uses }) => uses.length)), ...rankOf(query, seen)],
    })),
  );
  const likeliest = ranked.filter(({ rank }) => !ranked.some((other) => isHigher(other.rank, rank)));
  return [...new Set(likeliest.map(({ classes }) => classes))];
}

/** True if prototypes have the input's proportions, within one cell, or if the input size is unknown. */
export const hasProportions = (
  { width, height }: Pick<PrototypeView, "width" | "height">,
  inputSize: HeadQuery["inputSize"],
): boolean => !inputSize || Math.abs(width * inputSize[1] - height * inputSize[0]) < Math.max(...inputSize);

/** True if `rank` is larger than `than` at the first index at which they differ. */
const isHigher = (rank: readonly number[], than: readonly number[]): boolean => {
  const at = rank.findIndex((n, i) => n !== than[i]);
  return at >= 0 && rank[at] > than[at];
};

/** Returns how likely a layout of prototypes is, the most important number first. */
function rankOf({ inputSize }: HeadQuery, { batched, width, height }: PrototypeView): readonly number[] {
  const [inputWidth, inputHeight] = inputSize ?? [0, 0];
  return [
    // Prefer prototypes with a batch dimension: networks have one in all tensors, or in none.
    Number(batched),
    // Prefer the larger map: prototypes have more pixels than any map of coefficients.
    width * height,
    // Prefer exact proportions: for an input of 192 x 128, [1,32,48,32] is NHWC, 48 wide and 32 high.
    Number(width * inputHeight === height * inputWidth),
  ];
}

/** Returns the likeliest prototypes with the interpretations of the other tensors. Boxes [1,8400,67] look like them. */
function waysToRead(query: HeadQuery, specs: Specs): readonly PrototypeReading[] {
  let open = candidates(query, specs).filter((seen) => hasProportions(seen, query.inputSize));
  while (open.length > 0) {
    const ranks = open.map((seen) => rankOf(query, seen));
    const isLikeliest = (_: unknown, i: number): boolean => !ranks.some((rank) => isHigher(rank, ranks[i]));
    const found = open
      .filter(isLikeliest)
      .map((seen) => ({ seen, interpretations: withCoefficients(query, specs, seen) }))
      .filter(({ interpretations }) => interpretations.length > 0);
    if (found.length > 0) return found;
    open = open.filter((seen, i) => !isLikeliest(seen, i));
  }
  return [];
}

/**
 * Returns the interpretations with `count` coefficients and the batch size of the prototypes. The coefficients follow
 * the classes, or have tensors of their own.
 */
function withCoefficients(
  query: HeadQuery,
  specs: Specs,
  { tensor, batch, count }: PrototypeView,
): readonly Interpretation[] {
  const names = listOf(query.roles?.coefficients);
  // Hide the prototypes, so that no head reads them as boxes or scores.
  const others = specs.map((spec, i) => (i === tensor ? { ...spec, dims: [] } : spec));
  return readAdded(query, others, {
    channels: count,
    names: specs.some(({ name }) => names.includes(name)) ? names : null,
  }).filter((reading) => reading.batch === batch);
}

/** Returns the shapes that an error asks for. */
function expectedShapes({ classes, task, inputSize }: HeadQuery): string {
  const c = classes ?? "C";
  const m = task?.maskCoefficients ?? 32;
  const map = inputSize ? `${inputSize[1] / 4},${inputSize[0] / 4}` : "H/4,W/4";
  return (
    `boxes with ${m} coefficients after them, such as [1,4+${c}+${m},N], [1,N,5+${c}+${m}] or [1,300,6+${m}], ` +
    `or coefficients in tensors of their own, and prototypes [1,${m},${map}] or [1,${map},${m}]`
  );
}
