/** Finds the output with the count of valid rows of a finished list: by role, else by name, else by its shape. */
import { refuseFor } from "../core/errors.ts";
import { list, type TensorSpec, volume } from "../core/tensor.ts";
import type { Specs } from "./head.ts";
import { mayPlay, preferred } from "./match.ts";
import { BOX_NAME } from "../shapes/ways.ts";
import type { HeadQuery } from "./query.ts";

const COUNT_NAME = /num|count|valid|total|^n$/i;
/** Matches names of the other parts of a list. */
const PART_NAME = /score|conf|prob|class|label|id/i;

/** Returns a name without the number at its end. Names such as "output_1" and "output_2" share this stem. */
export const stemOf = (name: string): string => name.replace(/[-_:. ]?\d*$/, "");

/** Returns the index of the tensor of counts, or -1. Throws for several, or for none if the family always has one. */
export function countAmong(query: HeadQuery, specs: Specs, classIds: number): number {
  const { dims } = specs[classIds];
  const images = dims.length > 1 ? dims[0] : 1;
  const fits = specs.filter(
    (s, i) =>
      i !== classIds &&
      [1, images].includes(volume(s.dims)) &&
      mayPlay(query, "count", s.name) &&
      !mayPlay(query, "scores", s.name),
  );
  const isTold = ({ name }: TensorSpec): boolean =>
    query.roles?.count !== undefined || COUNT_NAME.test(name) || /[_:]3$/.test(name);
  const candidates = preferred(fits, isTold).filter((s) => isTold(s) || mayBeCount(s, specs));
  if (candidates.length > 1)
    refuseFor(
      ["roles"],
      list(specs),
      `${candidates.map(({ name }) => name).join(" and ")}, of which each may be the count of rows`,
      `roles: { count: "${candidates[0].name}" }, or the name of the other one`,
    );
  if (candidates.length === 0 && query.traits.hasCount)
    refuseFor(
      ["roles"],
      list(specs),
      "no count of the rows",
      `the output that counts them, as lists of ${query.family} always have: rows beyond the count are left over ` +
        'from other frames. Pass it, and name it by roles: { count: "name" }',
    );
  return specs.indexOf(candidates[0]);
}

/** True if the name may be a count's: the name belongs to a numbered series, or no other name means a part. */
const mayBeCount = (spec: TensorSpec, specs: Specs): boolean =>
  specs.some((s) => s !== spec && stemOf(s.name) === stemOf(spec.name)) ||
  !specs.some((s) => s !== spec && (BOX_NAME.test(s.name) || PART_NAME.test(s.name)));
