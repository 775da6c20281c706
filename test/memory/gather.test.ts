/** Rows that are gathered from a caller's array. A decoder whose slots hold such rows refuses to decode the slots. */
import { describe, expect, test } from "vitest";
import type { Detections, TensorInput } from "../../src/entries/index.ts";
import { createDecoderSync } from "../../src/whole/decoder.ts";
import { engines } from "../support/engines.ts";
import { toHalf } from "../support/seeded-networks.ts";

const CELLS = 84;
const CHANNELS = 6;
/** Raw rows of logits. */
const config = {
  family: "yolox",
  classes: 1,
  inputSize: [64, 64],
  scores: "logits",
  reading: "point-rows",
  confidenceThreshold: 0.75,
} as const;

/** Rows of which those of `cells` have an object. Objectness elsewhere is `other`. */
function rows(cells: readonly number[], other: number): number[] {
  const data: number[] = Array.from({ length: CELLS }, () => [0.5, 0.5, 0, 0, other, 4]).flat();
  for (const cell of cells) data[cell * CHANNELS + 4] = 4;
  return data;
}
const halves = (data: readonly number[]): TensorInput => ({
  data: Uint16Array.from(data, toHalf),
  dims: [1, CELLS, CHANNELS],
  type: "f16",
});
const sources = ({ sources: of, length }: Detections): number[] =>
  [...of.subarray(0, length)].sort((a, b) => a - b);

describe.each(engines)("%s", (engine) => {
  test("negative halves have larger bits than positive ones, and are not gathered", () => {
    const decoder = createDecoderSync(config, { engine });
    expect(sources(decoder.decode(halves(rows([3], -4))))).toEqual([3]);
    expect(sources(decoder.decode(halves(rows([5, 40], -4))))).toEqual([5, 40]);
    expect(() => decoder.decode()).toThrow("the slots hold only the rows gathered");
  });

  test("a row at the threshold itself is gathered, also among the last ones of a count that no four divide", () => {
    const cells = 63; // 3 anchors x (4 x 4 + 2 x 2 + 1) cells
    const at = { ...config, family: "yolov5", inputSize: [32, 32], scores: "probabilities" } as const;
    const typed = { ...at, reading: "objectness-rows", confidenceThreshold: 0.5 } as const;
    const decoder = createDecoderSync(typed, { engine, rules: { gate: ">=", suppress: "none" } });
    const passing = [1, 6, 11, 60, 61, 62];
    const row = (cell: number): number[] => [16, 16, 8, 8, passing.includes(cell) ? 0.5 : 0.49, 1];
    const data = Float32Array.from(Array.from({ length: cells }, (_, cell) => row(cell)).flat());
    // The first frame is looked at as a whole.
    for (let frame = 0; frame < 2; frame++)
      expect(sources(decoder.decode({ data, dims: [1, cells, CHANNELS] }))).toEqual(passing);
    expect(() => decoder.decode()).toThrow("the slots hold only the rows gathered");
  });

  test("halves that pass at a threshold which is not positive are copied whole", () => {
    const decoder = createDecoderSync({ ...config, confidenceThreshold: 0.25 }, { engine });
    decoder.decode(halves(rows([3], -4)));
    expect(sources(decoder.decode(halves(rows([5], -4))))).toEqual([5]);
    expect(sources(decoder.decode())).toEqual([5]);
  });

  test("an array in the decoder's own memory is not gathered from, since rows would overwrite it", () => {
    const decoder = createDecoderSync(config, { engine });
    const dims = [1, CELLS, CHANNELS];
    decoder.decode({ data: Float32Array.from(rows([3], -4)), dims });
    const slot = Object.values(decoder.slots)[0].data as Float32Array;
    slot.set(rows([60, 70, 80], -4));
    // The slot itself, and another view of the same bytes.
    for (const data of [slot, new Float32Array(slot.buffer, slot.byteOffset, slot.length)]) {
      expect(sources(decoder.decode({ data, dims }))).toEqual([60, 70, 80]);
      expect(sources(decoder.decode())).toEqual([60, 70, 80]);
      expect([...slot]).toEqual([...Float32Array.from(rows([60, 70, 80], -4))]);
    }
  });
});
