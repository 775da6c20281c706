/** Reads the masks of networks that output one map of logits per query: RF-DETR's masks [N,Q,h,w]. */
import { refuseFor } from "../../core/errors.ts";
import { list, shape } from "../../core/tensor.ts";
import { cellsOf } from "../../shapes/grids.ts";
import type { Interpretation, Specs } from "../../heads/head.ts";
import { interpret } from "../../heads/interpret.ts";
import type { HeadQuery } from "../../heads/query.ts";
import { type SegmentPlan, hasProportions, prototypesOf, typeProblem } from "./plan.ts";

/** Returns every interpretation with one map per query. Throws if no tensor has a map for each query. */
export function readQueryMasks(query: HeadQuery, specs: Specs): readonly Interpretation[] {
  const { masks, ...others } = query.roles ?? {};
  const boxes: HeadQuery = { ...query, roles: Object.keys(others).length > 0 ? others : null };
  const isStated = specs.some(({ name }) => name === masks);
  const interpretations = specs.flatMap((spec, i) => {
    if (spec.dims.length !== 4 || spec.dims.includes(0) || (isStated && spec.name !== masks)) return [];
    const beside = interpret(
      boxes,
      specs.map((other, k) => (k === i ? { ...other, dims: [] } : other)),
    );
    const fitting = beside.filter(
      ({ batch, heads }) =>
        batch === spec.dims[0] &&
        cellsOf(heads) === spec.dims[1] &&
        hasProportions({ width: spec.dims[3], height: spec.dims[2] }, query.inputSize),
    );
    const problem = fitting.length > 0 && typeProblem(spec);
    if (problem) refuseFor(["quantisation"], `masks "${spec.name}"`, ...problem);
    const [, , height, width] = spec.dims;
    return fitting.map((one): Interpretation => {
      const task: SegmentPlan = {
        name: "segment",
        crops: "none",
        about: `masks: logits ${shape(spec)} ${spec.type}, a map of ${width}x${height} for each query`,
        tensors: [i],
        isMapOfRow: true,
        notInFiles: true,
        prototypes: prototypesOf({ count: 1, width, height, order: "NCHW" }, spec),
      };
      return { ...one, uses: [...one.uses, i], task };
    });
  });
  if (interpretations.length === 0) {
    // `interpret` may throw an error about boxes and scores, which helps more than an error about masks.
    const queries = interpret(boxes, specs)[0]?.tensors[0]?.[0]?.dims[1] ?? "Q";
    refuseFor(
      ["roles", { option: "task", value: "detect" }],
      "segment",
      list(specs),
      `for ${query.family}: boxes and scores, and masks [N,${queries},h,w], a map for each query in the proportions of the input`,
    );
  }
  return interpretations;
}
