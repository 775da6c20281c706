/** Greedy suppression by its definition, and relations that hold whatever the boxes are. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type NmsOptions, nms } from "../../src/decode/nms.ts";
import { engines } from "../support/engines.ts";
import { mulberry32, pick, shuffled } from "../support/seeded-networks.ts";
import { isThorough, repeats } from "../support/effort.ts";

const fround = Math.fround;

interface Scene {
  readonly boxes: Float32Array;
  readonly scores: Float32Array;
  readonly classIds: Int32Array;
}

/** Corners on a grid of 1/64, so that sums, shifts and doublings of them are exact. */
function scene(seed: number, n: number, classes = 3, ties = false): Scene {
  const random = mulberry32(seed);
  const boxes = new Float32Array(n * 4);
  const scores = new Float32Array(n);
  const classIds = new Int32Array(n);
  for (let i = 0; i < n; i++) {
    const x = Math.floor(random() * 256) / 64;
    const y = Math.floor(random() * 256) / 64;
    boxes.set([x, y, x + Math.floor(random() * 80) / 64, y + Math.floor(random() * 80) / 64], i * 4);
    scores[i] = ties ? pick(random, [0.25, 0.5, 0.75]) : (i + random() * 0.5) / n;
    classIds[i] = Math.floor(random() * classes);
  }
  const order = shuffled(random, n);
  const mixed = Float32Array.from(order, (i) => scores[i]);
  return { boxes, scores: mixed, classIds };
}

/** Intersection and union as f32 arithmetic has them. */
function overlap(b: ArrayLike<number>, i: number, k: number, offset = 0): { shared: number; union: number } {
  const side = (lo: number, hi: number): number => Math.max(0, fround(fround(hi - lo) + offset));
  const area = (j: number): number => fround(side(b[j * 4], b[j * 4 + 2]) * side(b[j * 4 + 1], b[j * 4 + 3]));
  const w = side(Math.max(b[i * 4], b[k * 4]), Math.min(b[i * 4 + 2], b[k * 4 + 2]));
  const h = side(Math.max(b[i * 4 + 1], b[k * 4 + 1]), Math.min(b[i * 4 + 3], b[k * 4 + 3]));
  const shared = fround(w * h);
  return { shared, union: fround(fround(area(i) + area(k)) - shared) };
}

/** Throws with a message. Plain throws: an `expect` for each pair of boxes takes half of the test's time. */
function demand(holds: boolean, message: () => string): void {
  if (!holds) throw new Error(message());
}

/** Throws if a kept set is not what greedy suppression means. */
function expectGreedy(s: Scene, kept: Int32Array, o: NmsOptions): void {
  const iou = fround(o.iouThreshold ?? 0.45);
  const perClass = o.classIds !== undefined;
  const hits = (i: number, k: number): boolean => {
    if (perClass && s.classIds[i] !== s.classIds[k]) return false;
    const { shared, union } = overlap(s.boxes, i, k, o.pixelOffset ?? 0);
    const quotient = fround(shared / union);
    return o.iouGate === ">=" ? quotient >= iou : quotient > iou;
  };
  const before = (i: number, k: number): boolean =>
    s.scores[i] > s.scores[k] || (s.scores[i] === s.scores[k] && i < k);
  const isAlive = (i: number): boolean => s.scores[i] > (o.scoreThreshold ?? -Infinity);
  const cap = o.maxDetections ?? Infinity;
  const chosen = new Set(kept);
  demand(chosen.size === kept.length, () => "an index is kept twice");
  demand(kept.length <= cap, () => `${kept.length} are kept, more than ${cap}`);
  kept.forEach((i) => demand(isAlive(i), () => `box ${i} is at or below the score threshold`));
  for (let r = 1; r < kept.length; r++)
    demand(before(kept[r - 1], kept[r]), () => `${kept[r - 1]} stands before ${kept[r]}`);
  for (let a = 0; a < kept.length; a++)
    for (let b = a + 1; b < kept.length; b++)
      demand(!hits(kept[a], kept[b]), () => `${kept[a]} and ${kept[b]} overlap, and both are kept`);
  const last = kept[kept.length - 1];
  for (let i = 0; i < s.scores.length; i++) {
    if (chosen.has(i) || !isAlive(i)) continue;
    // A box is dropped for a better one that is kept, or because enough were kept before it.
    const isCovered = kept.some((k) => before(k, i) && hits(k, i));
    demand(isCovered || (kept.length === cap && before(last, i)), () => `box ${i} is dropped for no reason`);
  }
}

