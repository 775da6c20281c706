/** The optimum of SciPy's solver, without and with a limit of cost. */
import { expect, test } from "vitest";
import { Assignment } from "../../src/track/assign.ts";
import { readBeyond } from "../support/beyond.ts";

type Pairs = readonly (readonly [number, number])[];

interface Case {
  readonly cost: readonly (readonly number[])[];
  readonly scipy_pairs: Pairs;
  readonly [limit: `lap cost_limit ${string}`]: { readonly pairs: Pairs; readonly objective: number };
}

const { cases } = readBeyond("assignment") as { cases: readonly Case[] };

/** Assigns by weights of `limit` - cost, and returns the pairs by row. */
function assign(cost: Case["cost"], limit: number): number[][] {
  const assignment = new Assignment();
  assignment.begin(cost.length, cost[0].length);
  cost.forEach((row, r) =>
    row.forEach((value, c) => {
      if (value >= limit) return;
      const pair = assignment.add(r, c);
      assignment.weights[pair] = limit - value;
    }),
  );
  assignment.solve();
  return cost.flatMap((_, r) => (assignment.columnOf[r] < 0 ? [] : [[r, assignment.columnOf[r]]]));
}

test.each(cases.map((c, i) => [c.cost.length, c.cost[0].length, i] as const))(
  "%i x %i, case %i",
  (...[, , i]) => {
    const given = cases[i];
    // No cost is above 1, so a limit of 100 makes the most pairs.
    expect(assign(given.cost, 100)).toEqual(given.scipy_pairs);
    const limits = Object.keys(given).filter((key) => key.startsWith("lap cost_limit"));
    expect(limits.length).toBeGreaterThan(0);
    for (const key of limits) {
      const limit = Number(key.split(" ")[2]);
      const expected = given[key as `lap cost_limit ${string}`];
      expect(assign(given.cost, limit), key).toEqual(expected.pairs);
    }
  },
);
