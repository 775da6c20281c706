/** What holds for every plan of tiles and every merge. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { setLength } from "../../src/decode/detections.ts";
import {
  Detections,
  type MergeTilesOptions,
  type Tile,
  type TileOptions,
  createTileMerger,
  mergeTiles,
  nms,
  tiles,
} from "../../src/entries/index.ts";
import { repeats } from "../support/effort.ts";

const side = fc.integer({ min: 1, max: 900 });
const tileSide = fc.integer({ min: 1, max: 400 }).map((v) => Math.max(v, 20));

describe("tiles", () => {
  test("cover the picture, lie inside of it, are full and overlap by what was asked", () => {
    fc.assert(
      fc.property(
        side,
        side,
        tileSide,
        tileSide,
        fc.double({ min: 0, max: 0.9, noNaN: true }),
        (w, h, tw, th, overlap) => {
          const count = (length: number, tile: number): number =>
            1 + Math.ceil(Math.max(0, length - tile) / (tile - Math.floor(overlap * tile)));
          fc.pre(count(w, tw) * count(h, th) <= 100_000);
          const plan = tiles([w, h], { tile: [tw, th], overlap });
          const axis = (
            length: number,
            tile: number,
            begin: (t: Tile) => number,
            size: (t: Tile) => number,
          ): number[] => {
            const starts = [...new Set(plan.map(begin))].sort((a, b) => a - b);
            for (const t of plan) expect(size(t)).toBe(Math.min(tile, length));
            expect(starts[0]).toBe(0);
            expect(starts[starts.length - 1] + Math.min(tile, length)).toBe(length);
            const step = tile - Math.floor(overlap * tile);
            starts.slice(1).forEach((s, i) => {
              const isLast = i === starts.length - 2;
              if (isLast) expect(s - starts[i]).toBeLessThanOrEqual(step);
              else expect(s - starts[i]).toBe(step);
            });
            return starts;
          };
          const xs = axis(
            w,
            tw,
            (t) => t.x,
            (t) => t.width,
          );
          const ys = axis(
            h,
            th,
            (t) => t.y,
            (t) => t.height,
          );
          expect(plan.map(({ x, y }) => [x, y])).toEqual(ys.flatMap((y) => xs.map((x) => [x, y])));
        },
      ),
    );
  });

  test("SAHI's grid of 1000 x 700", () => {
    const plan = tiles([1000, 700], { tile: 512 });
    expect(plan.map(({ x, y }) => [x, y])).toEqual([
      [0, 0],
      [410, 0],
      [488, 0],
      [0, 188],
      [410, 188],
      [488, 188],
    ]);
  });

  test("the whole picture comes last, where there is more than one tile", () => {
    expect(tiles([100, 100], { tile: 60, whole: true }).at(-1)).toEqual({
      x: 0,
      y: 0,
      width: 100,
      height: 100,
    });
    expect(tiles([100, 100], { tile: 100, whole: true })).toHaveLength(1);
    expect(tiles([30, 20], { tile: 640 })).toEqual([{ x: 0, y: 0, width: 30, height: 20 }]);
  });

  test("a step of less than a pixel is one of a pixel", () => {
    expect(tiles([5, 1], { tile: 1, overlap: 0.99 })).toHaveLength(5);
  });

  test.each([
    [[100, 100], { tile: 0 }, "tile: got 0, expected a whole number of pixels"],
    [[100, 100], {}, "tile: got undefined"],
    [[100, 100], { tile: [64, 64, 64] }, "tile: got [64,64,64]"],
    [[100, 100], { tile: 64, overlap: 1 }, "overlap: got 1, expected a part of a tile from 0 to below 1"],
    [[100, 100], { tile: 64, overlap: 100 }, "overlap: got 100"],
    [[100, 100], { tile: 64, whole: 1 }, "whole: got 1"],
    [[100, 100], { tile: 64, slice: 3 }, "slice: got an unknown name"],
    [[100.5, 100], { tile: 64 }, "size: got [100.5,100], expected [width, height]"],
    [100, { tile: 64 }, "size: got "],
    [[100, 100], 64, "options: got 64"],
  ])("%j, %j", (size, options, message) => {
    const call = () => tiles(size as [number, number], options as TileOptions);
    expect(call).toThrow(RangeError);
    expect(call).toThrow(message);
  });
});

interface Found {
  readonly box: readonly [number, number, number, number];
  readonly score: number;
  readonly classId: number;
}

/** Returns boxes in pixels of a tile as detections of it. */
function detections(
  { x, y, width, height }: Tile,
  found: readonly Found[],
  labels: string[] | null = null,
): Detections {
  const d = new Detections(
    Float32Array.from(
      found.flatMap(({ box: [a, b, c, e] }) => [
        (a - x) / width,
        (b - y) / height,
        (c - x) / width,
        (e - y) / height,
      ]),
    ),
    Float32Array.from(found, ({ score }) => score),
    Int32Array.from(found, ({ classId }) => classId),
    Uint32Array.from(found, (_, i) => i),
    labels,
  );
  setLength(d, found.length);
  return d;
}