test("the definition can fail", () => {
  const s: Scene = {
    boxes: Float32Array.of(0, 0, 4, 4, 0, 0, 4, 4, 8, 8, 9, 9),
    scores: Float32Array.of(0.9, 0.8, 0.7),
    classIds: new Int32Array(3),
  };
  expectGreedy(s, Int32Array.of(0, 2), {});
  for (const [kept, message] of [
    [[0, 1, 2], /0 and 1 overlap/],
    [[0], /box 2 is dropped for no reason/],
    [[2, 0], /2 stands before 0/],
    [[0, 0, 2], /kept twice/],
  ] as const)
    expect(() => expectGreedy(s, Int32Array.from(kept), {})).toThrow(message);
  expect(() => expectGreedy(s, Int32Array.of(0, 2), { maxDetections: 1 })).toThrow(/more than 1/);
  expect(() => expectGreedy(s, Int32Array.of(0, 2), { scoreThreshold: 0.75 })).toThrow(/score threshold/);
});

describe.each(engines)("nms, %s", (engine) => {
  test.each([
    {},
    { iouGate: ">=" as const },
    { iouThreshold: 0 },
    { iouThreshold: 0, iouGate: ">=" as const },
    { iouThreshold: 1, iouGate: ">=" as const },
    { iouThreshold: 1 },
    { iouThreshold: 0.5, pixelOffset: 1 },
    { maxDetections: 5 },
    { maxDetections: 1, scoreThreshold: 0.3 },
    { scoreThreshold: 0.6 },
  ] satisfies NmsOptions[])("is greedy suppression with %o", (options) => {
    for (const n of [1, 2, 3, 4, 5, 24, 25, 33, 200]) {
      for (const ties of [false, true]) {
        const s = scene(n, n, 3, ties);
        expectGreedy(s, nms(s.boxes, s.scores, { ...options, engine }), options);
        const perClass = { ...options, classIds: s.classIds };
        expectGreedy(s, nms(s.boxes, s.scores, { ...perClass, engine }), perClass);
      }
    }
  });

  test("an IoU of k / w equals the threshold k / w", () => {
    const scores = [0.9, 0.8];
    for (let w = 2; w <= 40; w++)
      for (let k = 1; k < w; k++)
        for (const classIds of [undefined, [1, 1]])
          for (const iouGate of [">", ">="] as const) {
            const options = { engine, iouGate, iouThreshold: k / w, ...(classIds && { classIds }) };
            const kept = nms([0, 0, w, 1, 0, 0, k, 1], scores, options);
            demand(kept.length === (iouGate === ">" ? 2 : 1), () => `${k} / ${w}, ${iouGate}`);
          }
  });

  test("areas near the smallest f32 have an IoU", () => {
    // 2^-149 is the smallest f32. Areas are 3 and 2 times that.
    const [x, y] = [2 ** -75, 2 ** -74];
    const boxes = [0, 0, 3 * x, y, 0, 0, 2 * x, y];
    const kept = (iouThreshold: number): number => nms(boxes, [0.9, 0.8], { engine, iouThreshold }).length;
    expect([0.6, 0.65, 0.67].map(kept)).toEqual([1, 1, 2]);
  });

  // kept boxes hang in strips of the image: none may be looked for in the wrong one
  test.each([
    ["small and far from zero", 1, 1000],
    ["of a few units in the last place", 2e-6, 8],
    ["of some tens of them", 2e-5, 8],
    ["of some hundreds", 2e-4, 8],
    ["small and below zero", 1e-3, -20],
    ["with areas that underflow", 1e-22, 0],
    ["large", 1e18, -1e17],
    ["on both sides of zero", 1, -0.5],
  ])("pairs about the threshold, %s", (_, size, at) => {
    const random = mulberry32(7);
    for (const iouThreshold of [0.01, 0.3, 0.45, 0.9]) {
      const n = 200;
      const boxes = new Float32Array(n * 4);
      for (let i = 0; i < n; i += 2) {
        const x = at + random() * 3 * size;
        const width = size * (0.01 + random());
        // boxes of one height, so far apart that their IoU is the threshold, but for the last digits
        const far =
          (width * (1 - iouThreshold)) / (1 + iouThreshold) + (Math.floor(random() * 9) - 4) * 1e-7 * width;
        boxes.set([x, at, x + width, at + size, x + far, at, x + far + width, at + size], i * 4);
      }
      if (random() < 0.5) boxes.set([at - 5 * size, at, at + 9 * size, at + size], 4 * (n - 1));
      const s = {
        boxes,
        scores: Float32Array.from({ length: n }, () => random()),
        classIds: new Int32Array(n),
      };
      expectGreedy(s, nms(boxes, s.scores, { engine, iouThreshold }), { iouThreshold });
    }
  });

  // Two boxes as wide as each other, shifted by `by` / `of` of their width, have an IoU of the threshold. One that is
  // shifted by a unit less is suppressed, wherever the borders of the strips lie between them.
  test.each([
    [0.25, 3, 5],
    [0.45, 11, 29],
    [0.5, 1, 3],
    [0.75, 1, 7],
  ])("a unit nearer than IoU %d, in strips of many widths", (iouThreshold, by, of) => {
    for (let k = 100; k < 300; k++) {
      const width = of * k;
      const near = by * k - 1;
      const options = { engine, iouThreshold };
      expect([...nms([0, 0, width, 9, near, 0, near + width, 9], [1, 0.5], options)]).toEqual([0]);
      expect([...nms([near, 0, near + width, 9, 0, 0, width, 9], [1, 0.5], options)]).toEqual([0]);
      expect([...nms([0, 0, width, 9, near + 2, 0, near + 2 + width, 9], [1, 0.5], options)]).toEqual([0, 1]);
    }
  });

  test("moving and doubling all boxes changes nothing", () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom(-2, 0.5, 3),
        (seed, n, by) => {
          const s = scene(seed, n);
          const base = [...nms(s.boxes, s.scores, { engine, classIds: s.classIds })];
          const moved = s.boxes.map((v) => v + by);
          const doubled = s.boxes.map((v) => v * 4);
          expect([...nms(moved, s.scores, { engine, classIds: s.classIds })]).toEqual(base);
          expect([...nms(doubled, s.scores, { engine, classIds: s.classIds })]).toEqual(base);
        },
      ),
      { numRuns: repeats(60, 15) },
    );
  });

  test("boxes in another order give the same boxes, classes by other numbers too", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 60 }), (seed, n) => {
        const s = scene(seed, n);
        const base = [...nms(s.boxes, s.scores, { engine, classIds: s.classIds })];
        const order = shuffled(mulberry32(seed + 1), n);
        const boxes = new Float32Array(n * 4);
        order.forEach((from, to) => boxes.set(s.boxes.subarray(from * 4, from * 4 + 4), to * 4));
        const got = nms(
          boxes,
          order.map((i) => s.scores[i]),
          { engine, classIds: order.map((i) => s.classIds[i]) },
        );
        expect([...got].map((i) => order[i])).toEqual(base);
        // labels that share a chain of the kernel (equal in the low eight bits), negative and large ones
        const other = [7, 7 + 256, -5];
        expect([
          ...nms(s.boxes, s.scores, { engine, classIds: Array.from(s.classIds, (c) => other[c]) }),
        ]).toEqual(base);
      }),
      { numRuns: repeats(60, 15) },
    );
  });

  test("box formats say the same boxes", () => {
    const s = scene(5, 50);
    const base = nms(s.boxes, s.scores, { engine });
    const each = (f: (a: number, b: number, c: number, d: number, i: number) => number[]): number[] =>
      Array.from({ length: 50 }, (_, i) =>
        f(...([...s.boxes.subarray(i * 4, i * 4 + 4)] as [number, number, number, number]), i),
      ).flat();
    const formats: [NmsOptions["boxFormat"], number[]][] = [
      ["xyxy", [...s.boxes]],
      ["yxyx", each((a, b, c, d) => [b, a, d, c])],
      ["xywh", each((a, b, c, d) => [a, b, c - a, d - b])],
      ["cxcywh", each((a, b, c, d) => [(a + c) / 2, (b + d) / 2, c - a, d - b])],
      // Most boxes have their corners in order, or they would be refused as sizes.
      ["xyxy", each((a, b, c, d, i) => (i % 3 === 2 ? [c, d, a, b] : [a, b, c, d]))],
    ];
    for (const [boxFormat, boxes] of formats)
      expect(nms(boxes, s.scores, { engine, boxFormat })).toEqual(base);
  });

  test("what is not finite is left out and hides nothing", () => {
    const boxes = [0, 0, 1, 1, NaN, 0, 1, 1, 0, 0, Infinity, 1, 0, 0, 1, 1, 5, 5, 6, 6];
    expect([...nms(boxes, [0.5, 0.9, 0.9, NaN, 0.1], { engine })]).toEqual([0, 4]);
    expect([...nms([0, 0, 1, 1], [-Infinity], { engine })]).toEqual([0]);
    expect([...nms([0, 0, 1, 1], [NaN], { engine })]).toEqual([]);
  });

  test.each(isThorough ? [3073, 4096, 8192, 20000] : [3073])(
    "%i scores of which a sample tells nothing",
    (n) => {
      // the sample takes every n/512th: what returns in that rhythm it sees always, or never
      for (const period of [2, 8, Math.floor(n / 512), 64, 100])
        for (const phase of [0, 1])
          for (const high of [0.9, 0.05]) {
            const scores = Float32Array.from({ length: n }, (_, i) =>
              i % period === phase ? high : 0.1 + i * 1e-7,
            );
            const boxes = Float32Array.from({ length: n * 4 }, (_, i) => (i >> 2) * 2 + (i % 4 > 1 ? 1 : 0));
            const order = [...scores.keys()].sort((a, b) => scores[b] - scores[a] || a - b);
            for (const maxDetections of [300, 2500])
              expect(nms(boxes, scores, { engine, maxDetections })).toEqual(
                Int32Array.from(order.slice(0, maxDetections)),
              );
          }
    },
  );

  // from one that is inserted to several waves, wherever among the scores the strange ones stand, met or not
  test.each([8, 24, 100, 1000, 5000, 20000])("%i boxes with strange ones among them", (n) => {
    for (const [seed, share] of [
      [1, 1 / n],
      [2, 0.002],
      [3, 0.3],
    ] as const)
      for (const maxDetections of [1, 20, 300]) {
        const s = scene(seed * n, n);
        const random = mulberry32(seed + n + maxDetections);
        const clean: number[] = [];
        const dirty = { boxes: s.boxes.slice(), scores: s.scores.slice() };
        for (let i = 0; i < n; i++) {
          const kind = random() < share ? Math.floor(random() * 6) : -1;
          const box = i * 4;
          if (kind === 0) dirty.scores[i] = NaN;
          else if (kind === 1)
            new Int32Array(dirty.scores.buffer)[i] = -1; // a NaN with its sign set
          else if (kind === 2) dirty.boxes[box + Math.floor(random() * 4)] = NaN;
          else if (kind === 3)
            dirty.boxes[box + Math.floor(random() * 4)] = random() < 0.5 ? Infinity : -Infinity;
          else {
            clean.push(i);
            if (kind === 4)
              dirty.boxes.set([s.boxes[box + 2], s.boxes[box + 1], s.boxes[box], s.boxes[box + 3]], box);
            if (kind === 5)
              dirty.boxes.set([s.boxes[box + 2], s.boxes[box + 3], s.boxes[box], s.boxes[box + 1]], box);
          }
        }
        const without = nms(
          clean.flatMap((i) => [...s.boxes.subarray(i * 4, i * 4 + 4)]),
          clean.map((i) => s.scores[i]),
          { engine, maxDetections },
        );
        expect([...nms(dirty.boxes, dirty.scores, { engine, maxDetections })]).toEqual(
          [...without].map((k) => clean[k]),
        );
      }
  });

  test.each([25, 100, 5000])("%i negative scores stand in order, among positive ones and alone", (n) => {
    const boxes = Float32Array.from({ length: n * 4 }, (_, i) => (i >> 2) * 2 + (i % 4 > 1 ? 1 : 0));
    for (const shift of [0.5, 2]) {
      const random = mulberry32(n);
      const scores = Float32Array.from({ length: n }, () => random() - shift);
      const order = [...scores.keys()].sort((a, b) => scores[b] - scores[a] || a - b);
      expect([...nms(boxes, scores, { engine })]).toEqual(order);
    }
  });

  test("negative scores and both zeros stand in order", () => {
    const apart = [0, 0, 1, 1, 2, 0, 3, 1, 4, 0, 5, 1, 6, 0, 7, 1, 8, 0, 9, 1];
    expect([...nms(apart, [-1, 0, -0, 2, -Infinity], { engine })]).toEqual([3, 1, 2, 0, 4]);
    const many = 40;
    const boxes = Array.from({ length: many }, (_, i) => [i * 2, 0, i * 2 + 1, 1]).flat();
    const scores = Array.from({ length: many }, (_, i) => (i % 2 === 0 ? -0 : 0));
    expect([...nms(boxes, scores, { engine })]).toEqual(scores.map((_, i) => i));
  });

  test("a hundred thousand boxes", () => {
    const n = 100_000;
    const random = mulberry32(1);
    const boxes = new Float32Array(n * 4);
    const scores = Float32Array.from({ length: n }, () => random());
    for (let i = 0; i < n; i++) {
      const x = Math.floor(random() * 300);
      const y = Math.floor(random() * 300);
      boxes.set([x, y, x + 20, y + 20], i * 4);
    }
    const kept = nms(boxes, scores, { engine, maxDetections: 500 });
    expect(kept.length).toBe(500);
    for (let a = 1; a < kept.length; a++) {
      expect(scores[kept[a - 1]] >= scores[kept[a]]).toBe(true);
      for (let b = 0; b < a; b++) {
        const { shared, union } = overlap(boxes, kept[a], kept[b]);
        if (fround(shared / union) > fround(0.45)) throw new Error(`${kept[a]} and ${kept[b]} overlap`);
      }
    }
    // nothing better than the last was left out without a reason
    const chosen = new Set(kept);
    for (let i = 0; i < n; i++) {
      if (chosen.has(i) || scores[i] <= scores[kept[499]]) continue;
      const why = kept.some((k) => {
        const { shared, union } = overlap(boxes, i, k);
        return scores[k] >= scores[i] && fround(shared / union) > fround(0.45);
      });
      if (!why) throw new Error(`box ${i} was dropped for nothing`);
    }
  });

  test("nothing gives nothing", () => {
    expect(nms([], [], { engine })).toEqual(new Int32Array(0));
    expect(nms([0, 0, 1, 1], [1], { engine, maxDetections: 0 })).toEqual(new Int32Array(0));
  });

  test("a bound that is none, no options, doubles that f32 does not hold", () => {
    expect(nms([0, 0, 1, 1], [1], { engine, maxDetections: Infinity })).toEqual(Int32Array.of(0));
    expect(nms([0, 0, 1, 1], [1], null as unknown as NmsOptions)).toEqual(Int32Array.of(0));
    expect(nms([0, 0, 1e39, 1, 0, 0, 1, 1], [1, 0.5], { engine })).toEqual(Int32Array.of(1));
  });
});

