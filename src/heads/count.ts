/** Finds the output with the count of valid rows in a finished list: by role, else by name, else by position. */
import { refuseFor } from "../core/errors.ts";
import { list, type TensorSpec, volume } from "../core/tensor.ts";
import type { Specs } from "./head.ts";
import { mayPlay, preferred } from "./match.ts";
import { BOX_NAME } from "../shapes/ways.ts";
import type { HeadQuery } from "./query.ts";

const COUNT_NAME = /num|count|valid|total|^n$/i;
/** Matches names that mean another part of a list. */
const PART_NAME = /score|conf|prob|class|label|id/i;

/** Returns a name without the number at its end. Names of a series share the rest. */
export const stemOf = (name: string): string => name.replace(/[-_:. ]?\d*$/, "");

/** Returns the index of the tensor of counts, -1 for none. Throws for several, or if lists always have one. */
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

/** True if only its position can identify a tensor: its name belongs to a series or means nothing. */
const mayBeCount = (spec: TensorSpec, specs: Specs): boolean =>
  specs.some((s) => s !== spec && stemOf(s.name) === stemOf(spec.name)) ||
  !specs.some((s) => s !== spec && (BOX_NAME.test(s.name) || PART_NAME.test(s.name)));
