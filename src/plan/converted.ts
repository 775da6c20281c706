/** Interprets tensors as a decoder does: finished rows as it converts them, if the kernel cannot read them. */
import { TRAITS } from "../core/families.ts";
import { rowOrder } from "../core/row-orders.ts";
import type { TensorSpec } from "../core/tensor.ts";
import {
  asConverted,
  countsOf,
  findFinishedRows,
  type FoundRows,
  imagesOf,
  LEAST_ROOM,
} from "../heads/finished-rows.ts";
import { familyOf, outputsOf } from "../heads/query.ts";
import { type Interpreted, interpretConfig } from "./make.ts";

/** Does the same as `interpretConfig`. `isConverted`: the plan reads rows that a decoder converts in each frame. */
export function interpretConverted(
  ...[config, specs, planners, valuesOf]: Parameters<typeof interpretConfig>
): Interpreted & { readonly isConverted: boolean } {
  const interpret = (tensors: readonly TensorSpec[], isConverted = false, own = config) => ({
    ...interpretConfig(own, tensors, planners, valuesOf),
    isConverted,
  });
  if (!config.decodes || specs.length === 0) return interpret(specs);
  const outputs = outputsOf(config, specs);
  const traits = TRAITS[familyOf(config, outputs).family];
  const found = findFinishedRows({ ...config, traits }, outputs);
  // Values of a frame tell cells from finished rows. Without values, the shapes are those of cells.
  if (!found || (found.mayBeCells && config.reading === null)) return interpret(specs);
  if (found.needsConversion)
    return interpret(convertedSpecs(found, outputs[found.at]), true, {
      ...config,
      ...asConverted(found.orders[0]).config,
    });
  return interpret(specs.map((s) => (s === outputs[found.at] ? { ...s, finished: found } : s)));
}

/** Returns the specs of converted rows and their counts. */
function convertedSpecs(
  { orders: [order], isRotated, counts }: FoundRows,
  { name, dims }: TensorSpec,
): TensorSpec[] {
  const plain = { scale: 1, zeroPoint: 0, order: null } as const;
  const images = imagesOf({ dims });
  // Counted rows stay as they are, with keypoints after their columns.
  const width = counts >= 0 ? dims[dims.length - 1] : rowOrder(order).width + (isRotated ? 1 : 0);
  const { finished } = asConverted(order);
  return [
    { ...plain, name, dims: [images, LEAST_ROOM, width], type: "f32", finished },
    { ...plain, name: countsOf(name), dims: [images], type: "i32" },
  ];
}
