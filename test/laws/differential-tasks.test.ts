/**
 * Networks of tasks on random tensors: spec/peaks.ts and spec/masks.ts against decoders of all engines. `npm run fuzz`
 * runs them for long, and text of spec/text.ts. Points of crops have such tests beside their code.
 */
import { expect, test } from "vitest";
import {
  type CellMap,
  boxOfCentre,
  boxOfFace,
  cubesOfSdk,
  enclosingBoxes,
  isPeak,
} from "../../spec/peaks.ts";
import { type Picture, bilinear, pasteOfDetectron, pasteOfTorchvision } from "../../spec/masks.ts";
import { sigmoid } from "../../spec/points.ts";
import {
  SETTINGS,
  areaOf,
  components,
  cornersOf,
  rectanglesAround,
  smallestRectangle,
  unclip,
} from "../../spec/text.ts";
import type { TypedOptions } from "../../src/config/types.ts";
import type { TensorInput } from "../../src/core/tensor.ts";
import type { Detections } from "../../src/decode/detections.ts";
import { createDecoderSync } from "../../src/entries/index.ts";
import { engines } from "../support/engines.ts";
import { repeats } from "../support/effort.ts";
import { forSeeds, proveShares } from "../support/fuzz-seeds.ts";
import { type Random, mulberry32, pick } from "../support/seeded-networks.ts";

const COUNT = repeats(40, 15);
const SHARE = 1 / 6;

/** Decodes with each engine, holds the columns equal byte by byte, and returns the detections of the first. */
function decodeAll(options: TypedOptions, outputs: Record<string, TensorInput>, seed: number): Detections {
  const all = engines.map((engine) => createDecoderSync(options, { engine }).decode(outputs));
  const bytes = all.map(({ length, boxes, scores, classIds }) => [
    boxes.slice(0, 4 * length),
    scores.slice(0, length),
    classIds.slice(0, length),
  ]);
  for (const one of bytes) expect(one, `seed ${seed}`).toEqual(bytes[0]);
  return all[0];
}

interface Expected {
  readonly classId: number;
  readonly score: number;
  /** Normalised. */
  readonly box: readonly number[];
}