const SIZE = [256, 256] as const;
const WHOLE = { x: 0, y: 0, width: 256, height: 256 };

/** Boxes of whole pixels with scores of which no two are equal. */
const scenes = fc
  .array(
    fc.record({
      x: fc.integer({ min: 0, max: 80 }),
      y: fc.integer({ min: 0, max: 80 }),
      width: fc.integer({ min: 1, max: 60 }),
      height: fc.integer({ min: 1, max: 60 }),
      classId: fc.integer({ min: 0, max: 1 }),
      score: fc.integer({ min: 1, max: 4095 }),
    }),
    { maxLength: 20 },
  )
  .map((all) =>
    all
      .filter(({ score }, i) => all.findIndex((other) => other.score === score) === i)
      .map(({ x, y, width, height, classId, score }): Found => ({
        box: [x, y, x + width, y + height],
        score: score / 4096,
        classId,
      })),
  );

const merge = (found: readonly Found[], options: MergeTilesOptions): Detections =>
  mergeTiles(SIZE, [[WHOLE, detections(WHOLE, found)]], options);
const boxesOf = (d: Detections): number[] => Array.from(d.boxes.subarray(0, 4 * d.length), (v) => v * 256);

const METHODS = ["greedy-nmm", "nmm", "nms"] as const;

describe.each(METHODS)("merge by %s", (method) => {
  const law = (holds: (found: Found[]) => void, parameters: { seed?: number } = {}): void =>
    fc.assert(fc.property(scenes, holds), { numRuns: repeats(200, 50), ...parameters });

  test("every box lies in a merged box of its class, and nothing but them", () => {
    law((found) => {
      const merged = merge(found, { method });
      const boxes = boxesOf(merged);
      const best = new Map(found.map((f) => [f.score, f]));
      merged.toArray().forEach((d, i) => {
        const own = best.get(d.confidence) as Found;
        expect(d.class_id).toBe(own.classId);
        if (i > 0) expect(d.confidence).toBeLessThan(merged.scores[i - 1]);
        if (method === "nms") expect(boxes.slice(4 * i, 4 * i + 4)).toEqual(own.box);
        // Each edge is that of some box.
        for (let k = 0; k < 4; k++) expect(found.some(({ box }) => box[k] === boxes[4 * i + k])).toBe(true);
      });
      if (method === "nms") return;
      for (const { box, classId } of found)
        expect(
          merged
            .toArray()
            .some(
              (d, i) =>
                d.class_id === classId &&
                boxes[4 * i] <= box[0] &&
                boxes[4 * i + 1] <= box[1] &&
                boxes[4 * i + 2] >= box[2] &&
                boxes[4 * i + 3] >= box[3],
            ),
        ).toBe(true);
    });
  });

  test("the second test leaves as many boxes, none of them larger", () => {
    let smaller = 0;
    law(
      (found) => {
        const all = boxesOf(merge(found, { method }));
        const tested = boxesOf(merge(found, { method, secondTest: "sahi" }));
        expect(tested).toHaveLength(all.length);
        all.forEach((v, i) => {
          if ((i & 3) < 2) expect(tested[i]).toBeGreaterThanOrEqual(v);
          else expect(tested[i]).toBeLessThanOrEqual(v);
          if (tested[i] !== v) smaller++;
        });
        // Few scenes have a box that the second test leaves out. Those of this seed do.
      },
      { seed: 4 },
    );
    expect(smaller > 0).toBe(method !== "nms");
  });

  test("by tiles or at once, all the same", () => {
    law((found) => {
      const plan = tiles(SIZE, { tile: 64 });
      const once = merge(found, { method });
      const merger = createTileMerger(SIZE, { method });
      // Each box comes from the first tile that has its corner.
      found.forEach((f) => {
        const tile = plan.find(
          (t) => f.box[0] >= t.x && f.box[1] >= t.y && f.box[0] < t.x + 64 && f.box[1] < t.y + 64,
        );
        merger.add(tile as Tile, detections(tile as Tile, [f]));
      });
      const got = merger.merge();
      expect([...got.scores]).toEqual([...once.scores]);
      got.boxes.forEach((v, i) => expect(v).toBeCloseTo(once.boxes[i], 5));
      // A merge takes nothing away.
      expect([...merger.merge().scores]).toEqual([...once.scores]);
      merger.clear();
      expect(merger.merge()).toHaveLength(0);
    });
  });

  test("all boxes come out, as many as there are", () => {
    const size = [64 * 40, 64 * 40] as const;
    const merger = createTileMerger(size, { method });
    const whole = { x: 0, y: 0, width: size[0], height: size[1] };
    // 1,600 pairs, far apart; the second box of a pair lies in the first one.
    const found = Array.from({ length: 3200 }, (_, i) => {
      const x = 64 * ((i >> 1) % 40);
      const y = 64 * Math.floor((i >> 1) / 40);
      const inner = 4 * (i & 1);
      return {
        box: [x + inner, y + inner, x + 32 - inner, y + 32 - inner],
        score: 0.9 - 0.1 * (i & 1),
        classId: 0,
      };
    });
    merger.add(whole, detections(whole, found as never));
    const merged = merger.merge();
    expect([merged.length, merger.dropped]).toEqual([1600, 0]);
    expect([...merged.sources].every((source) => source % 2 === 0)).toBe(true);
  });

  test("maxDetections cuts the end", () => {
    law((found) => {
      const all = merge(found, { method });
      expect(merge(found, { method, maxDetections: 2 }).toArray()).toEqual(all.toArray().slice(0, 2));
    });
  });
});

