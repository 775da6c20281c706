/** Times and boxes in another unit than a tracker counts in: it says so instead of giving other ids. */
import { describe, expect, test } from "vitest";
import { mulberry32 } from "../../bench/random.ts";
import { type TrackerInput, type TrackerOptions, createTracker } from "../../src/entries/index.ts";

const METHODS: readonly TrackerOptions[] = [
  { method: "sort" },
  { method: "bytetrack" },
  { method: "ocsort" },
];

const one = (...box: number[]) => ({ length: 1, boxes: box, scores: [0.9] });
const BOX = one(10, 10, 50, 90);

describe.each(METHODS)("%j", (options) => {
  test.each([
    ["30 frames a second in milliseconds", 1000 / 30],
    ["60 frames a second in milliseconds", 1000 / 60],
    ["30 frames a second in nanoseconds", 1e9 / 30],
  ])("%s", (_, step) => {
    const tracker = createTracker(options);
    for (let i = 0; i < 2; i++) tracker.update(BOX, i * step);
    const { tracks } = tracker;
    for (const time of [2 * step, 3 * step])
      expect(() => tracker.update(BOX, time)).toThrow(
        "seconds: got gaps of more than 10 s between all frames, the last of",
      );
    expect(tracker.tracks).toBe(tracks);
    // reset() begins anew, with other times.
    tracker.reset();
    for (let i = 0; i < 5; i++) tracker.update(BOX, i / 30);
    expect(tracker.update(BOX, 5 / 30)[0]).toBe(1);
  });

  test("two frames in milliseconds are told, and so are events that are far and unevenly apart", () => {
    const notes: string[] = [];
    const onNote = (note: string): void => void notes.push(note);
    const two = createTracker({ ...options, onNote });
    for (const time of [0, 33]) two.update(BOX, time);
    expect(notes).toEqual([
      expect.stringMatching(/^the first 2 frames are 1 s apart or more, the last two 33 s: /),
    ]);
    const events = createTracker({ ...options, onNote });
    for (const time of [0, 20, 65, 85, 85.03, 85.06]) events.update(BOX, time);
    expect(notes).toHaveLength(2);
    const slow = createTracker({ ...options, maxLost: 60, onNote });
    for (const time of [0, 33, 66, 99]) slow.update(BOX, time);
    expect(notes).toHaveLength(2);
  });

  test("slow frames that somebody means, and pauses", () => {
    const slow = createTracker({ ...options, maxLost: 3600 });
    for (let i = 0; i < 6; i++) slow.update(BOX, i * 60);
    const paused = createTracker(options);
    for (const time of [0, 100, 100.1, 200, 300, 400, 500]) paused.update(BOX, time);
    const perSecond = createTracker(options);
    for (let i = 0; i < 6; i++) perSecond.update(BOX, i);
    // A frame that is refused for its boxes counts no gap.
    const refused = createTracker(options);
    refused.update(BOX, 0);
    for (let i = 0; i < 5; i++) expect(() => refused.update(one(NaN, 0, 1, 1), 20)).toThrow("finite");
    refused.update(BOX, 20);
  });

  test.each([
    ["frame numbers", 1, 1],
    ["every third frame number", 3, 1],
    ["milliseconds of 120 frames a second", 1000 / 120, 1],
    ["30 frames a second", 1 / 30, 0],
    ["2 frames a second", 0.5, 0],
  ])("%s as seconds: told once, and again only after reset()", (_, step, count) => {
    const notes: string[] = [];
    const tracker = createTracker({ ...options, onNote: (note) => notes.push(note) });
    for (let i = 0; i < 40; i++) tracker.update(BOX, i * step);
    expect(notes).toHaveLength(count);
    for (const note of notes) expect(note).toContain("are the times frame numbers or milliseconds?");
    tracker.reset();
    for (let i = 0; i < 40; i++) tracker.update(BOX, i * step);
    expect(notes).toHaveLength(2 * count);
    // Somebody who states a longer maxLost has a slow camera.
    const meant = createTracker({ ...options, maxLost: 20, onNote: (note) => notes.push(note) });
    for (let i = 0; i < 10; i++) meant.update(BOX, i * step);
    expect(notes).toHaveLength(2 * count);
    expect(() => createTracker({ ...options, onNote: "x" as never })).toThrow("onNote");
  });

  test.each([
    ["seconds of 30 frames a second, divided by 1,000", 1 / 30 / 1000, undefined, 1],
    ["seconds of 5 frames a second, divided by 1,000", 0.2 / 1000, undefined, 1],
    ["a camera of 1,000 frames a second", 1 / 1000, undefined, 0],
    ["a camera of 20,000 frames a second that says so", 1 / 20_000, 20_000, 0],
  ])("%s: told once", (_, step, frameRate, count) => {
    const notes: string[] = [];
    const tracker = createTracker({
      ...options,
      onNote: (note) => notes.push(note),
      ...(frameRate && { frameRate }),
    });
    for (let i = 0; i < 40; i++) tracker.update(BOX, 1000 + i * step);
    expect(notes).toHaveLength(count);
    for (const note of notes) expect(note).toContain("were seconds divided by 1,000");
    tracker.reset();
    for (let i = 0; i < 40; i++) tracker.update(BOX, i * step);
    expect(notes).toHaveLength(2 * count);
    // One long gap among the first ones: a clock that stood.
    const begun = createTracker({ ...options, onNote: (note) => notes.push(note) });
    for (const time of [0, 1e-5, 2e-5, 0.1, 0.1 + step, 0.1 + 2 * step]) begun.update(BOX, time);
    expect(notes).toHaveLength(2 * count);
  });

  test("a crowd whose best matches would take seconds is matched all the same, and told once", () => {
    const notes: string[] = [];
    const tracker = createTracker({ ...options, onNote: (note) => notes.push(note) });
    const n = 1500;
    // Boxes that overlap much alike: every track may take nearly every detection.
    const crowd = (frame: number): TrackerInput => ({
      length: n,
      boxes: Float64Array.from(
        { length: 4 * n },
        (_, i) => [100, 100, 200, 200][i & 3] + (i & 1 ? 0 : (i >> 2) * 0.01 + frame),
      ),
      scores: new Float64Array(n).fill(0.9),
    });
    for (let frame = 0; frame < 2; frame++) {
      const ids = tracker.update(crowd(frame), frame / 30);
      const given = [...ids].filter((id) => id > 0);
      expect(new Set(given).size).toBe(given.length);
    }
    expect(notes).toEqual([expect.stringMatching(/^1500 boxes of frame \d overlap so much alike/)]);
  });

  test("corner and size, or centre and size, in the place of corners", () => {
    const tracker = createTracker(options);
    for (let i = 0; i < 2; i++) tracker.update(one(100 + i, 100, 50, 90), i / 30);
    expect(() => tracker.update(one(102, 100, 50, 90), 2 / 30)).toThrow(
      "boxes: got 3 of 3 with x_max < x_min or y_max < y_min, expected corners",
    );
    // A network may give such a box now and then.
    const seldom = createTracker(options);
    for (let i = 0; i < 12; i++) seldom.update(i % 3 === 1 ? one(60, 10, 50, 90) : BOX, i / 30);
  });
});

