/** The assignment against every possible one. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Assignment } from "../../src/track/assign.ts";
import { mulberry32 } from "../../bench/random.ts";

/** Weights of rows and columns; 0 stands for a pair that must not be chosen. */
const matrix = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 }))
  .chain(([rows, columns]) =>
    fc.array(
      fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1000 })), {
        minLength: columns,
        maxLength: columns,
      }),
      { minLength: rows, maxLength: rows },
    ),
  );

/** Returns the largest sum by trying every choice. */
function bestSum(
  weights: readonly (readonly number[])[],
  row = 0,
  taken: ReadonlySet<number> = new Set(),
): number {
  if (row === weights.length) return 0;
  let best = bestSum(weights, row + 1, taken);
  weights[row].forEach((weight, column) => {
    if (weight > 0 && !taken.has(column))
      best = Math.max(best, weight + bestSum(weights, row + 1, new Set([...taken, column])));
  });
  return best;
}

const assignment = new Assignment();

function add(to: Assignment, row: number, column: number, weight: number): void {
  const pair = to.add(row, column);
  to.weights[pair] = weight;
}

test("the sum of the weights is the largest, and no row or column has two", () => {
  fc.assert(
    fc.property(matrix, (weights) => {
      // One object for all matrices: what a larger one leaves behind must not count.
      assignment.begin(weights.length, weights[0].length);
      weights.forEach((row, r) => row.forEach((w, c) => w > 0 && add(assignment, r, c, w)));
      assignment.solve();
      let sum = 0;
      const columns = new Set<number>();
      for (let r = 0; r < weights.length; r++) {
        const c = assignment.columnOf[r];
        if (c < 0) continue;
        expect(weights[r][c]).toBeGreaterThan(0);
        expect(assignment.rowOf[c]).toBe(r);
        expect(columns.has(c)).toBe(false);
        columns.add(c);
        sum += weights[r][c];
      }
      expect([...assignment.rowOf.subarray(0, weights[0].length)].filter((r) => r >= 0)).toHaveLength(
        columns.size,
      );
      expect(sum).toBe(bestSum(weights));
    }),
    { numRuns: 500 },
  );
});

test("a greedy choice is not taken for the best one", () => {
  const greedy = new Assignment();
  greedy.begin(2, 2);
  // costs [[.1, .2], [.15, .9]]: greedy takes 0-0 and 1-1
  [0.9, 0.8, 0.85, 0.1].forEach((weight, i) => add(greedy, i >> 1, i & 1, weight));
  greedy.solve();
  expect([...greedy.columnOf.subarray(0, 2)]).toEqual([1, 0]);
});

test("more than two thousand pairs in one group", () => {
  const n = 60;
  const large = new Assignment();
  large.begin(n, n);
  // The one optimum is the mirrored diagonal.
  for (let r = 0; r < n; r++) for (let c = 0; c < n; c++) add(large, r, c, r + c === n - 1 ? 3 : 1);
  large.solve();
  expect([...large.columnOf.subarray(0, n)]).toEqual(Array.from({ length: n }, (_, r) => n - 1 - r));
});

/** Weights of a crowd: each is high for near points of the plane, times how good its column is. */
function crowd(rows: number, columns: number, levels: number): number[][] {
  const random = mulberry32(rows + columns);
  const points = (n: number): number[][] =>
    Array.from({ length: n }, () => [random(), random(), 0.5 + random() / 2]);
  const ends = points(columns);
  return points(rows).map(([x, y]) =>
    ends.map(([u, v, good]) => {
      const weight = good * (1.5 - Math.hypot(x - u, y - v)) - 0.1;
      return Math.max(0, levels > 0 ? Math.ceil(weight * levels) / levels : weight);
    }),
  );
}

// Worths are prices: if they cover every pair, no assignment has a larger sum than theirs.
test.each([
  [150, 150, 0],
  [200, 120, 0],
  [120, 200, 0],
  [150, 150, 3],
  [150, 150, 1],
])(
  "a crowd of %i x %i with %i levels of weight: the worths prove that the sum is the largest",
  (rows, columns, levels) => {
    const weights = crowd(rows, columns, levels);
    assignment.begin(rows, columns);
    weights.forEach((row, r) => row.forEach((w, c) => w > 0 && add(assignment, r, c, w)));
    assignment.solve();
    let sum = 0;
    let worth = 0;
    for (let r = 0; r < rows; r++) {
      const c = assignment.columnOf[r];
      worth += assignment.worthOfRow(r);
      if (c < 0) continue;
      expect(assignment.rowOf[c]).toBe(r);
      sum += weights[r][c];
    }
    let least = Infinity;
    for (let c = 0; c < columns; c++) {
      worth += assignment.worthOfColumn(c);
      weights.forEach((row, r) => {
        if (row[c] > 0)
          least = Math.min(least, assignment.worthOfRow(r) + assignment.worthOfColumn(c) - row[c]);
      });
    }
    expect(least).toBeGreaterThan(-1e-9);
    expect(sum).toBeCloseTo(worth, 6);
  },
);

test.each([
  [8, 6],
  [6, 8],
])(
  "%s x %s: a pair that was left out counts only if it weighs more than its row and column are worth",
  (rows, columns) => {
    const random = mulberry32(11);
    const sumOf = (pairs: readonly (readonly [number, number, number])[]): number => {
      assignment.begin(rows, columns);
      for (const [row, column, weight] of pairs) add(assignment, row, column, weight);
      assignment.solve();
      return pairs.reduce((sum, [row, column, w]) => sum + (assignment.columnOf[row] === column ? w : 0), 0);
    };
    let improved = 0;
    for (let run = 0; run < 300; run++) {
      const all = Array.from(
        { length: rows * columns },
        (_, i) => [i % rows, Math.floor(i / rows), random()] as const,
      );
      const known = all.filter(() => random() < 0.4);
      const before = sumOf(known);
      const worth = all.map(([row, column]) => assignment.worthOfRow(row) + assignment.worthOfColumn(column));
      all.forEach((pair, i) => {
        if (known.includes(pair)) return;
        const after = sumOf([...known, pair]);
        if (pair[2] <= worth[i]) expect(after).toBeCloseTo(before, 12);
        else if (after > before + 1e-12) improved++;
      });
    }
    expect(improved).toBeGreaterThan(20);
  },
);