test("nms by IoU is nms at the threshold", () => {
  fc.assert(
    fc.property(scenes, fc.boolean(), (found, perClass) => {
      const kept = nms(
        found.flatMap(({ box }) => box),
        found.map(({ score }) => score),
        {
          iouThreshold: 0.5,
          iouGate: ">=",
          ...(perClass ? { classIds: found.map(({ classId }) => classId) } : {}),
        },
      );
      const merged = merge(found, { method: "nms", metric: "iou", perClass });
      expect([...merged.sources]).toEqual([...kept]);
    }),
  );
});

test("a small box inside of a large one: IoS takes it, IoU does not", () => {
  const found: Found[] = [
    { box: [0, 0, 100, 100], score: 0.9, classId: 0 },
    { box: [10, 10, 20, 20], score: 0.8, classId: 0 },
  ];
  expect(merge(found, {})).toHaveLength(1);
  expect(merge(found, { metric: "iou" })).toHaveLength(2);
  const other = found.map((f, i) => ({ ...f, classId: i }));
  expect(merge(other, {})).toHaveLength(2);
  expect(merge(other, { perClass: false })).toHaveLength(1);
});

test.each(METHODS)("%s: boxes match at the threshold itself, but not in the second test", (method) => {
  const half: Found[] = [
    { box: [0, 0, 64, 64], score: 0.9, classId: 0 },
    { box: [32, 0, 96, 32], score: 0.8, classId: 0 },
  ];
  // Half of the smaller box, a fifth of the union.
  expect(merge(half, { method })).toHaveLength(1);
  expect(merge(half, { method, threshold: 0.5001 })).toHaveLength(2);
  expect(merge(half, { method, metric: "iou", threshold: 0.2 })).toHaveLength(1);
  expect(merge(half, { method, metric: "iou", threshold: 0.2001 })).toHaveLength(2);
  const right = (options: MergeTilesOptions): number => boxesOf(merge(half, { method, ...options }))[2];
  expect(right({})).toBe(method === "nms" ? 64 : 96);
  expect(right({ secondTest: "sahi" })).toBe(64);
});

test("of equal scores the box farther left comes first; the merged class is the last one's", () => {
  const found: Found[] = [
    { box: [40, 0, 140, 100], score: 0.5, classId: 1 },
    { box: [0, 0, 100, 100], score: 0.5, classId: 0 },
  ];
  const merged = merge(found, { perClass: false });
  expect([...merged.sources, ...merged.classIds]).toEqual([1, 1]);
  expect(boxesOf(merged)).toEqual([0, 0, 140, 100]);
});

