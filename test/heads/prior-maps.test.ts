/** EfficientDet's maps in both storage orders, with priors of the caller, and what is wrong about them. */
import { expect, test } from "vitest";
import { createDecoderSync, efficientdetPriors, TensorError } from "../../src/entries/index.ts";
import type { DecoderOptions } from "../../src/config/types.ts";
import { engines } from "../support/engines.ts";
import { mulberry32 } from "../../bench/random.ts";

const CONFIG = { family: "efficientdet", classes: 3, inputSize: [128, 128] } as const;
const SIDES = [16, 8, 4, 2, 1];
type Maps = Record<string, { data: Float32Array; dims: number[] }>;

/** Maps of random logits and offsets, channels last. */
function channelsLast(): Maps {
  const random = mulberry32(5);
  const map = (n: number, channels: number): Maps[string] => ({
    data: Float32Array.from({ length: n * n * channels }, () => random() * 3 - 2),
    dims: [1, n, n, channels],
  });
  return Object.fromEntries(
    SIDES.flatMap((n) => [
      [`class_${n}`, map(n, 27)],
      [`box_${n}`, map(n, 36)],
    ]),
  );
}

/** The same maps, channels first. */
const channelsFirst = (maps: Maps): Maps =>
  Object.fromEntries(
    Object.entries(maps).map(([name, { data, dims }]) => {
      const [, n, , channels] = dims;
      const moved = data.map((_, i) => data[(i % (n * n)) * channels + Math.floor(i / (n * n))]);
      return [name, { data: moved, dims: [1, channels, n, n] }];
    }),
  );

const decode = (outputs: Maps, options: DecoderOptions = {}): object[] =>
  createDecoderSync(CONFIG, options)
    .decode(outputs)
    .toArray()
    .map(({ class_id, confidence, x_min, y_max }) => ({ class_id, confidence, x_min, y_max }));

test.each(engines)("both storage orders give the same boxes, %s", (engine) => {
  const maps = channelsLast();
  const found = decode(maps, { engine });
  expect(found.length).toBeGreaterThan(20);
  const sorted = (list: object[]): string[] => list.map((row) => JSON.stringify(row)).sort();
  expect(sorted(decode(channelsFirst(maps), { engine }))).toEqual(sorted(found));
});

test("priors of the caller stand for those that are built in", () => {
  const maps = channelsLast();
  expect(decode(maps, { priors: efficientdetPriors([128, 128]) })).toEqual(decode(maps));
  expect(decode(maps, { priors: efficientdetPriors([128, 128], { scale: 3 }) })).not.toEqual(decode(maps));
});

test("a level too few, too many classes, priors of another network or in pixels are refused", () => {
  const maps = channelsLast();
  const fewer = Object.fromEntries(Object.entries(maps).filter(([name]) => name !== "class_16"));
  expect(() => decode(fewer)).toThrow(TensorError);
  expect(() => decode(maps, { classes: 4 })).toThrow(/3 classes/);
  expect(() => decode(maps, { priors: efficientdetPriors([256, 256]) })).toThrow(TensorError);
  const pixels = efficientdetPriors([128, 128]).map((x) => x * 128);
  expect(() => decode(maps, { priors: pixels })).toThrow(/0..1 of the input, not pixels/);
});