test.each<readonly [name: string, args: readonly unknown[], message: string]>([
  ["boxes that are texts", [["0", 0, 1, 1], [1]], 'boxes[0]: got "0", expected a number'],
  [
    "boxes in lists of their own",
    [[[0, 0, 1, 1]], [1]],
    "boxes[0]: got [0,0,1,1], expected a number: all values stand in one flat list",
  ],
  ["boxes with holes", [{ length: 4, 0: 1 }, [1]], "boxes[1]: got undefined, expected a number"],
  ["scores that are null", [[0, 0, 1, 1], [null]], "scores[0]: got null, expected a number"],
  [
    "a negative pixelOffset",
    [[0, 0, 1, 1], [1], { pixelOffset: -100 }],
    "pixelOffset: got -100, expected a number from 0 to 1000",
  ],
])("refuses %s", (_, args, message) => {
  const call = (): unknown => nms(...(args as Parameters<typeof nms>));
  expect(call).toThrow(RangeError);
  expect(call).toThrow(message);
});

test("the engines agree on every call", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.float(), fc.float(), fc.float(), fc.float(), fc.float()), { maxLength: 40 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      (rows, iouThreshold, perClass) => {
        // Most boxes have their corners in order, or they would be refused as sizes.
        const boxes = rows.flatMap(([a, b, c, d], i) =>
          i % 3 === 2 ? [a, b, c, d] : [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)],
        );
        const scores = rows.map((r) => r[4]);
        const classIds = perClass ? { classIds: rows.map((_, i) => i % 3) } : {};
        const [first, ...others] = engines.map((engine) =>
          nms(boxes, scores, { engine, iouThreshold, ...classIds }),
        );
        for (const other of others) expect(other).toEqual(first);
      },
    ),
    {
      numRuns: repeats(500, 100),
      // The quotient of intersection and union underflows to 0.
      examples: [
        [
          [
            [-7.011084125546791e-25, 0, 0, -2.852505928769801e24, 0],
            [-7.011071799595147e-25, 0, -50201292800, -1.6729239521451333e-15, 0],
          ],
          0,
          false,
        ],
      ],
    },
  );
});