test.each<readonly [TrackerOptions, string]>([
  [
    { method: "bytetrack", lowThreshold: 0.8, highThreshold: 0.5 },
    "lowThreshold: got 0.8 above highThreshold, 0.5",
  ],
  [
    { method: "bytetrack", highThreshold: 0.95 },
    "highThreshold: got 0.95, and no score is above it by 0.1, as a new track needs by default",
  ],
])("%j would find nothing", (options, message) => {
  expect(() => createTracker(options)).toThrow(message);
});

test("a high threshold with a newThreshold", () => {
  const tracker = createTracker({ method: "bytetrack", highThreshold: 0.95, newThreshold: 0.97 });
  expect(tracker.update({ ...BOX, scores: [0.99] }, 0)[0]).toBe(1);
});

test.each(METHODS)(
  "%j: many objects, of which each detection is compared with its neighbours alone",
  (options) => {
    const together = createTracker(options);
    const parts = Array.from({ length: 4 }, () => createTracker(options));
    const random = mulberry32(5);
    const start = Array.from({ length: 200 }, () => [900 * random(), 900 * random(), 9 * random() - 4]);
    for (let frame = 0; frame < 12; frame++) {
      const boxes = start.map(([x, y, speed], i) => {
        const left = x + frame * speed + random() + 5000 * (i % 4);
        const top = y + random();
        return [left, top, left + 40 + random(), top + 60 + random()];
      });
      const scores = start.map(() => 0.3 + 0.69 * random());
      const all = together.update({ length: 200, boxes: boxes.flat(), scores }, frame / 30);
      parts.forEach((part, k) => {
        const own = boxes.filter((_, i) => i % 4 === k);
        const ownScores = scores.filter((_, i) => i % 4 === k);
        const ids = part.update({ length: 50, boxes: own.flat(), scores: ownScores }, frame / 30);
        ids.forEach((id, i) => {
          const there = 4 * i + k;
          expect(all[there] === 0).toBe(id === 0);
          expect(together.boxes.slice(4 * there, 4 * there + 4)).toEqual(part.boxes.slice(4 * i, 4 * i + 4));
        });
      });
    }
  },
);

// Up to 16,384 pairs OC-SORT weighs all of them. Beyond, it leaves out those that do not overlap, unless they count.
test.each([1, 2, 3])("ocsort: a crowd has the same ids beside objects that stand apart, seed %s", (seed) => {
  const alone = createTracker({ method: "ocsort" });
  const beside = createTracker({ method: "ocsort" });
  const random = mulberry32(seed);
  const crowd = Array.from({ length: 100 }, () => [400 * random(), 300 * random(), 6 * random() - 3]);
  const apart = Array.from({ length: 80 }, (_, i) => [1000 + 300 * i, 1000, 1100 + 300 * i, 1100]);
  const names = new Map<number, number>();
  for (let frame = 0; frame < 20; frame++) {
    const boxes = crowd.map(([x, y, speed]) => {
      const left = x + frame * speed + 4 * random();
      const top = y + 4 * random();
      return [left, top, left + 40, top + 50];
    });
    const scores = crowd.map(() => 0.3 + 0.69 * random());
    const ids = alone.update({ length: 100, boxes: boxes.flat(), scores }, frame / 30);
    const others = beside.update(
      { length: 180, boxes: [...boxes, ...apart].flat(), scores: [...scores, ...apart.map(() => 0.9)] },
      frame / 30,
    );
    ids.forEach((id, i) => {
      if (!names.has(id)) names.set(id, others[i]);
      expect(others[i]).toBe(names.get(id));
    });
  }
  expect(names.size).toBeGreaterThan(80);
});