test("memory is bounded: the best are held, and the others counted", () => {
  fc.assert(
    fc.property(scenes, fc.integer({ min: 1, max: 8 }), (found, maxCandidates) => {
      const merger = createTileMerger(SIZE, { method: "nms", maxCandidates, perClass: false });
      for (let i = 0; i < found.length; i += 3) merger.add(WHOLE, detections(WHOLE, found.slice(i, i + 3)));
      const best = [...found].sort((a, b) => b.score - a.score).slice(0, maxCandidates);
      expect(merger.length).toBe(best.length);
      expect(merger.dropped).toBe(found.length - best.length);
      expect([...merger.merge().scores]).toEqual([...merge(best, { method: "nms", perClass: false }).scores]);
    }),
  );
});

test("tiles of a decoder, decoded one by one by a generator", () => {
  // An object at 90..130 of 200 pixels, seen by both tiles of 120 pixels.
  const decoder = createDecoderSync(
    { family: "boxes", classes: 2, labels: ["cat", "dog"], coordinates: "normalised" },
    { engine: "ts" },
  );
  const plan = tiles([200, 100], { tile: [120, 100], overlap: 1 / 3 });
  expect(plan.map(({ x }) => x)).toEqual([0, 80]);
  function* parts(): Generator<readonly [Tile, Detections]> {
    for (const tile of plan) {
      const [x1, x2] = [90, 130].map((v) => Math.min(1, Math.max(0, (v - tile.x) / tile.width)));
      const boxes = { data: [x1, 0.2, x2, 0.6], dims: [1, 1, 4] };
      yield [
        tile,
        decoder.decode({ boxes, scores: { data: [0.25, 0.75 - tile.x / 1000], dims: [1, 1, 2] } }),
      ];
    }
  }
  const [d, ...others] = mergeTiles([200, 100], parts());
  expect(others).toEqual([]);
  expect(d).toMatchObject({ label: "dog", confidence: 0.75 });
  [0.45, 0.2, 0.65, 0.6].forEach((v, k) => expect([d.x_min, d.y_min, d.x_max, d.y_max][k]).toBeCloseTo(v, 6));
});

test.each([
  [{ method: "NMM" }, 'method: got "NMM", expected one of greedy-nmm, nmm, nms'],
  [{ metric: "giou" }, 'metric: got "giou"'],
  [{ threshold: 2 }, "threshold: got 2"],
  [{ secondTest: true }, "secondTest: got true, expected one of none, sahi"],
  [{ maxCandidates: 0 }, "maxCandidates: got 0"],
  [{ toString: 1 }, "toString: got an unknown name"],
])("createTileMerger refuses %j", (options, message) => {
  expect(() => createTileMerger(SIZE, options as MergeTilesOptions)).toThrow(message);
});

const IN_PARTS: Tile = { x: 0.36, y: 0, width: 0.64, height: 0.64 };

test("a tile that does not lie in the picture, or is in 0..1, is refused, and nothing is taken", () => {
  const merger = createTileMerger(SIZE);
  const one = detections(WHOLE, [{ box: [0, 0, 9, 9], score: 0.5, classId: 0 }]);
  for (const tile of [{ ...WHOLE, x: 1 }, { ...WHOLE, height: 0 }, { ...WHOLE, y: NaN }, IN_PARTS, null])
    expect(() => merger.add(tile as Tile, one)).toThrow("a part of the picture of 256 x 256 pixels");
  expect(() => merger.add(WHOLE, undefined as unknown as Detections)).toThrow("detections: got undefined");
  expect(merger.length).toBe(0);
});

test("parts that are no pairs are refused: the rows of detections, and tiles alone", () => {
  const found = detections(WHOLE, [{ box: [0, 0, 9, 9], score: 0.5, classId: 0 }]);
  for (const parts of [found, tiles(SIZE, { tile: 64 }).values(), new Set([[WHOLE]])])
    expect(() => mergeTiles(SIZE, parts as never)).toThrow(
      /^parts\[0\]: got .*, expected a pair of a tile and its detections$/,
    );
});

test("more than 100,000 tiles are refused, and 100,000 are not", () => {
  expect(tiles([1000, 100], { tile: 1, overlap: 0 })).toHaveLength(100_000);
  for (const [size, options] of [
    [[1000, 101], { tile: 1, overlap: 0 }],
    [[1e8, 1e8], { tile: 1 }],
    [[999_999_999, 1], { tile: 640, overlap: 0.999999 }],
  ] as const)
    expect(() => tiles(size, options)).toThrow(/tile: got \d+ tiles of .*, expected at most 100000/);
  expect(() => tiles([1000, 101], { tile: 1, overlap: 0 })).toThrow(
    "got 101000 tiles of 1x1 for 1000x101, expected at most 100000: larger tiles or less overlap",
  );
});