/** Compares detections with those of the specification, whatever the order of equal ones. */
function expectSame(found: Detections, expected: readonly Expected[], seed: number): void {
  const left = found.toArray();
  const missing = expected.filter(({ classId, score, box }) => {
    const at = left.findIndex((d) => {
      const got = [d.confidence, d.x_min, d.y_min, d.x_max, d.y_max];
      return d.class_id === classId && [score, ...box].every((x, k) => Math.abs(x - got[k]) < 1e-5);
    });
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  expect({ missing, left }, `seed ${seed}`).toEqual({ missing: [], left: [] });
}

const draw = ([width, height]: readonly [number, number], one: () => number): CellMap =>
  Array.from({ length: height }, () => Array.from({ length: width }, one));

const sizeOf = (random: Random): [number, number] => [
  2 + Math.floor(random() * 12),
  2 + Math.floor(random() * 12),
];

test.each([
  ["edge-impulse", cubesOfSdk],
  ["enclosing", enclosingBoxes],
] as const)("FOMO, %s", (cellGroups, groupsOf) => {
  let detections = 0;
  const done = forSeeds(SHARE, COUNT, (seed) => {
    const random = mulberry32(seed);
    const [width, height] = sizeOf(random);
    const classes = pick(random, [1, 2, 3]);
    const isI8 = random() < 0.5;
    // Of 256 steps, as both element types hold them.
    const step = (): number => Math.floor(random() ** 3 * 256);
    const maps = Array.from({ length: classes + 1 }, () => draw([width, height], step));
    const cells = Array.from({ length: width * height }, (_, i) =>
      maps.map((map) => map[Math.floor(i / width)][i % width]),
    ).flat();
    const outputs = {
      map: {
        data: isI8 ? Int8Array.from(cells, (v) => v - 128) : Float32Array.from(cells, (v) => v / 256),
        dims: [1, height, width, classes + 1],
        order: "NHWC" as const,
        ...(isI8 && { scale: 1 / 256, zeroPoint: -128 }),
      },
    };
    const options: TypedOptions = {
      family: "fomo",
      classes,
      inputSize: [8 * width, 8 * height],
      cellGroups,
      maxDetections: 1000,
      rules: { clamp: "none" },
    };
    const expected = maps.slice(1).flatMap((map, classId) =>
      groupsOf(
        map.map((row) => row.map((v) => v / 256)),
        0.5,
      ).map(({ x, y, width: w, height: h, value }) => ({
        classId,
        score: value,
        box: [x / width, y / height, (x + w) / width, (y + h) / height],
      })),
    );
    detections += expected.length;
    expectSame(decodeAll(options, outputs, seed), expected, seed);
  });
  if (proveShares(done)) expect(detections).toBeGreaterThan(done);
});

test("CenterNet", () => {
  forSeeds(SHARE, COUNT, (seed) => {
    const random = mulberry32(seed);
    const size = sizeOf(random);
    const [width, height] = size;
    const classes = pick(random, [1, 2]);
    const heat = Array.from({ length: classes }, () => draw(size, () => Math.fround(6 * random() - 4)));
    const [w, h, dx, dy] = [1, 1, 0, 0].map((least) =>
      draw(size, () => Math.fround(least + random() * (least ? 4 : 1))),
    );
    const tensorOf = (maps: readonly CellMap[]): TensorInput => ({
      data: Float32Array.from(maps.flat(2)),
      dims: [1, maps.length, height, width],
      order: "NCHW",
    });
    const options: TypedOptions = {
      family: "centernet",
      classes,
      inputSize: [4 * width, 4 * height],
      confidenceThreshold: 0.3,
      maxDetections: 1000,
      rules: { clamp: "none" },
    };
    const expected = heat.flatMap((map, classId) =>
      map.flatMap((row, y) =>
        row.flatMap((logit, x): Expected[] => {
          if (!isPeak(map, x, y) || sigmoid(logit) <= 0.3) return [];
          const box = boxOfCentre([x, y], [dx[y][x], dy[y][x]], [w[y][x], h[y][x]]);
          return [{ classId, score: sigmoid(logit), box: box.map((v, k) => v / size[k & 1]) }];
        }),
      ),
    );
    const outputs = { hm: tensorOf(heat), wh: tensorOf([w, h]), reg: tensorOf([dx, dy]) };
    expectSame(decodeAll(options, outputs, seed), expected, seed);
  });
});

test("face_det_lite", () => {
  forSeeds(SHARE, COUNT, (seed) => {
    const random = mulberry32(seed);
    const size = sizeOf(random);
    const [width, height] = size;
    const heat = draw(size, () => Math.fround(6 * random() - 4));
    const sides = [0, 1, 2, 3].map(() => draw(size, () => Math.fround(random() * 3)));
    const points = Array.from({ length: 10 }, () => draw(size, () => Math.fround(random() * 2 - 1)));
    const tensorOf = (maps: readonly CellMap[]): TensorInput => ({
      data: Float32Array.from(maps.flat(2)),
      dims: [1, maps.length, height, width],
      order: "NCHW",
    });
    const options: TypedOptions = {
      family: "face-det-lite",
      inputSize: [8 * width, 8 * height],
      maxDetections: 1000,
      rules: { clamp: "none", suppress: "none" },
    };
    const expected = heat.flatMap((row, y) =>
      row.flatMap((logit, x): Expected[] => {
        if (!isPeak(heat, x, y) || sigmoid(logit) < 0.2) return [];
        const [l, t, r, b] = sides.map((map) => map[y][x]);
        return [
          {
            classId: 0,
            score: sigmoid(logit),
            box: boxOfFace([x, y], [l, t, r, b]).map((v, k) => v / size[k & 1]),
          },
        ];
      }),
    );
    const outputs = { heatmap: tensorOf([heat]), bbox: tensorOf(sides), landmark: tensorOf(points) };
    expectSame(decodeAll(options, outputs, seed), expected, seed);
  });
});

/** Pixels of a mask that differ from the specification's, but for those within 1e-4 of the threshold. */
function wrongPixels(found: Detections, row: number, options: object, right: Picture): number {
  const mask = found.mask(row, options);
  let wrong = 0;
  right.forEach((line, y) =>
    line.forEach((value, x) => {
      const [column, from] = [x - mask.x, y - mask.y];
      const isInside = column >= 0 && column < mask.width && from >= 0 && from < mask.height;
      const pixel = isInside ? mask.data[from * mask.width + column] : 0;
      if (Math.abs(value - 0.5) > 1e-4 && pixel !== Number(value > 0.5)) wrong++;
    }),
  );
  return wrong;
}

test("finished masks of boxes and of the input", () => {
  const [width, height, cells, rows] = [60, 40, 14, 3];
  forSeeds(SHARE, COUNT, (seed) => {
    const random = mulberry32(seed);
    const maps = Array.from({ length: rows }, () => draw([cells, cells], () => Math.fround(random())));
    const inputMaps = maps.map(() => draw([15, 10], () => Math.fround(random())));
    const boxes = maps.map(() => {
      const [x, y] = [Math.floor(random() * 400) / 8, Math.floor(random() * 240) / 8];
      // Corners a sixteenth off whole pixels: both ways cut them to the same ones.
      return [x, y, x + 2.0625 + Math.floor(random() * 30), y + 2.0625 + Math.floor(random() * 20)];
    });
    const scores = maps.map((_, i) => 0.9 - i / 10);
    const common = { inputSize: [width, height], classes: 2, rules: { clamp: "none" } };
    const ofBoxes = decodeAll(
      { family: "mask-rcnn", coordinates: "pixels", ...common } as unknown as TypedOptions,
      {
        boxes: { data: Float32Array.from(boxes.flat()), dims: [rows, 4] },
        labels: { data: BigInt64Array.from(boxes, () => 1n), dims: [rows] },
        scores: { data: Float32Array.from(scores), dims: [rows] },
        masks: { data: Float32Array.from(maps.flat(2)), dims: [rows, 1, cells, cells] },
      },
      seed,
    );
    const ofInput = decodeAll(
      { family: "rtmdet-ins", ...common } as unknown as TypedOptions,
      {
        dets: { data: Float32Array.from(boxes.flatMap((b, i) => [...b, scores[i]])), dims: [1, rows, 5] },
        labels: { data: BigInt64Array.from(boxes, () => 1n), dims: [1, rows] },
        masks: { data: Float32Array.from(inputMaps.flat(2)), dims: [1, rows, 10, 15] },
      },
      seed,
    );
    const size = "network";
    boxes.forEach(([x1, y1, x2, y2], row) => {
      const box = [x1, y1, x2, y2] as const;
      const pasted = pasteOfTorchvision(maps[row], box, width, height);
      const looked = pasteOfDetectron(maps[row], box, width, height);
      const whole = bilinear(inputMaps[row], width, height);
      expect([
        wrongPixels(ofBoxes, row, { size }, pasted),
        wrongPixels(ofBoxes, row, { size, rule: "detectron2" }, looked),
        wrongPixels(ofInput, row, { size }, whole),
      ]).toEqual([0, 0, 0]);
    });
  });
});

/** A map with lines of text that may be turned. Text is far above the threshold of boxes, or far below. */
function mapOfLines(random: Random, [width, height]: readonly [number, number]): CellMap {
  const lines = Array.from({ length: 1 + Math.floor(random() * 5) }, () => ({
    x: random() * width,
    y: random() * height,
    long: 1 + random() * 16,
    short: 0.5 + random() * 5,
    angle: random() < 0.4 ? 0 : random() * Math.PI,
    value: random() < 0.75 ? 240 : 90,
  }));
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (__, x) => {
      const line = lines.find((one) => {
        const [dx, dy] = [x - one.x, y - one.y];
        const [cos, sin] = [Math.cos(one.angle), Math.sin(one.angle)];
        return Math.abs(dx * cos + dy * sin) <= one.long && Math.abs(dy * cos - dx * sin) <= one.short;
      });
      return line?.value ?? 10;
    }),
  );
}

