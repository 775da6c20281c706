/** Finds tensors with exchanged last two axes: the network outputs them transposed, or the stated dims are wrong. */
import { list, type TensorSpec } from "../core/tensor.ts";
import { classCounts, MOST_CLASSES } from "./exports.ts";
import type { Specs } from "./head.ts";
import { readAll } from "./interpret.ts";
import { hasOnlyFinishedRows, type HeadQuery } from "./query.ts";

const turnedSpec = (spec: TensorSpec): TensorSpec => ({
  ...spec,
  dims: [...spec.dims.slice(0, -2), ...spec.dims.slice(-2).reverse()],
});

/** Returns advice to exchange the last two axes of some tensors, or `null` if the tensors would not fit then either. */
export function exchangedAxes(query: HeadQuery, specs: Specs): string | null {
  if (readsAll(query, specs)) return null;
  const mayTurn = specs.map(
    ({ dims, order }) =>
      order === null && dims.length === 3 && dims[1] !== dims[2] && Math.min(dims[1], dims[2]) > 1,
  );
  const singles = specs.map((_, i) => (k: number) => k === i);
  for (const isTurned of [...singles, () => true]) {
    const turned = specs.map((spec, i) => (mayTurn[i] && isTurned(i) ? turnedSpec(spec) : spec));
    const changed = turned.filter((spec, i) => spec !== specs[i]);
    if (changed.length > 0 && readsAll(query, turned))
      return (
        `with the last two axes exchanged, ${list(changed)}, these would be read: transpose the data, or state the ` +
        "dims in which the data lie"
      );
  }
  return null;
}

/** True if some interpretation uses all tensors. Tries every possible class count if the query states none. */
function readsAll(query: HeadQuery, specs: Specs): boolean {
  const dims = specs.flatMap((spec) => spec.dims);
  // Try each tensor as finished rows. If there are two tensors, the other one holds the class ids.
  const orders = (hasOnlyFinishedRows(query.traits) && query.traits.finishedRows) || [];
  const told = specs.map((spec, i) => ({
    ...spec,
    finished: { orders, classIds: specs.length === 2 ? 1 - i : -1, counts: -1 },
  }));
  const counts = query.classes === null ? classCounts(query.traits, dims, MOST_CLASSES) : [query.classes];
  return counts.some((classes) => {
    try {
      return readAll({ ...query, classes }, told).some(({ uses }) => uses.length === specs.length);
    } catch {
      return false;
    }
  });
}
