/** Small inputs have two maps of one cell. Each has its own stride: the outputs come in the order of the strides. */
import { expect, test } from "vitest";
import { createDecoderSync, toPixels } from "../../src/entries/index.ts";

const BINS = 8;
const SIDES = [4, 2, 1, 1];
const STRIDES = [8, 16, 32, 64];

interface Output {
  readonly data: Float32Array;
  readonly dims: number[];
}

/** Four maps of a 32x32 input, as rows or as feature maps, with one object in the first cell of a map. */
function outputsOf(form: "rows" | "maps", map: number): Output[] {
  const tensor = (side: number, channels: number): Output => ({
    data: new Float32Array(side * side * channels),
    dims: form === "rows" ? [1, side * side, channels] : [1, channels, side, side],
  });
  const scores = SIDES.map((side) => tensor(side, 2));
  const distances = SIDES.map((side) => tensor(side, 4 * BINS));
  const step = form === "rows" ? 1 : SIDES[map] ** 2;
  scores[map].data[step] = 0.72;
  // Each side lies half way between 0 and 1 strides: the box is as wide as a stride.
  for (let side = 0; side < 4; side++)
    for (const bin of [0, 1]) distances[map].data[(side * BINS + bin) * step] = 30;
  return [...scores, ...distances];
}

test.each((["rows", "maps"] as const).flatMap((form) => SIDES.map((_, map) => [form, map] as const)))(
  "PicoDet at 32x32, %s, map %d",
  (form, map) => {
    const decoder = createDecoderSync({
      family: "picodet",
      labels: ["person", "cat"],
      inputSize: [32, 32],
      rules: { clamp: "none" },
    });
    const found = decoder.decode(outputsOf(form, map)).toArray();
    expect(found.map(({ label }) => label)).toEqual(["cat"]);
    const box = toPixels(found[0], 32, 32);
    expect([box.x_min, box.y_min, box.x_max, box.y_max].map((v) => Math.round(v * 1000) / 1000)).toEqual([
      0,
      0,
      STRIDES[map],
      STRIDES[map],
    ]);
  },
);

test.each(SIDES.map((_, map) => map))("PicoDet at 32x32, all maps in one tensor, map %d", (map) => {
  const options = { family: "picodet", labels: ["person", "cat"], inputSize: [32, 32] } as const;
  const channels = 2 + 4 * BINS;
  const data = new Float32Array(22 * channels);
  const first = [0, 16, 20, 21][map] * channels;
  data[first + 4 * BINS + 1] = 0.72;
  for (let side = 0; side < 4; side++) data.fill(30, first + side * BINS, first + side * BINS + 2);
  const decoder = createDecoderSync({ ...options, rules: { clamp: "none" } });
  const [found] = decoder.decode([{ data, dims: [1, 22, channels] }]).toArray();
  expect(toPixels(found, 32, 32).x_max).toBeCloseTo(STRIDES[map], 3);
});