/** True if pixels of two texts touch: their mean lies anywhere between those of both. */
const isMixed = (group: readonly Pixel[], map: CellMap): boolean =>
  new Set(group.map(([x, y]) => map[y][x])).size > 1;

type Pixel = readonly [x: number, y: number];

/** The ends of each row: the hull of a group is that of its ends, and few points are enough for the plainest way. */
function endsOf(group: readonly Pixel[]): Pixel[] {
  const rows = new Map<number, Pixel[]>();
  for (const pixel of group) rows.set(pixel[1], [...(rows.get(pixel[1]) ?? []), pixel]);
  return [...rows.values()].flatMap((row) => {
    const sorted = row.sort((a, b) => a[0] - b[0]);
    return [sorted[0], sorted[sorted.length - 1]];
  });
}

/** True if a rectangle with other sides has the same smallest area: rounding then decides between them. */
function hasRival(ends: readonly Pixel[]): boolean {
  const least = smallestRectangle(ends);
  const sideOf = ({ sides }: { readonly sides: readonly number[] }): number => Math.min(...sides);
  return rectanglesAround(ends).some(
    (one) =>
      areaOf(one) - areaOf(least) < 1e-9 * areaOf(least) && Math.abs(sideOf(one) - sideOf(least)) > 1e-6,
  );
}

