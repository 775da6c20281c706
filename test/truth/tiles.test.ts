/** Tiles and merges against SAHI's own functions. */
import { describe, expect, test } from "vitest";
import {
  Detections,
  createTileMerger,
  tiles,
  type MergeTilesOptions,
  type Tile,
} from "../../src/entries/index.ts";
import { setLength } from "../../src/decode/detections.ts";
import { readBeyond } from "../support/beyond.ts";

interface Kept {
  readonly keep: number;
  /** Absent for NMS: predictions that the match took, and those of them that passed the second test. */
  readonly claimed?: readonly number[];
  readonly merged?: readonly number[];
  readonly box?: readonly number[];
  readonly score?: number;
  readonly category?: number;
}

interface Case {
  readonly image: readonly [number, number];
  readonly slice: readonly [number, number];
  readonly overlap: readonly [number, number];
  readonly slices: readonly (readonly number[])[];
  /** slice, x1, y1, x2, y2 in pixels of the picture, score, category. */
  readonly predictions: readonly (readonly number[])[];
  readonly answers: Readonly<Record<string, readonly Kept[]>>;
}

const { cases } = readBeyond("tiles") as { cases: readonly Case[] };

const METHODS = { NMS: "nms", GREEDYNMM: "greedy-nmm", NMM: "nmm" } as const;
const METRICS = { IOU: "iou", IOS: "ios" } as const;

/** Returns the predictions of one tile as a decoder gives them: in 0..1 of the tile, with their row as the source. */
function detectionsIn(
  tile: Tile,
  rows: readonly (readonly [index: number, row: readonly number[]])[],
): Detections {
  const found = new Detections(
    Float32Array.from(
      rows.flatMap(([, [, ...box]]) =>
        box.slice(0, 4).map((v, k) => (k & 1 ? (v - tile.y) / tile.height : (v - tile.x) / tile.width)),
      ),
    ),
    Float32Array.from(rows, ([, row]) => row[5]),
    Int32Array.from(rows, ([, row]) => row[6]),
    Uint32Array.from(rows, ([index]) => index),
    null,
  );
  setLength(found, rows.length);
  return found;
}

describe.each(cases.map((c) => [c.predictions.length, c] as const))("%i predictions", (n, c) => {
  const plan = tiles(c.image, { tile: c.slice, overlap: c.overlap });

  test("the grid", () => {
    expect(plan.map(({ x, y, width, height }) => [x, y, x + width, y + height])).toEqual(c.slices);
  });

  /** Merges all predictions. */
  function merge(options: MergeTilesOptions): Detections {
    const merger = createTileMerger(c.image, { ...options, maxDetections: n });
    // One by one: what an NMM claims first depends on the order in which predictions came.
    c.predictions.forEach((row, i) => merger.add(plan[row[0]], detectionsIn(plan[row[0]], [[i, row]])));
    expect(merger.length).toBe(n);
    return merger.merge();
  }

  function expectBox(got: Detections, i: number, box: readonly number[]): void {
    box.forEach((v, k) =>
      expect(Math.abs(got.boxes[4 * i + k] * c.image[k & 1] - v), `${got.sources[i]}`).toBeLessThan(2e-3),
    );
  }

  const boxOf = (index: number): readonly number[] => c.predictions[index].slice(1, 5);

  test.each(Object.entries(c.answers))("%s", (name, answers) => {
    // Per class, SAHI answers class by class.
    const expected = [...answers].sort((a, b) => c.predictions[b.keep][5] - c.predictions[a.keep][5]);
    const [type, metric, threshold, scope] = name.split(" ");
    const options: MergeTilesOptions = {
      method: METHODS[type as keyof typeof METHODS],
      metric: METRICS[metric as keyof typeof METRICS],
      threshold: Number(threshold),
      perClass: scope === "per",
    };
    for (const secondTest of ["sahi", "none"] as const) {
      const got = merge({ ...options, secondTest });
      expect([...got.sources]).toEqual(expected.map(({ keep }) => keep));
      expected.forEach(({ keep, claimed = [], box, score, category }, i) => {
        const members = [keep, ...claimed].map(boxOf);
        // Without the second test the box is that around all that was claimed.
        const around = [0, 1, 2, 3].map((k) =>
          (k < 2 ? Math.min : Math.max)(...members.map((member) => member[k])),
        );
        expectBox(got, i, secondTest === "sahi" && box !== undefined ? box : around);
        expect(got.scores[i], secondTest).toBeCloseTo(score ?? c.predictions[keep][5], 6);
        expect(got.classIds[i]).toBe(category ?? c.predictions[keep][6]);
      });
    }
  });
});

test("the second test loses boxes in these cases, so both choices differ", () => {
  const lost = cases.flatMap(({ answers }) =>
    Object.values(answers)
      .flat()
      .filter(({ claimed = [], merged = [] }) => claimed.length > merged.length),
  );
  expect(lost.length).toBeGreaterThan(0);
});
