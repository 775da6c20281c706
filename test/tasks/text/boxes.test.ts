/** Text boxes against spec/text.ts, against the golden answers, and against OpenCV where it is installed. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SETTINGS, components, cornersOf, smallestRectangle, unclip } from "../../../spec/text.ts";
import { BorderFollower, areaOf } from "../../../src/tasks/text/contours.ts";
import { TEXT_VALUES, TextReader } from "../../../src/tasks/text/boxes.ts";
import { HullScratch, hullInto, rectangleInto } from "../../../src/tasks/text/rectangle.ts";
import { repeats } from "../../support/effort.ts";
import { describeShared, readBytes, readJson } from "../../support/shared-data.ts";

const paddle = { rule: "paddleocr", maskThreshold: 0.3, unclipRatio: 1.5 } as const;

/** A picture of up to 14 x 14 pixels with some rectangles of text and some noise. */
const pictures = fc
  .record({
    width: fc.integer({ min: 1, max: 14 }),
    height: fc.integer({ min: 1, max: 14 }),
    seed: fc.integer({ min: 1, max: 2 ** 30 }),
    share: fc.double({ min: 0.05, max: 0.9, noNaN: true }),
  })
  .map(({ width, height, seed, share }) => {
    let state = seed;
    const next = (): number => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
    const map = Float32Array.from({ length: width * height }, () => (next() < share ? 0.9 : 0.1));
    return { width, height, map };
  });