test("a text with two smallest rectangles, one upright and one slanted", () => {
  const ends = [17, 30]
    .map((y): Pixel => [23, y])
    .concat([
      [22, 31],
      [28, 18],
      [28, 31],
    ]);
  expect(areaOf(smallestRectangle(ends))).toBeCloseTo(84, 9);
  expect(hasRival(ends)).toBe(true);
  expect(
    hasRival([
      [0, 0],
      [8, 0],
      [0, 3],
      [8, 3],
    ]),
  ).toBe(false);
});

test("DBNet", () => {
  let texts = 0;
  const done = forSeeds(SHARE, COUNT, (seed) => {
    const random = mulberry32(seed);
    const size = [24 + Math.floor(random() * 40), 24 + Math.floor(random() * 40)] as const;
    const [width, height] = size;
    const map = mapOfLines(random, size);
    const bytes = map.flat();
    const isI8 = random() < 0.5;
    const outputs = {
      map: {
        data: isI8 ? Int8Array.from(bytes, (v) => v - 128) : Float32Array.from(bytes, (v) => v / 256),
        dims: [1, 1, height, width],
        ...(isI8 && { scale: 1 / 256, zeroPoint: -128 }),
      },
    };
    const all = engines.map((engine) =>
      createDecoderSync({ family: "dbnet", maxDetections: 100 }, { engine, rules: { clamp: "none" } })
        .decode(outputs)
        .copy(),
    );
    for (const other of all)
      for (const column of ["boxes", "scores", "corners", "angles"] as const)
        expect(other[column], `seed ${seed}, ${column}`).toEqual(all[0][column]);
    const found = all[0].toArray();
    const mask = map.map((row) => row.map((v) => v / 256 > SETTINGS.mask));
    for (const group of components(mask)) {
      const ends = endsOf(group);
      const rectangle = smallestRectangle(ends);
      if (hasRival(ends)) continue;
      const grown = unclip(rectangle, SETTINGS.ratio);
      const [a, b] = rectangle.sides;
      const isNear = (x: number, limit: number): boolean => Math.abs(x - limit) < 1e-6;
      if (isMixed(group, map) || isNear(Math.min(a, b), SETTINGS.side)) continue;
      const share = group.length / ((a + 1) * (b + 1));
      // Pixels of the rectangle that are no text lower the mean: leave out shapes that fill little of it.
      if (map[group[0][1]][group[0][0]] === 240 && share < 0.8) continue;
      const isText = map[group[0][1]][group[0][0]] === 240 && Math.min(a, b) >= SETTINGS.side;
      const [cx, cy] = grown.centre;
      const at = found.filter((d) => {
        const corners = d.corners ?? [];
        const middle = (["x", "y"] as const).map((axis) => corners.reduce((sum, p) => sum + p[axis] / 4, 0));
        const sides = [0, 1].map((k) =>
          Math.hypot((corners[k + 1].x - corners[k].x) * width, (corners[k + 1].y - corners[k].y) * height),
        );
        return (
          Math.abs(middle[0] * width - cx) < 1e-3 &&
          Math.abs(middle[1] * height - cy) < 1e-3 &&
          Math.abs(sides[0] * sides[1] - grown.sides[0] * grown.sides[1]) < 0.05
        );
      });
      const isGrown = Math.min(...grown.sides) >= SETTINGS.grownSide;
      expect(at.length, `seed ${seed}, text at ${cx}, ${cy}`).toBe(isText && isGrown ? 1 : 0);
      if (at.length > 0) {
        texts++;
        // Corners of the specification's rectangle lie on those of the box, whatever the order.
        for (const [x, y] of cornersOf(grown))
          expect(
            Math.min(...(at[0].corners ?? []).map((p) => Math.hypot(p.x * width - x, p.y * height - y))),
            `seed ${seed}`,
          ).toBeLessThan(1e-3);
      }
    }
  });
  if (proveShares(done)) expect(texts).toBeGreaterThan(done / 4);
});