describe("bad arguments", () => {
  test.each<[string, () => unknown]>([
    ["boxes: got 3 numbers, expected 4, four for each of 1 scores", () => nms([1, 2, 3], [1])],
    [
      "classIds: got 1, expected 2, one for each score",
      () => nms(new Float32Array(8), [1, 2], { classIds: [0] }),
    ],
    ["iouThreshold: got 1.5, expected a number in 0..1", () => nms([0, 0, 1, 1], [1], { iouThreshold: 1.5 })],
    ["iouThreshold: got NaN, expected a number in 0..1", () => nms([0, 0, 1, 1], [1], { iouThreshold: NaN })],
    [
      "maxDetections: got -1, expected a whole number from 0 up",
      () => nms([0, 0, 1, 1], [1], { maxDetections: -1 }),
    ],
    ["maxDetections: got 0.5, expected a whole number", () => nms([0, 0, 1, 1], [1], { maxDetections: 0.5 })],
    [
      'boxFormat: got "corners", expected one of xyxy, yxyx, cxcywh, xywh',
      () => nms([0, 0, 1, 1], [1], { boxFormat: "corners" as unknown as "xyxy" }),
    ],
    ["scoreThreshold: got NaN, expected a number", () => nms([0, 0, 1, 1], [1], { scoreThreshold: NaN })],
    [
      "scoreThreshold: got 1.2, and scores in 0..1, expected a threshold below 1",
      () => nms([0, 0, 1, 1], [0.5], { scoreThreshold: 1.2 }),
    ],
    ["pixelOffset: got Infinity, expected a number", () => nms([0, 0, 1, 1], [1], { pixelOffset: Infinity })],
    [
      'iouGate: got "=", expected one of >, >=',
      () => nms([0, 0, 1, 1], [1], { iouGate: "=" as unknown as ">" }),
    ],
    ["boxes: got undefined, expected an array of numbers", () => (nms as () => unknown)()],
    ['boxes: got "abcd", expected an array of numbers', () => nms("abcd" as unknown as number[], [1])],
    [
      "scores: got BigInt64Array [1n], expected an array of numbers",
      () => nms([0, 0, 1, 1], BigInt64Array.of(1n) as unknown as number[]),
    ],
    ...[NaN, 0.5, "a", 2 ** 31].map((id): [string, () => unknown] => [
      `classIds[1]: got ${typeof id === "string" ? '"a"' : id}, expected a whole number of 32 bits`,
      () => nms(new Float32Array(8), [1, 2], { classIds: [0, id as number] }),
    ]),
    [
      'maxDetections: got "1", expected',
      () => nms([0, 0, 1, 1], [1], { maxDetections: "1" as unknown as number }),
    ],
    [
      'iouThreshold: got "0.5", expected',
      () => nms([0, 0, 1, 1], [1], { iouThreshold: "0.5" as unknown as number }),
    ],
    [
      "iou: got an unknown name, expected one of scoreThreshold, maxDetections, ",
      () => nms([0, 0, 1, 1], [1], { iou: 0.5 } as NmsOptions),
    ],
    [
      "options: got 0.5, expected an object with some of scoreThreshold, ",
      () => nms([0, 0, 1, 1], [1], 0.5 as NmsOptions),
    ],
    [
      'engine: got "wasm", expected "auto", "simd", "scalar" or "ts"',
      () => nms([0, 0, 1, 1], [1], { engine: "wasm" as unknown as "ts" }),
    ],
  ])("%s", (message, call) => {
    expect(call).toThrow(RangeError);
    expect(call).toThrow(message);
  });
});

test.each(engines)("a score exactly at scoreThreshold is left out, the next one up is not (%s)", (engine) => {
  const boxes = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5];
  // half of f32, and its neighbours
  const scores = [0.5, 0.5 + 2 ** -24, 0.5 - 2 ** -25];
  for (const boxFormat of ["xyxy", "xywh"] as const)
    expect([...nms(boxes, scores, { engine, boxFormat, scoreThreshold: 0.5 })]).toEqual([1]);
  // where none is left out, not even the lowest there is
  expect([...nms(boxes, [-Infinity, 1, 0], { engine })]).toEqual([1, 2, 0]);
  expect([...nms(boxes, [-Infinity, 1, 0], { engine, boxFormat: "xywh" })]).toEqual([1, 2, 0]);
  // where none can pass
  expect([...nms(boxes, [0.5, Infinity, 1], { engine, scoreThreshold: Infinity })]).toEqual([]);
});