/** The distance between two quads whose corners may begin anywhere. */
function distance(a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number {
  const turns = [0, 1, 2, 3].map((turn) =>
    Math.max(
      ...a.map(([x, y], k) =>
        Math.max(Math.abs(x - b[(k + turn) % 4][0]), Math.abs(y - b[(k + turn) % 4][1])),
      ),
    ),
  );
  return Math.min(...turns);
}

const quadOf = (values: Float64Array, box: number): number[][] =>
  [0, 1, 2, 3].map((k) => [...values.subarray(box * TEXT_VALUES + 1 + 2 * k, box * TEXT_VALUES + 3 + 2 * k)]);

test("borders surround each component once, and each of its holes", () => {
  const follower = new BorderFollower(5, 5);
  const ring = ["11111", "10001", "10101", "10001", "11111"];
  ring.forEach((row, y) =>
    [...row].forEach((c, x) => (follower.marks[(y + 1) * follower.stride + x + 1] = Number(c))),
  );
  const contours = follower.follow(10);
  const { points, starts } = contours;
  expect(starts.length - 1).toBe(3);
  expect(
    starts
      .slice(0, -1)
      .map((from, i) => areaOf(contours, from, starts[i + 1]))
      .sort((a, b) => a - b),
  ).toEqual([0, 14, 16]);
  expect([...points.subarray(0, 2)]).toEqual([0, 0]);
});

test("rectangles of random pictures are as small as the specification's", () => {
  fc.assert(
    fc.property(pictures, ({ width, height, map }) => {
      const rows = Array.from({ length: height }, (_, y) => [...map.subarray(y * width, (y + 1) * width)]);
      for (const group of components(rows.map((row) => row.map((p) => p > SETTINGS.mask)))) {
        // Two rectangles may be equally small: compare areas alone.
        const [a, b] = smallestRectangle(group).sides;
        const rectangle = new Float64Array(6);
        const scratch = new HullScratch(height);
        const count = hullInto(Int32Array.from(group.flat()), 0, group.length, scratch);
        rectangleInto(scratch.hull, count, rectangle);
        expect(rectangle[2] * rectangle[3]).toBeCloseTo(a * b, 8);
      }
    }),
    { numRuns: repeats(40, 15) },
  );
});

test("NaN belongs to no text", () => {
  const map = new Float32Array(30 * 30).fill(NaN);
  for (let y = 8; y < 20; y++) map.fill(0.9, y * 30 + 5, y * 30 + 25);
  const reader = new TextReader(30, 30, paddle, 10);
  expect(reader.read(map, 0.6)).toBe(1);
  const expected = cornersOf(unclip({ centre: [14.5, 13.5], sides: [19, 11], direction: [1, 0] }, 1.5));
  expect(distance(quadOf(reader.boxes, 0), expected)).toBeLessThan(1e-9);
});

test("more borders than are looked at are told", () => {
  const map = new Float32Array(80 * 80);
  for (let y = 0; y < 80; y += 2) for (let x = 0; x < 80; x += 2) map[y * 80 + x] = 1;
  const reader = new TextReader(80, 80, paddle, 10);
  reader.read(map, 0.6);
  expect(reader.isCut).toBe(true);
});

interface Fixture {
  readonly outputs: readonly { readonly file: string; readonly shape: readonly number[] }[];
  readonly detections: readonly GoldenBox[];
  readonly outside: { readonly detections: readonly GoldenBox[] };
}
interface GoldenBox {
  readonly confidence: number;
  readonly corners: readonly (readonly number[])[];
}

/** The map of a golden case. */
function readMap(folder: string): { fixture: Fixture; width: number; height: number; map: Float32Array } {
  const fixture = readJson(folder, "fixture.json") as Fixture;
  const [{ file, shape }] = fixture.outputs;
  const [, , height, width] = shape;
  return { fixture, width, height, map: new Float32Array(readBytes(folder, file).buffer) };
}

describeShared("golden text", (data) => {
  test.each(["dbnet-text", "recorded-ppocr"])("%s", (name) => {
    const { fixture, width, height, map } = readMap(join(data, "golden/families", name));
    const reader = new TextReader(width, height, paddle, 1000);
    expect(reader.read(map, 0.6)).toBe(fixture.detections.length);
    fixture.detections.forEach(({ confidence, corners }, i) => {
      expect(distance(quadOf(reader.boxes, i), corners)).toBeLessThan(2e-3);
      // The golden formula cuts no corners: README.md of the golden cases.
      expect(Math.abs(reader.boxes[i * TEXT_VALUES] - confidence)).toBeLessThan(2.3e-3);
    });
    fixture.outside.detections.forEach(({ confidence, corners }, i) => {
      expect(distance(quadOf(reader.boxes, i), corners)).toBeLessThan(2);
      expect(Math.abs(reader.boxes[i * TEXT_VALUES] - confidence)).toBeLessThan(2.3e-3);
    });
  });
});

/** The Python that has OpenCV; null if none has. */
const python =
  ["/usr/bin/python3", "python3"].find((one) => spawnSync(one, ["-c", "import cv2"]).status === 0) ?? null;

/** Runs a program in Python over a map. It reads `map` and leaves its answer in `out`. */
function byOpenCv(
  program: string,
  { width, height, map }: { width: number; height: number; map: Float32Array },
): number[][] {
  const before = [
    "import sys, json, numpy as np, cv2",
    `map = np.frombuffer(sys.stdin.buffer.read(), np.float32).reshape(${height}, ${width})`,
    "out = []",
  ];
  const code = [...before, program, "print(json.dumps(out))"].join("\n");
  const input = new Uint8Array(map.buffer, map.byteOffset, map.byteLength);
  return JSON.parse(execFileSync(python ?? "", ["-c", code], { input }).toString()) as number[][];
}

/** Count of pixels, enclosed area and area of the smallest rectangle of each border. */
const BORDERS = `
for c in cv2.findContours((map > 0.3).astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)[-2]:
    (_, (w, h), _) = cv2.minAreaRect(c)
    out.append([len(c), cv2.contourArea(c), w * h])
`;

/** The steps of PPTextDetectionParser: score, centre, sides and angle in degrees of each box. */
const DEPTHAI = `
mask = cv2.dilate((map > 0.25).astype(np.uint8), np.ones((3, 3), np.uint8))
for c in cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)[-2]:
    if cv2.contourArea(c) <= 8: continue
    p = sorted(cv2.boxPoints(cv2.minAreaRect(c)).tolist())
    (tl, bl), (tr, br) = sorted(p[:2], key=lambda q: q[1]), sorted(p[2:], key=lambda q: q[1])
    quad = np.array([tl, tr, br, bl])
    width, height = np.hypot(*(quad[1] - quad[0])), np.hypot(*(quad[2] - quad[1]))
    if min(width, height) < 8: continue
    inner = (quad + np.array([[2, 2], [-2, 2], [-2, -2], [2, -2]])).astype(np.int32)
    inside = cv2.fillPoly(np.zeros(map.shape, np.uint8), [inner], 1)
    score = float((map * inside).sum() / (inside.sum() + 1e-5))
    if score < 0.5: continue
    angle = round(float(np.degrees(np.arctan2(quad[1][1] - quad[0][1], quad[1][0] - quad[0][0]))))
    out.append([score, *quad.mean(0), width * 2 ** 0.5, height * 2 ** 0.5, angle])
`;

/** A map of 160 x 96 pixels with turned lines of text: centre, half sides, angle in degrees, probability. */
function lines(all: readonly (readonly [number, number, number, number, number, number])[]): Float32Array {
  const map = new Float32Array(160 * 96);
  for (const [cx, cy, a, b, degrees, p] of all) {
    const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    for (let i = 0; i < map.length; i++) {
      const [dx, dy] = [(i % 160) - cx, Math.floor(i / 160) - cy];
      if (Math.abs(dx * cos + dy * sin) <= a && Math.abs(dy * cos - dx * sin) <= b) map[i] = p;
    }
  }
  return map;
}

describe.skipIf(python === null)("OpenCV", () => {
  test("follows the same borders, with the same smallest rectangles", () => {
    for (const { width, height, map } of fc.sample(pictures, { numRuns: 4, seed: 7 })) {
      const follower = new BorderFollower(width, height);
      map.forEach((p, i) => {
        if (p > 0.3) follower.marks[(Math.floor(i / width) + 1) * follower.stride + (i % width) + 1] = 1;
      });
      const contours = follower.follow(10_000);
      const { points, starts } = contours;
      const rectangle = new Float64Array(6);
      const got = starts.slice(0, -1).map((from, i) => {
        const count = starts[i + 1] - from;
        const scratch = new HullScratch(height);
        rectangleInto(scratch.hull, hullInto(points, from, starts[i + 1], scratch), rectangle);
        return [count, areaOf(contours, from, starts[i + 1]), rectangle[2] * rectangle[3]];
      });
      const text = (rows: readonly (readonly number[])[]): string[] =>
        rows.map(([n, area, around]) => `${n} ${area} ${around.toFixed(2)}`).sort();
      expect(text(got)).toEqual(text(byOpenCv(BORDERS, { width, height, map })));
    }
  });

  test("gives the boxes of depthai's rule", () => {
    const map = lines([
      [40, 20, 25, 6, 0, 0.9],
      [110, 30, 30, 7, 8, 0.8],
      [50, 65, 22, 8, -12, 0.7],
      [120, 75, 20, 6, 31, 0.6],
      [10, 85, 6, 2, 0, 0.9],
      [140, 8, 12, 5, 0, 0.3],
    ]);
    const expected = byOpenCv(DEPTHAI, { width: 160, height: 96, map }).sort((a, b) => b[0] - a[0]);
    const reader = new TextReader(160, 96, { rule: "depthai", maskThreshold: 0.25, unclipRatio: 1.5 }, 100);
    expect(reader.read(map, 0.5)).toBe(expected.length);
    expect(expected.length).toBe(4);
    expected.forEach(([score, cx, cy, width, height, degrees], i) => {
      const angle = (degrees * Math.PI) / 180;
      const box = {
        centre: [cx, cy],
        sides: [width, height],
        direction: [Math.cos(angle), Math.sin(angle)],
      } as const;
      expect(Math.abs(reader.boxes[i * TEXT_VALUES] - score), `score of ${i}`).toBeLessThan(2e-3);
      expect(distance(quadOf(reader.boxes, i), cornersOf(box)), `corners of ${i}`).toBeLessThan(0.05);
    });
  });
});

test.each([
  [20, 65, 50, 9, 0.598909],
  [20, 65, 50, 5, 0.586365],
  [16, 50, 50, 5, 0.591717],
  [8, 35, 35, 9, 0.575501],
  [24, 65, 50, 14, 0.621723],
])(
  "a text at x %d that leaves the picture at %d degrees has PaddleOCR's score",
  (cx, degrees, half, height, score) => {
    // The scores are those of `box_score_fast` with OpenCV 4.6, which leaves the corners outside of the picture.
    const size = 96;
    const [c, s] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    const map = Float32Array.from({ length: size * size }, (_, i) => {
      const [x, y] = [(i % size) - cx, Math.floor(i / size) - 48];
      const [u, v] = [Math.abs(x * c + y * s), Math.abs(y * c - x * s)];
      return u <= half && v <= height ? (v <= height / 2 ? 0.9 : 0.31) : 0.05;
    });
    const reader = new TextReader(size, size, paddle, 100);
    expect(reader.read(map, 0.01)).toBe(1);
    expect(reader.boxes[0]).toBeCloseTo(score, 6);
  },
);
