/** Maps of SCRFD and RetinaFace with two anchors a cell give what the same values as rows give. */
import { describe, expect, test } from "vitest";
import { createDecoderSync } from "../../../src/entries/index.ts";
import { inspect, type PossibilityList } from "../../../src/node/inspect-tensors.ts";

const SIZE = 64;
const SIDES = [8, 4, 2] as const;
const ANCHORS = 2;

/** Returns numbers that a seed tells, from -1 to 1. */
function numbers(count: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** Values of each level with the channels of a cell side by side. */
const levels = SIDES.map((side, level) => {
  const of = (values: number, seed: number): Float32Array =>
    numbers(side * side * ANCHORS * values, 10 * level + seed);
  return {
    side,
    boxes: of(4, 1),
    scores: of(1, 2).map((x) => (x + 1) / 2),
    pairs: of(2, 3).map((x) => 4 * x),
    points: of(10, 4),
  };
});
type Level = (typeof levels)[number];
type Tensor = { readonly data: Float32Array; readonly dims: readonly number[] };

const asMap = ({ side }: Level, data: Float32Array): Tensor => ({
  data,
  dims: [1, side, side, data.length / side ** 2],
});
const asPlanes = ({ side }: Level, data: Float32Array): Tensor => {
  const cells = side ** 2;
  const channels = data.length / cells;
  return {
    data: Float32Array.from(data, (_, i) => data[(i % cells) * channels + Math.floor(i / cells)]),
    dims: [1, channels, side, side],
  };
};
const asRows = (data: Float32Array, values: number): Tensor => ({
  data,
  dims: [1, data.length / values, values],
});
const joined = (all: readonly Float32Array[]): Float32Array =>
  Float32Array.from(all.flatMap((data) => [...data]));

const decode = (family: "scrfd" | "retinaface", tensors: readonly Tensor[], options = {}) =>
  createDecoderSync({ family, inputSize: [SIZE, SIZE], confidenceThreshold: 0.6, ...options })
    .decode(tensors as never)
    .toArray();

/** Rounds what rounding may move: a softmax in one order of operations or another. */
const rounded = (found: ReturnType<typeof decode>): unknown =>
  JSON.parse(JSON.stringify(found, (_, x: unknown) => (typeof x === "number" ? Number(x.toFixed(4)) : x)));

describe("SCRFD", () => {
  const rows = decode(
    "scrfd",
    levels.flatMap(({ boxes, scores, points }) => [asRows(scores, 1), asRows(boxes, 4), asRows(points, 10)]),
  );

  test.each([
    ["channels last", asMap],
    ["channels first", asPlanes],
  ])("%s", (_, see) => {
    const maps = levels.flatMap((level) =>
      [level.boxes, level.scores, level.points].map((data) => see(level, data)),
    );
    expect(rows.length).toBeGreaterThan(5);
    expect(decode("scrfd", maps)).toEqual(rows);
  });
});

describe("RetinaFace", () => {
  const faces = (pairs: Float32Array): Float32Array =>
    pairs.map((_, i) => 1 / (1 + Math.exp(pairs[i ^ 1] - pairs[i])));
  const rows = decode("retinaface", [
    asRows(joined(levels.map(({ boxes }) => boxes)), 4),
    asRows(faces(joined(levels.map(({ pairs }) => pairs))), 2),
    asRows(joined(levels.map(({ points }) => points)), 10),
  ]);
  const maps = (see: typeof asMap, pairsOf: (level: Level) => Float32Array): readonly Tensor[] =>
    levels.flatMap((level) => [level.boxes, pairsOf(level), level.points].map((data) => see(level, data)));

  test.each([
    ["channels last", asMap],
    ["channels first", asPlanes],
  ])("pairs of logits, %s", (_, see) => {
    expect(rows.length).toBeGreaterThan(5);
    expect(
      rounded(
        decode(
          "retinaface",
          maps(see, ({ pairs }) => pairs),
        ),
      ),
    ).toEqual(rounded(rows));
  });

  test("pairs of probabilities, if the caller says so", () => {
    const told = { scores: "probabilities" } as const;
    expect(
      decode(
        "retinaface",
        maps(asMap, ({ pairs }) => faces(pairs)),
        told,
      ),
    ).toEqual(rows);
  });
});

test("inspect tells the two by the channels of their scores", () => {
  const first = (scores: number): unknown => {
    const tensors = levels.flatMap(({ side }) =>
      [8, scores, 20].map((k) => ({ name: `conv${side}x${k}`, dims: [1, side, side, k] })),
    );
    const { json } = inspect(null, tensors, { inputSize: [SIZE, SIZE] });
    return (json as PossibilityList).possibilities[0].options.family;
  };
  expect([first(2), first(4)]).toEqual(["scrfd", "retinaface"]);
});
