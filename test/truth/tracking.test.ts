/** Ids and boxes of the published trackers: their own code, run on seeded sequences. */
import { describe, expect, test } from "vitest";
import { createTracker, type TrackerOptions } from "../../src/entries/index.ts";
import { readBeyond } from "../support/beyond.ts";

/** x1, y1, x2, y2, id, and a score where the original returned one. */
type Answer = readonly number[];

interface Case {
  readonly objects: number;
  /** x1, y1, x2, y2, score of each detection. */
  readonly frames: readonly (readonly (readonly number[])[])[];
  readonly answers: Readonly<Record<string, readonly (readonly Answer[])[]>>;
}

const { cases } = readBeyond("tracking") as { cases: readonly Case[] };

const SETTINGS: Readonly<Record<string, TrackerOptions>> = {
  "sort max_age 1 min_hits 3 iou 0.3": { method: "sort" },
  "sort max_age 5 min_hits 1 iou 0.3": { method: "sort", maxLost: 5 / 30, minHits: 1 },
  "ocsort det_thresh 0.5 max_age 30 min_hits 3 iou 0.3 delta_t 3 inertia 0.2": {
    method: "ocsort",
    confidenceThreshold: 0.5,
  },
  "ocsort same with use_byte": { method: "ocsort", confidenceThreshold: 0.5, useLowScores: true },
  "bytetrack track_thresh 0.5 match_thresh 0.8 buffer 30 fps 30 fuse_score": { method: "bytetrack" },
  "bytetrack same without fuse_score (mot20)": { method: "bytetrack", fuseScore: false },
};

const byId = (a: Answer, b: Answer): number => a[4] - b[4];

/** Runs a tracker over a sequence. Returns the rows with an id of each frame, by id. */
function run(options: TrackerOptions, frames: Case["frames"], begin = 0): Answer[][] {
  const tracker = createTracker(options);
  return frames.map((rows, i) => {
    const boxes = rows.flatMap((row) => row.slice(0, 4));
    const scores = rows.map((row) => row[4]);
    const ids = tracker.update({ length: rows.length, boxes, scores }, begin + i / 30);
    expect(ids).toHaveLength(rows.length);
    return [...ids]
      .flatMap((id, d) => (id === 0 ? [] : [[...tracker.boxes.subarray(4 * d, 4 * d + 4), id]]))
      .sort(byId);
  });
}

test("every sequence has the answers of six settings", () => {
  expect(cases.map(({ objects, frames }) => [objects, frames.length])).toEqual([
    [3, 30],
    [8, 60],
    [14, 80],
  ]);
  for (const { answers } of cases) expect(Object.keys(answers)).toEqual(Object.keys(SETTINGS));
});

describe.each(Object.entries(SETTINGS))("%s", (name, options) => {
  test.each(cases.map(({ objects }, i) => [objects, i] as const))("%i objects", (_, i) => {
    const { frames, answers } = cases[i];
    const found = run(options, frames);
    const expected = answers[name].map((rows) => [...rows].sort(byId));
    expect(found.map((rows) => rows.map((row) => row[4]))).toEqual(
      expected.map((rows) => rows.map((row) => row[4])),
    );
    expect(expected.flat().length).toBeGreaterThan(20);
    for (const [frame, rows] of expected.entries())
      for (const [row, [...corners]] of rows.entries())
        for (let k = 0; k < 4; k++) {
          const got = found[frame][row][k];
          expect(Math.abs(got - corners[k]), `frame ${frame + 1}, id ${corners[4]}, ${got}`).toBeLessThan(
            1e-6 * Math.max(1, Math.abs(corners[k])),
          );
        }
  });
});
